"""Change over the declared waves of a survey."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit.errors import InvalidInput
from tacit.survey.changes import series_changes
from tacit.survey.definition import Definition
from tacit.survey.store.submissions import Submission, store_batch
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.cli import run
from tests.survey.questionnaires import SMALL

WAVES = f"waves: 3\n{SMALL}"


@pytest.fixture
def opened(tmp_path: Path):
    store = Store.open(str(tmp_path / "survey.db"))
    yield store
    store.close()


def fill(
    store: Store, survey: StoredSurvey, share: float, n: int = 400, *, ages: tuple[str, ...] = ("below 30",)
) -> None:
    """Reports of n people of whom so many smoke, each true with chance .7, as the page would send them."""
    rng = np.random.default_rng(int(survey.definition.wave))
    smokes = np.where((rng.random(n) < 0.7) == (rng.random(n) < share), "yes", "no")
    rows = [
        Submission(survey, "reports", f"{survey.fingerprint}{i}", (str(answer), "no", ages[i % len(ages)]))
        for i, answer in enumerate(smokes)
    ]
    store_batch(store.database, rows)


def test_every_question_has_its_change_from_wave_to_wave(opened: Store) -> None:
    fill(opened, opened.add(Definition.from_yaml(WAVES), WAVES), 0.9)
    fill(opened, opened.open_wave("health"), 0.1)
    last = opened.open_wave("health")
    document = series_changes(opened, last)
    assert [wave["n_reports"] for wave in document["waves"]] == [400, 400]
    row = next(r for r in document["changes"] if r["attribute"] == "smokes" and r["answers"] == {"smokes": "yes"})
    assert (row["from_wave"], row["to_wave"]) == (1, 2)
    assert row["low"] < -0.8 < row["high"] < -0.5
    assert row["p"] < 1e-6


def test_public_answers_of_few_people_are_left_out(opened: Store) -> None:
    ages = (*["below 30"] * 100, "60 or more")
    for survey in (opened.add(Definition.from_yaml(WAVES), WAVES), opened.open_wave("health")):
        fill(opened, survey, 0.5, ages=ages)
    document = series_changes(opened, opened.named("health"))
    assert {row["attribute"] for row in document["changes"]} == {"smokes", "drinks"}
    assert not [row for row in series_changes(opened, opened.named("health"), "age")["changes"] if row["group_label"]]


def test_a_survey_that_is_asked_once_has_no_change(opened: Store) -> None:
    survey = opened.add(Definition.from_yaml(SMALL), SMALL)
    with pytest.raises(InvalidInput, match=r"was asked once.*waves: 4 in the questionnaire"):
        series_changes(opened, survey)


def test_change_needs_the_reports_of_two_waves(opened: Store) -> None:
    survey = opened.add(Definition.from_yaml(WAVES), WAVES)
    fill(opened, survey, 0.5, 20)
    with pytest.raises(InvalidInput, match=r"reports of two waves.*tacit survey wave health"):
        series_changes(opened, survey)


def test_the_command_prints_and_answers_the_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store.open("survey.db")
    fill(store, store.add(Definition.from_yaml(WAVES), WAVES), 0.9)
    fill(store, store.open_wave("health"), 0.1)
    store.close()
    document = run.tacit("survey", "results", "health", "--change", "--store", "survey.db", "--json").json
    names = {"answers", "from", "to", "difference", "standard_error", "low", "high", "p"}
    assert all(names <= set(row) for row in document["changes"])
    text = run.tacit("survey", "results", "health", "--change", "--store", "survey.db").out
    assert "Do you smoke?, from wave 1 to wave 2" in text
    (tmp_path / "margins.yaml").write_text("{}")
    options = ("--population", "margins.yaml", "--store", "survey.db")
    assert "weights the shares of one wave" in run.refused("survey", "results", "health", "--change", *options)
