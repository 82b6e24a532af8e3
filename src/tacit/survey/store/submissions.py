"""Storing what arrives: idempotent, durable, unlinkable, many submissions to one commit.

A submission carries a token (a device's or an invitation's) and a report. In one transaction the token's hash joins the
spent ones and the report goes under a fresh random key into a table of its own, both in random order. A repeat is
recognised among the spent and stores nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tacit.errors import TacitError
from tacit.survey.store.database import Database, Row, StoreUnavailable
from tacit.survey.store.surveys import Box, StoredSurvey

LARGEST_BATCH = 512
KEY_BYTES = 16
# How long the first of a batch waits for company. A commit costs much the same for one report as for twenty, and the
# more are shuffled into one, the less its place says about when a report came.
GATHERING_SECONDS = 0.01


class Outcome(Enum):
    """What became of a submission."""

    STORED = "stored"
    REPEATED = "repeated"
    UNKNOWN_CODE = "unknown code"
    CLOSED = "closed"


class Overloaded(TacitError):
    """More submissions wait than can be stored soon; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One report with its ticket."""

    survey: StoredSurvey
    box: Box
    token: str
    values: Row


def token_hash(survey: StoredSurvey, token: str) -> str:
    """How a token is kept: nobody who reads the store can answer with a code that is in it."""
    return hashlib.sha256(f"{survey.fingerprint} {token}".encode()).hexdigest()


def store_batch(database: Database, batch: Sequence[Submission]) -> list[Outcome]:
    """Store what is new in one durable transaction; either all of it or, with an error, none."""
    outcomes: list[Outcome] = [Outcome.REPEATED] * len(batch)
    boxes: dict[tuple[int, Box], list[int]] = {}
    for index, submission in enumerate(batch):
        boxes.setdefault((submission.survey.number, submission.box), []).append(index)
    with database.transaction():
        for (_, box), members in boxes.items():
            _store_box(database, batch[members[0]].survey, box, [(index, batch[index]) for index in members], outcomes)
    return outcomes


def _store_box(
    database: Database, survey: StoredSurvey, box: Box, members: list[tuple[int, Submission]], outcomes: list[Outcome]
) -> None:
    if not _accepts(database, survey, box):
        for index, _ in members:
            outcomes[index] = Outcome.CLOSED
        return
    # Of two submissions with one token in a batch the first is stored.
    first: dict[str, tuple[int, Submission]] = {}
    for index, submission in members:
        first.setdefault(submission.token, (index, submission))
    tokens = sorted(first)
    if box == "reports" and survey.definition.needs_codes:
        tokens = _issued(database, survey, tokens)
        for index, submission in members:
            if submission.token not in tokens:
                outcomes[index] = Outcome.UNKNOWN_CODE
    fresh = _spend(database, f"{box} {survey.number}", tokens)
    for token in fresh:
        outcomes[first[token][0]] = Outcome.STORED
    keys = os.urandom(KEY_BYTES * len(fresh)).hex()
    width = 2 * KEY_BYTES
    rows = [(keys[at * width : (at + 1) * width], *first[token][1].values) for at, token in enumerate(fresh)]
    # Tokens go in by their hashes and reports by their random keys: neither order says anything about the other.
    database.insert(survey.table(box), ("report_key", *survey.columns(box)), sorted(rows))


def _accepts(database: Database, survey: StoredSurvey, box: Box) -> bool:
    ((state,),) = database.rows("SELECT state FROM tacit_surveys WHERE number = ?", (survey.number,))
    if box == "second":
        # A second round often begins when the first is over.
        return bool(database.rows("SELECT 1 FROM tacit_classifiers WHERE survey = ?", (survey.number,)))
    return state == "open" or (box == "tests" and state == "draft")


def _issued(database: Database, survey: StoredSurvey, tokens: list[str]) -> list[str]:
    statement = f"SELECT token FROM tacit_codes WHERE survey = ? AND token IN ({database.each})"
    return sorted(token for (token,) in database.rows(statement, (survey.number, database.listed(tokens))))


def _spend(database: Database, box: str, tokens: list[str]) -> list[str]:
    """Those of `tokens` that were not spent before; now all are. Sorted, so that two servers cannot block each other."""
    if not tokens:
        return []
    statement = (
        f"INSERT INTO tacit_spent (box, token) SELECT ?, t.* FROM ({database.each}) AS t WHERE true "
        "ON CONFLICT DO NOTHING RETURNING token"
    )
    return [token for (token,) in database.rows(statement, (box, database.listed(tokens)))]


Waiting = tuple[Submission, "asyncio.Future[Outcome]"]


class Writer:
    """The one thread that writes: whatever waits while a commit is under way goes into the next."""

    def __init__(self, database: Database, *, most_waiting: int = 300) -> None:
        self._database = database
        self._most_waiting = most_waiting
        self._waiting: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="survey-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._waiting.qsize()

    @property
    def is_full(self) -> bool:
        return self.waiting >= self._most_waiting

    async def put(self, submission: Submission) -> Outcome:
        """The outcome, once it is durable."""
        if self.is_full:
            raise Overloaded("The survey is receiving more answers than it can store right now. Please try again soon.")
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.put((submission, future))
        return await future

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
        outcomes: Sequence[Outcome | Exception]
        try:
            outcomes = store_batch(self._database, [submission for submission, _ in batch])
        except StoreUnavailable as error:
            outcomes = [error] * len(batch)
        except Exception as error:  # the thread must survive whatever it was: everyone after would wait for ever
            outcomes = [StoreUnavailable(f"The reports could not be stored: {type(error).__name__}.")] * len(batch)
        # One wake-up of the event loop for the whole batch.
        batch[0][1].get_loop().call_soon_threadsafe(_settle, batch, outcomes)


def _settle(batch: list[Waiting], outcomes: Sequence[Outcome | Exception]) -> None:
    for (_, future), outcome in zip(batch, outcomes, strict=True):
        if future.done():
            continue
        if isinstance(outcome, Outcome):
            future.set_result(outcome)
        else:
            future.set_exception(outcome)
