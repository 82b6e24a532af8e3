"""The best guesses about each person, given the report and the estimated joint, and how likely each is to be right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.attacks.evidence import Evidence
from tacit.attacks.fit import component_logs
from tacit.attacks.joint import Joint, log_sum
from tacit.attacks.laws import Record
from tacit.channel.protocol import Array, Codes


@dataclass(frozen=True, eq=False)
class CoinGuess:
    """Whether a group's report shows the truth: the posterior of each row."""

    attributes: tuple[int, ...]
    shows: Array


@dataclass(frozen=True, eq=False)
class Guesses:
    """For every distinct report: guessed answers, records and coins, with the chance that each is right."""

    answers: tuple[Codes, ...]  # for each attribute (rows,)
    answers_right: tuple[Array, ...]
    record: Record
    record_right: Array
    coins: tuple[CoinGuess, ...]


def guesses(joint: Joint, part: Evidence) -> Guesses:
    """What the best guesser says of each report."""
    logs = component_logs(joint, part)
    whole = log_sum(logs)
    shares = np.exp(logs - np.where(np.isfinite(whole), whole, 0.0)[:, None])
    answers: dict[int, Codes] = {}
    right: dict[int, Array] = {}
    coins = []
    for law in part.laws:
        for j, posterior in zip(law.attributes, law.answers(joint, shares), strict=True):
            answers[j], right[j] = posterior.argmax(axis=1), posterior.max(axis=1)
        pairs = zip(law.coin_groups, law.coins(joint, shares), strict=True)
        coins += [CoinGuess(group, shows) for group, shows in pairs]
    record, record_right = _likeliest_record(joint, part, shares, answers, whole)
    order = range(len(joint.factors))
    return Guesses(tuple(answers[j] for j in order), tuple(right[j] for j in order), record, record_right, tuple(coins))


def _likeliest_record(
    joint: Joint, part: Evidence, shares: Array, answers: Record, whole: Array
) -> tuple[Record, Array]:
    """The likeliest of some promising records: the best of each component, and that of the single answers.

    All records cannot be tried where there are many attributes; so this is a guess that a better guesser may beat.
    """
    best, reached = answers, np.full(len(shares), -np.inf)
    for candidate in _candidates(joint, part, answers):
        logs = _log_chance(joint, part, candidate)
        better = logs > reached
        best = {j: np.where(better, candidate[j], best[j]) for j in candidate}
        reached = np.where(better, logs, reached)
    with np.errstate(invalid="ignore"):
        return best, np.minimum(np.nan_to_num(np.exp(reached - whole)), 1.0)


def _candidates(joint: Joint, part: Evidence, answers: Record) -> Iterator[Record]:
    yield answers
    found: Record = {}
    for law in part.laws:
        found.update(law.likeliest(joint))
    for k in range(joint.components):
        yield {j: codes[:, k] for j, codes in found.items()}


def _log_chance(joint: Joint, part: Evidence, record: Record) -> Array:
    """Logarithm of the chance of the record together with the report."""
    columns = tuple(record[j] for j in range(len(joint.factors)))
    return joint.log_chance(columns) + sum(law.log_chance(record) for law in part.laws)


def shown(part: Evidence, truth: Record) -> list[NDArray[np.bool_]]:
    """For each group that has a coin, whether its report does show the truth."""
    return [coins for law in part.laws for coins in law.shown(truth)]
