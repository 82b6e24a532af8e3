"""The survey server as one ASGI application: receiving reports, the respondent's page, the researcher's view."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tacit.errors import TacitError
from tacit.survey.accounts import Accounts
from tacit.survey.admin import Administration
from tacit.survey.headers import SECURITY_HEADERS, ServerSettings, is_known_host
from tacit.survey.health import Health, is_own_watcher
from tacit.survey.limits import answer
from tacit.survey.receiving import Receiving
from tacit.survey.retention import keep_deleting
from tacit.survey.site import Site
from tacit.survey.store import connect
from tacit.survey.store.database import StoreUnavailable, reason_for_clients
from tacit.survey.store.submissions import Writer
from tacit.survey.store.surveys import Store
from tacit.survey.survey_cache import SurveyCache
from tacit.survey.tokens import Tokens
from tacit.survey.withdrawing import Withdrawing


class SurveyServer:
    """Everything a running survey needs; reports take the short way past the web framework."""

    def __init__(self, store_url: str | Path, settings: ServerSettings | None = None) -> None:
        self.settings = settings or ServerSettings()
        self.store = Store.open(store_url)
        self.writer = Writer(connect(store_url), most_waiting=self.settings.most_waiting)
        surveys = SurveyCache(self.store)
        self.receiving = Receiving(surveys, self.writer, self.settings)
        self.tokens = Tokens(surveys, self.store, self.settings)
        accounts = Accounts(self.store.database)
        administration = Administration(self.store, accounts, self.settings, self.receiving.arrivals)
        withdrawing = Withdrawing(surveys, self.store, self.settings)
        health = Health(self.store, self.settings, lambda: self.writer.waiting, self.receiving.answers)
        self.routes: list[Route] = [
            *Site(surveys).routes,
            *health.routes,
            *self.tokens.routes,
            *withdrawing.routes,
            *administration.routes,
        ]
        pages = Starlette(
            routes=self.routes,
            exception_handlers={TacitError: _refusal, HTTPException: _not_here},
            lifespan=self._lifespan,
        )
        # Starlette would repeat the host that was asked for, and send people who came by https to http.
        pages.router.redirect_slashes = False
        self._pages = Guarded(pages, self.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "PUT":
            await self.receiving(scope, receive, send)
        else:
            await self._pages(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        deleting = asyncio.create_task(keep_deleting(self.store))
        yield
        deleting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await deleting
        self.close()

    def close(self) -> None:
        """Store what waits and let go of the database."""
        self.tokens.counter.close()
        self.writer.close()
        self.store.close()


class Guarded:
    """Adds the security headers to every answer and refuses hosts the server does not answer for."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        secure = ((b"strict-transport-security", b"max-age=31536000"),) if settings.is_secure else ()
        self._headers = [*SECURITY_HEADERS, *secure]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not is_known_host(scope, self._settings) and not is_own_watcher(scope):
            await answer(send, 400, {"error": "This server does not answer for that host."})
        else:
            await self._app(scope, receive, self._with_headers(send))

    def _with_headers(self, send: Send) -> Send:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        return guarded


async def _refusal(request: Request, error: Exception) -> Response:
    status = 503 if isinstance(error, StoreUnavailable) else 400
    return JSONResponse({"error": reason_for_clients(error)}, status_code=status)


async def _not_here(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, status_code=error.status_code, headers=error.headers)
