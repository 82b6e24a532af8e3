"""The day after which a survey's reports are deleted: promised in its definition, kept by the server that serves it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import UTC, date, datetime

from starlette.concurrency import run_in_threadpool

from tacit.errors import TacitError
from tacit.survey.accounts import Accounts
from tacit.survey.store.surveys import Store

LOOKED_EVERY_SECONDS = 60.0


def today() -> date:
    return datetime.now(UTC).date()


def delete_expired(store: Store, now: Callable[[], date] = today) -> list[str]:
    """Delete the reports of every survey whose last day is over; gives the surveys' names."""
    deleted = []
    for survey in store.surveys():
        last = survey.definition.retention
        if last is not None and now() > last and not store.is_emptied(survey):
            store.delete_reports(survey)
            Accounts(store.database).record("(retention)", "deleted the reports", survey.definition.name)
            deleted.append(survey.definition.name)
    return deleted


def look_after(store: Store) -> None:
    """Delete what is over, and empty the log: what is deleted while somebody reads, by anyone, stays there until then."""
    try:
        delete_expired(store)
    finally:
        store.database.forget_log()


async def keep_deleting(store: Store) -> None:
    """Look every minute, for as long as the server runs."""
    while True:
        # A store in trouble now is asked again in a minute.
        with contextlib.suppress(TacitError):
            await run_in_threadpool(look_after, store)
        await asyncio.sleep(LOOKED_EVERY_SECONDS)
