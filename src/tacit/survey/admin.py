"""The researcher's view: log in, watch a survey, take its data out. Every change needs the session's own form token."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from tacit.errors import InvalidInput, TacitError
from tacit.survey.accounts import KNOWN_SECONDS, ROLES, SESSION_SECONDS, Accounts, Role, Session, WrongLogin
from tacit.survey.alarms import Arrivals
from tacit.survey.dashboard import FAKES, dashboard
from tacit.survey.exports import downloads_of
from tacit.survey.headers import ServerSettings, client_address, origin, own_origins
from tacit.survey.limits import RateLimit, Refused, limited_body
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.survey.templating import render_template
from tacit.survey.unhurried import UnhurriedStore
from tacit.survey.weighting import given_margins

COOKIE = "tacit_session"
DEVICE_COOKIE = "tacit_device"
LARGEST_FORM = 8_192
# Checking a password takes a good part of a second of a processor and much memory, on purpose: so many at once, no more.
CHECKED_AT_ONCE = 2
MOST_WAITING = 50
NOT_YOUR_FORM = "The form did not come from your own session. Log in again."

Form = dict[str, str]
Page = Callable[[Request, Session], Awaitable[Response]]
Action = Callable[[Request, Session, Form], Awaitable[Response]]


Answering = Callable[[Request], Awaitable[Response]]


class Door(Route):
    """A route of the dashboard with the roles that may use it; with none, everybody may."""

    def __init__(self, method: str, path: str, answer: Answering, roles: tuple[Role, ...]) -> None:
        super().__init__(path, answer, methods=[method])
        self.roles = roles


class Turns:
    """Passwords are checked a few at once; some people wait for their turn, and nobody more."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(CHECKED_AT_ONCE)
        self._waiting = 0

    @property
    def are_taken(self) -> bool:
        return self._waiting >= MOST_WAITING

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        self._waiting += 1
        try:
            async with self._free:
                yield
        finally:
            self._waiting -= 1


class Administration:
    """Routes under ``/admin``."""

    def __init__(
        self, store: Store, accounts: Accounts, settings: ServerSettings, arrivals: Arrivals | None = None
    ) -> None:
        self._store = store
        self._exported = UnhurriedStore(store.database, store.codes.database)
        self._arrivals = arrivals
        self._accounts = accounts
        self._settings = settings
        # Trying names and passwords is slow for any one address, besides the lockout of each account.
        self._attempts = RateLimit(rate=0.2, burst=10)
        # A crowd of strangers, from however many addresses, takes no turn of those who have been here before.
        self._strangers, self._known = Turns(), Turns()

    @property
    def routes(self) -> list[Door]:
        one = "/admin/surveys/{fingerprint}"
        return [
            Door("GET", "/admin/login", self.login_page, roles=()),
            Door("POST", "/admin/login", self.log_in, roles=()),
            self._action("/admin/logout", self.log_out, ROLES),
            self._page("/admin", self.overview),
            self._page("/admin/", self.overview),
            self._page(one, self.survey_page),
            self._page(one + "/export/{file}", self.export),
            self._action(one + "/close", self.close),
            self._action(one + "/delete", self.delete),
            self._action(one + "/classifier", self.offer_classifier),
        ]

    def _page(self, path: str, show: Page, roles: tuple[Role, ...] = ROLES) -> Door:
        """A page for administrators; anybody else is sent to log in."""

        async def guarded(request: Request) -> Response:
            session = await self._session(request)
            if session is None:
                return RedirectResponse("/admin/login", status_code=303)
            return await show(request, session) if session.role in roles else _not_yours()

        return Door("GET", path, guarded, roles)

    def _action(self, path: str, act: Action, roles: tuple[Role, ...] = ("owner",)) -> Door:
        """A change, by owners unless said otherwise, asked for by a form of this very session."""

        async def guarded(request: Request) -> Response:
            try:
                form = await _form(request)
            except Refused as refused:
                return _too_slow(refused)
            session = await self._session(request)
            if session is None or form is None or not self._is_own_form(request, session, form):
                return render_template("refused.html", status_code=403, reason=NOT_YOUR_FORM)
            return await act(request, session, form) if session.role in roles else _not_yours()

        return Door("POST", path, guarded, roles)

    async def _session(self, request: Request) -> Session | None:
        token = request.cookies.get(COOKIE, "")
        return await run_in_threadpool(self._accounts.session, token) if token else None

    async def login_page(self, request: Request) -> Response:
        return render_template(
            "login.html", problem=None, any_account=await run_in_threadpool(lambda: self._accounts.any)
        )

    async def log_in(self, request: Request) -> Response:
        try:
            form = await _form(request)
        except Refused as refused:
            return _too_slow(refused)
        if form is None or not _same_origin(request, self._settings):
            return render_template("refused.html", status_code=403, reason=NOT_YOUR_FORM)
        if not self._attempts.allows(self._origin(request)):
            return _too_many()
        shown = form.get("name", ""), form.get("code", ""), request.cookies.get(DEVICE_COOKIE, "")
        turns = self._known if await run_in_threadpool(self._accounts.is_no_stranger, *shown) else self._strangers
        if turns.are_taken:
            return _too_many()
        try:
            async with turns.one():
                session = await self._check_session(request, form)
        except WrongLogin as error:
            return render_template("login.html", status_code=401, problem=str(error), any_account=True)
        return await self._welcome(request, session)

    async def _check_session(self, request: Request, form: Form) -> Session:
        """The session of who may come in."""
        return await run_in_threadpool(
            self._accounts.log_in, form.get("name", ""), form.get("password", ""), code=form.get("code", ""),
            origin=self._origin(request), device=request.cookies.get(DEVICE_COOKIE, ""),
        )  # fmt: skip

    async def _welcome(self, request: Request, session: Session) -> Response:
        """A session always begins under a new name: what the browser brought along is ended, never continued."""
        await run_in_threadpool(self._accounts.end, request.cookies.get(COOKIE, ""))
        device = await run_in_threadpool(self._accounts.remembered_device, session)
        response = RedirectResponse("/admin", status_code=303)
        for name, value, seconds in ((COOKIE, session.token, SESSION_SECONDS), (DEVICE_COOKIE, device, KNOWN_SECONDS)):
            response.set_cookie(name, value, max_age=int(seconds), **self._cookie)
        return response

    @property
    def _cookie(self) -> dict[str, Any]:
        """How every cookie is set, also one that is taken back."""
        return {"path": "/admin", "httponly": True, "samesite": "strict", "secure": self._settings.is_secure}

    def _origin(self, request: Request) -> str:
        return origin(client_address(request.scope, self._settings))

    async def log_out(self, request: Request, session: Session, form: Form) -> Response:
        await run_in_threadpool(self._accounts.log_out, session)
        response = RedirectResponse("/admin/login", status_code=303)
        response.delete_cookie(COOKIE, **self._cookie)
        return response

    async def overview(self, request: Request, session: Session) -> Response:
        surveys = await run_in_threadpool(self._store.surveys)
        counts = [await run_in_threadpool(self._store.counts, survey) for survey in surveys]
        audit = await run_in_threadpool(self._accounts.audit) if session.role == "owner" else []
        return render_template(
            "overview.html", session=session, surveys=list(zip(surveys, counts, strict=True)), audit=audit
        )

    async def survey_page(self, request: Request, session: Session) -> Response:
        survey = await self._survey(request)
        if survey is None:
            return render_template("absent.html", status_code=404)
        asked = request.query_params
        wanted = asked.get("fakes", "")
        fakes = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 7 else FAKES
        try:
            population = given_margins(survey.definition, asked.get("population", ""))
        except InvalidInput as error:
            return render_template("refused.html", status_code=400, reason=str(error))
        view = await run_in_threadpool(
            dashboard, self._store, survey, asked.get("by"), asked.get("class"),
            fakes=fakes, population=population, arrivals=self._arrivals,
        )  # fmt: skip
        return render_template(
            "survey.html", session=session, survey=survey, view=view, downloads=list(downloads_of(survey))
        )

    async def export(self, request: Request, session: Session) -> Response:
        survey = await self._survey(request)
        download = downloads_of(survey).get(request.path_params["file"]) if survey is not None else None
        if survey is None or download is None:
            return render_template("absent.html", status_code=404)
        name = request.path_params["file"]
        await run_in_threadpool(
            self._accounts.record, session.administrator, f"exported {name}", survey.definition.name
        )
        headers = {"Content-Disposition": f'attachment; filename="{survey.definition.name}-disguised-{name}"'}
        return StreamingResponse(
            download.chunks(self._exported, survey), media_type=download.media_type, headers=headers
        )

    async def close(self, request: Request, session: Session, form: Form) -> Response:
        survey = await self._survey(request)
        if survey is None:
            return render_template("absent.html", status_code=404)
        await run_in_threadpool(self._store.close_survey, survey)
        await run_in_threadpool(self._accounts.record, session.administrator, "closed", survey.definition.name)
        return RedirectResponse(f"/admin/surveys/{survey.fingerprint}", status_code=303)

    async def delete(self, request: Request, session: Session, form: Form) -> Response:
        survey = await self._survey(request)
        if survey is None:
            return render_template("absent.html", status_code=404)
        if form.get("name") != survey.definition.name:
            reason = f"To delete the survey for good, type its name: {survey.definition.name}"
            return render_template("refused.html", status_code=400, reason=reason)
        try:
            await run_in_threadpool(self._store.delete_survey, survey)
        except TacitError as error:
            return render_template("refused.html", status_code=400, reason=str(error))
        await run_in_threadpool(self._accounts.record, session.administrator, "deleted", survey.definition.name)
        return RedirectResponse("/admin", status_code=303)

    async def offer_classifier(self, request: Request, session: Session, form: Form) -> Response:
        from tacit.survey.second_round import MODELS, offer_classifier

        survey = await self._survey(request)
        if survey is None:
            return render_template("absent.html", status_code=404)
        model = form.get("model", "tree")
        if model not in MODELS:  # a form names no file of the server's
            return render_template("refused.html", status_code=400, reason=f"A model is one of {', '.join(MODELS)}.")
        try:
            await run_in_threadpool(offer_classifier, self._store, survey, form.get("class", ""), model)
        except TacitError as error:
            return render_template("refused.html", status_code=400, reason=str(error))
        await run_in_threadpool(self._accounts.record, session.administrator, "offered a classifier", form["class"])
        return RedirectResponse(f"/admin/surveys/{survey.fingerprint}", status_code=303)

    def _is_own_form(self, request: Request, session: Session, form: Form) -> bool:
        is_own = hmac.compare_digest(form.get("csrf", "").encode(), session.csrf.encode())
        return is_own and _same_origin(request, self._settings)

    async def _survey(self, request: Request) -> StoredSurvey | None:
        return await run_in_threadpool(self._store.survey, request.path_params["fingerprint"])


async def _form(request: Request) -> Form | None:
    """The fields of a small urlencoded form; None for anything else.

    No field of a browser's holds the character that ends a text in PostgreSQL, which would refuse it as if it were in trouble.
    """
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return None
    try:
        body = await limited_body(request.scope, request.receive, "A form", LARGEST_FORM)
    except Refused as refused:
        if refused.status == 413:
            return None
        raise
    try:
        fields = parse_qs(body.decode(), max_num_fields=20)
    except ValueError:
        return None
    form = {name: values[0] for name, values in fields.items()}
    return None if any("\0" in value for value in form.values()) else form


def _too_many() -> Response:
    return render_template("login.html", status_code=429, problem="Too many attempts. Wait a minute.", any_account=True)


def _too_slow(refused: Refused) -> Response:
    page = render_template("refused.html", status_code=refused.status, reason=str(refused))
    page.headers["Connection"] = "close"
    return page


def _not_yours() -> Response:
    return render_template("refused.html", status_code=403, reason="Only an owner of these surveys may do this.")


def _same_origin(request: Request, settings: ServerSettings) -> bool:
    """Browsers say where a form comes from; a request that says nothing is no browser's."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        # Pages that send no referrer have the origin "null", so the newer header decides where there is one.
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or origin in own_origins(request.scope, settings)
