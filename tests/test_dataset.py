"""Truths go in and out through every format and library, unchanged."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Attribute, Dataset, Schema, Scheme, channels, disguise
from tacit.errors import InvalidInput, UnknownAnswer
from tacit.schema import numeric

PEOPLE = {
    "smokes": ["no", "yes", "no", "no"],
    "city": ["Ulm", "Bonn", "Bonn", "Ulm, old"],
    "rooms": ["2", "10", "3", "2"],
}
SCHEMA = Schema(
    (
        Attribute("smokes", ("no", "yes")),
        Attribute("city", ("Bonn", "Ulm", "Ulm, old")),
        Attribute("rooms", ("2", "3", "10"), ordered=True),
    )
)


def people() -> Dataset:
    return Dataset.from_arrow(PEOPLE)


def test_the_schema_is_inferred():
    assert people().schema == SCHEMA
    assert len(people()) == people().n_rows == 4


WAYS_OUT = {
    "pyarrow": lambda data: pa.table(data),
    "pandas": lambda data: pd.DataFrame.from_arrow(data),
    "polars": lambda data: pl.DataFrame(data),
    "duckdb": lambda data: duckdb.from_arrow(data.to_arrow()),
    "record batches": lambda data: pa.RecordBatchReader.from_stream(data),
}


@pytest.mark.parametrize("library", WAYS_OUT)
def test_data_go_out_to_a_library_and_come_back(library):
    frame = WAYS_OUT[library](people())
    back = Dataset.from_arrow(frame, SCHEMA)
    assert back.to_arrow().to_pydict() == PEOPLE


@pytest.mark.parametrize("write", [pq.write_table, arrow_csv.write_csv], ids=["people.parquet", "people.csv"])
def test_data_go_out_to_a_file_and_come_back(write, tmp_path, request):
    path = tmp_path / request.node.callspec.id
    write(pa.table(PEOPLE), path)
    assert Dataset.read(path).to_arrow().to_pydict() == PEOPLE
    assert Dataset.read(path, SCHEMA).to_arrow().to_pydict() == PEOPLE


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1, max_size=8).filter(str.strip)


@given(st.lists(st.tuples(texts, texts), min_size=2, max_size=20), st.sampled_from(["csv", "parquet"]))
def test_any_text_survives_a_file(tmp_path_factory, rows, kind):
    columns = {"a": [a for a, _ in rows], "b": [b for _, b in rows]}
    if any(len(set(values)) < 2 for values in columns.values()):
        return
    path = tmp_path_factory.mktemp("any") / f"data.{kind}"
    (pq.write_table if kind == "parquet" else arrow_csv.write_csv)(pa.table(columns), path)
    assert Dataset.read(path).to_arrow().to_pydict() == columns


def test_columns_of_a_file_may_stand_in_another_order(tmp_path):
    (tmp_path / "data.csv").write_text("city,rooms,smokes\nUlm,10,no\nBonn,2,yes\n")
    assert Dataset.read(tmp_path / "data.csv", SCHEMA).to_arrow().to_pydict() == {
        "smokes": ["no", "yes"],
        "city": ["Ulm", "Bonn"],
        "rooms": ["10", "2"],
    }


def test_other_columns_are_refused_unless_they_are_to_be_dropped(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("name,smokes\nEve,no\nBob,yes\n")
    with pytest.raises(InvalidInput, match=r"does not name the column\(s\) 'name'"):
        Dataset.read(path, SCHEMA.select(["smokes"]))
    assert Dataset.read(path, SCHEMA.select(["smokes"]), drop_others=True).n_rows == 2


def test_a_missing_column_is_refused_with_the_closest_of_the_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("smoker,city\nno,Ulm\n")
    with pytest.raises(InvalidInput, match=r"The column 'smokes' is missing. Did you mean 'smoker'\?"):
        Dataset.read(path, SCHEMA.select(["smokes"]), drop_others=True)


def test_an_unknown_answer_in_a_file_is_refused_with_its_row(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("smokes\nno\nyess\n")
    with pytest.raises(UnknownAnswer, match=r"'smokes' has no answer 'yess' \(row 2\). Did you mean 'yes'\?"):
        Dataset.read(path, SCHEMA.select(["smokes"]))


@pytest.mark.parametrize("content", ["smokes\n", "smokes"])
def test_a_file_without_rows_is_refused(tmp_path, content):
    (tmp_path / "data.csv").write_text(content)
    for schema in (None, SCHEMA.select(["smokes"])):
        with pytest.raises(InvalidInput, match="The table has no rows"):
            Dataset.read(tmp_path / "data.csv", schema)


def test_missing_values_follow_the_stated_policy(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("smokes,age\nno,17\n?,30\nyes,\nyes,70\nyes,18\n")
    schema = Schema((Attribute("smokes", ("no", "yes")), numeric("age", (18,))))
    with pytest.raises(InvalidInput, match="'smokes' has 1 missing"):
        Dataset.read(path, schema, marks=("?",))
    kept = Dataset.read(path, schema, missing="drop", marks=("?",)).to_arrow().to_pydict()
    assert kept == {"smokes": ["no", "yes", "yes"], "age": ["<=18", ">18", "<=18"]}
    inferred = Dataset.read(path, missing="most-frequent", marks=("?",))
    assert inferred.to_arrow()["smokes"].to_pylist() == ["no", "yes", "yes", "yes", "yes"]


def test_dropping_every_row_is_refused():
    with pytest.raises(InvalidInput, match="dropping them leaves nothing"):
        Dataset.from_arrow({"smokes": [None, None]}, SCHEMA.select(["smokes"]), missing="drop")


def test_selecting_attributes():
    assert people().select(["rooms", "smokes"]).schema.names == ("rooms", "smokes")


def test_a_dataset_says_briefly_what_it_holds() -> None:
    assert (
        repr(Dataset.from_arrow({"smokes": ["no", "yes"], "sex": ["f", "m"]})) == "<Dataset: 2 records of smokes, sex>"
    )


def test_a_data_frame_is_a_dataset_by_its_constructor():
    frame = pd.DataFrame(PEOPLE)
    assert Dataset(frame).schema == Dataset.from_arrow(frame).schema == SCHEMA
    assert Dataset(frame, SCHEMA.select(["smokes"]), drop_others=True).schema.names == ("smokes",)
    gaps = frame.assign(smokes=["no", None, "no", "yes"])
    assert Dataset(gaps, missing="drop").n_rows == 3
    assert Dataset(Dataset(frame)).table is not None


def test_what_a_data_scientist_has_in_a_frame_is_read():
    frame = pd.DataFrame(
        {
            "sex": pd.Categorical(["f", "m", "f", "m"]),
            "smokes": [True, False, False, True],
            "children": [0, 2, 1, 0],
            "income": [1.5, float("nan"), 2.0, 1.5],
            "joined": pd.to_datetime(["2024-01-05", "2024-02-01", None, "2024-01-05"]),
        }
    )
    with pytest.raises(InvalidInput, match=r"'income' has 1 missing value\(s\), 'joined' 1; 2 of 4 rows"):
        Dataset(frame)
    answers = {attribute.name: attribute.answers for attribute in Dataset(frame, missing="answer").schema}
    assert answers["sex"] == ("f", "m")
    assert answers["smokes"] == ("false", "true")
    assert answers["children"] == ("0", "1", "2")
    assert answers["income"] == ("1.5", "2", "missing")
    assert answers["joined"] == ("2024-01-05", "2024-02-01", "missing")


def test_reports_and_names_of_files_are_no_truths():
    scheme = Scheme.of(SCHEMA.select(["smokes"]), [(["smokes"], channels.warner(0.8))])
    with pytest.raises(InvalidInput, match="These are reports, not truths"):
        Dataset(disguise(people().select(["smokes"]), scheme))
    with pytest.raises(InvalidInput, match=r"Dataset\.read\(path\)"):
        Dataset("people.csv")


def test_an_answer_that_only_incomplete_rows_show_is_no_reason_to_refuse_them():
    """They are dropped; an id is such a column, and so is a rare answer."""
    frame = pd.DataFrame({"id": ["a", "b", "c"], "smokes": ["no", None, "yes"]})
    assert Dataset(frame, missing="drop").schema["id"].answers == ("a", "c")
