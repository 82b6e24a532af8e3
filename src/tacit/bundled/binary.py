"""Two answers per attribute: the tables on which trees and naive Bayes were published, and a better cut of them.

As published (Zhan and Du; Zhan and Matwin), numbers are cut at the middle of their range, nominal answers are
numbered as documented and cut at the middle number; so an attribute may put nearly everybody on one side. Better:
numbers are cut at the median, nominal answers into the most frequent one and the rest. A missing value is read as the
attribute's most frequent answer. What equals the point of cutting belongs below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow.compute as pc

from tacit.bundled.answers import ADULT, DIAGNOSES, PARTIES, VOTES
from tacit.bundled.general import adult_rows, most_frequent
from tacit.bundled.published import NUMBERS, renamed_answers
from tacit.bundled.raw import FROM_TEST, raw_breast_cancer, raw_votes
from tacit.dataset import Dataset
from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Attribute, Schema, numeric
from tacit.table import middle, quantiles

if TYPE_CHECKING:
    import pyarrow as pa

CutName = Literal["published", "better"]
CUT_NAMES = ("published", "better")


def binary_adult(rows: int | Literal["all"] = 10_000, cut: CutName = "published") -> Dataset:
    """Adult with two answers per attribute: the first rows of ``adult.data`` (trees), or all 48,842 (naive Bayes)."""
    _checked_cut(cut)
    table = _first_rows(rows).drop_columns([FROM_TEST])
    attributes: list[Attribute] = []
    for name in table.column_names[:-1]:
        if name in NUMBERS:
            attributes.append(_halved_numbers(table, name, cut))
            continue
        low, high, names = _halves(ADULT[name], most_frequent(table, name), cut)
        common = names[most_frequent(table, name)]
        table = renamed_answers(table, name, names)
        attributes.append(Attribute(name, (low, high), missing=common if table[name].null_count else None))
    return Dataset.from_arrow(table, Schema((*attributes, Attribute("income", ADULT["income"], ordered=True))))


def binary_breast_cancer(cut: CutName = "published") -> Dataset:
    """Breast Cancer Wisconsin with grades cut at 5.5, the middle of 1 to 10, or at the median; without the `Id`."""
    _checked_cut(cut)
    table = raw_breast_cancer().drop_columns(["Id"])
    attributes = []
    for position, name in enumerate(table.column_names[:-1]):
        filled = pc.fill_null(table[name], int(most_frequent(table, name)))
        table = table.set_column(position, name, filled)
        attributes.append(numeric(name, (5.5,)) if cut == "published" else _halved_numbers(table, name, cut))
    return Dataset.from_arrow(table, Schema((*attributes, Attribute("Class", DIAGNOSES))))


def binary_votes() -> Dataset:
    """House Votes 1984: no is 0 and yes is 1; a vote that was not cast is read as the more frequent one."""
    table = raw_votes()
    votes = (Attribute(name, VOTES, missing=most_frequent(table, name)) for name in table.column_names[1:])
    return Dataset.from_arrow(table, Schema((Attribute("Class", PARTIES), *votes)))


def _checked_cut(cut: str) -> None:
    if cut not in CUT_NAMES:
        raise UnknownName("Cut", str(cut), CUT_NAMES)


def _first_rows(rows: int | Literal["all"]) -> pa.Table:
    if rows == "all":
        return adult_rows("all")
    table = adult_rows("train")
    if not (isinstance(rows, int) and 1 <= rows <= table.num_rows):
        raise InvalidInput(f"`rows` must be 'all' or a number from 1 to {table.num_rows:,}, not {rows!r}.")
    return table.slice(0, rows)


def _halved_numbers(table: pa.Table, name: str, cut: CutName) -> Attribute:
    rule = middle() if cut == "published" else quantiles(2)
    return numeric(name, rule(table[name].to_numpy().astype(np.float64)).edges)


def _halves(answers: Sequence[str], common: str, cut: CutName) -> tuple[str, str, dict[str, str]]:
    """The two new answers, and which of them each old answer becomes."""
    if len(answers) == 2:
        return answers[0], answers[1], {answer: answer for answer in answers}
    if cut == "better":
        return common, "other", {answer: answer if answer == common else "other" for answer in answers}
    half = (len(answers) + 1) // 2
    low, high = f"{answers[0]}..{answers[half - 1]}", f"{answers[half]}..{answers[-1]}"
    return low, high, {answer: low if position < half else high for position, answer in enumerate(answers)}
