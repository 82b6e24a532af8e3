"""The one request that carries a report: an idempotent PUT, kept lean because everybody sends it at once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.types import Receive, Scope, Send

from tacit.survey.headers import API_HEADERS, Settings, is_known_host
from tacit.survey.limits import RateLimit
from tacit.survey.shelf import Shelf
from tacit.survey.store.database import StoreUnavailable
from tacit.survey.store.submissions import Outcome, Overloaded, Submission, Writer, token_hash
from tacit.survey.store.surveys import BOXES, Box
from tacit.survey.wire import InvalidReport

LARGEST_BODY = 16_384
SLOWEST_BODY_SECONDS = 10.0
RETRY_SECONDS = b"2"

_ANSWERS = {
    Outcome.STORED: (201, {"outcome": "stored"}),
    Outcome.REPEATED: (200, {"outcome": "repeated"}),
    Outcome.CLOSED: (409, {"error": "This survey is not open."}),
    Outcome.UNKNOWN_CODE: (403, {"error": "This invitation code is not valid for this survey."}),
}
_HEX = frozenset("0123456789abcdef")


class Refused(Exception):
    """An answer other than a stored report."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Receiving:
    """``PUT /s/FINGERPRINT/reports|tests/TOKEN``: 201 stored, 200 known already, 503 try again."""

    def __init__(self, shelf: Shelf, writer: Writer, settings: Settings) -> None:
        self._shelf = shelf
        self._writer = writer
        self._settings = settings
        self._limit = RateLimit(settings.rate, settings.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            submission = await self._submission(scope, receive)
            status, content = _ANSWERS[await self._writer.put(submission)]
        except Refused as refused:
            status, content = refused.status, {"error": str(refused)}
        except InvalidReport as error:
            status, content = 400, {"error": str(error)}
        except (Overloaded, StoreUnavailable) as error:
            status, content = 503, {"error": str(error)}
        await answer(send, status, content)

    async def _submission(self, scope: Scope, receive: Receive) -> Submission:
        self._admit(scope)
        fingerprint, box, token = _address(scope["path"])
        survey = await self._shelf.survey(fingerprint)
        if survey is None:
            raise Refused(404, "There is no such survey.")
        text = _report(await _body(scope, receive))
        values = _bit(text) if box == "second" else survey.wire.decode(text)
        return Submission(survey, box, token_hash(survey, token), values)

    def _admit(self, scope: Scope) -> None:
        if not is_known_host(scope, self._settings):
            raise Refused(400, "This server does not answer for that host.")
        if self._writer.is_full:
            raise Overloaded("The survey is receiving more answers than it can store right now. Please try again soon.")
        client = scope.get("client")
        if client and not self._limit.allows(client[0]):
            raise Refused(429, "Too many reports from one address. Please try again in a minute.")


def _address(path: str) -> tuple[str, Box, str]:
    parts = path.split("/")
    if len(parts) == 5 and parts[1] == "s" and parts[3] in BOXES and len(parts[2]) == 32 and len(parts[4]) == 64:
        _, _, fingerprint, box, token = parts
        if _HEX.issuperset(fingerprint) and _HEX.issuperset(token):
            return fingerprint, box, token  # type: ignore[return-value]
    raise Refused(404, "Nothing can be put here.")


async def _body(scope: Scope, receive: Receive) -> bytes:
    headers = dict(scope["headers"])
    if not headers.get(b"content-type", b"").lower().startswith(b"application/json"):
        raise Refused(415, "A report is sent as application/json.")
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and int(length) > LARGEST_BODY:
        raise Refused(413, f"A report has at most {LARGEST_BODY} bytes.")
    try:
        async with asyncio.timeout(SLOWEST_BODY_SECONDS):
            return await _read(receive)
    except TimeoutError:
        raise Refused(408, "The report took too long to arrive.") from None


async def _read(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "The report ended early.")
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise Refused(413, f"A report has at most {LARGEST_BODY} bytes.")
        if not message.get("more_body"):
            return body


def _report(body: bytes) -> str:
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "A report is sent as a JSON object.") from None
    if not isinstance(content, dict) or set(content) != {"report"} or not isinstance(content["report"], str):
        raise Refused(400, 'A report is sent as {"report": TEXT} and nothing else.')
    return content["report"]


def _bit(text: str) -> tuple[int]:
    if text not in ("00", "01"):
        raise InvalidReport("The second round sends 00 or 01.")
    return (int(text),)


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
