"""Limits: what one address may ask for, how large and how slow a request may be, how often a password may be tried.

A lock on passwords holds for one account *and* one origin, so an outsider locks out nobody but themselves. Many origins
together are held back by a second limit for strangers, which browsers that have logged in before, and whoever shows the
account's second factor, are not subject to. All of it is in memory only, under keyed hashes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any

from starlette.types import Receive, Scope, Send

from tacit.survey.headers import API_HEADERS

MOST_REMEMBERED = 50_000


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
        put_last(self._buckets, key, (tokens - 1 if tokens >= 1 else tokens, now))
        return tokens >= 1


def put_last(remembered: dict[bytes, Any], key: bytes, value: Any) -> None:
    """Remember a value as the newest: what a flood makes the server forget is the oldest."""
    remembered.pop(key, None)
    remembered[key] = value
    while len(remembered) > MOST_REMEMBERED:
        del remembered[next(iter(remembered))]


LARGEST_BODY = 16_384
SLOWEST_BODY_SECONDS = 10.0
RETRY_SECONDS = b"2"


class Refused(Exception):
    """An answer other than the wanted one; `reason` is a word that programs may read."""

    def __init__(self, status: int, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason

    @property
    def content(self) -> dict[str, str]:
        return {"error": str(self)} | ({"reason": self.reason} if self.reason else {})


async def json_object(scope: Scope, receive: Receive, what: str) -> dict[str, Any]:
    """The JSON object that a request carries; `what` begins the sentence of a refusal."""
    refuse_other_types(scope, what)
    return parsed_object(await limited_body(scope, receive, what), what)


def refuse_other_types(scope: Scope, what: str) -> None:
    types = [value for name, value in scope["headers"] if name == b"content-type"]
    if not types or not all(media_type.lower().startswith(b"application/json") for media_type in types):
        raise Refused(415, f"{what} is sent as application/json.")


def parsed_object(body: bytes, what: str) -> dict[str, Any]:
    try:
        content = json.loads(body.decode())
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise Refused(400, f"{what} is sent as a JSON object.")
    return content


async def limited_body(scope: Scope, receive: Receive, what: str, most: int = LARGEST_BODY) -> bytes:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    if length.isdigit():
        refuse_large(int(length), what, most)
    try:
        async with asyncio.timeout(SLOWEST_BODY_SECONDS):
            return await _read(receive, what, most)
    except TimeoutError:
        raise Refused(408, f"{what} took too long to arrive.") from None


def refuse_large(length: int, what: str, most: int = LARGEST_BODY) -> None:
    if length > most:
        raise Refused(413, f"{what} has at most {most} bytes.")


async def _read(receive: Receive, what: str, most: int) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, f"{what} ended early.")
        body += message.get("body", b"")
        refuse_large(len(body), what, most)
        if not message.get("more_body"):
            return body


@dataclass(frozen=True)
class JsonReply:
    """A status with a JSON object. Those that everybody gets are made once: what they consist of is kept."""

    status: int
    content: dict[str, str]

    @cached_property
    def body(self) -> bytes:
        return json.dumps(self.content).encode()

    @cached_property
    def headers(self) -> list[tuple[bytes, bytes]]:
        headers = [*API_HEADERS, (b"content-length", str(len(self.body)).encode())]
        if self.status in (429, 503):
            headers.append((b"retry-after", RETRY_SECONDS))
        if self.is_last:
            headers.append((b"connection", b"close"))
        return headers

    @property
    def is_last(self) -> bool:
        """Whether the connection ends with it: the rest of the body is not waited for."""
        return self.status in (408, 413, 431)

    @cached_property
    def http(self) -> bytes:
        """All of it, as HTTP/1.1 writes it."""
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}".encode()]
        lines += [name + b": " + value for name, value in self.headers]
        return b"\r\n".join([*lines, b"", self.body])


async def answer(send: Send, status: int, content: dict[str, Any]) -> None:
    reply = JsonReply(status, content)
    await send({"type": "http.response.start", "status": status, "headers": reply.headers})
    await send({"type": "http.response.body", "body": reply.body})


FAILURES_ALLOWED = 5
STRANGERS_ALLOWED = 50
LOCK_SECONDS = 15 * 60.0


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
        recent = failures.get(key)
        return recent.count if recent and recent.since + LOCK_SECONDS > self._clock() else 0

    def _add(self, failures: dict[bytes, _Failures], key: bytes) -> None:
        put_last(failures, key, _Failures(self._count(failures, key) + 1, self._clock()))
