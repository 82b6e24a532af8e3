"""A schema from data: the answers that occur, numbers cut by a rule, missing values by a stated policy."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Attribute, Cut, Schema
from tacit.table.coded import Table
from tacit.table.columns import as_arrow, as_text, gaps_in_words, is_declared, missing_values
from tacit.table.discretize import CutRule
from tacit.table.encode import encode

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
    if missing == "refuse":
        _refuse_gaps(absent)
    if missing == "drop":
        table, absent = _complete_rows(table, absent)
    listed = {
        name: _values(table.column(name), absent[name], is_declared=is_declared(table, name))
        for name in table.column_names
        if name not in rules
    }
    _refuse_crowds({name: len(column.answers) for name, column in listed.items() if len(column.answers) > most_answers})
    policies: dict[str, MissingPolicy] = {
        name: missing if column.any() else "refuse" for name, column in absent.items()
    }
    return Schema(
        tuple(
            _cut_attribute(name, table.column(name).filter(~absent[name]), rules[name], policies[name])
            if name in rules
            else _listed_attribute(name, listed[name], policies[name])
            for name in table.column_names
        )
    )


def _refuse_crowds(crowds: Mapping[str, int]) -> None:
    if crowds:
        (first, number), *others = crowds.items()
        listed = "".join(f", {name!r} {count:,}" for name, count in others)
        raise InvalidInput(
            f"{first!r} has {number:,} different values{listed}: too many to be the answers of a question. Cut numbers into "
            f"ranges first, or leave the column out (--drop {shlex.quote(_as_typed(crowds))}; in Python "
            f"frame.drop(columns={list(crowds)}))."
        )


def inferred_table(data: Any) -> Table:
    """The codes of a data frame whose answers are those that occur in it."""
    table = as_arrow(data)
    return encode(table, infer_schema(table))


def _refuse_gaps(absent: Mapping[str, Absent]) -> None:
    gaps = {name: int(gap.sum()) for name, gap in absent.items() if gap.any()}
    if gaps:
        incomplete = np.logical_or.reduce(list(absent.values()))
        raise InvalidInput(
            f"{gaps_in_words(gaps)}; {int(incomplete.sum()):,} of {len(incomplete):,} rows lack something. State what they mean: "
            "--missing drop leaves these rows out, --missing answer makes an answer of its own of them, --missing most-frequent "
            "reads them as the most frequent answer (in Python: tacit.Dataset(frame, missing='drop'))."
        )


def _complete_rows(table: pa.Table, absent: Mapping[str, Absent]) -> tuple[pa.Table, dict[str, Absent]]:
    complete = table.filter(~np.logical_or.reduce(list(absent.values())))
    if complete.num_rows == 0:
        raise InvalidInput("Every row has a missing value, so dropping them leaves nothing.")
    return complete, {name: np.zeros(complete.num_rows, dtype=np.bool_) for name in absent}


def _as_typed(names: Iterable[str]) -> str:
    """Names as commands take them: with commas between them, and quoted where they hold one."""
    return ",".join(f'"{name}"' if "," in name else name for name in names)


class _Values(NamedTuple):
    """The values of a column that occur or were declared, in order."""

    answers: tuple[str, ...]
    ordered: bool  # whether their order means something
    common: str | None  # the most frequent


def _values(column: pa.ChunkedArray, absent: Absent, *, is_declared: bool) -> _Values:

    counts = as_text(column.filter(~absent)).value_counts()
    answers = [str(entry["values"].as_py()) for entry in counts]
    common = answers[int(np.argmax(counts.field("counts").to_numpy(zero_copy_only=False)))] if answers else None
    if is_declared or (pa.types.is_dictionary(column.type) and column.type.ordered):
        left_out = set(as_text(column.filter(absent)).to_pylist())
        categories = [text for text in _categories(column) if text not in left_out]
        seen = tuple(text for text in categories if is_declared or text in set(answers))
        return _Values(seen, column.type.ordered, common)
    texts, ordered = _in_order(answers)
    return _Values(texts, ordered or pa.types.is_temporal(column.type), common)


def _categories(column: pa.ChunkedArray) -> list[str]:
    """The categories of a categorical, in their order."""
    parts = [as_text(pa.chunked_array([chunk.dictionary])).to_pylist() for chunk in column.chunks]
    return list(dict.fromkeys(text for categories in parts for text in categories))


def _listed_attribute(name: str, values: _Values, missing: MissingPolicy) -> Attribute:
    answers = values.answers
    if missing == "answer":
        answers = (*answers, _new_label(MISSING_ANSWER, answers))
        return Attribute(name, answers, missing=answers[-1])
    common = values.common if missing == "most-frequent" else None
    return Attribute(name, answers, ordered=values.ordered, missing=common)


def _cut_attribute(name: str, present: pa.ChunkedArray, rule: CutRule | Cut, missing: MissingPolicy) -> Attribute:

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


def _new_label(label: str, answers: tuple[str, ...]) -> str:
    while label in answers:
        label += "_"
    return label
