"""Change over the declared waves of a survey."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from tacit.errors import InvalidInput
from tacit.survey.accounts import Accounts
from tacit.survey.app import SurveyServer
from tacit.survey.changes import series_changes
from tacit.survey.dashboard import dashboard
from tacit.survey.definition import Definition
from tacit.survey.headers import ServerSettings
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


PANEL = WAVES.replace("waves: 3", "waves: 3\nseries_gamma: 19\npanel: true")


def test_people_of_a_panel_are_put_together_where_both_waves_have_them(opened: Store) -> None:
    rng = np.random.default_rng(5)
    smokes = rng.random(600) < 0.5
    errors = []
    for linked in (True, False):
        text = PANEL.replace("name: health", f"name: health{int(linked)}")
        for number, survey in enumerate(
            [opened.add(Definition.from_yaml(text), text), opened.open_wave(f"health{int(linked)}")]
        ):
            reported = np.where((np.random.default_rng(number).random(600) < 0.7) == smokes, "yes", "no")
            marks = [f"{i + (0 if linked else 1000 * number):032x}" for i in range(600)]
            rows = [(str(answer), "no", "below 30", mark) for answer, mark in zip(reported, marks, strict=True)]
            batch = [Submission(survey, "reports", f"{survey.fingerprint}{i}", row) for i, row in enumerate(rows)]
            store_batch(opened.database, batch)
        changes = series_changes(opened, opened.named(f"health{int(linked)}"))["changes"]
        errors.append(next(row["standard_error"] for row in changes if row["answers"] == {"smokes": "yes"}))
    assert errors[0] < 0.97 * errors[1]


def test_the_dashboard_shows_each_question_over_the_waves(tmp_path: Path) -> None:
    server = SurveyServer(tmp_path / "s.db", ServerSettings(rate=0))
    store = server.store
    fill(store, store.add(Definition.from_yaml(WAVES), WAVES), 0.9)
    assert dashboard(store, store.named("health")).courses == []
    fill(store, store.open_wave("health"), 0.1)
    survey = store.named("health")
    courses = dashboard(store, survey).courses
    labels = [row.label for course in courses for row in course.table.rows if course.table.attribute == "smokes"]
    assert labels == ["No, wave 1", "No, wave 2", "Yes, wave 1", "Yes, wave 2"]
    Accounts(store.database).set_password("ana", "a long enough password")
    client = TestClient(server, base_url="http://survey.test")
    client.post("/admin/login", data={"name": "ana", "password": "a long enough password"})
    page = client.get(f"/admin/surveys/{survey.fingerprint}").text
    assert 'href="#waves"' in page
    assert "Yes, wave 2" in page
    server.close()
