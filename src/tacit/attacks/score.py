"""Right guesses, as the guesser expects them and, with the truth, as they are counted; batch by batch.

Beside them the guesses of someone who has no reports: only what is guessed beyond these is learned from the reports.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tacit.attacks.result import CoinShare, Share, Shares
from tacit.channel.codes import Array, Codes, joint_codes
from tacit.channel.scheme import Group, Questionnaire
from tacit.count.sources import ReportSource, sources
from tacit.joint.evidence import GroupReports, Known, WholeReports, distinct_rows, laid_out, log_chance_of, unseen
from tacit.joint.laws import DenseLaw
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

    reports: WholeReports
    known_answers: Known
    anyway: Known  # public and known answers, for a guesser who does not look at the rest of the report
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
    """What is guessed: the scheme's attributes, the private ones to guess, and those the guesser knows."""

    schema: Schema
    guessed: tuple[str, ...]
    known_names: tuple[str, ...]

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
    reports = laid_out(questionnaire, target.schema, table, counts)
    record = None if truth is None else [truth[name].astype(np.intp) for name in target.schema.names]
    known_answers = (
        {} if record is None else {target.place(name): record[target.place(name)] for name in target.known_names}
    )
    public = {target.place(a.name): table[a.name].astype(np.intp) for a in questionnaire.public}
    return Batch(reports, known_answers, {**public, **known_answers}, record)


def score_guesses(model: RecordModel, batches: Iterator[Batch], target: GuessTarget) -> tuple[Shares, Shares | None]:
    """The shares that the guesser expects, and the shares that were right if the batches hold the truth."""
    expected, counted = RightSoFar(), RightSoFar()
    for batch in batches:
        shape = target.schema.shape()
        seen = guesses(model, batch.reports, shape, batch.known_answers)
        blind = _blind_guesses(model, batch, shape)
        _add(expected, seen, blind, batch, None, target)
        if batch.truth is not None:
            _add(counted, seen, blind, batch, batch.truth, target)
    return _shares(expected, target), _shares(counted, target) if counted.people else None


def _blind_guesses(model: RecordModel, batch: Batch, shape: tuple[int, ...]) -> Guesses:
    """Guesses without the reports, computed once for each combination of the public and known answers."""
    if not batch.anyway:
        nobody = unseen(batch.reports.questionnaire, batch.reports.table.rows(slice(0, 1)), np.ones(1))
        return _repeat_rows(guesses(model, nobody, shape), np.zeros(batch.reports.n_rows, dtype=np.intp))
    first, kind = distinct(list(batch.anyway.values()))
    people = unseen(batch.reports.questionnaire, batch.reports.table.rows(first), np.ones(len(first)))
    known_answers = {j: codes[first] for j, codes in batch.anyway.items()}
    return _repeat_rows(guesses(model, people, shape, known_answers), kind)


def _repeat_rows(guesses: Guesses, kind: NDArray[np.intp]) -> Guesses:
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
    counts = batch.reports.counts
    right.people += counts.sum()
    for side, made in enumerate((seen, blind)):
        right.records[side] += counts @ _record_right(made, truth, target.places)
        for name in target.guessed:
            j = target.place(name)
            hits = made.answers_right[j] if truth is None else (made.answers[j] == truth[j]).astype(np.float64)
            right.answers[name][side] += counts @ hits
    outcomes = [None] * len(seen.coins) if truth is None else coin_outcomes(batch.reports, truth)
    for coin, happened in zip(seen.coins, outcomes, strict=True):
        chance = coin.shows if happened is None else happened.astype(np.float64)
        correct = np.where(coin.shows > 0.5, chance, 1 - chance)
        place = right.coins[batch.reports.questionnaire.name, coin.attributes]
        place += [counts.sum(), counts @ correct, counts @ chance]


def _record_right(guesses: Guesses, truth: list[NDArray[np.intp]] | None, places: Sequence[int]) -> Array:
    if truth is None:
        return guesses.record_right
    return np.logical_and.reduce([guesses.record[j] == truth[j] for j in places]).astype(np.float64)


def _shares(right: RightSoFar, target: GuessTarget) -> Shares:
    per_attribute = {name: _share(*(right.answers[name] / right.people)) for name in target.guessed}
    groups = []
    for (questionnaire, names), (people, correct, truthful) in right.coins.items():
        groups.append(
            CoinShare(names, questionnaire, _share(correct / people, max(truthful, people - truthful) / people))
        )
    sizes = np.array([entry[0] for entry in right.coins.values()])
    return Shares.of(_share(*(right.records / right.people)), per_attribute, tuple(groups), sizes)


def _share(seen: float, blind: float) -> Share:
    return Share(min(float(seen), 1.0), min(float(blind), 1.0))


def with_blind(shares: Shares, truth: Table, target: GuessTarget, public: Sequence[str]) -> Shares:
    """The shares, compared with those of a guesser who knows the population but has never seen a report."""
    records, answers = blind_shares(truth, target.guessed, [*public, *target.known_names])
    per_attribute = {name: Share(share.with_reports, answers[name]) for name, share in shares.per_attribute.items()}
    return Shares(shares.coins, Share(shares.records.with_reports, records), per_attribute, shares.groups)


def blind_shares(truth: Table, guessed: Sequence[str], seen: Sequence[str]) -> tuple[float, dict[str, float]]:
    """The shares of whole records, and of each answer, guessed right from the population and the `seen` answers.

    Depends on the people only, not on how their answers were disguised: the most frequent is guessed, among those with
    the same public and known answers where there are others, else among all. A person's own record is no help.
    """
    within = distinct([truth[name] for name in seen])[1] if seen else np.zeros(truth.n_rows, dtype=np.intp)
    records = _right(distinct([truth[name] for name in guessed])[1], within)
    return records, {name: _right(truth[name].astype(np.intp), within) for name in guessed}


def _right(codes: Codes, within: Codes) -> float:
    """Share of people whose code is the most frequent among the others of their kind; at least the overall share."""
    counts = np.bincount(codes)
    everybody = float(counts.max()) / len(codes)
    if not within.any():
        return everybody
    first, cell = distinct([within, codes])
    cell_counts = np.bincount(cell).astype(np.float64)
    kind = within[first]
    most = np.zeros(int(kind.max()) + 1)
    np.maximum.at(most, kind, cell_counts)
    alone = np.bincount(within)[kind] == 1
    # Leave one out: subtract the person's own answer; if nobody else is of the kind, use the shares of all people.
    leads = (cell_counts - 1 >= _most_of_others(cell_counts, kind, most)) & (cell_counts > 1)
    right = np.where(alone, codes[first] == counts.argmax(), leads)
    return max(everybody, float(cell_counts @ right) / len(codes))


def _most_of_others(cell_counts: Array, kind: Codes, most: Array) -> Array:
    """The largest count of another answer of the same kind."""
    order = np.lexsort((-cell_counts, kind))
    starts = np.flatnonzero(np.diff(kind[order], prepend=-1))
    second = np.zeros(len(most))
    following = starts + 1
    has_second = following < np.append(starts[1:], len(order))
    second[kind[order[starts]]] = np.where(has_second, cell_counts[order[np.minimum(following, len(order) - 1)]], 0.0)
    leader = np.zeros(len(cell_counts), dtype=np.bool_)
    leader[order[starts]] = True
    return np.where(leader, second[kind], most[kind])


Record = Sequence[Codes]


@dataclass(frozen=True, eq=False)
class CoinGuess:
    """Whether a group's report shows the truth: the posterior of each row."""

    attributes: tuple[str, ...]
    shows: Array


@dataclass(frozen=True, eq=False)
class Guesses:
    """For every report: guessed answers, records and coins, with the chance that each is right."""

    answers: tuple[Codes, ...]  # for each attribute (rows,)
    answers_right: tuple[Array, ...]
    record: Record
    record_right: Array
    coins: tuple[CoinGuess, ...]


def guesses(model: RecordModel, reports: WholeReports, shape: tuple[int, ...], known: Known | None = None) -> Guesses:
    """The best guesses from each report, by a guesser who already knows the true answers `known`."""
    informed = reports.with_known_answers(known, shape) if known else reports
    posteriors = model.answers(informed)
    answers = [posterior.argmax(axis=1) for posterior in posteriors]
    logs = model.report_logs(informed)
    record, reached = _likeliest_record(model, informed, answers)
    with np.errstate(invalid="ignore"):
        record_right = np.clip(np.nan_to_num(np.exp(reached - logs)), 0.0, 1.0)
    return Guesses(
        tuple(answers),
        tuple(np.clip(posterior.max(axis=1), 0.0, 1.0) for posterior in posteriors),
        record,
        record_right,
        tuple(_coins(model, reports, informed, posteriors, logs)),
    )


def _likeliest_record(model: RecordModel, reports: WholeReports, answers: Record) -> tuple[Record, Array]:
    """The likeliest of some promising records, and the logarithm of its chance together with the report.

    An exact table, and one tree under products, name the likeliest of all; where classes mix, all records cannot be
    tried, so this is a guess that a better guesser may beat.
    """
    best: list[Codes] = [np.asarray(codes).copy() for codes in answers]
    reached = model.log_chance(best) + log_chance_of(reports, best)
    for candidate in model.candidates(reports):
        logs = model.log_chance(candidate) + log_chance_of(reports, candidate)
        better = logs > reached
        best = [np.where(better, new, old) for new, old in zip(candidate, best, strict=True)]
        reached = np.where(better, logs, reached)
    return best, reached


def _coins(
    model: RecordModel, reports: WholeReports, informed: WholeReports, posteriors: Sequence[Array], logs: Array
) -> Iterator[CoinGuess]:
    """For every group whose reports look like records the chance that the report shows the truth."""
    for place, group in enumerate(reports.questionnaire.groups):
        members = _reported_members(group, reports.table)
        if members is None:
            continue
        group_reports = reports.groups[place]
        if len(group.names) == 1:
            posterior = posteriors[group_reports.attributes[0]]
            yield CoinGuess(group.names, np.take_along_axis(posterior, members, axis=1).sum(axis=1))
            continue
        yield CoinGuess(group.names, np.exp(_log_truth_chance(model, informed, place, members) - logs))


def _log_truth_chance(model: RecordModel, reports: WholeReports, place: int, members: NDArray[np.int64]) -> Array:
    """Logarithm of the chance of each report together with its group showing the truth."""
    group_reports = reports.groups[place]
    law = group_reports.by_row()
    if members.shape[1] == 1:
        codes = np.unravel_index(members[:, 0], law.shape)
        only = law.restrict_answers(dict(enumerate(codes)))
    else:
        allowed = np.zeros((reports.n_rows, int(np.prod(law.shape))))
        np.put_along_axis(allowed, members, 1.0, axis=1)
        only = DenseLaw(law.shape, law.written_out() * allowed)
    groups = list(reports.groups)
    groups[place] = GroupReports(group_reports.attributes, np.arange(reports.n_rows), only)
    return model.report_logs(replace(reports, groups=tuple(groups)))


def _reported_members(group: Group, table: Table) -> NDArray[np.int64] | None:
    """The joint answers that each report shows, (rows, members); None if reports do not look like answers."""
    columns = [table[column.name] for column in group.report_attributes]
    shows = [(column.shows, column.answers) for column in group.report_attributes]
    if shows == [("one", attribute.answers) for attribute in group.attributes]:
        sizes = tuple(attribute.size for attribute in group.attributes)
        return joint_codes(columns, sizes)[:, None]
    if len(columns) == 1 and shows[0][0] == "set":
        return columns[0].astype(np.int64)
    return None


def coin_outcomes(reports: WholeReports, truth: Record) -> list[NDArray[np.bool_]]:
    """For each group that has a coin, whether its report does show the truth."""
    outcomes = []
    for place, group in enumerate(reports.questionnaire.groups):
        members = _reported_members(group, reports.table)
        if members is not None:
            sizes = tuple(attribute.size for attribute in group.attributes)
            true_codes = joint_codes([truth[j] for j in reports.groups[place].attributes], sizes)
            outcomes.append((members == true_codes[:, None]).any(axis=1))
    return outcomes
