"""Declared waves: the series is known by its hash, promised and capped as a whole before its first wave, and opened in order."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from tacit.channel.document import document_hash
from tacit.errors import InvalidInput
from tacit.survey.app import SurveyServer
from tacit.survey.dashboard import dashboard
from tacit.survey.definition import Definition
from tacit.survey.exports import export_folder
from tacit.survey.inspection import inspect_page
from tacit.survey.promise import promise
from tacit.survey.series import series_hash, split_gamma
from tacit.survey.store.backup import back_up, contents, restore
from tacit.survey.store.submissions import Submission, SubmissionOutcome, store_batch, token_hash
from tacit.survey.store.surveys import Attrition, Store, StoredSurvey
from tacit.survey.verification import examine
from tacit.survey.withdrawing import receipt_hash
from tests.cli.run import refused, tacit
from tests.survey.page import node

STRONG = 7 / 3


def answer_of(*arguments: object) -> Any:
    outcome = tacit(*arguments, "--json")
    assert outcome.code == 0, outcome.err
    return outcome.json


def questionnaire(**more: Any) -> str:
    document = {
        "name": "panel",
        "title": "Work",
        "introduction": "Why we ask.",
        "contact": "research@example.org",
        "waves": 4,
        "pages": [
            {
                "questions": [
                    {"name": "sex", "kind": "choice", "text": "You are", "answers": ["f", "m"], "sensitive": False},
                    {
                        "name": "stole",
                        "kind": "yes-no",
                        "text": "Did you?",
                        "sensitive": True,
                        "prefer_not_to_say": False,
                    },
                ]
            }
        ],
        **more,
    }
    return json.dumps({name: value for name, value in document.items() if value is not None})


def test_a_definition_carries_its_wave_and_the_hash_of_its_series() -> None:
    first = Definition.from_yaml(questionnaire(privacy="strong", series_gamma=30, panel=True))
    document = first.document
    assert (document["wave"], document["waves"], document["series_gamma"], document["panel"]) == (1, 4, 30, True)
    assert document["series"] == document_hash(
        {name: part for name, part in document.items() if name not in ("wave", "series", "hash")}
    )
    second = first.in_wave(2)
    assert second.series == first.series
    assert second.hash != first.hash
    assert Definition.from_json(second.to_json()).document["wave"] == 2
    other = Definition.from_yaml(questionnaire(privacy="strong", series_gamma=31, panel=True))
    assert other.series != first.series


def test_waves_with_codes_are_one_series_though_each_has_a_key_of_its_own(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    text = questionnaire(privacy="very strong", access="codes")
    first = store.add(Definition.from_yaml(text), text)
    second = store.open_wave("panel")
    assert second.definition.series == first.definition.series == series_hash(second.definition.bare)
    assert second.definition.document["issuer"] != first.definition.document["issuer"]
    store.close()


@pytest.mark.parametrize(
    ("stated", "gamma", "cap"),
    [
        ({"privacy": "strong", "series_gamma": 30}, STRONG, 30),
        ({"privacy": "very strong"}, 1.5, 19),
        ({"series_gamma": 19}, 2.0877, 19),  # nothing said of a wave: the cap is split by the fourth root
        ({"series": "light"}, 1.7320, 9),
    ],
    ids=str,
)
def test_the_series_is_stated_with_both_ways_before_its_first_wave(stated: Any, gamma: float, cap: float) -> None:
    document, lines = promise(Definition.from_yaml(questionnaire(**stated)))
    assert document["series_gamma"] == pytest.approx(gamma**4, rel=1e-6)
    assert document["series_cap"] == cap
    assert document["series_worst_posterior"] == pytest.approx(gamma**4 / (gamma**4 + 1), rel=1e-6)
    assert any(line.startswith("  wave 1 of 4; all waves together: amplification") for line in lines)
    ways = {way["way"]: way for way in document["series_ways"]}
    split = ways.pop(f"a cap of {cap} split over 4 waves")
    assert split["series_gamma"] <= cap
    for way in ways.values():
        assert way["gamma"] == pytest.approx(gamma)
        assert way["respondents"] == document["plan"]["respondents"]
    assert len(ways) == ("privacy" in stated)


def test_four_waves_under_the_usual_cap_take_the_respondents_that_the_formula_says() -> None:
    """FORMULAS 17: four waves at 2.09 take 1.29 times the respondents of one at 7/3."""
    split = promise(Definition.from_yaml(questionnaire(series_gamma=19)))[0]["plan"]["respondents"]
    once = promise(Definition.from_yaml(questionnaire(waves=None, privacy="strong")))[0]["plan"]["respondents"]
    assert split / once == pytest.approx(1.29, abs=0.01)
    assert [split_gamma(19, waves) for waves in (2, 3, 4)] == [4.3588, 2.6684, 2.0877]


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (
            {"privacy": "strong"},
            r"stole can change the odds of a guess 29.64 times over 4 waves; at most 19 is allowed",
        ),
        ({"privacy": "strong", "series": "light"}, r"29.64 times over 4 waves; at most 9 is allowed"),
        ({"series": "light", "series_gamma": 9}, "say the same thing in a word and in a number"),
        ({"series_gamma": 1}, "series_gamma is how many times all waves together"),
        ({"series": "weak"}, "The privacy level of the series 'weak' does not exist"),
        ({"waves": 0, "privacy": "strong"}, "waves must be a whole number from 1 to 1,000, not 0"),
        ({"waves": 2.5, "privacy": "strong"}, "waves must be a whole number"),
        ({"wave": 5, "series_gamma": 19}, "wave must be a whole number from 1 to 4, not 5"),
        ({"waves": 1, "privacy": "strong", "panel": True}, "a panel puts the reports of several waves together"),
        ({"waves": None, "privacy": "strong", "panel": True}, "panel belongs to declared waves"),
        ({"waves": None, "privacy": "strong", "series": "light"}, "series belongs to declared waves"),
    ],
    ids=str,
)
def test_what_a_series_cannot_promise_is_refused(stated: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Definition.from_yaml(questionnaire(**stated))


def test_all_answers_of_all_waves_are_capped_too() -> None:
    more = [{"name": f"q{n}", "kind": "yes-no", "text": f"{n}?", "sensitive": True} for n in range(9)]
    text = questionnaire(privacy="strong", series_gamma=30, pages=[{"questions": more}])
    assert "exceeds" in {one.reason for one in examine(Definition.from_yaml(text).document).objections}


def test_a_wave_without_waves_is_the_name_of_a_single_one() -> None:
    definition = Definition.from_yaml(questionnaire(waves=None, wave="2024-b", privacy="light"))
    assert definition.wave == "2024-b"
    assert definition.waves is None
    assert not {"waves", "series", "series_gamma", "panel"} & definition.document.keys()
    assert "series_gamma" not in promise(definition)[0]


def forged(change: Mapping[str, Any], *gone: str) -> dict[str, Any]:
    document = dict(Definition.from_yaml(questionnaire(privacy="strong", series_gamma=30)).document)
    document = {name: part for name, part in document.items() if name not in gone} | dict(change)
    return {**document, "hash": document_hash(document)}


@pytest.mark.parametrize(
    "document",
    [
        forged({"wave": 5}),
        forged({"wave": 0}),
        forged({"wave": "1"}),
        forged({"waves": True}),
        forged({"series_gamma": "30"}),
        forged({"panel": "yes"}),
        forged({}, "waves"),
    ],
    ids=lambda one: str([one.get(name) for name in ("wave", "waves", "series_gamma", "panel")]),
)
def test_a_definition_whose_waves_do_not_fit_together_is_refused(document: dict[str, Any]) -> None:
    assert refusals_of(document) == {"series"}


def refusals_of(document: dict[str, Any]) -> set[str]:
    """Why Python and the page refuse, for the same reasons."""
    (page,) = node("examine", "page_checks.mjs", documents=[document])
    reasons = {one.reason for one in examine(document).objections}
    assert reasons == {reason for reason, _ in page["reasons"]}
    return reasons


@pytest.mark.parametrize("document", [forged({}, "series_gamma"), forged({"series_gamma": 29}), forged({"waves": 5})])
def test_more_than_the_series_states_is_refused(document: dict[str, Any]) -> None:
    assert refusals_of(document) == {"amplified"}


def test_what_a_series_allows_is_allowed_to_no_single_wave() -> None:
    document = forged({"waves": 1, "series_gamma": 1e6}, "label")
    document["programs"] = [[{"toss": 2**32 * 94 // 100, "heads": {"same": 1}, "tails": {"even": "any"}}]]
    assert refusals_of(document) == {"amplified", "unprotected"}


def test_the_page_takes_what_open_makes_and_knows_its_series(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    text = questionnaire(series_gamma=19, access="codes", panel=True)
    waves = [store.add(Definition.from_yaml(text), text), *(store.open_wave("panel") for _ in range(3))]
    documents = [one.definition.bare for one in waves]
    for document in documents:
        assert refusals_of(document) == set()
    assert node("series", "page_checks.mjs", documents=documents) == [waves[0].definition.series] * 4
    store.close()


def test_a_definition_of_another_series_than_it_names_is_refused_by_verify(tmp_path: Path) -> None:
    (tmp_path / "definition.json").write_text(json.dumps(forged({"series": "0" * 64})))
    assert inspect_page(str(tmp_path / "definition.json")).problems == (
        "The definition is not of the series that it names.",
    )


def test_measure_and_plan_state_the_series_of_a_questionnaire(tmp_path: Path) -> None:
    file = tmp_path / "panel.yaml"
    file.write_text(questionnaire(privacy="strong", series_gamma=30))
    measured, planned = answer_of("measure", file), answer_of("plan", file, "--margin", "0.05")
    assert measured["series_gamma"] == planned["series_gamma"] == pytest.approx(STRONG**4, rel=1e-6)
    assert planned["series_ways"][0]["respondents"] == planned["respondents"]
    assert "wave 1 of 4; all waves together: amplification 29.64" in tacit("measure", file).out
    assert "wave 1 of 4; all waves together: amplification 29.64" in tacit("plan", file, "--margin", "0.05").out
    file.write_text(questionnaire(waves=None, privacy="strong"))
    assert "series_gamma" not in answer_of("measure", file)


# Waves are opened one after the other, under one text.


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "panel.yaml"
    file.write_text(questionnaire(privacy="strong", series_gamma=30))
    assert answer_of("survey", "open", str(file))["series_gamma"] == pytest.approx(STRONG**4, rel=1e-6)
    return file


def test_waves_are_opened_one_after_the_other_and_no_more_than_were_declared(opened: Path) -> None:
    links = {answer_of("survey", "wave", "panel")["link"] for _ in range(3)}
    assert len(links) == 3
    assert "All 4 declared waves of 'panel' have been opened" in refused("survey", "wave", "panel")
    surveys = answer_of("survey", "status")["surveys"]
    assert [(one["wave"], one["state"]) for one in surveys] == [
        ("1", "open"),
        ("2", "open"),
        ("3", "open"),
        ("4", "open"),
    ]


def test_a_wave_under_another_text_is_refused(opened: Path) -> None:
    edited = opened.with_name("edited.yaml")
    edited.write_text(opened.read_text().replace("Did you?", "Did you ever?"))
    assert "another text or question than wave 1 of 'panel'" in refused("survey", "wave", "panel", "--file", edited)
    edited.write_text(edited.read_text().replace('"waves": 4', '"waves": 4, "wave": 2'))
    assert "another text or question than wave 1 of 'panel'" in refused("survey", "open", edited)
    assert answer_of("survey", "wave", "panel", "--file", opened)["wave"] == 2


def test_a_wave_is_not_opened_before_the_one_before_it(opened: Path) -> None:
    opened.write_text(opened.read_text().replace('"waves": 4', '"waves": 4, "wave": 3'))
    assert "The next wave of 'panel' is 2, not 3" in refused("survey", "open", opened)


def test_a_survey_without_declared_waves_has_no_further_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "once.yaml").write_text(questionnaire(waves=None, privacy="strong"))
    assert "series_gamma" not in answer_of("survey", "open", "once.yaml")
    assert "The survey 'panel' has no declared waves" in refused("survey", "wave", "panel")


# A panel: the mark of a device stands beside each of its reports.


@pytest.fixture
def panel(server: SurveyServer) -> list[StoredSurvey]:
    text = questionnaire(privacy="strong", series_gamma=30, panel=True)
    return [server.store.add(Definition.from_yaml(text), text), server.store.open_wave("panel")]


def send(client: TestClient, survey: StoredSurvey, token: int, **body: Any) -> Any:
    receipt = receipt_hash(f"{token:020x}")
    content = {"report": "0001", "receipt": receipt, **body}
    return client.put(f"/s/{survey.fingerprint}/reports/{token:064x}", json=content)


def mark(person: int) -> str:
    return f"{person:032x}"


def test_a_mark_comes_once_in_a_wave_and_again_in_the_next(client: TestClient, panel: list[StoredSurvey]) -> None:
    assert send(client, panel[0], 1, panel=mark(1)).status_code == 201
    assert send(client, panel[0], 1, panel=mark(1)).status_code == 200  # sent again because nobody answered
    twice = send(client, panel[0], 2, panel=mark(1))
    assert twice.status_code == 409
    assert twice.json()["error"].startswith("A report with this mark of the panel has already been sent in this wave")
    assert send(client, panel[0], 1, panel=mark(2)).status_code == 409  # another report under one token
    assert send(client, panel[0], 3, panel=mark(2)).status_code == 201
    assert send(client, panel[1], 4, panel=mark(1)).status_code == 201


def test_every_database_takes_a_mark_once_in_a_wave_and_counts_who_came_again(store: Store) -> None:
    text = questionnaire(privacy="strong", series_gamma=30, panel=True)
    waves = [store.add(Definition.from_yaml(text), text), store.open_wave("panel")]

    def sent(survey: StoredSurvey, *people: int) -> list[SubmissionOutcome]:
        batch = [
            Submission(survey, "reports", token_hash(survey, f"{place} {people}"), ("yes", "f", mark(person)))
            for place, person in enumerate(people)
        ]
        return store_batch(store.database, batch)

    stored, twice = SubmissionOutcome.STORED, SubmissionOutcome.TWICE
    assert sent(waves[0], 7, 7, 8) == [stored, twice, stored]
    assert sent(waves[0], 8, 9) == [twice, stored]
    assert sent(waves[1], 9, 10) == [stored, stored]
    assert store.attrition(waves[1]) == [Attrition(1, 3, 1)]
    assert store.attrition(waves[0]) == []


@pytest.mark.parametrize(
    "given", [{}, {"panel": None}, {"panel": "1" * 31}, {"panel": "G" * 32}, {"panel": 7}], ids=str
)
def test_a_report_of_a_panel_needs_its_mark(client: TestClient, panel: list[StoredSurvey], given: Any) -> None:
    answer = send(client, panel[0], 1, **given)
    assert answer.status_code == 400
    assert "32 digits" in answer.json()["error"]


def test_a_survey_that_is_no_panel_takes_no_mark(client: TestClient, server: SurveyServer) -> None:
    text = questionnaire(privacy="strong", series_gamma=30)
    survey = server.store.add(Definition.from_yaml(text), text)
    answer = send(client, survey, 1, panel=mark(1))
    assert answer.status_code == 400
    assert "is no panel" in answer.json()["error"]
    assert send(client, survey, 1).status_code == 201


def test_waves_of_a_panel_join_by_the_mark_that_is_exported(
    client: TestClient, server: SurveyServer, panel: list[StoredSurvey], tmp_path: Path
) -> None:
    rng = random.Random(5)
    for number, survey in enumerate(panel):
        for person in range(60 - 20 * number):
            report = rng.choice(["0000", "0001", "0100", "0101"])
            assert send(client, survey, 100 * number + person, panel=mark(person), report=report).status_code == 201
        export_folder(server.store, survey, tmp_path / f"wave{number + 1}")
    assert server.store.attrition(panel[1]) == [Attrition(1, 60, 40)]
    assert str(server.store.attrition(panel[1])[0]) == "of 60 people in wave 1, 40 (67%) answered this wave too"
    files = [tmp_path / f"wave{number}" for number in (1, 2)]
    rows = [list(csv.DictReader((folder / "reports.csv").read_text().splitlines())) for folder in files]
    assert set(rows[0][0]) == {"sex", "stole", "panel"}
    marks = [{row["panel"] for row in wave} for wave in rows]
    assert marks[1] == {mark(person) for person in range(40)} < marks[0]
    assert [row["panel"] for row in rows[0]] != sorted(row["panel"] for row in rows[0])  # no order of arrival
    parquet = pq.read_table(files[1] / "reports.parquet")
    assert set(parquet.column("panel").to_pylist()) == marks[1]
    for name in ("reports.csv", "reports.parquet"):
        told = tacit(
            "estimate", files[0] / name, "--scheme", files[0] / "scheme.json", "--attributes", "stole", "--json"
        )
        assert told.json["n_reports"] == 60
    changed = tacit(
        "estimate", "--change", files[0] / "reports.csv", files[1] / "reports.csv", "--scheme", files[0] / "scheme.json",
        "--attributes", "stole", "--panel", "panel", "--json",
    )  # fmt: skip
    assert changed.code == 0, changed.err
    assert dashboard(server.store, server.store.named("panel")).counts.reports == 40


def test_a_withdrawn_wave_leaves_the_others(
    client: TestClient, server: SurveyServer, panel: list[StoredSurvey]
) -> None:
    for number, survey in enumerate(panel, 1):
        assert send(client, survey, number, panel=mark(1)).status_code == 201
    assert client.post(f"/s/{panel[0].fingerprint}/withdrawals", json={"receipt": f"{1:020x}"}).status_code == 200
    assert [server.store.counts(one).reports for one in panel] == [0, 1]
    assert client.post(f"/s/{panel[1].fingerprint}/withdrawals", json={"receipt": f"{2:020x}"}).status_code == 200
    assert [server.store.counts(one).reports for one in panel] == [0, 0]


def test_a_backup_keeps_the_marks(
    client: TestClient, server: SurveyServer, panel: list[StoredSurvey], tmp_path: Path
) -> None:
    send(client, panel[0], 1, panel=mark(9))
    back_up(server.store, tmp_path / "backup.db")
    copy = Store.open(tmp_path / "copy.db")
    restore(tmp_path / "backup.db", copy)
    assert dict(contents(copy)) == dict(contents(server.store))
    assert [row[-1] for batch in copy.rows(panel[0], panel[0].exported) for row in batch] == [mark(9)]
    copy.close()


def test_no_question_of_a_panel_is_called_panel() -> None:
    text = questionnaire(series_gamma=19, panel=True).replace('"stole"', '"panel"')
    with pytest.raises(InvalidInput, match="no question of a panel may be called 'panel'"):
        Definition.from_yaml(text)
