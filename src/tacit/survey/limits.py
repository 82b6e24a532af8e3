"""Limits on what one address may ask for. Addresses are kept in memory only, and only as keyed hashes."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable

FORGOTTEN_ABOVE = 50_000


class RateLimit:
    """A bucket per address that refills at `rate` a second up to `burst`; a rate of 0 limits nothing."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._secret = os.urandom(16)
        self._buckets: dict[bytes, tuple[float, float]] = {}

    def allows(self, address: str) -> bool:
        if self.rate <= 0:
            return True
        key = hashlib.blake2b(address.encode(), key=self._secret, digest_size=12).digest()
        now = self._clock()
        tokens, since = self._buckets.get(key, (self.burst, now))
        tokens = min(self.burst, tokens + (now - since) * self.rate)
        if len(self._buckets) >= FORGOTTEN_ABOVE:
            self._buckets.clear()
        self._buckets[key] = (tokens - 1 if tokens >= 1 else tokens, now)
        return tokens >= 1
