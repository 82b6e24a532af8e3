"""The respondent's page: one document with the frozen definition, the script and the style inside."""

from __future__ import annotations

import gzip
import json
import time
from functools import lru_cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tacit.survey.assets import page_scripts
from tacit.survey.quotas import full_quotas
from tacit.survey.store.surveys import StoredSurvey
from tacit.survey.survey_cache import SurveyCache
from tacit.survey.templating import render_template
from tacit.survey.words import RELEASED, page_words, released_words

# Whoever sends between two counts may still be one too many: a quota is met, not guaranteed.
QUOTA_SECONDS = 2.0
GZIPPED = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}


class Site:
    """``GET /s/FINGERPRINT``, and under it the words of other languages, long lists of answers and the quotas that are full."""

    def __init__(self, surveys: SurveyCache) -> None:
        self._surveys = surveys
        self._counted: dict[str, tuple[float, list[int]]] = {}

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/s/{fingerprint}", self.page, methods=["GET"]),
            Route("/s/{fingerprint}/", self.without_slash, methods=["GET"]),
            Route("/s/{fingerprint}/words/{language}", self.words, methods=["GET"]),
            Route("/s/{fingerprint}/full", self.full, methods=["GET"]),
            Route("/s/{fingerprint}/answers/{mark}", self.answers, methods=["GET"]),
        ]

    async def page(self, request: Request) -> Response:
        survey = await self._surveys.fresh(request.path_params["fingerprint"])
        if survey is None:
            return render_template("absent.html", status_code=404)
        classifier = await run_in_threadpool(self._surveys.store.classifier, survey)
        status: dict[str, Any] = {"state": survey.state, "classifier": classifier}
        if "quotas" in survey.definition.document:
            status["full"] = await run_in_threadpool(self._full, survey)
        page = render_template(
            "page.html",
            language=survey.definition.document["languages"][0],
            title=survey.definition.title(),
            definition=inert_json(survey.definition.bare),
            status=inert_json(status),
            words=inert_json(page_words(survey.definition.document)),
            scripts=[script.text for script in page_scripts()],
        )
        return compress_page(page, request)

    async def without_slash(self, request: Request) -> Response:
        """A link that grew a slash on its way."""
        return RedirectResponse(f"/s/{request.path_params['fingerprint']}", status_code=307)

    async def full(self, request: Request) -> Response:
        """Whether the survey is still open and which quotas are full: the page asks, and tells nothing about who asks."""
        survey = await self._surveys.fresh(request.path_params["fingerprint"])
        if survey is None:
            return JSONResponse({"error": "There is no such survey."}, 404)
        has_quotas = "quotas" in survey.definition.document
        numbers = await run_in_threadpool(self._full, survey) if has_quotas else []
        return JSONResponse({"state": survey.state, "full": numbers})

    def _full(self, survey: StoredSurvey) -> list[int]:
        """Which quotas are full, counted at most every few seconds; the page decides for itself whether one is its own."""
        count = self._counted.get(survey.fingerprint)
        if count is None or count[0] <= time.monotonic():
            count = (time.monotonic() + QUOTA_SECONDS, full_quotas(self._surveys.store, survey))
            self._counted[survey.fingerprint] = count
        return count[1]

    async def words(self, request: Request) -> Response:
        """The page's words in another language, fetched when it is chosen; the page knows their hash."""
        language = request.path_params["language"]
        if language not in RELEASED:
            return render_template("absent.html", status_code=404)
        return compress_page(Response(released_words(language), media_type="application/json"), request)

    async def answers(self, request: Request) -> Response:
        """A long list of answers, fetched when its question is near; the definition knows its hash."""
        survey = await self._surveys.survey(request.path_params["fingerprint"])
        text = survey.definition.lists.get(request.path_params["mark"]) if survey is not None else None
        if text is None:
            return render_template("absent.html", status_code=404)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(text, media_type="application/json")
        squeezed = await run_in_threadpool(_squeeze, text.encode())
        return Response(squeezed, headers=GZIPPED, media_type="application/json")


@lru_cache(maxsize=8)
def _squeeze(body: bytes) -> bytes:
    """Compressed once: a page takes a hundredth of a second, a list of 100,000 answers a tenth."""
    return gzip.compress(body, 9, mtime=0)


def compress_page(page: Response, request: Request) -> Response:
    """The page in fewer bytes where the browser can read them; it holds no secret whose length could be probed."""
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return page
    return Response(_squeeze(bytes(page.body)), page.status_code, GZIPPED, media_type=page.headers["content-type"])


def inert_json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
