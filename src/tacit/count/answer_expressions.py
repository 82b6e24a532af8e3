"""The answer that every row of a database table shows, as an expression the database itself evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.count.backend import answer
from tacit.count.columns import encode_values
from tacit.errors import InvalidInput
from tacit.schema import Attribute, Cut
from tacit.table.columns import missing_values

if TYPE_CHECKING:
    import pyarrow as pa

# Branches of a query that says the answer of every value.
MOST_SPELLINGS = 1000


def by_answer(column: Any, attribute: Attribute, results: Sequence[Any]) -> Any:
    """``results[code]`` where a column shows the answer of that code, as an expression; null where it shows none."""
    if attribute.cut is not None and is_cut_here(column, attribute):
        result = _by_interval(column, attribute.cut, results)
    else:
        result = column.cases(*((value, results[code]) for value, code in _spellings(column, attribute)))
    if attribute.missing is None:
        return result
    return is_absent(column).ifelse(results[attribute.encode(attribute.missing)], result)


def is_cut_here(column: Any, attribute: Attribute) -> bool:
    """Whether the database can put the values into the intervals of a cut: it holds them as numbers."""
    return attribute.cut is not None and bool(column.type().is_numeric())


def _by_interval(column: Any, cut: Cut, results: Sequence[Any]) -> Any:
    import ibis

    number = column.cast("float64")
    below = [number <= edge if cut.closed == "right" else number < edge for edge in cut.edges]
    # Databases sort "not a number" above every number: it must not fall into the last interval.
    branches = [(is_absent(column), ibis.null()), *zip(below, results[:-1], strict=True)]
    return ibis.cases(*branches, else_=results[-1])


def _spellings(column: Any, attribute: Attribute) -> list[tuple[Any, int]]:
    """The values that stand for an answer, with its code: the answers' own texts, or else the values that occur."""
    if column.type().is_string() and attribute.cut is None:
        return [(answer, code) for code, answer in enumerate(attribute.answers)]
    values = distinct_values(column.as_table(), column.get_name(), MOST_SPELLINGS)
    if len(values) > MOST_SPELLINGS:
        raise InvalidInput(
            f"{attribute.name!r} has more than {MOST_SPELLINGS:,} different values that the database does not hold as "
            "numbers. Let its column have a number type."
        )
    values = values.filter(~missing_values(values))
    return list(zip(values.to_pylist(), encode_values(values, attribute).tolist(), strict=True))


def distinct_values(table: Any, name: str, most: int) -> pa.ChunkedArray:
    """The values of a column that occur; if they are more than `most`, one more than that."""
    return answer(table.select(value=table[name]).distinct().limit(most + 1)).column("value")


def is_absent(column: Any) -> Any:
    """Whether a value is null, not a number, or blank text; an expression."""
    if column.type().is_string():
        return column.isnull() | (column.strip() == "")
    # SQLite knows no "not a number".
    if column.type().is_floating() and column.get_backend().name != "sqlite":
        return column.isnull() | column.isnan()
    return column.isnull()
