"""Running the server: the port, its share of the machine, and an orderly end."""

from __future__ import annotations

import gc
import socket
import sys
from functools import partial
from typing import Any

import uvicorn

from tacit.errors import InvalidInput
from tacit.survey.app import SurveyServer
from tacit.survey.connections import ReportProtocol

KEEP_ALIVE_SECONDS = 15
# uvloop takes one new connection from a listening socket in each turn of its loop. In a crowd a turn is long, and
# whoever comes last would wait for seconds; so the same socket is listened on many times over. Each costs a new
# connection a few microseconds.
LISTENERS = 96
# How long the busy event loop may keep the writing thread from the interpreter. With Python's own 5 ms, answering those
# who are told to come back later starves the writer.
WRITER_WAITS_SECONDS = 0.0005
MOST_FILES = 65_536


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
    # What was made until now stays to the end; looking through it for garbage again and again would be for nothing.
    gc.collect()
    gc.freeze()
    uvicorn.Server(server_config(server)).run(sockets=[sock, *(sock.dup() for _ in range(LISTENERS - 1))])


def server_config(server: SurveyServer) -> uvicorn.Config:
    """How uvicorn is run: reports take the short way, and nothing about anybody is logged."""
    receiving = server.receiving if isinstance(server, SurveyServer) else None
    protocol: Any = partial(ReportProtocol, receiving=receiving)
    return uvicorn.Config(
        server,
        http=protocol,
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
