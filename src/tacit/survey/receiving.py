"""The one request that carries a report: an idempotent PUT, kept lean because everybody sends it at once."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from starlette.types import Receive, Scope, Send

from tacit.errors import InvalidInput
from tacit.survey import limits
from tacit.survey.alarms import Arrivals
from tacit.survey.headers import ServerSettings, client_address, is_known_host, origin
from tacit.survey.issuing import unbase64
from tacit.survey.limits import JsonReply, RateLimit, Refused
from tacit.survey.series import PANEL_DIGITS
from tacit.survey.store.database import StoreUnavailable, reason_for_clients
from tacit.survey.store.submissions import Overloaded, Submission, SubmissionOutcome, Writer, text_key, token_hash
from tacit.survey.store.surveys import BOXES, Box, StoredSurvey
from tacit.survey.survey_cache import SurveyCache
from tacit.survey.wire import InvalidReport

_ANSWERS = {
    SubmissionOutcome.STORED: JsonReply(201, {"outcome": "stored"}),
    SubmissionOutcome.REPEATED: JsonReply(200, {"outcome": "repeated"}),
    SubmissionOutcome.CLOSED: JsonReply(409, {"error": "This survey is not open.", "reason": "closed"}),
    SubmissionOutcome.DIFFERENT: JsonReply(
        409,
        {
            "error": "Another report has already been sent from here; it stays, and this one was not counted.",
            "reason": "different",
        },
    ),
    SubmissionOutcome.TWICE: JsonReply(
        409,
        {
            "error": "A report with this mark of the panel has already been sent in this wave; this one was not counted.",
            "reason": "different",
        },
    ),
    SubmissionOutcome.WITHDRAWN: JsonReply(
        409,
        {"error": "The report sent from here was withdrawn; this one was not counted.", "reason": "withdrawn"},
    ),
}
# What a submission can be refused with; anything else is a fault of ours.
_REFUSALS = (Refused, InvalidReport, Overloaded, StoreUnavailable)
_FIELDS = {"report", "receipt", "signature", "texts", "panel"}
_SECOND_FIELDS = {"report", "signature", "bearer"}
_HEX = frozenset("0123456789abcdef")
_ADDRESS = re.compile(f"/s/([0-9a-f]{{32}})/({'|'.join(BOXES)})/([0-9a-f]{{64}})")

# A survey, which of its boxes, and the token.
Place = tuple[StoredSurvey, Box, str]


class Receiving:
    """``PUT /s/FINGERPRINT/reports|tests/TOKEN``: 201 stored, 200 known already, 409 another one is there, 503 try again."""

    def __init__(self, surveys: SurveyCache, writer: Writer, settings: ServerSettings) -> None:
        self._surveys = surveys
        self._writer = writer
        self._settings = settings
        self._limit = RateLimit(settings.rate, settings.burst)
        self.answers: Counter[int] = Counter()
        self.arrivals = Arrivals()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._admit(scope)
            place = await self._place(scope["path"])
            limits.refuse_other_types(scope, "A report")
            submission = _submission(place, await limits.limited_body(scope, receive, "A report"))
            settled = self._settle_submission(submission, await self._writer.put(submission))
        except _REFUSALS as refusal:
            settled = self._refusal(refusal)
        await limits.answer(send, settled.status, settled.content)

    def known(self, path: str) -> Place | None:
        """Where a report goes, if the server has read the survey already."""
        if (address := _address(path)) is None:
            return None
        fingerprint, box, token = address
        survey = self._surveys.known(fingerprint)
        return None if survey is None else (survey, box, token)

    def take(self, scope: Scope, place: Place, body: bytes, reply: Callable[[JsonReply], None]) -> None:
        """Take a report whose body has arrived whole, without a task: `reply` is called once, now or when it is stored."""
        try:
            self._admit(scope)
            limits.refuse_other_types(scope, "A report")
            limits.refuse_large(len(body), "A report")
            submission = _submission(place, body)
            self._writer.add(submission, lambda outcome: reply(self._settle_submission(submission, outcome)))
        except _REFUSALS as refusal:
            reply(self._refusal(refusal))

    def _settle_submission(self, submission: Submission, outcome: SubmissionOutcome | Exception) -> JsonReply:
        if isinstance(outcome, Exception):
            return self._refusal(outcome)
        if outcome is SubmissionOutcome.STORED and submission.box == "reports":
            self.arrivals.note(submission.survey.fingerprint)
        settled = _ANSWERS[outcome]
        self.answers[settled.status] += 1
        return settled

    def _refusal(self, refusal: Exception) -> JsonReply:
        if isinstance(refusal, Refused):
            refused = JsonReply(refusal.status, refusal.content)
        else:
            status = 400 if isinstance(refusal, InvalidReport) else 503
            refused = JsonReply(status, {"error": reason_for_clients(refusal)})
        self.answers[refused.status] += 1
        return refused

    async def _place(self, path: str) -> Place:
        if (address := _address(path)) is None:
            raise Refused(404, "Nothing can be put here.")
        fingerprint, box, token = address
        survey = await self._surveys.survey(fingerprint)
        if survey is None:
            raise Refused(404, "There is no such survey.")
        return survey, box, token

    def _admit(self, scope: Scope) -> None:
        if not is_known_host(scope, self._settings):
            raise Refused(400, "This server does not answer for that host.")
        if self._writer.is_full:
            raise Overloaded("The survey is receiving more answers than it can store right now. Please try again soon.")
        if self._settings.rate > 0 and not self._limit.allows(origin(client_address(scope, self._settings))):
            raise Refused(429, "Too many reports from one address. Please try again in a minute.")


def _address(path: str) -> tuple[str, Box, str] | None:
    """The fingerprint, the box and the token that a path names; None for any other path."""
    if (named := _ADDRESS.fullmatch(path)) is None:
        return None
    fingerprint, box, token = named.groups()
    return fingerprint, cast("Box", box), token


def _submission(place: Place, body: bytes) -> Submission:
    survey, box, token = place
    content = limits.parsed_object(body, "A report")
    text = _text(content, _SECOND_FIELDS if box == "second" else _FIELDS)
    # While a survey is drafted there are no codes yet. Only tests are taken then: what counts always needs a signature,
    # because the state that the server remembers may be an old one.
    if survey.definition.needs_codes and not (box == "tests" and survey.state == "draft"):
        _check_signature(survey, _bearer(content, token) if box == "second" else token, content.get("signature"))
    values = _bit(text) if box == "second" else (*survey.wire.decode(text), *_mark(survey, content.get("panel")))
    texts = _texts(survey, content["texts"]) if "texts" in content else ()
    return Submission(survey, box, token_hash(survey, token), values, _hash(content.get("receipt")), texts)


def _text(content: dict[str, Any], fields: set[str]) -> str:
    if not content.keys() <= fields or not isinstance(content.get("report"), str):
        raise Refused(
            400,
            'A report is sent as {"report": TEXT}, with "signature" where codes are needed, "panel" in a panel, "receipt" and '
            '"texts".',
        )
    return content["report"]


def _bearer(content: dict[str, Any], token: str) -> str:
    """The token that a report was sent under: the one of the second round is made of it, so that one code gives one bit."""
    bearer = content.get("bearer")
    is_token = isinstance(bearer, str) and len(bearer) == 64 and _HEX.issuperset(bearer)
    if not is_token or hashlib.sha256(f"second {bearer}".encode()).hexdigest() != token:
        raise Refused(403, "This bit needs the token that an invitation code bought for a report.", "token")
    return str(bearer)


def _check_signature(survey: StoredSurvey, token: str, signature: Any) -> None:
    """A token counts only if an invitation code bought it."""
    try:
        is_bought = (
            survey.verifier is not None
            and isinstance(signature, str)
            and survey.verifier.is_signed(bytes.fromhex(token), unbase64(signature))
        )
    except InvalidInput:
        is_bought = False
    if not is_bought:
        raise Refused(403, "This report needs an invitation code: its token was not signed for this survey.", "token")


def _hash(receipt: Any) -> str | None:
    """The hash of what can withdraw the report."""
    if receipt is None:
        return None
    if not isinstance(receipt, str) or len(receipt) != 64 or not _HEX.issuperset(receipt):
        raise Refused(400, "A receipt's hash is sent as 64 digits of 0-9 and a-f.")
    return receipt


def _mark(survey: StoredSurvey, mark: Any) -> tuple[str, ...]:
    """The mark of whoever sends a report of a panel; nothing in any other survey."""
    if not survey.definition.is_panel:
        if mark is not None:
            raise Refused(400, 'This survey is no panel: its reports are sent without "panel".')
        return ()
    if not isinstance(mark, str) or len(mark) != PANEL_DIGITS or not _HEX.issuperset(mark):
        raise Refused(400, f'A report of a panel is sent with "panel": {PANEL_DIGITS} digits of 0-9 and a-f.')
    return (mark,)


def _texts(survey: StoredSurvey, texts: Any) -> tuple[tuple[str, str, str], ...]:
    """Open texts with the keys under which they are kept."""
    longest = {question["name"]: question["longest"] for question in survey.definition.text_questions}
    if not isinstance(texts, dict) or set(texts) != {"key", "answers"} or not isinstance(texts["answers"], dict):
        raise Refused(400, 'Open texts are sent as {"key": HASH, "answers": {QUESTION: TEXT}}.')
    key = _hash(texts["key"])
    for name, text in texts["answers"].items():
        if key is None or name not in longest or not _is_storable(text) or len(text) > longest[name]:
            raise Refused(400, f"{name!r} is no open text of this survey, or is too long.")
    return tuple((text_key(str(key), name), name, text) for name, text in texts["answers"].items())


def _is_storable(text: Any) -> bool:
    """Whether every database takes it: neither half a character, which JSON can write, nor a character that ends a text."""
    return (
        isinstance(text, str)
        and text != ""
        and not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)
    )


def _bit(text: str) -> tuple[int]:
    if text not in ("00", "01"):
        raise InvalidReport("The second round sends 00 or 01.")
    return (int(text),)
