"""The researcher's view: log in, watch a survey, take its data out. Every change needs the session's own form token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from tacit.errors import TacitError
from tacit.survey.accounts import SESSION_SECONDS, Accounts, Session, WrongLogin
from tacit.survey.dashboard import FAKES, dashboard
from tacit.survey.exports import DOWNLOADS
from tacit.survey.headers import Settings
from tacit.survey.limits import RateLimit
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.survey.templating import rendered

COOKIE = "tacit_session"
LARGEST_FORM = 8_192

Form = dict[str, str]
Page = Callable[[Request, Session], Awaitable[Response]]
Action = Callable[[Request, Session, Form], Awaitable[Response]]


class Administration:
    """Routes under ``/admin``."""

    def __init__(self, store: Store, accounts: Accounts, settings: Settings) -> None:
        self._store = store
        self._accounts = accounts
        self._settings = settings
        # Trying names and passwords is slow for any one address, besides the lockout of each account.
        self._attempts = RateLimit(rate=0.2, burst=10)

    @property
    def routes(self) -> list[Route]:
        one = "/admin/surveys/{fingerprint}"
        return [
            Route("/admin/login", self.login_page, methods=["GET"]),
            Route("/admin/login", self.log_in, methods=["POST"]),
            Route("/admin/logout", self._action(self.log_out), methods=["POST"]),
            Route("/admin", self._page(self.overview), methods=["GET"]),
            Route(one, self._page(self.survey_page), methods=["GET"]),
            Route(one + "/export/{file}", self._page(self.export), methods=["GET"]),
            Route(one + "/close", self._action(self.close), methods=["POST"]),
            Route(one + "/classifier", self._action(self.offer_classifier), methods=["POST"]),
        ]

    def _page(self, show: Page) -> Callable[[Request], Awaitable[Response]]:
        """A page for administrators; anybody else is sent to log in."""

        async def guarded(request: Request) -> Response:
            session = await self._session(request)
            if session is None:
                return RedirectResponse("/admin/login", status_code=303)
            return await show(request, session)

        return guarded

    def _action(self, act: Action) -> Callable[[Request], Awaitable[Response]]:
        """A change by an administrator, asked for by a form of this very session."""

        async def guarded(request: Request) -> Response:
            session = await self._session(request)
            form = await _form(request)
            if session is None or form is None or not _is_own_form(request, session, form):
                return rendered(
                    "refused.html", status_code=403, reason="The form did not come from your own session. Log in again."
                )
            return await act(request, session, form)

        return guarded

    async def _session(self, request: Request) -> Session | None:
        token = request.cookies.get(COOKIE, "")
        return await run_in_threadpool(self._accounts.session, token) if token else None

    async def login_page(self, request: Request) -> Response:
        return rendered("login.html", problem=None, any_account=await run_in_threadpool(lambda: self._accounts.any))

    async def log_in(self, request: Request) -> Response:
        form = await _form(request)
        address = request.client.host if request.client else ""
        if form is None or not _same_origin(request):
            return rendered(
                "refused.html", status_code=403, reason="The form did not come from your own session. Log in again."
            )
        if not self._attempts.allows(address):
            return rendered(
                "login.html", status_code=429, problem="Too many attempts. Wait a minute.", any_account=True
            )
        try:
            session = await run_in_threadpool(self._accounts.log_in, form.get("name", ""), form.get("password", ""))
        except WrongLogin as error:
            return rendered("login.html", status_code=401, problem=str(error), any_account=True)
        response = RedirectResponse("/admin", status_code=303)
        response.set_cookie(
            COOKIE, session.token, max_age=int(SESSION_SECONDS), path="/admin", httponly=True, samesite="strict",
            secure=self._settings.is_secure,
        )  # fmt: skip
        return response

    async def log_out(self, request: Request, session: Session, form: Form) -> Response:
        await run_in_threadpool(self._accounts.log_out, session)
        response = RedirectResponse("/admin/login", status_code=303)
        response.delete_cookie(COOKIE, path="/admin")
        return response

    async def overview(self, request: Request, session: Session) -> Response:
        surveys = await run_in_threadpool(self._store.surveys)
        counts = [await run_in_threadpool(self._store.counts, survey) for survey in surveys]
        audit = await run_in_threadpool(self._accounts.audit)
        return rendered("overview.html", session=session, surveys=list(zip(surveys, counts, strict=True)), audit=audit)

    async def survey_page(self, request: Request, session: Session) -> Response:
        survey = await self._survey(request)
        if survey is None:
            return rendered("absent.html", status_code=404)
        asked = request.query_params
        wanted = asked.get("fakes", "")
        fakes = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 7 else FAKES
        view = await run_in_threadpool(dashboard, self._store, survey, asked.get("by"), asked.get("class"), fakes=fakes)
        return rendered("survey.html", session=session, survey=survey, view=view, downloads=list(DOWNLOADS))

    async def export(self, request: Request, session: Session) -> Response:
        survey = await self._survey(request)
        download = DOWNLOADS.get(request.path_params["file"])
        if survey is None or download is None:
            return rendered("absent.html", status_code=404)
        name = request.path_params["file"]
        await run_in_threadpool(
            self._accounts.record, session.administrator, f"exported {name}", survey.definition.name
        )
        headers = {
            "Content-Disposition": f'attachment; filename="{survey.definition.name}-disguised-{name}"',
            "Cache-Control": "no-store",
        }
        return StreamingResponse(download.chunks(self._store, survey), media_type=download.media_type, headers=headers)

    async def close(self, request: Request, session: Session, form: Form) -> Response:
        survey = await self._survey(request)
        if survey is None:
            return rendered("absent.html", status_code=404)
        await run_in_threadpool(self._store.close_survey, survey)
        await run_in_threadpool(self._accounts.record, session.administrator, "closed", survey.definition.name)
        return RedirectResponse(f"/admin/surveys/{survey.fingerprint}", status_code=303)

    async def offer_classifier(self, request: Request, session: Session, form: Form) -> Response:
        from tacit.survey.second_round import offer_tree

        survey = await self._survey(request)
        if survey is None:
            return rendered("absent.html", status_code=404)
        try:
            await run_in_threadpool(offer_tree, self._store, survey, form.get("class", ""))
        except TacitError as error:
            return rendered("refused.html", status_code=400, reason=str(error))
        await run_in_threadpool(self._accounts.record, session.administrator, "offered a classifier", form["class"])
        return RedirectResponse(f"/admin/surveys/{survey.fingerprint}", status_code=303)

    async def _survey(self, request: Request) -> StoredSurvey | None:
        return await run_in_threadpool(self._store.survey, request.path_params["fingerprint"])


async def _form(request: Request) -> Form | None:
    """The fields of a small urlencoded form; None for anything else."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return None
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_FORM:
            return None
    try:
        fields = parse_qs(body.decode(), max_num_fields=20)
    except ValueError:
        return None
    return {name: values[0] for name, values in fields.items()}


def _same_origin(request: Request) -> bool:
    """Browsers say where a form comes from; a request that says nothing is no browser's."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        # Pages that send no referrer have the origin "null", so the newer header decides where there is one.
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _is_own_form(request: Request, session: Session, form: Form) -> bool:
    return _same_origin(request) and hmac.compare_digest(form.get("csrf", "").encode(), session.csrf.encode())
