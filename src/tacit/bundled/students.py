"""A real study: 710 of 10,777 students of a university, asked by the unrelated-question device, from its published counts.

Source: the data set HorvitzDataRealSurvey of the R package RRTCS. Every question was asked with chance one half; else a
harmless question of known share was answered. The column `sex` of that data set is, by its description, the report to
one more question asked in the same way (on sex on the premises), not the sex of a student; what is published here are
its counts against the other five.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import pyarrow as pa

from tacit.errors import UnknownName

POPULATION = 10_777
BY_SEX = (657, 53)  # reports of `sex`: 0 and 1


@dataclass(frozen=True)
class StudentItem:
    """One question of the study: its harmless partner's share, and its yes reports where `sex` was 0 and where 1."""

    name: str
    question: str
    harmless: Fraction
    yes: tuple[int, int]


ItemName = Literal["copied", "fought", "bullied", "bullying", "drug"]
STUDENT_ITEMS = {
    item.name: item
    for item in (
        StudentItem("copied", "Have you ever copied in an exam?", Fraction(1, 12), (297, 31)),
        StudentItem("fought", "Have you ever fought with a teacher?", Fraction(1, 10), (161, 19)),
        StudentItem("bullied", "Have you been bullied?", Fraction(2, 3), (261, 19)),
        StudentItem("bullying", "Have you ever bullied someone?", Fraction(1, 10), (64, 17)),
        StudentItem("drug", "Have you ever taken drugs on the campus?", Fraction(1, 3), (148, 16)),
    )
}
# copied by fought: (no, no), (no, yes), (yes, no), (yes, yes)
COPIED_FOUGHT = (278, 104, 252, 76)


def student_reports(item: ItemName = "copied") -> pa.Table:
    """The 710 reports of one question, with the column `sex`.

    >>> student_reports("fought").num_rows
    710
    """
    if item not in STUDENT_ITEMS:
        raise UnknownName("Question", str(item), STUDENT_ITEMS)
    reports, sexes = [], []
    for sex, (people, yes) in enumerate(zip(BY_SEX, STUDENT_ITEMS[item].yes, strict=True)):
        reports += ["yes"] * yes + ["no"] * (people - yes)
        sexes += [str(sex)] * people
    return pa.table({item: reports, "sex": sexes})


def student_pairs() -> pa.Table:
    """The reports of two questions together: copied and fought."""
    pairs = [("no", "no"), ("no", "yes"), ("yes", "no"), ("yes", "yes")]
    rows = [pair for pair, count in zip(pairs, COPIED_FOUGHT, strict=True) for _ in range(count)]
    return pa.table({"copied": [copied for copied, _ in rows], "fought": [fought for _, fought in rows]})
