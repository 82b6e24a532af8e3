"""Signs of made-up reports: many within minutes, and the same report more often than its disguise can bring about.

The store holds no times. Arrivals are counted in the memory of the running server only, ten minutes at a time, and forgotten
after a day or with the server.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.scheme import Group, Questionnaire
from tacit.count.abilities import distinct_rows
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources
from tacit.errors import TacitError
from tacit.survey.answer_tables import FEWEST_IN_CELL

BUCKET_SECONDS = 600.0
KEPT_BUCKETS = 144  # a day
# An hour must have passed before anything is unusual, and less than so many at once alarm nobody.
FEWEST_BUCKETS = 6
FEWEST_AT_ONCE = 30
TIMES_THE_USUAL = 10.0
# How often an honest survey is accused of copies, at most.
FALSE_ALARM = 1e-6

Typed = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class Burst:
    """The busiest ten minutes of the last day, and how many reports came in the others on average."""

    reports: int
    usual: float

    def __str__(self) -> str:
        return (
            f"Within ten minutes {self.reports:,} reports came; {self.usual:,.1f} are usual. Invitations that were just sent "
            "explain it; otherwise somebody may be sending made-up reports."
        )


class Arrivals:
    """How many reports of each survey came in each ten minutes of the last day; no report has a time of its own."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[str, dict[int, int]] = {}
        self._first: dict[str, int] = {}

    def note(self, fingerprint: str) -> None:
        bucket = int(self._clock() / BUCKET_SECONDS)
        counts = self._counts.setdefault(fingerprint, {})
        if bucket in counts:
            counts[bucket] += 1
            return
        counts[bucket] = 1
        self._first.setdefault(fingerprint, bucket)
        for old in [suspect for suspect in counts if suspect <= bucket - KEPT_BUCKETS]:
            del counts[old]

    def burst(self, fingerprint: str) -> Burst | None:
        """The busiest ten minutes, where they held far more than the others; None where nothing is unusual."""
        counts = self._counts.get(fingerprint, {})
        now = int(self._clock() / BUCKET_SECONDS)
        first = max(self._first.get(fingerprint, now), now - KEPT_BUCKETS + 1)
        within = [counts.get(bucket, 0) for bucket in range(first, now + 1)]
        if len(within) < FEWEST_BUCKETS:
            return None
        most = max(within)
        usual = (sum(within) - most) / (len(within) - 1)
        return Burst(most, usual) if most >= max(FEWEST_AT_ONCE, TIMES_THE_USUAL * usual) else None


@dataclass(frozen=True)
class Copies:
    """The report that came most often for its disguise; `p` bounds the chance of any such in an honest survey."""

    times: int
    among: int
    p: float

    def __str__(self) -> str:
        came, p = f"{self.times:,} times among {self.among:,}", max(self.p, 1e-300)
        if self.among < FEWEST_IN_CELL:  # how few people share these public answers, nobody is told elsewhere either
            came, p = f"several times among fewer than {FEWEST_IN_CELL}", FALSE_ALARM
        return (
            f"The same whole report came {came} with the same public answers. Chance on honest devices brings that about "
            f"with p < {p:.1g}, whatever people answer: somebody sends copies."
        )


def copies(reports: ReportSource, typed: Typed = lambda version: frozenset()) -> Copies | None:
    """The most telling copy, if an honest survey would hardly ever hold it.

    `typed` names the attributes that people of a version disguise themselves: what they enter has no law that holds.

    Whatever is true of a person, each report has at most the chance `largest_chance`. Among n people with the same public
    answers, the expected number of different reports that come k times or more is at most P(Bin(n, c) >= k) / c, where k is at
    least twice what n * c lets expect; added over all public answers this bounds the chance of a false alarm.
    """
    each = [suspect for source in sources(reports) for suspect in _suspects(source, typed(source.questionnaire.name))]
    worst = min(each, key=lambda one: one.p, default=None)
    return worst if worst is not None and worst.p < FALSE_ALARM else None


def _suspects(source: Source, typed: frozenset[str]) -> Iterator[Copies]:
    questionnaire = source.questionnaire
    chance = largest_chance(questionnaire, typed)
    if chance >= 0.5 or source.engine.n_rows < 3:
        return
    try:
        rows, counts = distinct_rows(
            source.engine, [attribute.name for attribute in questionnaire.report_schema.attributes]
        )
    except TacitError:  # sets that are stored elsewhere cannot be listed
        return
    cell = _cells([rows[name.name] for name in questionnaire.public], len(counts))
    people = np.bincount(cell, counts)
    most = np.zeros(len(people))
    np.maximum.at(most, cell, counts)
    for n, k in zip(people, most, strict=True):
        p = _at_most(int(n), int(k), chance) * len(people)
        if p < 1:
            yield Copies(int(k), int(n), p)


def _cells(public: list[NDArray[np.integer]], n: int) -> NDArray[np.intp]:
    """A number for each combination of public answers."""
    if not public:
        return np.zeros(n, dtype=np.intp)
    _, inverse = np.unique(np.stack(public, axis=1), axis=0, return_inverse=True)
    return inverse.reshape(-1).astype(np.intp)


def _at_most(n: int, k: int, chance: float) -> float:
    """A bound on the expected number of different reports that come `k` times or more among `n`."""
    from scipy.stats import binom

    rest = (n - k) * chance / ((k + 1) * (1 - chance))
    if k < 2 or rest > 0.5:  # so many are no surprise
        return math.inf
    return float(binom.sf(k - 1, n, chance)) / chance


def largest_chance(questionnaire: Questionnaire, typed: frozenset[str] = frozenset()) -> float:
    """The largest chance that any whole report has, whatever is true."""
    return math.prod(_largest(group) for group in questionnaire.groups if not typed & set(group.names))


def _largest(group: Group) -> float:
    return float(group.channel.matrix.max()) if group.channel.is_small else 1.0
