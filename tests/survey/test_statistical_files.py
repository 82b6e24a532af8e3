"""Exports for statistical programs, read back by their readers."""

from __future__ import annotations

import csv
import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from tacit.estimation import estimate
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
      - {name: drugs, kind: choice, text: Which?, answers: [a, b, c, d, e], sensitive: true, prefer_not_to_say: false}
groups:
  - {questions: [drugs], channel: {kind: subset, size: 2, gamma: 3}}
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
        )
        for _ in range(300)
    ]
    order = [("smokes", "income", "drugs", "age").index(name) for name in survey.wire.names]
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
    for name, answers in (("smokes", ("no", "yes")), ("age", ("below 30", "30 or more"))):
        counts = np.bincount(truth[name], minlength=2)
        assert [int((frame[name] == answer).sum()) for answer in answers] == counts.tolist()
    assert sorted(frame["drugs"]) == sorted(pd.read_csv(folder / "reports.csv")["drugs"])


def test_our_own_reader_takes_the_labels_for_answers(exported: tuple[Store, StoredSurvey, Path]) -> None:
    _, _, folder = exported
    table = read_table(folder / "reports.sav")
    assert set(table["smokes"].to_pylist()) == {"no", "yes"}


def test_pandas_reads_the_stata_file(exported: tuple[Store, StoredSurvey, Path]) -> None:
    _, _, folder = exported
    frame = pd.read_stata(folder / "reports.dta")
    assert set(frame["income"]) == {"low", "high"}


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


def test_the_python_script_runs_and_estimates(exported: tuple[Store, StoredSurvey, Path]) -> None:
    _, _, folder = exported
    done = subprocess.run([sys.executable, "analysis.py"], cwd=folder, capture_output=True, text=True, check=True)
    assert "smokes" in done.stdout
    assert "drugs" in done.stdout


def test_the_python_script_estimates_questions_that_share_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Routed questions, options and arms: the script asks for questions, whatever the columns of the reports are."""
    text = QUESTIONNAIRE.split("groups:")[0] + (
        "      - {name: often, kind: choice, text: Often?, answers: [daily, rarely], sensitive: true, when: {smokes: 'yes'}}\n"
    )
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(text), text)
    assert "smokes" not in survey.wire.names
    row = tuple(next(iter(column.table.values())) for column in survey.wire.columns)
    store_batch(store.database, [Submission(survey, "reports", str(n), row) for n in range(40)])
    export_folder(store, survey, tmp_path / "out")
    store.close()
    monkeypatch.chdir(tmp_path / "out")
    runpy.run_path("analysis.py")
    said = capsys.readouterr().out
    for name in survey.definition.scheme.schema.names:
        assert f"{name} from 40 reports" in said


R_CALL = re.compile(
    r"^undone\((.+?), c\((.+?)\), matrix\(c\((.+?)\), (\d+), byrow = TRUE, dimnames = list\(c\((.+?)\), NULL\)\)\)$"
)


def test_what_the_r_script_undoes_are_the_schemes_own_chances(exported: tuple[Store, StoredSurvey, Path]) -> None:
    """Its calls are read and worked out here as its function does in R: the same shares and errors as our own."""
    store, survey, folder = exported
    script = (folder / "analysis.R").read_text(encoding="utf-8")
    calls = [match.groups() for match in map(R_CALL.match, script.splitlines()) if match]
    assert [json.loads(column) for column, *_ in calls] == ["smokes", "income"]
    reports = pd.read_csv(folder / "reports.csv", dtype=str)
    for column, answers, law, size, rows in calls:
        name, said = json.loads(column), json.loads(f"[{answers}]")
        chances = np.array(json.loads(f"[{law}]")).reshape(int(size), -1)
        assert json.loads(f"[{rows}]") == said  # the reports look like the answers
        shares = reports[name].value_counts(normalize=True).reindex(said, fill_value=0.0).to_numpy()
        inverse = np.linalg.inv(chances)
        errors = np.sqrt(np.diag(inverse @ (np.diag(shares) - np.outer(shares, shares)) @ inverse.T) / len(reports))
        own = estimate(reports_of(store, survey), [name])
        assert inverse @ shares == pytest.approx(own.probabilities, abs=1e-12)
        assert errors == pytest.approx(own.standard_errors, rel=1e-6)
    assert "# drugs: disguised together, as sets or in versions; estimate with: tacit estimate" in script
    assert 'print(prop.table(table(reports[["age"]])))' in script


def test_the_r_script_is_whole(exported: tuple[Store, StoredSurvey, Path]) -> None:
    """Brackets outside of texts and comments close what they open, line by line and in all."""
    _, _, folder = exported
    open_brackets: list[str] = []
    for line in (folder / "analysis.R").read_text(encoding="utf-8").splitlines():
        code = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert code.count('"') == 0 or code.lstrip().startswith("#"), line
        for sign in code.split("#")[0]:
            if sign in "([{":
                open_brackets.append(sign)
            elif sign in ")]}":
                assert open_brackets.pop() + sign in ("()", "[]", "{}"), line
    assert open_brackets == []


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
def test_the_r_script_gives_the_same_estimates(exported: tuple[Store, StoredSurvey, Path]) -> None:
    store, survey, folder = exported
    done = subprocess.run(["Rscript", "analysis.R"], cwd=folder, capture_output=True, text=True, check=True)
    share = float(estimate(reports_of(store, survey), ["smokes"]).probabilities[1])
    (line,) = [one for one in done.stdout.splitlines() if "smokes" in one and " yes" in one]
    assert float(line.split()[3]) == pytest.approx(share, abs=1e-6)


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
