"""What the arms and the control items of a survey say: direct against disguised answers, and estimates against what is known.

Two arms are different people, so the error of a difference is that of both. Arms are compared and never pooled here.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tacit.count.sources import ReportSource
from tacit.survey.answer_tables import too_few
from tacit.survey.dealing import DIRECT_SUFFIX
from tacit.survey.definition import Definition
from tacit.survey.questionnaire import NOT_ASKED


@dataclass(frozen=True)
class Compared:
    """One answer's estimated share beside another figure for it, and the chance of so large a difference by luck."""

    attribute: str
    answer: str
    disguised: float
    other: float  # what the direct arm says, or what is known
    difference: float  # disguised less other
    standard_error: float
    p: float

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def compared_arms(reports: ReportSource, definition: Definition) -> list[Compared]:
    """The pooled device and self arms beside the direct one, for every question that has one."""
    names = definition.scheme.schema.names
    return [
        row
        for name in names
        if not definition.is_long(name)
        and f"{name}{DIRECT_SUFFIX}" in names
        and f"{name}{DIRECT_SUFFIX}" in definition.scheme.public_names
        for row in _arm(reports, name)
    ]


def _arm(reports: ReportSource, name: str) -> list[Compared]:
    from tacit.estimation import estimate

    estimated = estimate(reports, [f"{name}{DIRECT_SUFFIX}"])
    direct = {cell["answers"][f"{name}{DIRECT_SUFFIX}"]: cell["probability"] for cell in estimated.cells()}
    asked = 1 - direct.pop(NOT_ASKED)
    people = asked * estimated.n_reports
    if people < 1:
        return []
    few = too_few([share * estimated.n_reports for share in direct.values()])
    answers_to_show = {answer for answer, is_hidden in zip(direct, few, strict=True) if not is_hidden}
    compared = []
    for cell in estimate(reports, [name]).cells():
        answer = cell["answers"][name]
        if answer not in answers_to_show:
            continue
        share = direct[answer] / asked
        error = math.sqrt(cell["standard_error"] ** 2 + share * (1 - share) / people)
        compared.append(_compare_answers(name, answer, cell["probability"], share, error))
    return compared


def control_items(reports: ReportSource, definition: Definition) -> list[Compared]:
    """The estimates of control items beside their known shares: where they differ, people did not answer as asked.

    What is known is known of people's answers, so they are shares of those who gave one.
    """
    return [
        row
        for question in definition.questions
        if question.get("known")
        for row in _control(reports, question["name"], question["known"])
    ]


def _control(reports: ReportSource, name: str, known: list[float]) -> list[Compared]:
    from tacit.estimation import estimate

    estimated = estimate(reports, [name])
    given = np.arange(estimated.attributes[0].size) < len(known)  # what can be said instead of an answer stands behind
    answered = float(estimated.probabilities[given].sum())
    compared = []
    for code, share in enumerate(known):
        ratio = float(estimated.probabilities[code]) / answered
        slope = ((np.arange(len(given)) == code) - ratio * given) / answered
        error = math.sqrt(max(float(slope @ estimated.covariance @ slope), 0.0))
        compared.append(_compare_answers(name, estimated.attributes[0].answers[code], ratio, share, error))
    return compared


def _compare_answers(name: str, answer: str, disguised: float, other: float, error: float) -> Compared:
    difference = disguised - other
    p = math.erfc(abs(difference) / error / math.sqrt(2)) if error > 0 else float(difference == 0)
    return Compared(name, answer, disguised, other, difference, error, p)
