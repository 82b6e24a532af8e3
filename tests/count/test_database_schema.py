"""The schema of a table in a database is the one that its rows would have in memory."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.count import database_schema
from tacit.count.connections import open_table
from tacit.count.database_schema import inferred_schema
from tacit.errors import InvalidInput
from tacit.table.discretize import equal_width
from tacit.table.infer import infer_schema

ROWS = pa.table({"town": ["b", "a", "b", "c", "a"], "age": [30, 18, 65, 40, 41], "kids": [0, 2, 10, 2, 0]})


def lying(folder: Path, rows: pa.Table) -> object:
    pq.write_table(rows, folder / "rows.parquet")
    return open_table(folder / "rows.parquet")


def test_answers_and_cuts_are_those_of_the_rows_in_memory(tmp_path: Path) -> None:
    table = lying(tmp_path, ROWS)
    assert inferred_schema(table) == infer_schema(ROWS)
    schema = inferred_schema(table, cuts={"age": equal_width(4)})
    assert schema == infer_schema(ROWS, cuts={"age": equal_width(4)})
    assert schema["age"].size == 4


@pytest.mark.parametrize("empty", [None, " "])
def test_missing_values_are_refused_dropped_or_an_answer(tmp_path: Path, empty: str | None) -> None:
    rows = ROWS.set_column(0, "town", pa.array(["b", empty, "b", "c", empty]))
    table = lying(tmp_path, rows)
    with pytest.raises(InvalidInput, match=r"'town' has 2 missing value\(s\).*--missing drop .* --missing answer"):
        inferred_schema(table)
    with pytest.raises(InvalidInput, match="not the most frequent one"):
        inferred_schema(table, missing="most-frequent")
    assert inferred_schema(table, missing="answer") == infer_schema(rows, missing="answer")
    dropped = inferred_schema(table, missing="drop")
    assert dropped["town"].answers == ("b", "c")
    assert dropped["kids"].answers == ("0", "2", "10")


def test_too_many_different_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_schema, "MOST_ANSWERS", 3)
    table = lying(tmp_path, ROWS)
    with pytest.raises(InvalidInput, match="'age' has more than 3 different values"):
        inferred_schema(table)
    assert inferred_schema(table, cuts={"age": equal_width(4)})["town"].size == 3
