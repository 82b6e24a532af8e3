"""The scripts of an export give the estimates that Tacit gives, for every way to ask and to disguise."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.survey.definition import Definition
from tacit.survey.exports import export_folder, reports_of
from tacit.survey.statistical_files import variables
from tacit.survey.store.submissions import Submission, store_batch, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.survey.test_dealing import ARMS

# A routed block, two questions disguised together, a set, bits, hashes, and answers that a careless script takes apart.
QUESTIONNAIRE = """
name: habits
title: Habits
introduction: Why we ask.
contact: Who asks.
privacy: moderate
pages:
  - questions:
      - {name: smokes, kind: yes-no, text: Do you smoke?, sensitive: true, prefer_not_to_say: false}
      - {name: often, kind: choice, text: Often?, answers: [daily, rarely], sensitive: true, when: {smokes: "yes"}}
      - {name: stops, kind: yes-no, text: Do you want to stop?, sensitive: true, when: {smokes: "yes"}}
      - {name: age, kind: number, text: How old are you?, ranges: [30], sensitive: false}
      - {name: drugs, kind: choice, text: Which?, answers: [a, "it, is", c, "NA", Größe], sensitive: true}
      - {name: pays, kind: choice, text: How?, answers: [a, b, c], sensitive: true, prefer_not_to_say: false}
      - {name: town, kind: choice, text: Where?, answers: [a, b, c, d], sensitive: true, prefer_not_to_say: false}
      - {name: left, kind: yes-no, text: Left?, sensitive: true, prefer_not_to_say: false}
      - {name: right, kind: choice, text: Right?, answers: ["1", "2", "3"], sensitive: true, prefer_not_to_say: false}
groups:
  - {questions: [drugs], channel: {kind: subset, size: 2, gamma: 3}}
  - {questions: [pays], channel: {kind: mask, p: 0.7}}
  - {questions: [town], channel: {kind: local-hashing, gamma: 3}}
  - {questions: [left, right], channel: {kind: gamma-diagonal, gamma: 4}}
"""
PEOPLE = 3000


def answered(survey: StoredSurvey) -> list[tuple[object, ...]]:
    """Reports of people whose every legal record is equally likely, question by question."""
    rng, columns = np.random.default_rng(12), {}
    scheme = survey.definition.scheme
    for group in scheme.groups:
        chosen = rng.choice(len(group.legal), PEOPLE, p=group.legal.even())
        columns |= {name: [group.legal.answers[row][axis] for row in chosen] for axis, name in enumerate(group.names)}
    for name in scheme.public_names:
        columns[name] = rng.choice(scheme.schema[name].answers, PEOPLE).tolist()
    people = tacit.Dataset.from_arrow(pa.table(columns), scheme.schema)
    table = tacit.disguise(people, scheme, seed=7).to_arrow()
    sets = {one.name for one in survey.wire.columns if one.members}
    spelled = [
        [json.dumps(one, ensure_ascii=False) for one in table[name].to_pylist()]
        if name in sets
        else table[name].to_pylist()
        for name in survey.wire.names
    ]
    return list(zip(*spelled, strict=True))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, StoredSurvey, Path]]:
    folder = tmp_path_factory.mktemp("export")
    store = Store.open(folder / "s.db")
    survey = store.add(Definition.from_yaml(QUESTIONNAIRE), QUESTIONNAIRE)
    rows = answered(survey)
    store_batch(
        store.database, [Submission(survey, "reports", token_hash(survey, str(n)), row) for n, row in enumerate(rows)]
    )
    export_folder(store, survey, folder / "out")
    yield store, survey, folder / "out"
    store.close()


def test_the_python_script_estimates_every_question(
    exported: tuple[Store, StoredSurvey, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Routed questions, sets and groups: the script asks for questions, whatever the columns of the reports are."""
    _, survey, folder = exported
    assert "smokes" not in survey.wire.names
    monkeypatch.chdir(folder)
    runpy.run_path("analysis.py")
    said = capsys.readouterr().out
    for name in survey.definition.scheme.schema.names:
        assert f"{name} from {PEOPLE:,} reports" in said


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


def test_the_r_script_has_a_call_for_every_question_and_says_what_it_leaves_to_tacit(
    exported: tuple[Store, StoredSurvey, Path],
) -> None:
    _, _, folder = exported
    script = (folder / "analysis.R").read_text(encoding="utf-8")
    called = re.findall(r'^(undone|undone_shown)\("(\w+)"', script, re.MULTILINE)
    assert called == [
        ("undone_shown", "drugs"),
        ("undone_shown", "pays"),
        ("undone", "left"),
        ("undone", "right"),
        ("undone", "smokes"),
        ("undone", "often"),
        ("undone", "stops"),
    ]
    assert "# town: reports that base R does not read; estimate with: tacit estimate reports.parquet" in script
    assert 'print(prop.table(table(reports[["age"]])))' in script


def run_r(folder: Path) -> dict[tuple[str, ...], tuple[float, float]]:
    """Share and error by question, answer and version, as R works them out, told apart by its own writer."""
    script = (folder / "analysis.R").read_text(encoding="utf-8")
    written = "write.table(told, col.names = FALSE, sep = '|', row.names = FALSE, quote = FALSE)"
    script = script.replace("print(told, digits = 10)", written)
    (folder / "told.R").write_text(script, encoding="utf-8")
    done = subprocess.run(["Rscript", "told.R"], cwd=folder, capture_output=True, text=True, check=True)
    lines = [line.split("|") for line in done.stdout.splitlines() if line.count("|") >= 4]
    return {(line[0], line[1], *line[5:]): (float(line[2]), float(line[3])) for line in lines}


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
def test_the_r_script_gives_the_same_estimates(exported: tuple[Store, StoredSurvey, Path]) -> None:
    store, survey, folder = exported
    done = subprocess.run(["Rscript", "analysis.R"], cwd=folder, capture_output=True, text=True, check=True)
    assert "standard_error" in done.stdout
    told = run_r(folder)
    reports = reports_of(store, survey)
    for group in survey.definition.groups:
        for name in set(group.names) - {"town"}:
            own = tacit.estimate(reports, [name])
            for answer, share, error in zip(
                survey.definition.scheme.schema[name].answers, own.probabilities, own.standard_errors, strict=True
            ):
                in_r = told[name, answer]
                # Where weights could be chosen, R has those for an even truth.
                apart = 0.2 * error if group.channel.has_choice else 1e-9
                assert in_r[0] == pytest.approx(share, abs=apart), (name, answer)
                assert in_r[1] == pytest.approx(error, rel=0.05), (name, answer)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
def test_versions_of_a_questionnaire_are_estimated_one_by_one(tmp_path: Path) -> None:
    """The reports of the arms that disguise, each undone by its own chances."""
    from tests.survey.test_dealing import filled

    store = Store.open(tmp_path / "s.db")
    survey, _ = filled(store, ARMS, 2000, seed=5)
    export_folder(store, survey, tmp_path / "out")
    told = run_r(tmp_path / "out")
    table = reports_of(store, survey).to_arrow().to_pandas()
    store.close()
    for version in ("device", "self"):
        (group,) = [
            group
            for one in survey.definition.scheme.questionnaires
            for group in one.groups
            if one.name == version and group.names == ("smokes",)
        ]
        shown = table[table["questionnaire"] == version]["smokes"]
        expected = np.linalg.solve(group.channel.matrix, [(shown == "no").mean(), (shown == "yes").mean()])
        assert told["smokes", "yes", version][0] == pytest.approx(expected[1], abs=1e-9)


def test_the_weights_of_the_r_script_are_those_of_the_scheme(exported: tuple[Store, StoredSurvey, Path]) -> None:
    """Its calls, worked out here as its function does in R: the same shares and errors as our own."""
    store, survey, folder = exported
    script = (folder / "analysis.R").read_text(encoding="utf-8")
    call = (
        r'^undone\("right", c\((.+?)\), reports, list\("right" = c\((.+?)\)\), matrix\(c\((.+?)\), 3, byrow = TRUE\)\)$'
    )
    (match,) = re.findall(call, script, re.MULTILINE)
    answers, levels, weights = (json.loads(f"[{part}]") for part in match)
    assert answers == levels == ["1", "2", "3"]
    right = next(one for one in variables(survey) if one.column == "right")
    assert right.answers == tuple(levels)
    reports = reports_of(store, survey)
    shares = np.bincount(reports.table["right"], minlength=3) / PEOPLE
    table = np.array(weights).reshape(3, 3)
    own = tacit.estimate(reports, ["right"])
    assert table @ shares == pytest.approx(own.probabilities, abs=1e-12)
    errors = np.sqrt((table**2 @ shares - (table @ shares) ** 2) / PEOPLE)
    assert errors == pytest.approx(own.standard_errors, rel=0.01)
