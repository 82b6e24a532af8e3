"""Right guesses, counted against the truth or, without it, estimated from the posteriors; batch by batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tacit.attacks.evidence import Evidence, blind_evidence, cells_per_row, evidence
from tacit.attacks.guess import Guesses, guesses, shown
from tacit.attacks.joint import Joint
from tacit.attacks.laws import Record
from tacit.attacks.result import Basis, CoinShare, Share
from tacit.attacks.tally import distinct
from tacit.channel.protocol import Array
from tacit.channel.scheme import Questionnaire
from tacit.reports import Reports
from tacit.schema import Schema
from tacit.table import Table

# Numbers held while scoring one batch of reports.
BATCH_NUMBERS = 1 << 23


@dataclass(frozen=True)
class Score:
    """Shares over all reports, per attribute and per group."""

    coins: Share | None
    records: Share
    answers: dict[str, Share]
    groups: tuple[CoinShare, ...]
    basis: Basis


@dataclass(eq=False)
class _Right:
    """People guessed right so far."""

    people: float = 0.0
    records: Array = field(default_factory=lambda: np.zeros(2))
    answers: dict[str, Array] = field(default_factory=lambda: defaultdict(lambda: np.zeros(2)))
    # For each group: people, those whose coin is guessed right, and those whose report shows the truth.
    coins: dict[tuple[str, tuple[str, ...]], Array] = field(default_factory=lambda: defaultdict(lambda: np.zeros(3)))


@dataclass(frozen=True, eq=False)
class _Batch:
    """Distinct reports (and truths, where they are at hand) with their evidence, seen and unseen."""

    questionnaire: Questionnaire
    seen: Evidence
    unseen: Evidence
    truth: Record | None


def score(joint: Joint, reports: Reports, truth: Table | None, known: tuple[str, ...]) -> Score:
    """Guess every report under the fitted joint, with and without having seen it."""
    schema = reports.scheme.schema
    private = {j for j, name in enumerate(schema.names) if name not in reports.scheme.public_names}
    guessed = [j for j in sorted(private) if schema.names[j] not in known]
    right = _Right()
    for batch in _batches(reports, truth, known):
        _add(right, joint, batch, schema, guessed)
    return _shares(right, schema, guessed, "estimated" if truth is None else "counted")


def _batches(reports: Reports, truth: Table | None, known: tuple[str, ...]) -> Iterator[_Batch]:
    schema = reports.scheme.schema
    for questionnaire, table in reports:
        rows = max(1, BATCH_NUMBERS // cells_per_row(questionnaire))
        for start in range(0, table.n_rows, rows):
            part = slice(start, start + rows)
            clear = None if truth is None else truth.rows(part)
            yield _batch(questionnaire, schema, table.rows(part), clear, known)


def _batch(
    questionnaire: Questionnaire, schema: Schema, table: Table, truth: Table | None, known: tuple[str, ...]
) -> _Batch:
    columns = [table[name] for name in table.schema.names]
    if truth is not None:
        columns += [truth[name] for name in schema.names]
    first, kind = distinct(columns)
    counts = np.bincount(kind, minlength=len(first)).astype(np.float64)
    record = None if truth is None else {j: truth[name][first] for j, name in enumerate(schema.names)}
    given = {} if record is None else {j: record[j] for j, name in enumerate(schema.names) if name in known}
    # Public answers are reported as they are: also who does not look at the rest of a report may know them.
    shown_anyway = {schema.names.index(a.name): table[a.name][first] for a in questionnaire.public}
    seen = evidence(questionnaire, schema, table.rows(first), counts, given)
    return _Batch(questionnaire, seen, blind_evidence(schema, counts, {**shown_anyway, **given}), record)


def _add(right: _Right, joint: Joint, batch: _Batch, schema: Schema, guessed: list[int]) -> None:
    counts = batch.seen.counts
    right.people += counts.sum()
    seen = guesses(joint, batch.seen)
    for side, found in enumerate((seen, guesses(joint, batch.unseen))):
        right.records[side] += counts @ _record_right(found, batch.truth, guessed)
        for j in guessed:
            right.answers[schema.names[j]][side] += counts @ _answer_right(found, batch.truth, j)
    _add_coins(right, seen, batch, schema)


def _record_right(found: Guesses, truth: Record | None, guessed: list[int]) -> Array:
    if truth is None:
        return found.record_right
    return np.logical_and.reduce([found.record[j] == truth[j] for j in guessed]).astype(np.float64)


def _answer_right(found: Guesses, truth: Record | None, j: int) -> Array:
    return found.answers_right[j] if truth is None else (found.answers[j] == truth[j]).astype(np.float64)


def _add_coins(right: _Right, seen: Guesses, batch: _Batch, schema: Schema) -> None:
    counts = batch.seen.counts
    happened = [None] * len(seen.coins) if batch.truth is None else shown(batch.seen, batch.truth)
    for coin, told in zip(seen.coins, happened, strict=True):
        names = tuple(schema.names[j] for j in coin.attributes)
        chance = coin.shows if told is None else told.astype(np.float64)
        correct = np.where(coin.shows > 0.5, chance, 1 - chance)
        right.coins[batch.questionnaire.name, names] += [counts.sum(), counts @ correct, counts @ chance]


def _shares(right: _Right, schema: Schema, guessed: list[int], basis: Basis) -> Score:
    groups = []
    for (questionnaire, names), (people, correct, told) in right.coins.items():
        without = max(told, people - told) / people
        groups.append(CoinShare(names, questionnaire, Share(float(correct / people), float(without))))
    sizes = [entry[0] for entry in right.coins.values()]
    coins = None
    if groups:
        weights = np.array(sizes) / sum(sizes)
        pairs = np.array([(group.share.with_reports, group.share.without_reports) for group in groups])
        coins = Share(*map(float, weights @ pairs))
    answers = {}
    for j in guessed:
        answers[schema.names[j]] = Share(*(float(share) for share in right.answers[schema.names[j]] / right.people))
    records = Share(*(float(share) for share in right.records / right.people))
    return Score(coins, records, answers, tuple(groups), basis)
