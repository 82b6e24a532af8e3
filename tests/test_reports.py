"""Report files: every kind of report out and back, and what is refused."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Attribute, Dataset, Reports, Scheme, channels, disguise
from tacit.errors import InvalidInput, SchemeMismatch, UnknownName
from tacit.reports import MissingSchemeNote, joined, joint_scheme, report_columns

A, B, C = Attribute("a", ("x", "y", "z")), Attribute("b", ("no", "yes")), Attribute("c", ("0", "1"))
LABELS = channels.matrix([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.125, 0.375], [0.125] * 3], list("pqrs"))
SCHEMES = {
    "clear": Scheme.of([A, B, C]),
    "mixture": Scheme.of([A, B, C], [(["a", "b"], channels.gamma_diagonal(5))]),
    "flip": Scheme.of([A, B, C], [(["b", "c"], channels.flip(0.8))]),
    "labels": Scheme.of([A, B, C], [(["a"], LABELS)]),
    "bits": Scheme.of([A, B, C], [(["a", "c"], channels.mask(0.8))]),
    "cut-and-paste": Scheme.of([A, B, C], [(["a", "b"], channels.cut_and_paste(2, 0.3))]),
    "sets": Scheme.of([A, B, C], [(["a", "b"], channels.subset(2, 9))]),
    "dealt": Scheme.dealt(
        [A, B, C],
        [
            ("first", 0.5, [(["a"], channels.warner(0.8))]),
            ("second", 0.25, [(["b"], channels.mask(0.8))]),
            ("third", 0.25, [(["a", "b"], channels.subset(2, 9))]),
        ],
    ),
}


def truth(rows: int = 200, seed: int = 1) -> Dataset:
    generator = np.random.default_rng(seed)
    return Dataset.from_arrow(
        {attribute.name: generator.choice(attribute.answers, rows).tolist() for attribute in (A, B, C)},
        SCHEMES["clear"].schema,
    )


def assert_same(found: Reports, expected: Reports) -> None:
    for (_, left), (_, right) in zip(found, expected, strict=True):
        assert left.schema.names == right.schema.names
        for name in left.schema.names:
            # As lists: a questionnaire that nobody was dealt does not say how large its sets would have been.
            assert left[name].tolist() == right[name].tolist()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("kind", SCHEMES)
def test_reports_go_out_to_a_file_and_come_back(tmp_path, kind, suffix):
    reports = disguise(truth(), SCHEMES[kind], seed=2)
    reports.write(tmp_path / f"reports.{suffix}")
    back = Reports.read(tmp_path / f"reports.{suffix}", SCHEMES[kind])
    assert back.is_simulation
    assert_same(back, reports)


@pytest.mark.parametrize("kind", SCHEMES)
def test_reports_go_out_to_polars_and_come_back(kind):
    reports = disguise(truth(), SCHEMES[kind], seed=2)
    assert_same(Reports.from_arrow(pl.DataFrame(reports), SCHEMES[kind]), reports)


@given(st.sampled_from(sorted(SCHEMES)), st.integers(1, 40), st.integers(0, 2**32 - 1), st.booleans())
def test_any_reports_come_back(kind, rows, seed, text_only):
    reports = disguise(truth(rows, seed), SCHEMES[kind], seed=seed)
    assert_same(Reports.from_arrow(reports.to_arrow(text_only=text_only), SCHEMES[kind]), reports)


def test_the_columns_of_a_report_file():
    columns = {kind: report_columns(scheme) for kind, scheme in SCHEMES.items()}
    assert columns["mixture"] == ["a", "b", "c"]
    assert columns["bits"] == ["a=x", "a=y", "a=z", "c=0", "c=1", "b"]
    assert columns["sets"] == ["a+b", "c"]
    assert columns["dealt"] == ["questionnaire", "a", "c", "b=no", "b=yes", "a+b"]


def test_what_was_not_dealt_is_empty():
    table = disguise(truth(), SCHEMES["dealt"], seed=3).to_arrow()
    first = np.array(table["questionnaire"].to_pylist()) == "first"
    assert (np.array([value is None for value in table["b=no"].to_pylist()]) >= first).all()
    assert table["c"].null_count == 0


def test_columns_in_another_order_are_read_by_name():
    reports = disguise(truth(), SCHEMES["bits"], seed=4)
    arrow = reports.to_arrow()
    assert_same(Reports.from_arrow(arrow.select(arrow.column_names[::-1]), SCHEMES["bits"]), reports)


def test_a_questionnaire_that_was_never_dealt_is_refused():
    arrow = disguise(truth(), SCHEMES["dealt"], seed=3).to_arrow()
    names = pa.array(["frist", *arrow["questionnaire"].to_pylist()[1:]])
    with pytest.raises(UnknownName, match=r"Questionnaire 'frist' does not exist. Did you mean 'first'\?"):
        Reports.from_arrow(arrow.set_column(0, "questionnaire", names), SCHEMES["dealt"])


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("mixture", lambda table: table.drop_columns(["b"]), "The column 'b' is missing"),
        ("dealt", lambda table: table.drop_columns(["questionnaire"]), "The column 'questionnaire' is missing"),
        ("sets", lambda table: table.append_column("name", pa.array(["Eve"] * 200)), r"have the column\(s\) 'name'"),
        ("bits", lambda table: table.rename_columns({"a=x": "a"}), "The column 'a=x' is missing"),
    ],
)
def test_a_table_that_does_not_fit_its_scheme_is_refused(kind, change, message):
    arrow = disguise(truth(), SCHEMES[kind], seed=3).to_arrow()
    with pytest.raises(InvalidInput, match=message):
        Reports.from_arrow(change(arrow), SCHEMES[kind])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_of_another_scheme_is_refused(tmp_path, suffix):
    path = tmp_path / f"reports.{suffix}"
    disguise(truth(), SCHEMES["mixture"], seed=1).write(path)
    other = Scheme.of([A, B, C], [(["a", "b"], channels.gamma_diagonal(6))])
    with pytest.raises(
        SchemeMismatch, match=rf"was disguised under the scheme {SCHEMES['mixture'].hash[:12]}\.\.\., not"
    ):
        Reports.read(path, other)


def test_a_file_without_its_sidecar_is_read_with_a_warning(tmp_path):
    path = tmp_path / "reports.csv"
    reports = disguise(truth(), SCHEMES["mixture"], seed=1)
    reports.write(path)
    (tmp_path / "reports.csv.json").unlink()
    with pytest.warns(MissingSchemeNote, match="does not say under which scheme it was disguised"):
        back = Reports.read(path, SCHEMES["mixture"])
    assert not back.is_simulation
    assert_same(back, reports)


def test_a_parquet_file_without_a_note_is_read_with_a_warning(tmp_path):
    pq.write_table(disguise(truth(), SCHEMES["flip"], seed=1).to_arrow(), tmp_path / "reports.parquet")
    with pytest.warns(MissingSchemeNote):
        Reports.read(tmp_path / "reports.parquet", SCHEMES["flip"])


def test_clear_files_need_no_note(tmp_path):
    pq.write_table(truth().to_arrow(), tmp_path / "clear.parquet")
    assert Reports.read(tmp_path / "clear.parquet", SCHEMES["clear"]).n_reports == 200


def test_a_tampered_sidecar_is_refused(tmp_path):
    path, beside = tmp_path / "reports.csv", tmp_path / "reports.csv.json"
    disguise(truth(), SCHEMES["mixture"], seed=1).write(path)
    beside.write_text(json.dumps({"scheme": "0" * 64, "simulation": True}))
    with pytest.raises(SchemeMismatch, match=r"under the scheme 000000000000\.\.\."):
        Reports.read(path, SCHEMES["mixture"])
    beside.write_text("[]")
    with pytest.raises(InvalidInput, match="is not a JSON object"):
        Reports.read(path, SCHEMES["mixture"])


def test_the_door_from_truth_to_mining_is_explicit():
    data = truth()
    reports = Reports.from_truth(data)
    assert reports.scheme.is_identity
    assert reports.table is data.table
    assert Reports.from_truth(data.table).n_reports == 200


def test_parts_and_columns_must_be_those_of_the_scheme():
    reports = disguise(truth(), SCHEMES["mixture"], seed=1)
    with pytest.raises(InvalidInput, match="Give one table for each"):
        Reports(SCHEMES["dealt"], reports.parts)
    with pytest.raises(SchemeMismatch, match=r"have the columns \['a\+b', 'c'\]"):
        Reports(SCHEMES["sets"], reports.parts)
    with pytest.raises(InvalidInput, match=r"several questionnaires\. Read the table of each"):
        _ = disguise(truth(), SCHEMES["dealt"], seed=1).table


def test_rows_of_reports():
    reports = disguise(truth(), SCHEMES["sets"], seed=1)
    assert reports.rows(slice(10)).n_reports == 10
    assert reports.rows(np.arange(200) % 2 == 0).is_simulation


def two_parties() -> tuple[Reports, Reports]:
    data = truth(6)
    left = disguise(data.select(["a"]), Scheme.of([A], [(["a"], channels.warner(0.8))]), seed=1)
    return left, Reports.from_truth(data.select(["b"]))


def test_two_parties_are_joined_on_a_key():
    left, right = two_parties()
    both = joined(left, right, [1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 9])
    assert both.n_reports == 5
    assert both.scheme.public_names == ("b",)
    assert both.table["a"].tolist() == left.table["a"][1:].tolist()
    assert both.table["b"].tolist() == right.table["b"][:5][::-1].tolist()


def test_a_joint_scheme_keeps_what_either_design_assumed():
    smokes, sex = Attribute("smokes", ("no", "yes")), Attribute("sex", ("f", "m"))
    designed = Scheme.of([smokes], prior={"smokes": [0.9, 0.1]})
    assert joint_scheme(designed, Scheme.of([sex])).prior == {"smokes": (0.9, 0.1)}
    both = joint_scheme(Scheme.of([sex], prior={"sex": [0.5, 0.5]}), designed)
    assert both.prior == {"sex": (0.5, 0.5), "smokes": (0.9, 0.1)}
    assert joint_scheme(Scheme.of([smokes]), Scheme.of([sex])).prior is None


def test_a_join_with_a_simulation_is_a_simulation():
    left, right = two_parties()
    keys = list(range(6))
    assert joined(left, right, keys, keys).is_simulation
    assert joined(right, left, keys, keys).is_simulation


@pytest.mark.parametrize(
    ("left_keys", "right_keys", "message"),
    [
        ([1, 2], [1, 2, 3, 4, 5, 6], "There are 2 keys for 6 reports"),
        ([1, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], "The key '1' occurs twice"),
        ([1, 2, 3, 4, 5, 6], [11, 12, 13, 14, 15, 16], "no key in common"),
    ],
)
def test_keys_that_do_not_join_are_refused(left_keys, right_keys, message):
    with pytest.raises(InvalidInput, match=message):
        joined(*two_parties(), left_keys, right_keys)


def test_joined_tables_must_ask_different_things():
    left, _ = two_parties()
    with pytest.raises(InvalidInput, match="Both tables hold 'a'"):
        joined(left, left, list(range(6)), list(range(6)))


def test_a_value_that_was_not_dealt_is_refused() -> None:
    smokes, age = Attribute("smokes", ("no", "yes")), Attribute("age", ("young", "old"))
    groups = [("a", 0.5, [(["smokes"], channels.warner(0.7))]), ("b", 0.5, [(["age"], channels.warner(0.7))])]
    scheme = Scheme.dealt([smokes, age], groups)
    rows = {"questionnaire": ["a", "b"], "smokes": ["no", "yes"], "age": [None, "old"]}
    with pytest.raises(SchemeMismatch, match="questionnaire 'b' has a value for 'smokes'"):
        Reports.from_arrow(rows, scheme)


@pytest.mark.parametrize(
    "frame", [pa.table, pl.DataFrame, pd.DataFrame, dict], ids=["arrow", "polars", "pandas", "dict"]
)
def test_clear_data_frames_go_through_the_explicit_door(frame) -> None:
    reports = Reports.from_truth(frame({"table": ["x", "y", "x"], "n": [3, 1, 2]}))
    assert reports.scheme.is_identity
    assert [attribute.answers for attribute in reports.scheme.schema] == [("x", "y"), ("1", "2", "3")]
    assert reports.n_reports == 3


@pytest.mark.parametrize("name", ["mixture", "dealt"])
def test_a_column_that_reports_do_not_have_is_refused_with_what_can_be_done(name) -> None:
    scheme = SCHEMES[name]
    table = disguise(truth(), scheme, seed=1).to_arrow()
    with pytest.raises(InvalidInput, match=r"have the column\(s\) 'id'.*Take the others out of the file") as refusal:
        Reports.from_arrow(table.append_column("id", pa.array(range(table.num_rows))), scheme)
    assert "--drop-others" not in str(refusal.value)
