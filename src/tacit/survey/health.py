"""Whether the server is well, and numbers for who watches it: about the server, never about respondents."""

from __future__ import annotations

import ipaddress
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from tacit.survey.headers import ServerSettings
from tacit.survey.store.database import StoreUnavailable
from tacit.survey.store.sqlite import SqliteDatabase
from tacit.survey.store.surveys import Store

# However often it is asked, the disk is tried only so often.
REMEMBERED_SECONDS = 5.0
# Counted in steps: a number that moved by one between two looks would tell when somebody answered.
STEP = 100


class Health:
    """``GET /healthz`` for everybody; ``GET /metrics`` for programs on the server's own machine."""

    def __init__(
        self, store: Store, settings: ServerSettings, waiting: Callable[[], int], answers: Counter[int]
    ) -> None:
        self._store = store
        self._settings = settings
        self._waiting = waiting
        self._answers = answers
        self._problem: str | None = None
        self._looked = -REMEMBERED_SECONDS

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/healthz", self.health, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
        ]

    async def health(self, request: Request) -> Response:
        problem = await self._first_problem()
        if problem is not None:
            return JSONResponse({"status": "failing", "error": problem}, 503)
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        if not _is_local(request):
            return JSONResponse({"error": "Not Found"}, 404)
        lines = await run_in_threadpool(self._lines, await self._first_problem() is None)
        return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")

    async def _first_problem(self) -> str | None:
        if time.monotonic() - self._looked >= REMEMBERED_SECONDS:
            self._looked = time.monotonic()
            self._problem = await run_in_threadpool(self._look)
        return self._problem

    def _look(self) -> str | None:
        """What keeps reports from being stored: little room, or a database that takes nothing."""
        free = self._free()
        if free is not None and free < self._settings.least_free:
            return "The disk is nearly full."
        try:
            with self._store.database.transaction():
                # A value that does not change would not be written.
                self._store.database.run("INSERT INTO tacit_devices VALUES ('health', '', 0)")
                self._store.database.run("DELETE FROM tacit_devices WHERE token = 'health'")
        except StoreUnavailable:
            return "The database takes nothing at present."
        return None

    def _free(self) -> int | None:
        database = self._store.database
        return shutil.disk_usage(Path(database.url).parent).free if isinstance(database, SqliteDatabase) else None

    def _lines(self, is_well: bool) -> list[str]:
        lines = [
            "# HELP tacit_up Whether reports can be stored.",
            "# TYPE tacit_up gauge",
            f"tacit_up {int(is_well)}",
            "# HELP tacit_waiting Reports that wait to be stored.",
            "# TYPE tacit_waiting gauge",
            f"tacit_waiting {self._waiting()}",
            f"# HELP tacit_answers_total Answers to submissions by status, in steps of {STEP}.",
            "# TYPE tacit_answers_total counter",
            *(
                f'tacit_answers_total{{status="{name}"}} {self._answers[name] // STEP * STEP}'
                for name in sorted(self._answers)
            ),
        ]
        free = self._free()
        if free is not None:
            lines += ["# HELP tacit_disk_free_bytes Room on the disk.", "# TYPE tacit_disk_free_bytes gauge"]
            lines.append(f"tacit_disk_free_bytes {free}")
        return lines


WATCHED = ("/healthz", "/metrics")
OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")


def is_own_watcher(scope: Scope) -> bool:
    """Whether a program on this machine asks how the server is, under the machine's own name and not the public one."""
    host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
    return scope["path"] in WATCHED and re.sub(r":\d+$", "", host) in OWN_NAMES


def _is_local(request: Request) -> bool:
    """Whether a request is from this machine and not passed on by a proxy, which would make everybody local."""
    if any(name in request.headers for name in ("x-forwarded-for", "forwarded", "x-real-ip", "via")):
        return False
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
