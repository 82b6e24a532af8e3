"""Files of statistics packages and spreadsheets are read with their labels; other separators and encodings too."""

from __future__ import annotations

import datetime
import math

import pytest

import tacit
from tacit import Dataset, TacitError
from tacit.extras import EXTRAS
from tacit.table.csv_format import OtherEncoding
from tacit.table.files import column_names, read_table

pyreadstat = pytest.importorskip("pyreadstat")
openpyxl = pytest.importorskip("openpyxl")
pandas = pytest.importorskip("pandas")

LABELS = {"copied": {0.0: "no", 1.0: "yes"}}


@pytest.fixture
def frame():
    return pandas.DataFrame(
        {"copied": [1.0, 0.0, 1.0, math.nan], "age": [20.0, 31.5, 18.0, 44.0], "town": ["A", "B", "", "Ä"]}
    )


def written(frame, path):
    if path.suffix in (".sav", ".zsav"):
        pyreadstat.write_sav(frame, str(path), variable_value_labels=LABELS, compress=path.suffix == ".zsav")
    elif path.suffix == ".dta":
        labels = {"copied": {0: "no", 1: "yes"}}
        whole = frame.assign(copied=frame["copied"].astype("Int32"))
        pyreadstat.write_dta(whole, str(path), variable_value_labels=labels)
    elif path.suffix == ".por":
        pyreadstat.write_por(frame, str(path))
    else:
        pyreadstat.write_xport(frame, str(path))
    return path


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta"])
def test_labelled_values_are_their_labels(frame, tmp_path, suffix):
    path = written(frame, tmp_path / f"study{suffix}")
    assert column_names(path) == ["copied", "age", "town"]
    read = read_table(path).to_pydict()
    assert read["copied"] == ["yes", "no", "yes", None]
    assert read["age"] == [20.0, 31.5, 18.0, 44.0]
    assert read["town"][3] == "Ä"


def test_sas_transport_files_are_read(frame, tmp_path):
    path = written(frame, tmp_path / "study.xpt")
    assert read_table(path, ["copied"]).to_pydict() == {"copied": [1.0, 0.0, 1.0, None]}


def test_only_wanted_columns_are_read(frame, tmp_path):
    path = written(frame, tmp_path / "study.sav")
    assert read_table(path, ["age", "none"]).column_names == ["age"]


def test_a_prevalence_from_an_spss_file(tmp_path):
    frame = pandas.DataFrame({"id": range(100), "copied": [1.0] * 40 + [0.0] * 60})
    path = written(frame, tmp_path / "study.sav")
    found = tacit.prevalence(path, "copied", "warner", "p=.9")
    assert found["yes"].share == pytest.approx((0.4 - 0.1) / 0.8)
    assert found.readings == ()  # its labels are the device's own words
    (reading,) = tacit.prevalence(path, "copied", "crosswise", "p=.1").readings
    assert reading == "In copied, 'no' means 'different', 'yes' means 'same'"


def test_two_values_with_one_label_stay_apart(tmp_path):
    path = tmp_path / "study.sav"
    labels = {"x": {1.0: "other", 2.0: "other"}}
    pyreadstat.write_sav(pandas.DataFrame({"x": [1.0, 2.0]}), str(path), variable_value_labels=labels)
    assert read_table(path).to_pydict() == {"x": [1.0, 2.0]}


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "study.xlsx"
    sheet = openpyxl.Workbook()
    rows = [
        ["copied", "when", "mixed"],
        ["yes", datetime.date(2020, 5, 1), 1],
        ["no", None, "x"],
        [None, None, 2.5],
        [],
    ]
    for row in rows:
        sheet.active.append(row)
    sheet.save(path)
    return path


def test_a_spreadsheet_is_read(book):
    assert column_names(book) == ["copied", "when", "mixed"]
    read = read_table(book).to_pydict()
    assert read["copied"] == ["yes", "no", None]
    assert read["when"][0].startswith("2020-05-01")
    assert read["mixed"] == ["1", "x", "2.5"]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_recognised(tmp_path, separator):
    path = tmp_path / "study.csv"
    path.write_text(
        separator.join(["name, first", "x"]) + "\n" + separator.join(["Ä, B", "1,5"]) + "\n", encoding="utf-8"
    )
    assert read_table(path).to_pydict() == {"name, first": ["Ä, B"], "x": ["1,5"]}


def test_a_decimal_comma_in_weights_is_understood(tmp_path):
    path = tmp_path / "study.csv"
    path.write_text("x;w\n1;0,5\n0;1,5\n", encoding="utf-8")
    found = tacit.prevalence(path, "x", "warner", "p=.9", weights="w")
    assert found["yes"].share == pytest.approx((0.25 - 0.1) / 0.8)


def test_a_comma_inside_quotes_separates_nothing(tmp_path):
    path = tmp_path / "study.csv"
    path.write_text('"a,b,c";x\n1;2\n', encoding="utf-8")
    assert column_names(path) == ["a,b,c", "x"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_marked_encodings_are_recognised(tmp_path, encoding):
    path = tmp_path / "study.csv"
    path.write_text("größe,x\nä,1\n", encoding=encoding)
    assert column_names(path) == ["größe", "x"]
    assert read_table(path).to_pydict() == {"größe": ["ä"], "x": ["1"]}


def test_western_text_is_recognised_and_said(tmp_path):
    path = tmp_path / "study.csv"
    path.write_bytes("größe;x\nä;1\n".encode("cp1252"))
    with pytest.warns(OtherEncoding, match="read as Windows-1252"):
        assert read_table(path).to_pydict() == {"größe": ["ä"], "x": ["1"]}


def test_bytes_of_no_known_encoding_are_refused(tmp_path):
    path = tmp_path / "study.csv"
    path.write_bytes(b"a,b\n1,\x81\n")
    with pytest.raises(TacitError, match="is not UTF-8 text"):
        column_names(path)


REFUSALS = [
    ("study.sav", b"not a file of SPSS", "cannot be read as a file of SPSS"),
    ("study.dta", b"<stata_dta>", "cannot be read as a file of Stata"),
    ("study.sas7bdat", b"nothing", "cannot be read as a file of SAS"),
    ("study.xlsx", b"PK nothing", "cannot be read as an Excel file"),
    ("study.xls", b"nothing", "Save it as .xlsx"),
]


@pytest.mark.parametrize(("name", "content", "message"), REFUSALS)
def test_broken_files_are_refused_in_one_sentence(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TacitError, match=message):
        Dataset.read(tmp_path / name)


def test_an_empty_sheet_is_refused(tmp_path):
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    with pytest.raises(TacitError, match="no line of column names"):
        read_table(tmp_path / "empty.xlsx")


def test_a_missing_extra_is_named(frame, tmp_path, monkeypatch):
    path = written(frame, tmp_path / "study.sav")
    monkeypatch.setitem(EXTRAS, "files", ("Reading SPSS, Stata, SAS and Excel files", ("no_such_module",)))
    with pytest.raises(TacitError, match=r"tacit\[files\]"):
        read_table(path)
