"""The estimated answers to each question, as a researcher reads them: in words, with errors, and nothing about a few people.

A question that is sent as it is counts people, so its small cells are hidden, and as many others as keep them from being worked
out from the total. Disguised answers are estimates of a crowd and hide themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.count.sources import ReportSource
from tacit.errors import NotEstimable
from tacit.survey.definition import Definition
from tacit.survey.fake_reports import largest_shift
from tacit.survey.routes import alternatives_of, attributes_of

if TYPE_CHECKING:
    from tacit.estimation.result import TableEstimate

FEWEST_REPORTS = 30
FEWEST_IN_CELL = 10
# Of a question with thousands of answers so many are shown.
MOST_ROWS = 50

Hidden = NDArray[np.bool_]


@dataclass(frozen=True)
class Row:
    """One answer's estimated share, of all respondents or within a group; `label` is the answer in words."""

    answer: str
    label: str
    probability: float
    standard_error: float
    low: float
    high: float
    influence: float = 0.0
    group: str = ""
    group_label: str = ""


@dataclass(frozen=True)
class EstimateTable:
    """The estimated shares of a question's answers, or of two questions' together; `hidden` says how many rows are not shown."""

    attribute: str
    title: str
    is_disguised: bool
    rows: list[Row]
    by: str = ""
    hidden: int = 0
    unlisted: int = (
        0  # of thousands of answers those that cannot be told from none at all, or are not among the largest
    )

    @property
    def note(self) -> str:
        """What is said of the answers that are not listed."""
        if not self.unlisted:
            return ""
        if not self.is_disguised:
            return f"{self.unlisted:,} more answers are less frequent than these."
        return (
            f"{self.unlisted:,} more answers are not listed: their shares are smaller than these or cannot be told from none. "
            "The intervals hold for all answers of the question together."
        )

    def to_document(self) -> dict[str, Any]:
        cells = [
            {
                "answer": row.answer,
                "label": row.label,
                **(
                    {"by": row.group, "by_label": row.group_label}
                    if row.group
                    else {"influence_of_fakes": row.influence}
                ),
                "probability": row.probability,
                "standard_error": row.standard_error,
                "low": row.low,
                "high": row.high,
            }
            for row in self.rows
        ]
        document = {"attribute": self.attribute, "label": self.title, "disguised": self.is_disguised, "cells": cells}
        more = {"hidden": self.hidden, "unlisted": self.unlisted}
        return document | {name: count for name, count in more.items() if count}


def screened_out_answers(definition: Definition) -> list[tuple[str, str]]:
    """Public answers that alone end the questions: the attribute and the answer. Nobody's report holds them."""
    reported = attributes_of(definition.questions)
    return [
        (reported[condition["question"], condition.get("option")], answer)
        for screen_out in definition.document.get("screen_out", [])
        for conditions in alternatives_of(screen_out["when"])
        for condition in conditions
        if len(conditions) == 1
        for answer in condition["answers"]
    ]


def too_few(counts: Sequence[float] | NDArray[np.float64], least: int = FEWEST_IN_CELL) -> Hidden:
    """Which cells of one public question are hidden: those of too few people, and enough others that none is left alone."""
    people = np.asarray(counts, dtype=np.float64)
    hidden = people < least - 0.5
    if not hidden.any():
        return hidden
    for place in np.argsort(people, kind="stable"):
        if hidden.sum() >= 2 and people[hidden].sum() >= least - 0.5:
            break
        hidden[place] = True
    return hidden


def too_few_crossed(counts: NDArray[np.float64], least: int = FEWEST_IN_CELL) -> Hidden:
    """Which cells of two public questions are hidden: no cell of few people follows from the sums of rows and columns."""
    hidden = counts < least - 0.5
    while True:
        wider = hidden | _given_away(hidden, counts, least)
        for lines, people in ((wider, counts), (wider.T, counts.T)):
            for line, cells in zip(lines, people, strict=True):
                if line.any():
                    _widen(line, cells, least)
        if (wider == hidden).all():
            return hidden
        hidden = wider


def _given_away(hidden: Hidden, counts: NDArray[np.float64], least: int) -> Hidden:
    """Cells to hide besides, because the sums of rows and columns together give a hidden cell of few people away.

    That is so where the cell alone joins two parts of what is hidden; one more hidden cell of its line makes a second way.
    """
    rows, columns = np.nonzero(hidden)
    sums = np.zeros((sum(hidden.shape), len(rows)))
    sums[rows, np.arange(len(rows))] = sums[len(hidden) + columns, np.arange(len(rows))] = 1
    # What of each cell the sums determine: 1 where they tell it.
    information = np.einsum("cs,sc->c", np.linalg.pinv(sums), sums)
    more = np.zeros_like(hidden)
    for place in np.flatnonzero((information > 1 - 1e-6) & (counts[rows, columns] < least - 0.5)):
        row, column = rows[place], columns[place]
        line = [(row, other) for other in np.flatnonzero(~hidden[row])]
        line += [(other, column) for other in np.flatnonzero(~hidden[:, column])]
        if line:
            more[min(line, key=lambda cell: float(counts[cell]))] = True
    return more


def _widen(hidden: Hidden, people: NDArray[np.float64], least: int) -> None:
    for place in np.argsort(people, kind="stable"):
        if hidden.sum() >= 2 and people[hidden].sum() >= least - 0.5:
            return
        hidden[place] = True


@dataclass(frozen=True)
class AnswerTables:
    """Makes the tables of one survey from its counted reports."""

    definition: Definition
    reports: ReportSource
    fakes: int

    def is_public(self, name: str) -> bool:
        return name in self.definition.scheme.public_names

    def screened_out(self, name: str) -> Hidden:
        """Which answers of a public question nobody sends, because whoever gives them is asked no further."""
        answers = self.definition.scheme.schema[name].answers
        gone = {answer for question, answer in screened_out_answers(self.definition) if question == name}
        return np.array([answer in gone for answer in answers])

    def shows_few(self, *names: str) -> bool:
        """Whether a table of one public question, or of two, has cells that are not shown."""
        from tacit.estimation import estimate

        try:
            counted = estimate(self.reports, list(names))
        except NotEstimable:  # nobody was asked both
            return False
        people = (counted.probabilities * counted.n_reports)[np.ix_(*(~self.screened_out(name) for name in names))]
        return bool((too_few(people) if len(names) == 1 else too_few_crossed(people)).any())

    def question(self, name: str) -> EstimateTable:
        """The shares of one question's answers, with how far so many fake respondents could move each."""
        from tacit.estimation import estimate

        estimated = estimate(self.reports, [name])
        people = estimated.probabilities * estimated.n_reports
        gone = self.screened_out(name)
        hidden = np.zeros(people.shape, dtype=bool)
        if self.is_public(name):
            hidden[~gone] = too_few(people[~gone])
        if self.definition.is_long(name):
            return self._long(name, estimated, hidden)
        rows = []
        for code, cell in enumerate(estimated.cells()):
            if not hidden[code] and not gone[code]:
                shift = self._shift(name, code, cell["probability"], estimated.n_reports)
                rows.append(self._row(name, cell, shift))
        return EstimateTable(
            name, self.definition.label(name), not self.is_public(name), rows, hidden=int(hidden.sum())
        )

    def _long(self, name: str, estimated: TableEstimate, hidden: Hidden) -> EstimateTable:
        """The largest of thousands of answers: of those that more than nobody gives, whichever of them one looks at."""
        attribute = self.definition.scheme.schema[name]
        interval = estimated.interval(1 - 0.05 / attribute.size)
        is_public = self.is_public(name)
        is_certain = ~hidden if is_public else interval.low > 0
        largest = [code for code in np.argsort(-estimated.probabilities, kind="stable") if is_certain[code]][:MOST_ROWS]
        rows = []
        for code in largest:
            share = float(estimated.probabilities[code])
            figures = (float(estimated.standard_errors[code]), float(interval.low[code]), float(interval.high[code]))
            shift = self._shift(name, int(code), share, estimated.n_reports)
            answer = attribute.answers[code]
            rows.append(Row(answer, self.definition.answer_text(name, answer), share, *figures, influence=shift))
        unlisted = int((~hidden).sum()) - len(rows)
        title = self.definition.label(name)
        return EstimateTable(name, title, not is_public, rows, hidden=int(hidden.sum()), unlisted=unlisted)

    def _row(self, name: str, cell: dict[str, Any], shift: float = 0.0, by: str = "") -> Row:
        answer, group = cell["answers"][name], cell["answers"].get(by, "")
        return Row(
            answer, self.definition.answer_text(name, answer), cell["probability"], cell["standard_error"], cell["low"],
            cell["high"], shift, group, self.definition.answer_text(by, group) if by else "",
        )  # fmt: skip

    def _shift(self, name: str, code: int, share: float, n_reports: int) -> float:
        group = next((group for group in self.definition.groups if name in group.names), None)
        if group is None:
            return self.fakes / (n_reports + self.fakes) * max(share, 1 - share)
        return largest_shift(group, name, code, share, n_reports, self.fakes)

    def cross_tables(self, name: str, by: str) -> EstimateTable:
        """The joint shares of two questions' answers."""
        from tacit.estimation import estimate

        title, by_title = self.definition.label(name), self.definition.label(by)
        is_disguised = not (self.is_public(name) and self.is_public(by))
        try:
            table = estimate(self.reports, [by, name])
        except NotEstimable as error:
            return EstimateTable(name, f"{title}: {error}", is_disguised, [], by_title)
        hidden = self.hidden(table.probabilities * table.n_reports, by, name).reshape(-1)
        rows = [
            self._row(name, cell, by=by) for cell, is_hidden in zip(table.cells(), hidden, strict=True) if not is_hidden
        ]
        gone = np.logical_or.outer(self.screened_out(by), self.screened_out(name)).reshape(-1)
        return EstimateTable(name, title, is_disguised, rows, by_title, int((hidden & ~gone).sum()))

    def hidden(self, people: NDArray[np.float64], by: str, name: str, *, within: bool = False) -> Hidden:
        """Which cells of two questions' table, ``[by, name]``, are not shown.

        Shares `within` groups do not add up to the groups' sizes, so that only the small groups themselves are hidden.
        """
        hidden = np.ones(people.shape, dtype=bool)
        asked = np.ix_(~self.screened_out(by), ~self.screened_out(name))
        hidden[asked] = self._hide_small(people[asked], by, name, within=within)
        return hidden

    def _hide_small(self, people: NDArray[np.float64], by: str, name: str, *, within: bool) -> Hidden:
        if self.is_public(by) and self.is_public(name):
            return too_few_crossed(people)
        hidden = np.zeros(people.shape, dtype=bool)
        if self.is_public(by):
            groups = people.sum(axis=1)
            hidden[groups < FEWEST_IN_CELL - 0.5 if within else too_few(groups)] = True
        if self.is_public(name):
            hidden[:, too_few(people.sum(axis=0))] = True
        return hidden
