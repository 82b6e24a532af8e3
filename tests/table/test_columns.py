"""Every kind of Arrow column is brought to text or numbers; every library's frames mean the same."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit import Attribute, Dataset
from tacit.errors import InvalidInput
from tacit.table import as_arrow
from tacit.table.columns import as_text, checked_columns, file_columns, missing_values

COLUMNS = {"city": ["Ulm", None, "Bonn"], "rooms": [2, 3, 2], "owner": [True, False, True]}


def frames():
    arrow = pa.table(COLUMNS)
    return {
        "dict": COLUMNS,
        "pyarrow": arrow,
        "record batch": arrow.to_batches()[0],
        "record batch reader": pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches()),
        "pandas": pd.DataFrame(COLUMNS),
        "polars": pl.DataFrame(COLUMNS),
        "duckdb": duckdb.sql(
            "select * from (values ('Ulm', 2, true), (null, 3, false), ('Bonn', 2, true)) as t(city, rooms, owner)"
        ),
    }


@pytest.mark.parametrize("library", frames())
def test_frames_of_every_library_read_alike(library):
    table = as_arrow(frames()[library])
    assert table.column_names == ["city", "rooms", "owner"]
    assert as_text(table["city"]).to_pylist() == ["Ulm", None, "Bonn"]
    assert as_text(table["rooms"]).to_pylist() == ["2", "3", "2"]
    assert as_text(table["owner"]).to_pylist() == ["true", "false", "true"]
    assert missing_values(table["city"]).tolist() == [False, True, False]


def text_columns():
    values = ["a", None, "", " "]
    return {
        "string": pa.array(values),
        "large_string": pa.array(values, pa.large_string()),
        "string_view": pa.array(values, pa.string_view()),
        "dictionary": pa.array(values).dictionary_encode(),
        "dictionary of large strings": pa.array(values, pa.large_string()).dictionary_encode(),
        "pandas categories": pd.DataFrame({"x": pd.Categorical(values)}),
        "polars text": pl.DataFrame({"x": values}),
        "polars categories": pl.DataFrame({"x": values}, schema={"x": pl.Categorical}),
        "polars enumeration": pl.DataFrame({"x": values}, schema={"x": pl.Enum(["a", "", " "])}),
    }


@pytest.mark.parametrize("kind", text_columns())
def test_text_of_every_type_is_read_and_blank_text_is_missing(kind):
    data = text_columns()[kind]
    column = as_arrow(pa.table({"x": data}) if isinstance(data, pa.Array) else data)["x"]
    assert as_text(column).to_pylist() == ["a", None, "", " "]
    assert missing_values(column).tolist() == [False, True, True, True]


def test_numbers_are_missing_where_null_or_not_a_number():
    assert missing_values(pa.chunked_array([[1.0, float("nan"), None]])).tolist() == [False, True, True]


@pytest.mark.parametrize("values", [["-9", "1"], [-9, 1], [-9.0, 1.0]])
def test_a_mark_of_missing_values_holds_for_text_and_for_numbers(values):
    assert missing_values(pa.chunked_array([values]), ("-9",)).tolist() == [True, False]


def test_whole_floats_are_written_without_a_point():
    # A pandas column of integers with a gap arrives as floats; its answers must stay the integers.
    assert as_text(pa.chunked_array([[1.0, 2.5, None]])).to_pylist() == ["1", "2.5", None]


def test_values_of_several_kinds_in_a_dict_are_compared_as_text():
    assert as_arrow({"x": [1, "a", None]})["x"].to_pylist() == ["1", "a", None]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            [1, 2],
            "A list cannot be read as a table. Pass a pandas, polars, pyarrow or DuckDB table, or a dict of lists",
        ),
        ({"a": ["x"], "b": ["x", "y"]}, r"must have one length, not \{'a': 1, 'b': 2\}"),
        (pa.table([["x"], ["y"]], names=["a", "a"]), "There are two columns called 'a'. Rename one"),
    ],
)
def test_what_is_no_table_is_refused(data, message):
    with pytest.raises(InvalidInput, match=message):
        as_arrow(data)


@pytest.mark.parametrize("values", [pa.array([[1], [2]]), pa.array([b"\xff"]), pa.array([{"a": 1}])])
def test_values_that_are_no_answers_are_refused(values):
    with pytest.raises(InvalidInput, match=r"Values of type .* cannot be read as answers"):
        as_text(pa.chunked_array([values]))


def test_columns_may_stand_in_another_order():
    checked_columns(["b", "a"], ["a", "b"], drop_others=False)


@pytest.mark.parametrize(
    ("present", "message"),
    [
        (["smoke", "age"], "The column 'smokes' is missing. Did you mean 'smoke'?"),
        (["x"], "The column 'smokes' is missing. There is: 'x'"),
        (["smokes", "age", "name"], r"does not name the column\(s\) 'name'.*drop_others=True"),
        (["smokes", "smokes", "age"], "two columns called 'smokes'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(present, message):
    with pytest.raises(InvalidInput, match=message):
        checked_columns(present, ["smokes", "age"], drop_others=False)


def test_other_columns_may_be_dropped_on_demand():
    checked_columns(["smokes", "name"], ["smokes"], drop_others=True)


def test_bits_have_one_column_for_each_answer():
    assert file_columns(Attribute("car", ("no", "yes"), shows="bits")) == ("car=no", "car=yes")
    assert file_columns(Attribute("car", ("no", "yes"), shows="set")) == ("car",)


def test_missing_values_are_a_mask_over_chunks():
    column = pa.chunked_array([["a"], [], ["", "b"]], pa.string())
    assert missing_values(column).dtype == np.bool_
    assert missing_values(column).tolist() == [False, True, False]


def test_labels_of_rows_out_of_pandas_are_no_answers(tmp_path):
    """A frame whose rows were chosen keeps an index without a name, which Arrow and Parquet hold as a column."""
    import pyarrow.parquet as pq

    from tacit.table.files import column_names, read_table

    frame = pd.DataFrame({"a": ["x", "y", "x", "y"], "b": ["u", "v", "v", "v"]}).iloc[[3, 0, 1]]
    frame.to_parquet(tmp_path / "chosen.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "chosen.parquet").names
    assert as_arrow(frame).column_names == ["a", "b"]
    assert column_names(tmp_path / "chosen.parquet") == ["a", "b"]
    assert read_table(tmp_path / "chosen.parquet").column_names == ["a", "b"]
    frame.iloc[:0].to_parquet(tmp_path / "empty.parquet")
    assert read_table(tmp_path / "empty.parquet").column_names == ["a", "b"]


def test_an_index_with_a_name_is_refused_and_both_ways_out_work():
    """The attack: a frame indexed by person handed the persons over as a column, which no channel disguised."""
    frame = pd.DataFrame({"a": ["x", "y"]}, index=pd.Index(["ann", "bob"], name="person"))
    with pytest.raises(InvalidInput, match=r"index of the data frame is named 'person'.*reset_index\(drop=True\)"):
        as_arrow(frame)
    with pytest.raises(InvalidInput, match="named 'person'"):
        Dataset(frame)
    assert as_arrow(frame.reset_index()).column_names == ["person", "a"]
    assert as_arrow(frame.reset_index(drop=True)).column_names == ["a"]
