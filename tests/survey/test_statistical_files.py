"""Exports for statistical programs, read back by their readers."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from tacit.survey.definition import Definition
from tacit.survey.exports import export_folder, reports_of
from tacit.survey.statistical_files import LONGEST_SPSS_LABEL, LONGEST_STATA_LABEL, variables
from tacit.survey.store.submissions import Submission, store_batch, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.table.files import read_table

QUESTIONNAIRE = """
name: habits
title: Habits
introduction: Why we ask.
contact: Who asks.
privacy: strong
pages:
  - questions:
      - {name: smokes, kind: yes-no, text: Do you smoke?, sensitive: true, prefer_not_to_say: false}
      - name: income
        kind: choice
        text: "What do you earn, all in all, before taxes and with everything that you are paid in the course of a whole year?"
        answers: {low: little, high: much}
        sensitive: true
        prefer_not_to_say: false
      - {name: age, kind: number, text: "How old are you? (Größe egal)", ranges: [30], sensitive: false}
      - {name: mood, kind: scale, text: How is your mood?, scale: {from: 0, to: 10}, sensitive: true, prefer_not_to_say: false}
      - {name: drugs, kind: choice, text: Which?, answers: [a, b, c, d, e], sensitive: true, prefer_not_to_say: false}
groups:
  - {questions: [drugs], channel: {kind: subset, size: 2, gamma: 3}}
  - {questions: [mood], channel: {kind: gamma-diagonal, gamma: 9}}
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, StoredSurvey, Path]]:
    folder = tmp_path_factory.mktemp("export")
    store = Store.open(folder / "s.db")
    definition = Definition.from_yaml(QUESTIONNAIRE)
    survey = store.add(definition, QUESTIONNAIRE)
    rng = np.random.default_rng(3)
    rows = [
        (
            ("no", "yes")[rng.integers(2)],
            ("low", "high")[rng.integers(2)],
            json.dumps(sorted(rng.choice(list("abcde"), 2, replace=False).tolist()), separators=(",", ":")),
            ("below 30", "30 or more")[rng.integers(2)],
            str(rng.integers(11)),
        )
        for _ in range(300)
    ]
    order = [("smokes", "income", "drugs", "age", "mood").index(name) for name in survey.wire.names]
    rows = [tuple(row[position] for position in order) for row in rows]
    batch = [Submission(survey, "reports", token_hash(survey, str(n)), row) for n, row in enumerate(rows)]
    store_batch(store.database, batch)
    export_folder(store, survey, folder / "out")
    yield store, survey, folder / "out"
    store.close()


@pytest.mark.parametrize(("file", "read"), [("reports.sav", pyreadstat.read_sav), ("reports.dta", pyreadstat.read_dta)])
def test_spss_and_stata_read_labels_and_every_report(exported: tuple[Store, StoredSurvey, Path], file, read) -> None:
    store, survey, folder = exported
    frame, meta = read(folder / file, apply_value_formats=True)
    labels = meta.column_names_to_labels
    assert labels["smokes"] == "disguised: Do you smoke?"
    assert labels["age"] == "not disguised: How old are you? (Größe egal)"
    assert labels["income"].startswith("disguised: What do you earn")
    longest = LONGEST_SPSS_LABEL if file.endswith("sav") else LONGEST_STATA_LABEL
    assert all(len(label.encode()) <= longest for label in labels.values())
    assert labels["income"].endswith("a whole year?" if file.endswith("sav") else "...")
    truth = reports_of(store, survey).table
    for name, answers in (("smokes", ("no", "yes")), ("age", ("< 30", "≥ 30"))):
        counts = np.bincount(truth[name], minlength=2)
        assert [int((frame[name] == answer).sum()) for answer in answers] == counts.tolist()
    # A scale from 0 to 10 keeps its numbers; it stood there as 1 to 11.
    assert sorted(frame["mood"].astype(int)) == sorted(pd.read_csv(folder / "reports.csv")["mood"])
    assert set(frame["income"]) == {"little", "much"}
    assert sorted(frame["drugs"]) == sorted(pd.read_csv(folder / "reports.csv")["drugs"])


def test_our_own_reader_takes_the_labels_for_answers(exported: tuple[Store, StoredSurvey, Path]) -> None:
    _, _, folder = exported
    table = read_table(folder / "reports.sav")
    assert set(table["smokes"].to_pylist()) == {"no", "yes"}


def test_pandas_reads_the_stata_file(exported: tuple[Store, StoredSurvey, Path]) -> None:
    _, _, folder = exported
    frame = pd.read_stata(folder / "reports.dta")
    assert set(frame["income"]) == {"little", "much"}  # the page's words


def test_the_ddi_codebook_names_every_variable_and_the_disguise(exported: tuple[Store, StoredSurvey, Path]) -> None:
    _, survey, folder = exported
    root = ElementTree.parse(folder / "codebook.ddi.xml").getroot()
    space = {"d": "ddi:codebook:2_5"}
    assert root.tag == "{ddi:codebook:2_5}codeBook"
    found = {one.get("name"): one for one in root.findall("d:dataDscr/d:var", space)}
    assert list(found) == list(survey.wire.names)
    assert [one.text for one in found["smokes"].findall("d:catgry/d:catValu", space)] == ["no", "yes"]
    assert [one.text for one in found["income"].findall("d:catgry/d:labl", space)] == ["little", "much"]
    assert found["income"].findtext("d:labl", namespaces=space).endswith("a whole year?")
    assert "gamma-diagonal" in found["smokes"].findtext("d:notes", namespaces=space)
    assert found["age"].find("d:notes", space) is None


def test_everything_is_for_the_owner_alone(exported: tuple[Store, StoredSurvey, Path]) -> None:
    _, _, folder = exported
    assert {oct(file.stat().st_mode & 0o777) for file in folder.iterdir()} == {"0o600"}


def test_names_are_valid_and_different(exported: tuple[Store, StoredSurvey, Path]) -> None:
    _, survey, _ = exported
    names = [one.name for one in variables(survey)]
    assert len(set(map(str.lower, names))) == len(names)
    assert all(name.isidentifier() and len(name) <= 32 for name in names)


def test_no_cell_of_the_codebook_is_run_by_a_spreadsheet(tmp_path: Path) -> None:
    text = QUESTIONNAIRE.replace("Do you smoke?", "=cmd()")
    store = Store.open(tmp_path / "s.db")
    export_folder(store, store.add(Definition.from_yaml(text), text), tmp_path / "out")
    store.close()
    with (tmp_path / "out/codebook.csv").open(encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert "'=cmd() (disguised)" in cells
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
