"""Work that can wait, beside people who answer: it takes what they leave of the processor."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tacit.survey.store.database import Row
from tacit.survey.store.surveys import Store, StoredSurvey

T = TypeVar("T")

# By the kernel's weights, about a tenth of a processor where all of it is wanted. With the lowest priority of all an export
# would not end on a busy machine, and meanwhile the database's log would grow.
LOW_PRIORITY = 10
# In the server's own process a priority does not help, because whoever works holds the interpreter. So a download rests three
# times as long as it worked. The bound is for a busy machine and a slow client, whose time counts as work.
RESTS = 3.0
LONGEST_REST_SECONDS = 0.02


def at_low_priority(work: Callable[[], T]) -> T:
    """Do it in a thread that gives way to other processes; where the system knows such threads, nothing of it stays."""

    def give_way() -> None:
        if hasattr(os, "nice"):
            os.nice(LOW_PRIORITY)

    with ThreadPoolExecutor(1, thread_name_prefix="unhurried", initializer=give_way) as thread:
        return thread.submit(work).result()


class UnhurriedStore(Store):
    """The same store, read with rests in between."""

    def rows(self, survey: StoredSurvey, names: Sequence[str] | None = None) -> Iterator[list[Row]]:
        begun = time.monotonic()
        for batch in super().rows(survey, names):
            yield batch
            time.sleep(min(RESTS * (time.monotonic() - begun), LONGEST_REST_SECONDS))
            begun = time.monotonic()
