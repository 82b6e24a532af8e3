"""Storing what arrives: idempotent, durable, many submissions to one commit.

A submission carries a token, drawn by the device, and a report, which is stored under the token's hash. The same report
under the same token is a repeat and stores nothing; another report under it is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from tacit.errors import TacitError
from tacit.schema import PANEL
from tacit.survey.store.database import Database, Row, StoreUnavailable, quote_name
from tacit.survey.store.surveys import Box, StoredSurvey

LARGEST_BATCH = 512
# How long the first of a batch waits for company. A commit costs much the same for one report as for twenty, and the
# more are shuffled into one, the less its place says about when a report came.
GATHERING_SECONDS = 0.01
# So many open texts are written anew whenever one comes, so that no place in the file shows an order. Among more of them
# the few that share a page say next to nothing about it.
TEXTS_REWRITTEN = 2_000
# While a survey is open, what people wrote to a question is handed out so many at a time, frozen: whoever looked at the reports
# and the texts after every single report would know which text came with which.
TEXTS_AT_ONCE = 10
TEXT_COLUMNS = ("text_key", "box", "question", "content")


class SubmissionOutcome(Enum):
    """What became of a submission."""

    STORED = "stored"
    REPEATED = "repeated"
    DIFFERENT = "different"
    WITHDRAWN = "withdrawn"
    CLOSED = "closed"
    TWICE = "twice"  # another report of this wave came under the same mark of a panel


class Overloaded(TacitError):
    """More submissions wait than can be stored soon; nothing was stored."""


class Submission(NamedTuple):
    """One report under the hash of its token; `receipt` is the hash of what can withdraw it.

    `texts` are open texts with their keys and questions; they are stored apart.
    """

    survey: StoredSurvey
    box: Box
    token: str
    values: Row
    receipt: str | None = None
    texts: tuple[tuple[str, str, str], ...] = ()


def token_hash(survey: StoredSurvey, token: str) -> str:
    """How a token or a code is kept: nobody who reads the store can answer with what is in it."""
    return hashlib.sha256(f"{survey.fingerprint} {token}".encode()).hexdigest()


def text_key(key: str, question: str) -> str:
    """Under what an open text is kept: it follows from the receipt alone, which the store does not have."""
    return hashlib.sha256(f"{key} {question}".encode()).hexdigest()


def store_batch(database: Database, batch: Sequence[Submission]) -> list[SubmissionOutcome]:
    """Store what is new in one durable transaction; either all of it or, with an error, none."""
    outcomes: list[SubmissionOutcome] = [SubmissionOutcome.REPEATED] * len(batch)
    boxes: dict[tuple[int, Box], list[int]] = {}
    for index, submission in enumerate(batch):
        boxes.setdefault((submission.survey.number, submission.box), []).append(index)
    with database.transaction():
        for (_, box), members in boxes.items():
            _store_box(database, batch[members[0]].survey, box, [(index, batch[index]) for index in members], outcomes)
    return outcomes


def _store_box(
    database: Database,
    survey: StoredSurvey,
    box: Box,
    members: list[tuple[int, Submission]],
    outcomes: list[SubmissionOutcome],
) -> None:
    if not _accepts(database, survey, box):
        for index, _ in members:
            outcomes[index] = SubmissionOutcome.CLOSED
        return
    # Of two submissions with one token in a batch the first is stored.
    first: dict[str, tuple[int, Submission]] = {}
    for index, submission in members:
        first.setdefault(submission.token, (index, submission))
    withdrawn = _among(database, "SELECT token FROM tacit_withdrawn WHERE token", list(first))
    # In the order of the hashes: it says nothing about the order of arrival, and two servers cannot block each other.
    columns = ("report_key", *survey.columns(box))
    twice = _marks_sent_twice(database, survey, box, first) if PANEL in columns else set()
    gone = withdrawn | twice
    rows = sorted((token, *submission.values) for token, (_, submission) in first.items() if token not in gone)
    fresh = database.insert_new(survey.table(box), columns, rows)
    new = [submission for token, (_, submission) in first.items() if token in fresh]
    _keep_receipts(database, f"{box} {survey.number}", new)
    if texts := sorted(
        (key, f"{box} {survey.number}", name, text) for submission in new for key, name, text in submission.texts
    ):
        _hold_texts(database, texts)
    stored = {row[0]: row[1:] for row in rows if row[0] in fresh} | _stored_tokens(
        database, survey, box, set(first) - fresh
    )
    for index, submission in members:
        if submission.token in fresh and first[submission.token][0] == index:
            outcomes[index] = SubmissionOutcome.STORED
        elif submission.token in withdrawn:
            outcomes[index] = SubmissionOutcome.WITHDRAWN
        elif submission.token in twice:
            outcomes[index] = SubmissionOutcome.TWICE
        elif tuple(submission.values) != stored.get(submission.token):
            outcomes[index] = SubmissionOutcome.DIFFERENT


def _marks_sent_twice(
    database: Database, survey: StoredSurvey, box: Box, submissions: Mapping[str, tuple[int, Submission]]
) -> set[str]:
    """The tokens of a panel's reports whose mark came with another report of the wave, earlier or in this batch."""
    marks = {token: str(submission.values[-1]) for token, (_, submission) in submissions.items()}
    statement = f"SELECT {PANEL}, report_key FROM {survey.table(box)} WHERE {PANEL} IN ({database.each})"
    owners = {str(mark): str(key) for mark, key in database.rows(statement, (database.listed(sorted(marks.values())),))}
    for token, mark in marks.items():
        owners.setdefault(mark, token)
    return {token for token, mark in marks.items() if owners[mark] != token}


def _hold_texts(database: Database, texts: list[Row]) -> None:
    """Keep open texts back until those to one question, of different people, are enough to be handed out together."""
    database.insert_new("tacit_held_texts", TEXT_COLUMNS, texts)
    for box, question in sorted({(row[1], row[2]) for row in texts}):
        where = "WHERE box = ? AND question = ?"
        held = database.rows(f"SELECT {', '.join(TEXT_COLUMNS)} FROM tacit_held_texts {where}", (box, question))
        if len(held) >= TEXTS_AT_ONCE:
            database.insert_new("tacit_texts", TEXT_COLUMNS, sorted(held))
            database.run(f"DELETE FROM tacit_held_texts {where}", (box, question))
            database.rewrite("tacit_texts", TEXTS_REWRITTEN)
    database.rewrite("tacit_held_texts", TEXTS_REWRITTEN)


def _keep_receipts(database: Database, box: str, submissions: list[Submission]) -> None:
    if rows := sorted(
        (submission.receipt, box, submission.token) for submission in submissions if submission.receipt is not None
    ):
        database.insert_new("tacit_receipts", ("receipt", "box", "report_key"), rows)


def _stored_tokens(database: Database, survey: StoredSurvey, box: Box, tokens: set[str]) -> dict[str, Row]:
    """The reports that are there already under these tokens."""
    if not tokens:
        return {}
    names = ", ".join(map(quote_name, ("report_key", *survey.columns(box))))
    statement = f"SELECT {names} FROM {survey.table(box)} WHERE report_key IN ({database.each})"
    return {row[0]: tuple(row[1:]) for row in database.rows(statement, (database.listed(sorted(tokens)),))}


def _among(database: Database, question: str, texts: list[str]) -> set[str]:
    return {text for (text,) in database.rows(f"{question} IN ({database.each})", (database.listed(texts),))}


def _accepts(database: Database, survey: StoredSurvey, box: Box) -> bool:
    states = database.rows("SELECT state FROM tacit_surveys WHERE number = ?", (survey.number,))
    if not states:  # deleted meanwhile
        return False
    ((state,),) = states
    if box == "second":
        # A second round often begins when the first is over.
        return bool(database.rows("SELECT 1 FROM tacit_classifiers WHERE survey = ?", (survey.number,)))
    return state == "open" or (box == "tests" and state == "draft")


Settle = Callable[[SubmissionOutcome | Exception], None]
Waiting = tuple[Submission, Settle, asyncio.AbstractEventLoop]


class Writer:
    """The one thread that writes: whatever waits while a commit is under way goes into the next."""

    def __init__(self, database: Database, *, most_waiting: int = 2_000) -> None:
        self._database = database
        self._most_waiting = most_waiting
        self._log_joins_texts = False  # with the reports they came with
        self._waiting: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="survey-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._waiting.qsize()

    @property
    def is_full(self) -> bool:
        return self.waiting >= self._most_waiting

    def add(self, submission: Submission, settle: Settle) -> None:
        """Store it soon; `settle` is called in the running event loop with the outcome, once that is durable."""
        if self.is_full:
            raise Overloaded("The survey is receiving more answers than it can store right now. Please try again soon.")
        self._waiting.put((submission, settle, asyncio.get_running_loop()))

    async def put(self, submission: Submission) -> SubmissionOutcome:
        """The outcome, once it is durable."""
        future: asyncio.Future[SubmissionOutcome | Exception] = asyncio.get_running_loop().create_future()
        self.add(submission, lambda outcome: None if future.done() else future.set_result(outcome))
        outcome = await future
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self) -> None:
        """Store what waits, then stop."""
        self._waiting.put(None)
        self._thread.join()
        self._database.close()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, is_last = self._gather(first)
            self._deliver(batch)
            if is_last:
                return

    def _gather(self, first: Waiting) -> tuple[list[Waiting], bool]:
        batch = [first]
        if self.waiting < LARGEST_BATCH // 8:
            time.sleep(GATHERING_SECONDS)
        while len(batch) < LARGEST_BATCH:
            try:
                item = self._waiting.get_nowait()
            except queue.Empty:
                break
            if item is None:
                return batch, True
            batch.append(item)
        return batch, False

    def _deliver(self, batch: list[Waiting]) -> None:
        outcomes: Sequence[SubmissionOutcome | Exception]
        try:
            outcomes = store_batch(self._database, [submission for submission, _, _ in batch])
        except StoreUnavailable as error:
            outcomes = [error] * len(batch)
        except Exception as error:  # the thread must survive whatever it was: everyone after would wait for ever
            outcomes = [StoreUnavailable(f"The reports could not be stored: {type(error).__name__}.")] * len(batch)
        # One wake-up of the event loop for the whole batch.
        batch[0][2].call_soon_threadsafe(_settle, batch, outcomes)
        self._part_texts([submission for submission, _, _ in batch])

    def _part_texts(self, batch: list[Submission]) -> None:
        """Nothing that is kept joins a text with its report; while somebody reads, the log is left to the next batch."""
        self._log_joins_texts |= any(submission.texts for submission in batch)
        if self._log_joins_texts:
            with contextlib.suppress(StoreUnavailable):  # all is stored; a full disk is told to the next
                self._log_joins_texts = not self._database.forget_log()


def _settle(batch: list[Waiting], outcomes: Sequence[SubmissionOutcome | Exception]) -> None:
    for (_, settle, loop), outcome in zip(batch, outcomes, strict=True):
        try:
            settle(outcome)
        except Exception as error:  # the others of the batch are told all the same
            loop.call_exception_handler(
                {"message": "A report was stored, but its sender not told.", "exception": error}
            )
