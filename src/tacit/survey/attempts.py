"""How often a password may be tried: by one origin, and by strangers altogether.

A lock holds for one account *and* one origin, so an outsider locks out nobody but themselves. Many origins together are
held back by a second limit for strangers, which browsers that have logged in before, and whoever shows the account's
second factor, are not subject to. All of it is in memory, under keyed hashes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass

FAILURES_ALLOWED = 5
STRANGERS_ALLOWED = 50
LOCK_SECONDS = 15 * 60.0
MOST_REMEMBERED = 50_000


@dataclass
class _Failures:
    count: int
    since: float


class Attempts:
    """Failed logins of the last quarter of an hour."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._secret = os.urandom(16)
        self._by_origin: dict[bytes, _Failures] = {}
        self._by_account: dict[bytes, _Failures] = {}

    def allows(self, account: str, origin: str, *, is_known: bool) -> bool:
        """Whether a password may be tried at all."""
        if self._count(self._by_origin, self._key(account, origin)) >= FAILURES_ALLOWED:
            return False
        return is_known or self._count(self._by_account, self._key(account)) < STRANGERS_ALLOWED

    def failed(self, account: str, origin: str, *, is_known: bool) -> None:
        self._add(self._by_origin, self._key(account, origin))
        if not is_known:
            self._add(self._by_account, self._key(account))

    def succeeded(self, account: str, origin: str) -> None:
        self._by_origin.pop(self._key(account, origin), None)

    def _key(self, *parts: str) -> bytes:
        return hashlib.blake2b("\0".join(parts).encode(), key=self._secret, digest_size=16).digest()

    def _count(self, failures: dict[bytes, _Failures], key: bytes) -> int:
        found = failures.get(key)
        return found.count if found and found.since + LOCK_SECONDS > self._clock() else 0

    def _add(self, failures: dict[bytes, _Failures], key: bytes) -> None:
        # The newest stand last, so that what is forgotten in a flood is the oldest.
        count = self._count(failures, key)
        failures.pop(key, None)
        failures[key] = _Failures(count + 1, self._clock())
        while len(failures) > MOST_REMEMBERED:
            del failures[next(iter(failures))]
