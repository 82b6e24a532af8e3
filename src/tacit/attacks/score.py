"""Right guesses, as the guesser expects them and, with the truth, as they are counted; batch by batch.

Beside them the guesses of someone who has no reports: only what is guessed beyond these is learned from the reports.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.attacks.guess import Guesses, coins_told, guesses
from tacit.attacks.result import CoinShare, Share, Shares
from tacit.channel.codes import Array, Codes
from tacit.channel.scheme import Questionnaire
from tacit.count.sources import ReportSource, sources
from tacit.joint.evidence import Known, WholeReports, distinct_rows, laid_out, unseen
from tacit.joint.numbering import distinct
from tacit.joint.selection import RecordModel
from tacit.reports import Reports
from tacit.schema import Schema
from tacit.table import Table

# Distinct reports that are guessed at a time.
BATCH_ROWS = 1 << 13


@dataclass(frozen=True, eq=False)
class Batch:
    """Distinct reports (and truths, where they are at hand) with what the guesser knows of the people anyway."""

    part: WholeReports
    known: Known
    anyway: Known  # public and known answers, for who does not look at the rest of the report
    truth: list[NDArray[np.intp]] | None


@dataclass(eq=False)
class RightSoFar:
    """People guessed right so far: with and without the reports."""

    people: float = 0.0
    records: Array = field(default_factory=lambda: np.zeros(2))
    answers: dict[str, Array] = field(default_factory=lambda: defaultdict(lambda: np.zeros(2)))
    # For each group: people, those whose coin is guessed right, and those whose report shows the truth.
    coins: dict[tuple[str, tuple[str, ...]], Array] = field(default_factory=lambda: defaultdict(lambda: np.zeros(3)))


@dataclass(frozen=True)
class GuessTarget:
    """What is guessed: the scheme's attributes, those that are private and not known, and those known."""

    schema: Schema
    guessed: tuple[str, ...]
    known: tuple[str, ...]

    def place(self, name: str) -> int:
        return self.schema.names.index(name)

    @property
    def places(self) -> list[int]:
        return [self.place(name) for name in self.guessed]


def batches_of(reports: ReportSource, target: GuessTarget) -> Iterator[Batch]:
    """Distinct reports, wherever they are stored, without the truth."""
    for source in sources(reports):
        table, counts = distinct_rows(source)
        for start in range(0, len(counts), BATCH_ROWS):
            rows = slice(start, start + BATCH_ROWS)
            yield _batch(source.questionnaire, table.rows(rows), counts[rows].astype(np.float64), None, target)


def batches_with(reports: Reports, truth: Table, target: GuessTarget) -> Iterator[Batch]:
    """Distinct pairs of a report and the truth behind it."""
    questionnaire, table = next(iter(reports))
    columns = [table[name] for name in table.schema.names] + [truth[name] for name in target.schema.names]
    first, kind = distinct(columns)
    counts = np.bincount(kind, minlength=len(first)).astype(np.float64)
    for start in range(0, len(first), BATCH_ROWS):
        rows = first[start : start + BATCH_ROWS]
        yield _batch(questionnaire, table.rows(rows), counts[start : start + BATCH_ROWS], truth.rows(rows), target)


def _batch(
    questionnaire: Questionnaire, table: Table, counts: Array, truth: Table | None, target: GuessTarget
) -> Batch:
    part = laid_out(questionnaire, target.schema, table, counts)
    record = None if truth is None else [truth[name].astype(np.intp) for name in target.schema.names]
    known = {} if record is None else {target.place(name): record[target.place(name)] for name in target.known}
    public = {target.place(a.name): table[a.name].astype(np.intp) for a in questionnaire.public}
    return Batch(part, known, {**public, **known}, record)


def scored(model: RecordModel, batches: Iterator[Batch], target: GuessTarget) -> tuple[Shares, Shares | None]:
    """The shares that the guesser expects, and those that are counted where batches hold the truth."""
    expected, counted = RightSoFar(), RightSoFar()
    for batch in batches:
        shape = target.schema.shape()
        seen = guesses(model, batch.part, shape, batch.known)
        blind = _blind_guesses(model, batch, shape)
        _add(expected, seen, blind, batch, None, target)
        if batch.truth is not None:
            _add(counted, seen, blind, batch, batch.truth, target)
    return _shares(expected, target), _shares(counted, target) if counted.people else None


def _blind_guesses(model: RecordModel, batch: Batch, shape: tuple[int, ...]) -> Guesses:
    """What is guessed of people whose reports were not looked at, once for each combination of what is known anyway."""
    if not batch.anyway:
        nobody = unseen(batch.part.questionnaire, batch.part.table.rows(slice(0, 1)), np.ones(1))
        return _repeated(guesses(model, nobody, shape), np.zeros(batch.part.n_rows, dtype=np.intp))
    first, kind = distinct(list(batch.anyway.values()))
    people = unseen(batch.part.questionnaire, batch.part.table.rows(first), np.ones(len(first)))
    known = {j: codes[first] for j, codes in batch.anyway.items()}
    return _repeated(guesses(model, people, shape, known), kind)


def _repeated(guesses: Guesses, kind: NDArray[np.intp]) -> Guesses:
    return Guesses(
        tuple(codes[kind] for codes in guesses.answers),
        tuple(right[kind] for right in guesses.answers_right),
        [codes[kind] for codes in guesses.record],
        guesses.record_right[kind],
        (),
    )


def _add(
    right: RightSoFar,
    seen: Guesses,
    blind: Guesses,
    batch: Batch,
    truth: list[NDArray[np.intp]] | None,
    target: GuessTarget,
) -> None:
    counts = batch.part.counts
    right.people += counts.sum()
    for side, made in enumerate((seen, blind)):
        right.records[side] += counts @ _record_right(made, truth, target.places)
        for name in target.guessed:
            j = target.place(name)
            own = made.answers_right[j] if truth is None else (made.answers[j] == truth[j]).astype(np.float64)
            right.answers[name][side] += counts @ own
    told = [None] * len(seen.coins) if truth is None else coins_told(batch.part, truth)
    for coin, happened in zip(seen.coins, told, strict=True):
        chance = coin.shows if happened is None else happened.astype(np.float64)
        correct = np.where(coin.shows > 0.5, chance, 1 - chance)
        place = right.coins[batch.part.questionnaire.name, coin.attributes]
        place += [counts.sum(), counts @ correct, counts @ chance]


def _record_right(guesses: Guesses, truth: list[NDArray[np.intp]] | None, places: Sequence[int]) -> Array:
    if truth is None:
        return guesses.record_right
    return np.logical_and.reduce([guesses.record[j] == truth[j] for j in places]).astype(np.float64)


def _shares(right: RightSoFar, target: GuessTarget) -> Shares:
    per_attribute = {name: _share(*(right.answers[name] / right.people)) for name in target.guessed}
    groups = []
    for (questionnaire, names), (people, correct, told) in right.coins.items():
        groups.append(CoinShare(names, questionnaire, _share(correct / people, max(told, people - told) / people)))
    sizes = np.array([entry[0] for entry in right.coins.values()])
    return Shares.of(_share(*(right.records / right.people)), per_attribute, tuple(groups), sizes)


def _share(seen: float, blind: float) -> Share:
    return Share(min(float(seen), 1.0), min(float(blind), 1.0))


def with_blind(shares: Shares, truth: Table, target: GuessTarget, public: Sequence[str]) -> Shares:
    """The shares beside those of a guesser who never saw a report but knows the population: they depend on it alone."""
    records, answers = blind_shares(truth, target.guessed, [*public, *target.known])
    per_attribute = {name: Share(share.with_reports, answers[name]) for name, share in shares.per_attribute.items()}
    return Shares(shares.coins, Share(shares.records.with_reports, records), per_attribute, shares.groups)


def blind_shares(truth: Table, guessed: Sequence[str], seen: Sequence[str]) -> tuple[float, dict[str, float]]:
    """The shares of whole records, and of each answer, guessed right by who knows the population and `seen` answers.

    Depends on the people only, not on how their answers were disguised: the most frequent is guessed, among those with
    the same public and known answers where there are others, else among all. A person's own record is no help.
    """
    within = distinct([truth[name] for name in seen])[1] if seen else np.zeros(truth.n_rows, dtype=np.intp)
    records = _right(distinct([truth[name] for name in guessed])[1], within)
    return records, {name: _right(truth[name].astype(np.intp), within) for name in guessed}


def _right(codes: Codes, within: Codes) -> float:
    """The share for whom their own code is the most frequent among the others of their kind; never below that of all."""
    counts = np.bincount(codes)
    everybody = float(counts.max()) / len(codes)
    if not within.any():
        return everybody
    first, cell = distinct([within, codes])
    own = np.bincount(cell).astype(np.float64)
    kind = within[first]
    most = np.zeros(int(kind.max()) + 1)
    np.maximum.at(most, kind, own)
    alone = np.bincount(within)[kind] == 1
    # Without oneself one's own answer is one rarer; who has no others of the kind is guessed as anybody.
    leads = (own - 1 >= _most_of_others(own, kind, most)) & (own > 1)
    right = np.where(alone, codes[first] == counts.argmax(), leads)
    return max(everybody, float(own @ right) / len(codes))


def _most_of_others(own: Array, kind: Codes, most: Array) -> Array:
    """The largest count of another answer of the same kind."""
    order = np.lexsort((-own, kind))
    starts = np.flatnonzero(np.diff(kind[order], prepend=-1))
    second = np.zeros(len(most))
    following = starts + 1
    has_second = following < np.append(starts[1:], len(order))
    second[kind[order[starts]]] = np.where(has_second, own[order[np.minimum(following, len(order) - 1)]], 0.0)
    leader = np.zeros(len(own), dtype=np.bool_)
    leader[order[starts]] = True
    return np.where(leader, second[kind], most[kind])
