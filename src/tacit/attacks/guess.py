"""The best guesses about each person, given the report and a model of whole records, and how likely each is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Array, Codes, joint_codes
from tacit.channel.scheme import Group
from tacit.joint.evidence import GroupReports, Known, WholeReports, log_chance_of
from tacit.joint.laws import DenseLaw
from tacit.joint.selection import RecordModel
from tacit.table import Table

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


def guesses(model: RecordModel, part: WholeReports, shape: tuple[int, ...], known: Known | None = None) -> Guesses:
    """What the best guesser says of each report, who knows some true answers already."""
    told = part.known(known, shape) if known else part
    posteriors = model.answers(told)
    answers = [posterior.argmax(axis=1) for posterior in posteriors]
    logs = model.report_logs(told)
    record, reached = _likeliest_record(model, told, answers)
    with np.errstate(invalid="ignore"):
        record_right = np.clip(np.nan_to_num(np.exp(reached - logs)), 0.0, 1.0)
    return Guesses(
        tuple(answers),
        tuple(np.clip(posterior.max(axis=1), 0.0, 1.0) for posterior in posteriors),
        record,
        record_right,
        tuple(_coins(model, part, told, posteriors, logs)),
    )


def _likeliest_record(model: RecordModel, part: WholeReports, answers: Record) -> tuple[Record, Array]:
    """The likeliest of some promising records, and the logarithm of its chance together with the report.

    An exact table, and one tree under products, name the likeliest of all; where classes mix, all records cannot be
    tried, so this is a guess that a better guesser may beat.
    """
    best: list[Codes] = [np.asarray(codes).copy() for codes in answers]
    reached = model.log_chance(best) + log_chance_of(part, best)
    for candidate in model.candidates(part):
        logs = model.log_chance(candidate) + log_chance_of(part, candidate)
        better = logs > reached
        best = [np.where(better, new, old) for new, old in zip(candidate, best, strict=True)]
        reached = np.where(better, logs, reached)
    return best, reached


def _coins(
    model: RecordModel, part: WholeReports, told: WholeReports, posteriors: Sequence[Array], logs: Array
) -> Iterator[CoinGuess]:
    """For every group whose reports look like records the chance that the report shows the truth."""
    for place, group in enumerate(part.questionnaire.groups):
        members = _shown(group, part.table)
        if members is None:
            continue
        reports = part.groups[place]
        if len(group.names) == 1:
            own = posteriors[reports.attributes[0]]
            yield CoinGuess(group.names, np.take_along_axis(own, members, axis=1).sum(axis=1))
            continue
        yield CoinGuess(group.names, np.exp(_log_shown(model, told, place, members) - logs))


def _log_shown(model: RecordModel, part: WholeReports, place: int, members: NDArray[np.int64]) -> Array:
    """Logarithm of the chance of each report together with its group showing the truth."""
    reports = part.groups[place]
    law = reports.by_row()
    if members.shape[1] == 1:
        codes = np.unravel_index(members[:, 0], law.shape)
        only = law.restricted(dict(enumerate(codes)))
    else:
        allowed = np.zeros((part.n_rows, int(np.prod(law.shape))))
        np.put_along_axis(allowed, members, 1.0, axis=1)
        only = DenseLaw(law.shape, law.written_out() * allowed)
    groups = list(part.groups)
    groups[place] = GroupReports(reports.attributes, np.arange(part.n_rows), only)
    return model.report_logs(replace(part, groups=tuple(groups)))


def _shown(group: Group, table: Table) -> NDArray[np.int64] | None:
    """The joint answers that each report shows, (rows, members); None where reports do not look like answers."""
    columns = [table[column.name] for column in group.report_attributes]
    shows = [(column.shows, column.answers) for column in group.report_attributes]
    if shows == [("one", attribute.answers) for attribute in group.attributes]:
        sizes = tuple(attribute.size for attribute in group.attributes)
        return joint_codes(columns, sizes)[:, None]
    if len(columns) == 1 and shows[0][0] == "set":
        return columns[0].astype(np.int64)
    return None


def coins_told(part: WholeReports, truth: Record) -> list[NDArray[np.bool_]]:
    """For each group that has a coin, whether its report does show the truth."""
    told = []
    for place, group in enumerate(part.questionnaire.groups):
        members = _shown(group, part.table)
        if members is not None:
            sizes = tuple(attribute.size for attribute in group.attributes)
            own = joint_codes([truth[j] for j in part.groups[place].attributes], sizes)
            told.append((members == own[:, None]).any(axis=1))
    return told
