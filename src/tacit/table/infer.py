"""A schema from data: the answers that occur, numbers cut by a rule, missing values by a stated policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Attribute, Cut, Schema
from tacit.table.discretize import CutRule
from tacit.table.encode import as_arrow, as_text, missing_values

if TYPE_CHECKING:
    import pyarrow as pa

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
    if table.num_rows == 0:
        raise InvalidInput("The table has no rows, so its answers cannot be inferred. Give a schema.")
    rules = dict(cuts or {})
    for name in rules:
        if name not in table.column_names:
            raise UnknownName("Column", name, table.column_names)
    absent = {name: missing_values(table.column(name), marks) for name in table.column_names}
    if missing == "drop":
        keep = ~np.logical_or.reduce(list(absent.values()))
        table = table.filter(keep)
        absent = {name: np.zeros(table.num_rows, dtype=np.bool_) for name in table.column_names}
        if table.num_rows == 0:
            raise InvalidInput("Every row has a missing value, so dropping them leaves nothing.")
    made = []
    for name in table.column_names:
        present = table.column(name).filter(~absent[name])
        if absent[name].any() and missing == "refuse":
            raise InvalidInput(
                f"{name!r} has {int(absent[name].sum()):,} missing value(s). State what they mean: 'answer' (one of its "
                "own), 'most-frequent', or 'drop' the rows."
            )
        policy = missing if absent[name].any() else "refuse"
        made.append(_attribute(name, present, rules.get(name), policy, most_answers))
    return Schema(tuple(made))


def _attribute(
    name: str, present: pa.ChunkedArray, rule: CutRule | Cut | None, missing: MissingPolicy, most_answers: int
) -> Attribute:
    if rule is not None:
        return _cut_attribute(name, present, rule, missing)
    text = as_text(present)
    counts = text.value_counts()
    answers = [str(entry["values"].as_py()) for entry in counts]
    if len(answers) > most_answers:
        raise InvalidInput(
            f"{name!r} has {len(answers):,} different values, too many to be the answers of a question. Cut it if it "
            "holds numbers, or leave it out."
        )
    common = answers[int(np.argmax(counts.field("counts").to_numpy(zero_copy_only=False)))] if answers else None
    ordered_answers, ordered = _in_order(answers)
    if missing == "answer":
        ordered_answers = (*ordered_answers, _unused(MISSING_ANSWER, ordered_answers))
        return Attribute(name, ordered_answers, missing=ordered_answers[-1])
    return Attribute(name, ordered_answers, ordered=ordered, missing=common if missing == "most-frequent" else None)


def _cut_attribute(name: str, present: pa.ChunkedArray, rule: CutRule | Cut, missing: MissingPolicy) -> Attribute:
    import pyarrow as pa

    if missing == "answer":
        raise InvalidInput(
            f"{name!r} is cut, and its intervals leave no place for an answer of its own for missing values. "
            "Drop these rows, or read them as the most frequent interval."
        )
    try:
        numbers = as_text(present).cast(pa.float64()).to_numpy()
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
    try:
        return tuple(sorted(answers, key=float)), True
    except ValueError:
        return tuple(sorted(answers)), False


def _unused(label: str, answers: tuple[str, ...]) -> str:
    while label in answers:
        label += "_"
    return label
