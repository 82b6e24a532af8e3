"""How the answers differ between groups of people: shares within each, tests of all questions at once, certain differences only.

Many questions are looked at together, so chance alone would show "findings". A question differs between the groups if its test
holds against all the others' (Holm 1979); within it, a difference is certain if it holds against all pairs and answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.comparison import Comparison, GroupDifference
from tacit.survey.answer_tables import AnswerTables, Row
from tacit.survey.weighted_groups import weighted_table
from tacit.survey.weighting import Weighting

LEVEL = 0.05


@dataclass(frozen=True)
class AnswerDifference:
    """How many percentage points more of one group than of another give an answer."""

    answer: str
    group: str
    against: str
    difference: float
    low: float
    high: float
    p: float  # against all pairs and answers of the question


@dataclass(frozen=True)
class GroupTable:
    """A question's shares within each group; `p` is of the test that groups do not differ, `adjusted` of all tests together."""

    attribute: str
    title: str
    by: str
    rows: list[Row]
    p: float | None = None
    adjusted: float | None = None
    differences: tuple[AnswerDifference, ...] = ()
    note: str = ""
    is_weighted: bool = False

    @property
    def within(self) -> list[tuple[str, list[Row]]]:
        """The rows of each group, in the order of the groups."""
        groups = dict.fromkeys(row.group_label for row in self.rows)
        return [(group, [row for row in self.rows if row.group_label == group]) for group in groups]

    @property
    def differs(self) -> bool:
        return self.adjusted is not None and self.adjusted < LEVEL

    @property
    def certain(self) -> tuple[AnswerDifference, ...]:
        """The differences that no chance over all that was looked at explains."""
        return tuple(difference for difference in self.differences if difference.p < LEVEL) if self.differs else ()

    @property
    def verdict(self) -> str:
        if self.adjusted is None:
            return self.note or "not tested"
        if not self.differs:
            return f"no certain difference (p = {self.adjusted:.2g})"
        return f"the groups differ (p {'< 0.0001' if self.adjusted < 1e-4 else f'= {self.adjusted:.2g}'})"

    def to_document(self) -> dict[str, Any]:
        cells = [
            {
                "by": row.group, "by_label": row.group_label, "answer": row.answer, "label": row.label,
                "probability": row.probability, "standard_error": row.standard_error, "low": row.low, "high": row.high,
            }
            for row in self.rows
        ]  # fmt: skip
        return {
            "attribute": self.attribute, "label": self.title, "by": self.by, "cells": cells, "p": self.p,
            "p_adjusted": self.adjusted, "differs": self.differs, "verdict": self.verdict,
            "differences": [dict(vars(difference)) for difference in self.certain], "weighted": self.is_weighted,
        }  # fmt: skip


def group_tables(
    tables: AnswerTables, names: Sequence[str], by: str, weighting: Weighting | None = None
) -> list[GroupTable]:
    """Every question within the groups of `by`, tested together; of the population where reports are weighted."""
    made = [_group_table(tables, name, by, weighting) for name in names if name != by]
    adjusted = holm([difference.p for difference in made if difference.p is not None])
    return [
        replace(difference, adjusted=next(adjusted)) if difference.p is not None else difference for difference in made
    ]


def holm(p_values: Sequence[float]) -> Any:
    """Each p-value against all the others' (Holm 1979), in the given order."""
    order = np.argsort(p_values)
    adjusted = np.zeros(len(p_values))
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return iter(adjusted.tolist())


def _group_table(tables: AnswerTables, name: str, by: str, weighting: Weighting | None) -> GroupTable:
    from tacit.estimation import estimate

    title = tables.definition.label(name)
    try:
        table = estimate(tables.reports, [by, name])
        compared = (weighted_table(weighting, tables.reports, by, name) if weighting else table).compare(by)
    except (NotEstimable, InvalidInput) as error:
        return GroupTable(name, title, by, [], note=str(error))
    # Who is too few to be shown is counted without weights.
    hidden = tables.hidden(table.probabilities * table.n_reports, by, name, within=True)
    text = tables.definition.answer_text
    rows = [
        Row(
            cell["answers"][name], text(name, cell["answers"][name]),
            cell["constrained"] if cell["probability"] is None else cell["probability"], cell["standard_error"],
            cell["low"], cell["high"], 0.0, cell["answers"][by], text(by, cell["answers"][by]),
        )
        for cell, is_hidden in zip(compared.given.cells(), hidden.reshape(-1), strict=True)
        if not is_hidden
    ]  # fmt: skip
    cells = {(row.group, row.answer) for row in rows}
    if len({group for group, _ in cells}) < 2:
        note = "fewer than two groups are large enough to be shown"
        return GroupTable(name, title, by, rows, note=note, is_weighted=weighting is not None)
    differences = tuple(
        _difference(tables, compared, row, name, by) for row in _rows_to_show(compared, cells, name, by)
    )
    return GroupTable(name, title, by, rows, compared.independence.p, None, differences, "", weighting is not None)


def _rows_to_show(compared: Comparison, shown: set[tuple[str, str]], name: str, by: str) -> list[GroupDifference]:
    return [
        difference
        for difference in compared.differences
        if (difference.answers[by], difference.answers[name]) in shown
        and (difference.against[by], difference.answers[name]) in shown
    ]


def _difference(
    tables: AnswerTables, compared: Comparison, one: GroupDifference, name: str, by: str
) -> AnswerDifference:
    text = tables.definition.answer_text
    return AnswerDifference(
        text(name, one.answers[name]), text(by, one.answers[by]), text(by, one.against[by]),
        0.0 if one.constrained is None else one.constrained, one.low, one.high,
        min(1.0, one.p * len(compared.differences)),
    )  # fmt: skip
