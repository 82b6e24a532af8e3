"""A schema from data: the answers that occur, numbers cut by a rule, missing values by a stated policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Attribute, Cut, Schema
from tacit.table.columns import as_arrow, as_text, missing_values
from tacit.table.discretize import CutRule

if TYPE_CHECKING:
    import pyarrow as pa

Absent = NDArray[np.bool_]
MissingPolicy = Literal["refuse", "answer", "drop", "most-frequent"]
MISSING_POLICIES = ("refuse", "answer", "drop", "most-frequent")
MISSING_ANSWER = "missing"
MOST_ANSWERS = 1000


def infer_schema(
    data: Any,
    *,
    cuts: Mapping[str, CutRule | Cut] | None = None,
    missing: MissingPolicy = "refuse",
    marks: tuple[str, ...] = (),
    most_answers: int = MOST_ANSWERS,
) -> Schema:
    """The schema of a table: every column an attribute, numbers in `cuts` cut by their rule.

    `missing` says what empty values (and the `marks`) become: an answer of their own, the most frequent answer, a
    dropped row, or a refusal. Answers that are all numbers are ordered by size, others by their text.
    """
    if missing not in MISSING_POLICIES:
        raise UnknownName("Policy for missing values", str(missing), MISSING_POLICIES)
    table = as_arrow(data)
    rules = dict(cuts or {})
    for name in rules:
        if name not in table.column_names:
            raise UnknownName("Column", name, table.column_names)
    if table.num_rows == 0:
        raise InvalidInput("The table has no rows, so its answers cannot be inferred. Give a schema.")
    absent = {name: missing_values(table.column(name), marks) for name in table.column_names}
    if missing == "drop":
        table, absent = _complete_rows(table, absent)
    return Schema(
        tuple(
            _attribute(name, table.column(name), absent[name], rules.get(name), missing, most_answers)
            for name in table.column_names
        )
    )


def _complete_rows(table: pa.Table, absent: Mapping[str, Absent]) -> tuple[pa.Table, dict[str, Absent]]:
    complete = table.filter(~np.logical_or.reduce(list(absent.values())))
    if complete.num_rows == 0:
        raise InvalidInput("Every row has a missing value, so dropping them leaves nothing.")
    return complete, {name: np.zeros(complete.num_rows, dtype=np.bool_) for name in absent}


def _attribute(
    name: str,
    column: pa.ChunkedArray,
    absent: Absent,
    rule: CutRule | Cut | None,
    missing: MissingPolicy,
    most_answers: int,
) -> Attribute:
    if absent.any() and missing == "refuse":
        raise InvalidInput(
            f"{name!r} has {int(absent.sum()):,} missing value(s). State what they mean: 'answer' (one of its own), "
            "'most-frequent', or 'drop' the rows (--missing drop, missing='drop')."
        )
    present = column.filter(~absent)
    policy = missing if absent.any() else "refuse"
    if rule is not None:
        return _cut_attribute(name, present, rule, policy)
    return _listed_attribute(name, present, policy, most_answers)


def _listed_attribute(name: str, present: pa.ChunkedArray, missing: MissingPolicy, most_answers: int) -> Attribute:
    counts = as_text(present).value_counts()
    answers = [str(entry["values"].as_py()) for entry in counts]
    if len(answers) > most_answers:
        raise InvalidInput(
            f"{name!r} has {len(answers):,} different values, too many to be the answers of a question. Cut it if it "
            "holds numbers, or leave the column out (in commands: --drop)."
        )
    common = answers[int(np.argmax(counts.field("counts").to_numpy(zero_copy_only=False)))] if answers else None
    ordered_answers, ordered = _in_order(answers)
    if missing == "answer":
        ordered_answers = (*ordered_answers, _unused(MISSING_ANSWER, ordered_answers))
        return Attribute(name, ordered_answers, missing=ordered_answers[-1])
    return Attribute(name, ordered_answers, ordered=ordered, missing=common if missing == "most-frequent" else None)


def _cut_attribute(name: str, present: pa.ChunkedArray, rule: CutRule | Cut, missing: MissingPolicy) -> Attribute:
    import pyarrow as pa
    import pyarrow.compute as pc

    if missing == "answer":
        raise InvalidInput(
            f"{name!r} is cut, and its intervals leave no place for an answer of its own for missing values. "
            "Drop these rows, or read them as the most frequent interval."
        )
    try:
        numbers = pc.utf8_trim_whitespace(as_text(present)).cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        raise InvalidInput(f"{name!r} holds values that are not numbers, so it cannot be cut.") from None
    cut = rule if isinstance(rule, Cut) else rule(numbers)
    labels = cut.labels()
    if missing != "most-frequent":
        return Attribute(name, labels, ordered=True, cut=cut)
    codes = np.searchsorted(np.array(cut.edges), numbers, side=cut.side)
    common = labels[int(np.bincount(codes).argmax())]
    return Attribute(name, labels, ordered=True, cut=cut, missing=common)


def _in_order(answers: list[str]) -> tuple[tuple[str, ...], bool]:
    """Numbers by size, and everything else by its text; and whether the order means something."""
    try:
        if all(math.isfinite(float(answer)) for answer in answers):
            return tuple(sorted(answers, key=float)), True
    except ValueError:
        pass
    return tuple(sorted(answers)), False


def _unused(label: str, answers: tuple[str, ...]) -> str:
    while label in answers:
        label += "_"
    return label
