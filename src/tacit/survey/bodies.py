"""Reading what is sent with a request: only so much of it, and only for so long."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.types import Receive, Scope, Send

from tacit.survey.headers import API_HEADERS

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
    headers = dict(scope["headers"])
    if not headers.get(b"content-type", b"").lower().startswith(b"application/json"):
        raise Refused(415, f"{what} is sent as application/json.")
    body = await limited_body(scope, receive, what)
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise Refused(400, f"{what} is sent as a JSON object.")
    return content


async def limited_body(scope: Scope, receive: Receive, what: str, most: int = LARGEST_BODY) -> bytes:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    if length.isdigit() and int(length) > most:
        raise Refused(413, f"{what} has at most {most} bytes.")
    try:
        async with asyncio.timeout(SLOWEST_BODY_SECONDS):
            return await _read(receive, what, most)
    except TimeoutError:
        raise Refused(408, f"{what} took too long to arrive.") from None


async def _read(receive: Receive, what: str, most: int) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, f"{what} ended early.")
        body += message.get("body", b"")
        if len(body) > most:
            raise Refused(413, f"{what} has at most {most} bytes.")
        if not message.get("more_body"):
            return body


async def answer(send: Send, status: int, content: dict[str, Any]) -> None:
    body = json.dumps(content).encode()
    headers = [*API_HEADERS, (b"content-length", str(len(body)).encode())]
    if status in (429, 503):
        headers.append((b"retry-after", RETRY_SECONDS))
    if status in (408, 413):
        # The rest of the body is not waited for.
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
