"""Quotas of a survey as they stand: how many reports each has, by their public answers.

The page is told which quotas are full when it is opened, and asks again before it sends. Who sends in the same moment still
counts: a quota is met, not guaranteed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.survey.answer_tables import FEWEST_IN_CELL
from tacit.survey.definition import Definition
from tacit.survey.routes import alternatives_of, attributes_of
from tacit.survey.store.database import quote_name
from tacit.survey.store.surveys import Store, StoredSurvey

MET_NOT_GUARANTEED = (
    "Who is about to send when a quota fills up still counts, so a few more reports than wanted may come."
)


@dataclass(frozen=True)
class QuotaCount:
    """A quota in words, how many reports it wants at most, and how many came, in steps of ten so that nobody is counted out."""

    who: str
    most: int
    at_least: int
    is_full: bool
    is_exceeded: bool

    @property
    def state(self) -> str:
        return "full, and exceeded" if self.is_exceeded else "full" if self.is_full else "open"

    def to_document(self) -> dict[str, Any]:
        return {**vars(self), "state": self.state}

    def __str__(self) -> str:
        came = f"at least {self.at_least:,}" if self.at_least else f"fewer than {FEWEST_IN_CELL}"
        return f"{self.who}: {came} of {self.most:,} ({self.state})"


def quota_counts(store: Store, survey: StoredSurvey) -> list[QuotaCount]:
    """How far each quota has come."""
    quotas = survey.definition.document.get("quotas", [])
    counted = [(quota, _count(store, survey, quota)) for quota in quotas]
    return [
        QuotaCount(
            in_words(survey.definition, quota["when"]), quota["most"], count - count % FEWEST_IN_CELL,
            count >= quota["most"], count > quota["most"],
        )
        for quota, count in counted
    ]  # fmt: skip


def full_quotas(store: Store, survey: StoredSurvey) -> list[int]:
    """The quotas of which as many reports have come as were wanted."""
    quotas = survey.definition.document.get("quotas", [])
    return [index for index, quota in enumerate(quotas) if _count(store, survey, quota) >= quota["most"]]


def _count(store: Store, survey: StoredSurvey, quota: Mapping[str, Any]) -> int:
    reported = attributes_of(survey.definition.questions)
    alternatives, parameters = [], []
    for conditions in alternatives_of(quota["when"]):
        each = []
        for condition in conditions:
            column = reported[condition["question"], condition.get("option")]
            each.append(f"{quote_name(column)} IN ({', '.join('?' * len(condition['answers']))})")
            parameters.extend(condition["answers"])
        alternatives.append(" AND ".join(each))
    wanted = " OR ".join(f"({condition})" for condition in alternatives)
    ((count,),) = store.database.rows(f"SELECT COUNT(*) FROM {survey.table('reports')} WHERE {wanted}", parameters)
    return int(count)


def in_words(definition: Definition, when: list[Any]) -> str:
    """A condition as a researcher reads it: questions and answers in the survey's first language."""
    reported = attributes_of(definition.questions)

    def said(one: Mapping[str, Any]) -> str:
        name = reported[one["question"], one.get("option")]
        return (
            f"{definition.label(name)} {' / '.join(definition.answer_text(name, answer) for answer in one['answers'])}"
        )

    return " or ".join(" and ".join(map(said, conditions)) for conditions in alternatives_of(when))
