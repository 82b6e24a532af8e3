from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.count import answer_expressions
from tacit.count.abilities import distinct_rows
from tacit.count.backend import answer
from tacit.count.connections import open_table
from tacit.count.memory import MemoryEngine
from tacit.count.slots import column_slots, cross_slots
from tacit.count.table import TableEngine
from tacit.errors import InvalidInput, NotEstimable, UnknownAnswer
from tacit.schema import Attribute, Schema, numeric
from tests.count.engines import attribute, random_table, sqlite_table

SMOKES = Attribute("smokes", ("no", "yes"))


def engine_over(folder: Path, columns: dict[str, Any], *attributes: Attribute) -> TableEngine:
    path = folder / "table.parquet"
    pq.write_table(pa.table(columns), path)
    return TableEngine(open_table(path), Schema(attributes))


def test_an_unknown_answer_is_refused_with_the_nearest(tmp_path: Path) -> None:
    engine = engine_over(tmp_path, {"smokes": ["no", "yess"]}, SMOKES)
    with pytest.raises(UnknownAnswer, match="'smokes' has no answer 'yess'"):
        engine.tally(["smokes"])
    with pytest.raises(UnknownAnswer, match="'yess'"):
        engine.totals([[(("smokes",), np.ones(2))]])


@pytest.mark.parametrize("empty", [None, " "])
def test_missing_values_are_refused(tmp_path: Path, empty: str | None) -> None:
    engine = engine_over(tmp_path, {"smokes": ["no", empty, empty]}, SMOKES)
    with pytest.raises(InvalidInput, match=r"'smokes' has 2 missing value\(s\)"):
        engine.tally(["smokes"])


def test_missing_values_are_the_answer_the_schema_names_for_them(tmp_path: Path) -> None:
    named = Attribute("smokes", ("no", "yes", "?"), missing="?")
    engine = engine_over(tmp_path, {"smokes": ["no", None, "no"]}, named)
    assert engine.tally(["smokes"]).tolist() == [2, 0, 1]
    assert engine.totals([[(("smokes",), np.array([1.0, 10.0, 100.0]))]]).sums.tolist() == [102.0]


def test_numbers_are_cut_as_the_schema_says(tmp_path: Path) -> None:
    engine = engine_over(tmp_path, {"age": [20, 35, 36, 70, 71]}, numeric("age", [35, 70]))
    assert engine.tally(["age"]).tolist() == [2, 2, 1]
    assert engine.sparse_tally(["age"]).counts.tolist() == [2, 2, 1]
    assert engine.totals([[(("age",), np.array([1.0, 10.0, 100.0]))]]).sums.tolist() == [122.0]


def test_numbers_that_are_stored_as_text_are_cut_while_their_spellings_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"age": ["20", "35.0", " 36", "70", "71"]}), tmp_path / "table.parquet")
    table = open_table(tmp_path / "table.parquet")
    monkeypatch.setattr(answer_expressions, "MOST_SPELLINGS", 5)
    code = answer_expressions.by_answer(table["age"], numeric("age", [35, 70]), [0, 1, 2])
    assert answer(table.select(age="age", code=code)).column("code").to_pylist() == [0, 0, 1, 1, 2]
    monkeypatch.setattr(answer_expressions, "MOST_SPELLINGS", 4)
    with pytest.raises(InvalidInput, match="'age' has more than 4 different values"):
        answer_expressions.by_answer(table["age"], numeric("age", [35, 70]), [0, 1, 2])


def test_slots_of_sets_end_row_by_row() -> None:
    """Two members and the slot that counts every report."""
    codes = np.array([[0, 2], [1, 3], [0, 3]])
    slots = column_slots(codes, attribute("set", 4, "set"))
    assert slots.row_ends().tolist() == [3, 6, 9]
    assert slots.values.tolist() == [0, 2, 4, 1, 3, 4, 0, 3, 4]
    several, ends = cross_slots(
        slots.values, slots.row_ends(), np.array([1, 0, 1], np.uint32), np.arange(1, 4), np.uint32(2)
    )
    assert ends.tolist() == [3, 6, 9]
    assert several.tolist() == [1, 5, 9, 2, 6, 8, 1, 7, 9]


class OnlyCounts:
    """An engine that lists no whole rows."""

    def __init__(self, inner: MemoryEngine) -> None:
        self.schema, self.sparse_tally, self.n_rows = inner.schema, inner.sparse_tally, inner.n_rows


def test_rows_are_listed_from_counts_unless_they_show_sets() -> None:
    table = random_table(Schema((attribute("one", 3), attribute("other", 2), attribute("set", 4, "set"))), 60, seed=2)
    inner = MemoryEngine(table)
    rows, counts = distinct_rows(OnlyCounts(inner), ["one", "other"])  # type: ignore[arg-type]
    shown = [tuple(row) for row in zip(table["one"].tolist(), table["other"].tolist(), strict=True)]
    listed = zip(rows["one"].tolist(), rows["other"].tolist(), strict=True)
    assert dict(zip(listed, counts.tolist(), strict=True)) == Counter(shown)
    with pytest.raises(NotEstimable, match="Reports of set show sets"):
        distinct_rows(OnlyCounts(inner), ["one", "set"])  # type: ignore[arg-type]


def test_a_missing_column_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="The column 'smokes' is missing"):
        engine_over(tmp_path, {"smoke": ["no"]}, SMOKES)


@pytest.mark.parametrize("values", [[1, 2], ["1", "maybe"], [True, None]])
def test_a_bit_that_is_no_bit_is_refused(tmp_path: Path, values: list[Any]) -> None:
    engine = engine_over(tmp_path, {"a=a0": values, "a=a1": [0, 1]}, attribute("a", 2, "bits"))
    with pytest.raises(InvalidInput, match="The column 'a=a0' must hold 0 or 1 in every row; in 1 it does not"):
        engine.tally(["a"])


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([["a0", "a1"], ["a2"]], "has the same size; these have 1 to 2 answers"),
        ([["a0", "a1"], ["a2", "a2"]], "names the same answer twice"),
        ([["a0", "a1"], None], r"has 1 empty report\(s\)"),
        (["no list", "neither"], "failed"),
        ([1, 2], "must hold lists of texts"),
    ],
)
def test_a_set_that_is_no_set_is_refused(tmp_path: Path, sets: list[Any], message: str) -> None:
    engine = engine_over(tmp_path, {"a": sets}, attribute("a", 3, "set"))
    with pytest.raises(InvalidInput, match=message):
        engine.tally(["a"])


def test_sets_are_refused_where_the_database_has_no_lists(tmp_path: Path) -> None:
    engine = sqlite_table(random_table(Schema((attribute("a", 3, "set"),)), 5, seed=1), tmp_path)
    with pytest.raises(InvalidInput, match="Array types aren't supported"):
        engine.tally(["a"])


def test_columns_may_have_any_name(tmp_path: Path) -> None:
    names = ["n", "k0", "count", "one", "unit", "value", 'a "b"', "select"]
    columns = {name: ["no", "yes", "no"] for name in names}
    engine = engine_over(tmp_path, columns, *(Attribute(name, ("no", "yes")) for name in names))
    assert all(tally.tolist() == [2, 1] for tally in engine.tallies([[name] for name in names]))
    product = [((name,), np.array([1.0, 2.0])) for name in names]
    assert engine.totals([product]).sums.tolist() == [2.0 + 2.0 ** len(names)]
