"""Running the server: the port, patience with slow clients, and an orderly end."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tacit.errors import InvalidInput
from tacit.survey.app import SurveyServer

HEADER_SECONDS = 5.0
# A whole request, head and body: nothing that people send here is large.
REQUEST_SECONDS = 20.0
KEEP_ALIVE_SECONDS = 15
# uvloop takes one new connection from a listening socket in each turn of its loop. In a crowd a turn is long, and
# whoever comes last would wait for seconds; so the same socket is listened on many times over. Each costs a new
# connection a few microseconds.
LISTENERS = 96
# How long the busy event loop may keep the writing thread from the interpreter. With Python's own 5 ms, answering those
# who are told to come back later starves the writer.
WRITER_WAITS_SECONDS = 0.0005
MOST_FILES = 65_536


class PatientProtocol(HttpToolsProtocol):
    """HTTP that waits only so long for a request's head, and for all of it: whoever trickles is let go."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_waiting()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._start_waiting()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        # Also where nobody reads the body, because it was sent to nowhere.
        self._deadline = self.loop.call_later(REQUEST_SECONDS - HEADER_SECONDS, self._give_up)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _start_waiting(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket on the wanted port, or one clear sentence."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except PermissionError:
        raise InvalidInput(
            f"Port {port} needs permission this account does not have. Use --port 8000 or above 1024."
        ) from None
    except OSError as error:
        sock.close()
        raise InvalidInput(
            f"Port {port} on {host} cannot be used: {error.strerror}. Choose another with --port."
        ) from None
    return sock


def allow_many_connections() -> None:
    """Take all the open files the system grants: with the usual 1,024, a thousand idle connections would keep others out."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, MOST_FILES) if hard != resource.RLIM_INFINITY else MOST_FILES
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(server: SurveyServer, sock: socket.socket) -> None:
    """Serve until interrupted; what was acknowledged is on the disk already, what waits is stored before the end."""
    sys.setswitchinterval(WRITER_WAITS_SECONDS)
    allow_many_connections()
    config = uvicorn.Config(
        server,
        http=PatientProtocol,
        ws="none",
        access_log=False,  # an access log would hold addresses and times
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=10,
        backlog=4096,
        proxy_headers=False,
    )
    uvicorn.Server(config).run(sockets=[sock, *(sock.dup() for _ in range(LISTENERS - 1))])
