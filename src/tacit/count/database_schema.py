"""A schema from a table outside memory: the database says which values occur."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from tacit.count.answer_expressions import distinct_values, is_absent
from tacit.count.backend import single_row
from tacit.count.columns import as_number
from tacit.errors import InvalidInput
from tacit.schema import Attribute, Schema
from tacit.table.columns import refuse_gaps
from tacit.table.discretize import CutRule
from tacit.table.infer import MOST_ANSWERS, MissingPolicy, infer_schema

MOST_LISTED = 100_000_000  # values of a column that is not generalized: as many as fit the memory


def complete_rows(table: Any, names: tuple[str, ...]) -> Any:
    """The rows of an ibis table without a missing value in these columns."""
    return table.filter([~is_absent(table[name]) for name in names])


def inferred_schema(
    table: Any,
    *,
    missing: MissingPolicy = "refuse",
    cuts: Mapping[str, CutRule] | None = None,
    listed: Collection[str] = (),
) -> Schema:
    """The schema that `infer_schema` would give the rows of an ibis table if they were in memory.

    Of a column that is cut only the least and the greatest number are looked at. Columns that are `listed`, such as the ids of
    persons, may have any number of values.
    """
    if missing == "most-frequent":
        raise InvalidInput("In a database missing values are refused, dropped or an answer: not the most frequent one.")
    names = tuple(table.columns)
    if missing == "refuse":
        _refuse_missing(table)
    rows = complete_rows(table, names) if missing == "drop" else table
    return Schema(
        tuple(
            _infer_attribute(
                rows, name, (cuts or {}).get(name), missing, MOST_LISTED if name in listed else MOST_ANSWERS
            )
            for name in names
        )
    )


def _refuse_missing(table: Any) -> None:
    absent = single_row(table.agg(**{name: as_number(is_absent(table[name])).sum() for name in table.columns}))
    refuse_gaps({name: int(number) for name, number in absent.items() if number})


def _infer_attribute(table: Any, name: str, rule: CutRule | None, missing: MissingPolicy, most: int) -> Attribute:

    if rule is not None and table[name].type().is_numeric():
        present = table.filter(~is_absent(table[name]))
        ends = single_row(present.agg(low=present[name].min(), high=present[name].max()))
        values = pa.chunked_array([pa.array([float(ends["low"]), float(ends["high"])])])
    else:
        values = distinct_values(table, name, most)
    if len(values) > most:
        raise InvalidInput(
            f"{name!r} has more than {most:,} different values, too many to be the answers of a question. Cut it "
            "if it holds numbers, or give a schema without it."
        )
    cuts = {} if rule is None else {name: rule}
    return infer_schema(pa.table({name: values}), missing=missing, cuts=cuts, most_answers=most)[name]
