"""One connection: patience with slow clients, and a short way for a report that arrives whole.

A report is small and comes in one piece with its head. It then needs no task, no queue of body parts and no second write:
it is read where it arrives, and answered by the call that says it is stored. Whatever is unusual about a request (a body
in pieces, another address, several requests at once, a client that does not read) takes the common way through the ASGI
application, where the same refusals stand.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tacit.survey.limits import JsonReply
from tacit.survey.receiving import Place, Receiving

HEADER_SECONDS = 5.0
# A whole request, head and body: nothing that people send here is large.
REQUEST_SECONDS = 20.0

# Each line of a head takes many times its bytes of memory.
LARGEST_HEAD = 1 << 16
_TOO_LONG = JsonReply(431, {"error": "The head of this request is too long."})
_NO_HTTP = JsonReply(400, {"error": "This is no request that the server can read."})
_FAILED = JsonReply(500, {"error": "The server could not take this report. Please try again later."})


class PatientProtocol(HttpToolsProtocol):
    """HTTP that waits only so long for a request's head, and for all of it: whoever trickles is let go."""

    _deadline: asyncio.TimerHandle | None = None
    # Seconds within which the rest of what has begun must come; None while nothing has.
    _allowed: float | None = None
    # Bytes of a head whose end has not come; None while none is being read.
    _head: int | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._allowed = HEADER_SECONDS
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > LARGEST_HEAD and not self.transport.is_closing():
                self.transport.write(_TOO_LONG.http)
                self._give_up()
        # Most requests are whole by now and need no clock.
        self._wait()

    def send_400_response(self, msg: str) -> None:
        self.transport.write(_last(_NO_HTTP))
        self.transport.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header counts only in the head: a trailer, which comes behind the body, would overwrite what a proxy said."""
        if self._head is not None:
            super().on_header(name, value)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._allowed = HEADER_SECONDS
        self._head = 0

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._head = None
        # Also where nobody reads the body, because it was sent to nowhere.
        self._allowed = REQUEST_SECONDS - HEADER_SECONDS
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._allowed is not None and self._deadline is None:
            self._deadline = self.loop.call_later(self._allowed, self._give_up)

    def _stop_waiting(self) -> None:
        self._allowed = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = self._allowed = None
        if not self.transport.is_closing():
            self.transport.close()


def _last(reply: JsonReply) -> bytes:
    """The answer as the last one of its connection."""
    return reply.http if reply.is_last else reply.http.replace(b"\r\n", b"\r\nconnection: close\r\n", 1)


class _Stored:
    """A report that is being stored, where uvicorn looks for the task that answers."""

    # uvicorn wakes whoever waits for the body; here nobody does.
    message_event = asyncio.Event()

    def __init__(self, keep_alive: bool) -> None:
        self.keep_alive = keep_alive
        self.response_complete = False
        self.disconnected = False


class ReportProtocol(PatientProtocol):
    """The short way, where `receiving` is given."""

    # uvicorn's task, or what stands in its place; the request as ASGI describes it.
    cycle: Any
    scope: Any

    def __init__(self, *arguments: Any, receiving: Receiving | None = None, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._receiving = receiving
        # Where a report goes whose head has come, and what has come of its body.
        self._place: Place | None = None
        self._body = b""
        self._stays = True

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._place is not None:  # the rest of the body is still to come
            self._take_common_way()

    def on_headers_complete(self) -> None:
        self._place = self._short_place()
        if self._place is None:
            super().on_headers_complete()
        else:
            self._head = None
            self._body = b""
            self._stays = self.parser.get_http_version() == "1.1" and self.parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        if self._place is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        if self._place is None:
            super().on_message_complete()
            return
        self._stop_waiting()
        place, self._place = self._place, None
        body, self._body = self._body, b""
        self.cycle = stored = _Stored(self._stays)
        try:
            self._receiving.take(self.scope, place, body, partial(self._reply, stored))  # type: ignore[union-attr]
        except Exception as error:
            self.logger.error("A report could not be taken", exc_info=error)
            self._reply(stored, _FAILED)

    def _short_place(self) -> Place | None:
        """Where the report of this request goes, if nothing about the request is unusual."""
        is_free = self.cycle is None or self.cycle.response_complete
        if self._receiving is None or self.parser.get_method() != b"PUT" or not is_free:
            return None
        if self.flow.write_paused or self.parser.should_upgrade():
            return None
        return self._receiving.known(self.url.decode("latin-1"))

    def _take_common_way(self) -> None:
        self._place = None
        body, self._body = self._body, b""
        if self.transport.is_closing():  # it was no HTTP after all
            return
        super().on_headers_complete()
        if body:
            super().on_body(body)
        self._wait()

    def _reply(self, stored: _Stored, answer: JsonReply) -> None:
        stored.response_complete = True
        if self.transport.is_closing():
            return
        ends = answer.is_last or not stored.keep_alive
        self.transport.write(_last(answer) if ends else answer.http)
        if ends:
            self.transport.close()
        self.on_response_complete()
