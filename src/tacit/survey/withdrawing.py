"""Taking a report back: ``POST /s/FINGERPRINT/withdrawals`` with the receipt that its device drew."""

from __future__ import annotations

import hashlib

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tacit.survey.headers import ServerSettings, client_address, origin
from tacit.survey.limits import RateLimit, Refused, json_object
from tacit.survey.store.database import StoreUnavailable, reason_for_clients
from tacit.survey.store.submissions import text_key
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.survey.survey_cache import SurveyCache

RECEIPT_DIGITS = 20
_HEX = frozenset("0123456789abcdef")


class Withdrawing:
    """A receipt deletes the one report it was sent with, while the survey is open."""

    def __init__(self, surveys: SurveyCache, store: Store, settings: ServerSettings) -> None:
        self._surveys = surveys
        self._store = store
        self._settings = settings
        self._limit = RateLimit(rate=0.5, burst=20)

    @property
    def routes(self) -> list[Route]:
        return [Route("/s/{fingerprint}/withdrawals", self.withdraw, methods=["POST"])]

    async def withdraw(self, request: Request) -> Response:
        try:
            survey, receipt = await self._read_request(request)
            texts = [text_key(texts_hash(receipt), question["name"]) for question in survey.definition.text_questions]
            if not await run_in_threadpool(self._store.withdraw, survey, receipt_hash(receipt), texts):
                raise Refused(404, "There is no report with this receipt in this survey.")
        except Refused as refused:
            close = {"Connection": "close"} if refused.status in (408, 413) else {}
            return JSONResponse(refused.content, refused.status, close)
        except StoreUnavailable as error:
            return JSONResponse({"error": reason_for_clients(error)}, 503, {"Retry-After": "2"})
        return JSONResponse({"outcome": "withdrawn"})

    async def _read_request(self, request: Request) -> tuple[StoredSurvey, str]:
        if not self._limit.allows(origin(client_address(request.scope, self._settings))):
            raise Refused(429, "Too many withdrawals from one address. Please try again in a minute.")
        survey = await self._surveys.fresh(request.path_params["fingerprint"])
        if survey is None:
            raise Refused(404, "There is no such survey.")
        if survey.state != "open":
            raise Refused(409, "This survey is not open: what was estimated from it cannot be taken back.", "closed")
        content = await json_object(request.scope, request.receive, "A receipt")
        receipt = content.get("receipt")
        if set(content) != {"receipt"} or not isinstance(receipt, str) or len(receipt) != RECEIPT_DIGITS:
            raise Refused(400, f'A receipt is sent as {{"receipt": {RECEIPT_DIGITS} DIGITS}} and nothing else.')
        if not _HEX.issuperset(receipt):
            raise Refused(400, "A receipt has the digits 0-9 and a-f.")
        return survey, receipt


def texts_hash(receipt: str) -> str:
    """What the page sends with open texts; only who has the receipt can find them again."""
    return hashlib.sha256(f"texts {receipt}".encode()).hexdigest()


def receipt_hash(receipt: str) -> str:
    """What the page sent with the report, and the store keeps: who reads it cannot withdraw."""
    return hashlib.sha256(f"receipt {receipt}".encode()).hexdigest()
