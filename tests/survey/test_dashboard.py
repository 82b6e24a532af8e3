from __future__ import annotations

import csv
import itertools
import json
import math
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.channel.scheme import Group, Scheme
from tacit.errors import InvalidInput
from tacit.randomness import ONE, SeededRandomness
from tacit.reports import Reports
from tacit.survey.counting import countable
from tacit.survey.dashboard import dashboard, results_document
from tacit.survey.definition import Definition
from tacit.survey.exports import DOWNLOADS, export_folder, reports_of
from tacit.survey.fake_reports import SUSPICIOUS, fit_of, largest_shift, report_weights
from tacit.survey.inspection import inspect_page
from tacit.survey.second_round import PublishedAccuracy, SecondRound, offer_classifier, second_round
from tacit.survey.store.submissions import Submission, SubmissionOutcome, store_batch, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.table import Table
from tests.statistics import assert_standard_scores
from tests.survey.page import node
from tests.survey.questionnaires import SMALL

N = 4_000
AGES = ("below 30", "30 to 59", "60 or more")


def simulated_rows(survey: StoredSurvey, n: int, seed: int) -> list[tuple[str, ...]]:
    """Reports of `n` people of whom 30% smoke and 60% drink (5% of them would not say), disguised by the scheme."""
    truth = np.random.default_rng(seed)
    smokes = (truth.random(n) < 0.3).astype(np.uint8)
    drinks = truth.choice(3, n, p=[0.35, 0.6, 0.05]).astype(np.uint8)
    randomness = SeededRandomness(1000 + seed)  # not the stream that drew the truth
    columns = []
    for group, codes in zip(survey.definition.scheme.groups, (smokes, drinks), strict=True):
        (shown,) = group.channel.sample([codes], randomness)
        columns.append([group.attributes[0].answers[code] for code in shown])
    columns.append([AGES[code] for code in truth.integers(0, 3, n)])
    return list(zip(*columns, strict=True))


def fill(store: Store, survey: StoredSurvey, rows: list[tuple[str, ...]]) -> None:
    batch = [Submission(survey, "reports", token_hash(survey, str(n)), row) for n, row in enumerate(rows)]
    store_batch(store.database, batch)


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[tuple[Store, StoredSurvey]]:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    fill(store, survey, simulated_rows(survey, N, seed=7))
    yield store, survey
    store.close()


def test_estimates_find_the_truth_behind_the_reports(filled: tuple[Store, StoredSurvey]) -> None:
    store, survey = filled
    document = results_document(store, survey, by="age")
    assert document["n_reports"] == N
    tables = {table["attribute"]: {c["answer"]: c for c in table["cells"]} for table in document["questions"]}
    for attribute, answer, share in (
        ("smokes", "yes", 0.3),
        ("drinks", "yes", 0.6),
        ("drinks", "prefer not to say", 0.05),
    ):
        cell = tables[attribute][answer]
        assert abs(cell["probability"] - share) < 5 * cell["standard_error"]  # 6e-7 each
        assert cell["low"] < cell["probability"] < cell["high"]
    assert [table["disguised"] for table in document["questions"]] == [False, True, True]
    assert len(document["crossed"]) == 2
    assert document["warnings"] == []


def test_an_empty_survey_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    assert dashboard(store, survey).warnings == ["No reports yet."]
    assert reports_of(store, survey).n_reports == 0
    store.close()


def test_honest_reports_fit_their_channel_and_forged_ones_do_not(filled: tuple[Store, StoredSurvey]) -> None:
    store, survey = filled
    honest = reports_of(store, survey)
    for group in survey.definition.scheme.groups:
        fit = fit_of(honest, group)
        assert fit.p_value is not None
        assert fit.p_value > SUSPICIOUS
    # Every client says yes: a true share above one would be needed for that.
    scheme = survey.definition.scheme
    forged = Reports.from_arrow({"smokes": ["yes"] * 500, "drinks": ["no"] * 500, "age": ["below 30"] * 500}, scheme)
    verdict = fit_of(forged, scheme.groups[0])
    assert verdict.p_value is not None
    assert verdict.p_value < SUSPICIOUS
    assert "suspicious" in verdict.verdict


def test_reports_that_all_say_the_same_have_wide_intervals(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    fill(store, survey, [("yes", "no", AGES[0])] * 15 + [("no", "yes", AGES[0])] * 15)
    tables = {table.attribute: table for table in dashboard(store, survey).tables}
    for row in (row for table in tables.values() for row in table.rows):
        assert 0 <= row.low < row.low + 0.1 < row.high <= 1
        assert row.standard_error > 0
    store.close()


@pytest.mark.parametrize(
    "channel",
    ["{kind: mask, p: 0.8}", "{kind: subset, size: 2, gamma: 4}", "{kind: cut-and-paste, K: 1, rho: 0.3}"],
)
def test_sets_are_compared_with_their_channel_too(channel: str) -> None:
    text = SMALL + f"groups:\n  - {{questions: [drinks], channel: {channel}}}\n"
    definition = Definition.from_yaml(text)
    scheme = definition.scheme
    group = next(group for group in scheme.groups if group.names == ("drinks",))
    truth = np.random.default_rng(11).choice(3, N, p=[0.35, 0.6, 0.05]).astype(np.uint8)
    honest = reports_about(scheme, group, group.channel.sample([truth], SeededRandomness(12)))
    fit = fit_of(honest, group)
    assert fit.p_value is not None
    assert fit.p_value > SUSPICIOUS
    # Every client sends the same set.
    (column,) = group.channel.reports()
    forged = reports_about(scheme, group, [np.repeat(column[-1:], 500, axis=0)])
    assert "suspicious" in fit_of(forged, group).verdict


def reports_about(scheme: Scheme, group: Group, columns: Sequence[NDArray[Any]]) -> Reports:
    """Reports in which one group says what it is given and everybody says the same otherwise."""
    given = dict(zip([column.name for column in group.report_attributes], columns, strict=True))
    n = len(columns[0])
    schema = scheme.report_schema
    table = Table(schema, {name: given.get(name, np.zeros(n, dtype=np.uint8)) for name in schema.names})
    return Reports(scheme, (table,))


def test_the_fit_test_says_why_it_was_not_made(filled: tuple[Store, StoredSurvey]) -> None:
    text = (
        SMALL.replace("name: health", "name: stored")
        + "groups:\n  - {questions: [drinks], channel: {kind: mask, p: 0.8}}\n"
    )
    store, _ = filled
    survey = store.add(Definition.from_yaml(text), text)
    fill(store, survey, [(0, 1, 0, "no", AGES[0])] * 3)  # type: ignore[list-item]
    group = next(group for group in survey.definition.scheme.groups if group.names == ("drinks",))
    fit = fit_of(countable(store, survey, 3, read_up_to=0), group)
    assert fit.p_value is None
    assert fit.verdict == "not tested: sets are compared only while the reports are few enough to be read."


def test_the_fit_test_rarely_accuses_the_honest() -> None:
    definition = Definition.from_yaml(SMALL)
    group = definition.scheme.groups[0]
    generator = SeededRandomness(3)
    accused = 0
    for _ in range(200):
        # Nobody smokes: the hardest honest case, because the reports lie on the edge of what is possible.
        (codes,) = group.channel.sample([np.zeros(300, dtype=np.uint8)], generator)
        rows = {
            "smokes": [group.attributes[0].answers[code] for code in codes],
            "drinks": ["no"] * 300,
            "age": [AGES[0]] * 300,
        }
        fit = fit_of(Reports.from_arrow(rows, definition.scheme), group)
        assert fit.p_value is not None
        accused += fit.p_value < 0.05
    # At 5% even exactly calibrated accusations would stay below 28 of 200 with probability 1 - 1e-6.
    assert accused <= 28


def test_fake_respondents_move_an_estimate_no_further_than_stated(filled: tuple[Store, StoredSurvey]) -> None:
    store, survey = filled
    from tacit.estimation import estimate

    group = survey.definition.scheme.groups[0]
    before = float(estimate(reports_of(store, survey), ["smokes"]).probabilities[1])
    bound = largest_shift(group, "smokes", 1, before, N, 10)
    fakes = [Submission(survey, "reports", f"fake {n}", ("yes", "no", AGES[0])) for n in range(10)]
    store_batch(store.database, fakes)
    moved = float(estimate(reports_of(store, survey), ["smokes"]).probabilities[1]) - before
    assert moved == pytest.approx(bound, rel=1e-9)


def test_an_estimate_is_the_mean_of_its_report_weights(filled: tuple[Store, StoredSurvey]) -> None:
    store, survey = filled
    from tacit.estimation import estimate

    group = survey.definition.scheme.groups[1]
    reports = reports_of(store, survey)
    weights = report_weights(group, "drinks", 2)
    mean = float(weights[reports.table["drinks"]].mean())
    assert mean == pytest.approx(float(estimate(reports, ["drinks"]).probabilities[2]), rel=1e-9)


def test_an_export_is_read_as_it_is(filled: tuple[Store, StoredSurvey], tmp_path: Path) -> None:
    store, survey = filled
    files = export_folder(store, survey, tmp_path / "out")
    assert {file.name for file in files} == {
        "reports.csv", "reports.csv.json", "reports.parquet", "scheme.json", "definition.json", "label.json",
        "consent.json", "codebook.csv", "codebook.ddi.xml", "questionnaire.yaml", "reports.sav", "reports.dta",
        "analysis.py", "analysis.R",
    }  # fmt: skip
    from tacit.channel.scheme import Scheme

    scheme = Scheme.read(tmp_path / "out/scheme.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing note about the scheme would be one
        read = [Reports.read(tmp_path / "out" / name, scheme) for name in ("reports.csv", "reports.parquet")]
    assert [reports.n_reports for reports in read] == [N, N]
    stored = reports_of(store, survey)
    for name in ("smokes", "drinks", "age"):
        for reports in read:
            assert np.bincount(reports.table[name]).tolist() == np.bincount(stored.table[name]).tolist()
    with (tmp_path / "out/codebook.csv").open(encoding="utf-8") as file:
        labels = {row["column"]: row["label"] for row in csv.DictReader(file)}
    assert labels == {
        "smokes": "Do you smoke? (disguised)", "drinks": "Do you drink? (disguised)", "age": "How old are you? (not disguised)",
    }  # fmt: skip
    inspection = inspect_page(str(tmp_path / "out/definition.json"))
    assert inspection.problems == ()
    assert inspection.document["label"]["answers"]["smokes"] == pytest.approx(0.7)
    with pytest.raises(InvalidInput, match="is not empty"):
        export_folder(store, survey, tmp_path / "out")


def test_an_export_comes_batch_by_batch_and_never_sleeps(
    filled: tuple[Store, StoredSurvey], monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep, this_thread = time.sleep, threading.get_ident()

    def refuse(seconds: float) -> None:
        if threading.get_ident() == this_thread:  # what other tests started, such as Spark's threads, may sleep
            raise AssertionError(f"slept for {seconds} s")
        sleep(seconds)

    store, survey = filled
    monkeypatch.setattr("time.sleep", refuse)
    monkeypatch.setattr("tacit.survey.store.database.STREAMED_ROWS", 7)
    chunks = list(DOWNLOADS["reports.csv"].chunks(store, survey))
    assert max(chunk.count(b"\n") for chunk in chunks) <= 7 + 1  # the first has the names of the columns too
    assert sum(chunk.count(b"\n") for chunk in chunks) == N + 1
    assert b"".join(DOWNLOADS["reports.parquet"].chunks(store, survey)).startswith(b"PAR1")


def test_the_order_of_an_export_says_nothing(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    for n in range(60):
        fill_one = Submission(survey, "reports", token_hash(survey, str(n)), ("yes", "no", AGES[n // 20]))
        store_batch(store.database, [fill_one])
    exported = [AGES.index(row[2]) for batch in store.rows(survey) for row in batch]
    assert sum(a != b for a, b in itertools.pairwise(exported)) >= 15
    store.close()


def test_a_classifier_is_offered_once_and_its_bits_are_counted(filled: tuple[Store, StoredSurvey]) -> None:
    store, survey = filled
    assert second_round(store, survey) is None
    early = Submission(survey, "second", "early", (1,))
    assert store_batch(store.database, [early]) == [SubmissionOutcome.CLOSED]
    document = {"target": "smokes", "tree": {"answer": "no"}}
    store.offer_classifier(survey, document)
    assert "nobody has tried it yet" in str(second_round(store, survey))
    with pytest.raises(InvalidInput, match="already offered"):
        store.offer_classifier(survey, document)
    bits = [Submission(survey, "second", str(n), (int(n % 4 > 0),)) for n in range(400)]
    store_batch(store.database, bits)
    found = second_round(store, survey)
    assert found is not None
    assert (found.n_bits, found.accuracy) == (400, 0.75)
    assert json.dumps(store.classifier(survey)) == json.dumps(document)


def test_the_disguise_of_the_second_rounds_bit_is_undone() -> None:
    # Three bits in five are sent as they are: 55% ones mean that three in four were right.
    found = SecondRound("smokes", 400, 220, 0.6)
    assert found.accuracy == pytest.approx(0.75)
    assert found.standard_error == pytest.approx(math.sqrt(0.55 * 0.45 / 400) / 0.2)
    assert "75.0%" in str(found)
    assert Definition.from_yaml(SMALL + "second_round: true\n").document["second_program"][
        "toss"
    ] / ONE == pytest.approx(0.6)


def announced(tmp_path: Path, text: str = SMALL + "second_round: true\n") -> tuple[Store, StoredSurvey]:
    """A survey with a second round; everybody below 30 smokes and nobody else does."""
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(text), text)
    truth = np.random.default_rng(5)
    ages = truth.integers(0, 3, N)
    columns = []
    for group, codes in zip(survey.definition.scheme.groups, (ages == 0, truth.integers(0, 2, N)), strict=True):
        (shown,) = group.channel.sample([codes.astype(np.uint8)], SeededRandomness(1000 + len(columns)))
        columns.append([group.attributes[0].answers[code] for code in shown])
    fill(store, survey, list(zip(*columns, [AGES[age] for age in ages], strict=True)))
    return store, survey


def test_a_tree_is_mined_from_the_reports_and_can_be_applied_by_the_page(tmp_path: Path) -> None:
    store, survey = announced(tmp_path)
    document = offer_classifier(store, survey, "smokes")
    assert store.classifier(survey) == document
    people = [{"age": age, "smokes": "no", "drinks": "no"} for age in AGES]
    assert node("classified", script="page_hash.mjs", classifier=document, people=people) == ["yes", "no", "no"]
    view = dashboard(store, survey, target="smokes")
    assert view.models[0].title == "Decision tree"
    assert "How old are you?" in view.models[0].text
    assert "< 30" in view.models[0].text
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bayes", "logistic", "best"])
def test_any_model_is_offered_for_a_second_round(tmp_path: Path, model: str) -> None:
    store, survey = announced(tmp_path)
    document = offer_classifier(store, survey, "smokes", model)
    people = [{"age": age, "smokes": "no", "drinks": "no"} for age in AGES]
    assert node("classified", script="page_hash.mjs", classifier=document, people=people) == ["yes", "no", "no"]
    store.close()


def test_an_exported_model_is_offered_and_results_show_how_often_it_was_right(tmp_path: Path) -> None:
    store, survey = announced(tmp_path)
    file = tmp_path / "model.json"
    file.write_text(json.dumps({"format": "tacit-classifier/1", "target": "smokes", "tree": {"answer": "no"}}))
    with pytest.raises(InvalidInput, match="predicts 'smokes', not 'drinks'"):
        offer_classifier(store, survey, "drinks", str(file))
    with pytest.raises(InvalidInput, match="neither a file nor one of tree, bayes"):
        offer_classifier(store, survey, "smokes", "forest")
    with pytest.raises(InvalidInput, match="--class"):
        offer_classifier(store, survey, None, "bayes")
    offer_classifier(store, survey, None, str(file))
    assert results_document(store, survey)["second_round"]["accuracy"]["estimate"] is None
    store_batch(store.database, [Submission(survey, "second", str(n), (int(n % 20 < 11),)) for n in range(400)])
    told = results_document(store, survey)["second_round"]
    assert told["accuracy"]["estimate"] == pytest.approx(0.75)  # 55% of bits, of which three in five are as they were
    assert told["accuracy"]["low"] < 0.75 < told["accuracy"]["high"]
    assert (told["about"], told["kind"], told["n_bits"]) == ("true", "tree", 400)
    store.close()


def test_the_published_second_round_is_about_answers_drawn_by_lot(tmp_path: Path) -> None:
    """Its bit is sent as it is, for it says nothing of anybody; the accuracy follows from the reports as they stand."""
    store, survey = announced(tmp_path)
    document = offer_classifier(store, survey, "smokes", "tree", "personal")
    assert document["personal"]["smokes"]["answers"] == ["no", "yes"]
    assert set(document["personal"]) == {"age", "smokes", "drinks"}
    store_batch(store.database, [Submission(survey, "second", str(n), (int(n % 2),)) for n in range(100)])
    found = second_round(store, survey)
    assert found is not None
    assert (found.about, found.accuracy) == ("personal", 0.5)
    assert "drawn by lot" in str(found)
    assert found.on_reports is None  # several groups: what reports show is no plain mixture
    store.close()


def test_what_is_personal_is_taken_out_of_the_share_right_on_reports() -> None:
    """Reports keep a record with chance .4; the classifier is right for .9 of true and .5 of personal answers."""
    rng = np.random.default_rng(3)
    scores = []
    for _ in range(300):
        kept, n_reports, n_bits = rng.random(1500) < 0.4, 1500, 600
        shown = np.where(kept, rng.random(1500) < 0.9, rng.random(1500) < 0.5).mean()
        found = PublishedAccuracy.of(0.4, shown, n_reports, (rng.random(n_bits) < 0.5).mean(), n_bits)
        scores.append((found.estimate - 0.9) / found.standard_error)
    assert_standard_scores(np.array(scores)[:, None])
    assert "too good by a little" in str(found)


def test_naive_bayes_and_rules_are_mined_from_the_reports(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    # Who smokes drinks, and nobody else does.
    truth = np.random.default_rng(6)
    smokes = truth.random(N) < 0.4
    columns = []
    for seed, group in enumerate(survey.definition.scheme.groups):
        (shown,) = group.channel.sample([smokes.astype(np.uint8)], SeededRandomness(2000 + seed))
        columns.append([group.attributes[0].answers[code] for code in shown])
    fill(store, survey, list(zip(*columns, [AGES[age] for age in truth.integers(0, 3, N)], strict=True)))
    models = {model.title: model.text for model in dashboard(store, survey, target="drinks").models}
    assert set(models) == {"Decision tree", "Naive Bayes", "Rules"}
    assert "Do you smoke? = Yes" in models["Naive Bayes"]
    assert "Do you smoke? = Yes → Do you drink? = Yes: " in models["Rules"]
    # Nothing leads to an age: ages were drawn without looking at anything.
    ages = {model.title: model.text for model in dashboard(store, survey, target="age").models}
    assert ages["Rules"] == "No rule leads to “How old are you?” with a confidence of 60% that is certain at 95%."
    store.close()


def test_no_classifier_is_offered_where_no_second_round_was_announced(filled: tuple[Store, StoredSurvey]) -> None:
    store, survey = filled
    with pytest.raises(InvalidInput, match="did not announce a second round"):
        offer_classifier(store, survey, "smokes")


@pytest.mark.slow
def test_counting_in_the_database_says_the_same_as_counting_in_memory(store: Store) -> None:
    groups = "groups:\n  - {questions: [drinks], channel: {kind: mask, p: 0.8}}\n"
    from tacit.estimation import estimate

    for text in (SMALL, SMALL.replace("name: health", "name: bits") + groups):
        survey = store.add(Definition.from_yaml(text), text)
        bits = [(0, 1, 0), (1, 1, 0), (0, 0, 0)]
        rows = [(("no", "yes")[n % 2], ("no", "yes")[n % 3 % 2], AGES[n % 3]) for n in range(300)]
        if text != SMALL:
            rows = [(*bits[n % 3], row[0], row[2]) for n, row in enumerate(rows)]  # type: ignore[misc]
        fill(store, survey, rows)
        both = [countable(store, survey, 300, read_up_to=limit) for limit in (0, 1000)]
        assert [type(one).__name__ for one in both] == ["StoredReports", "Reports"]
        for names in (["smokes"], ["drinks", "age"]):
            in_database, in_memory = (estimate(one, names) for one in both)
            np.testing.assert_allclose(in_database.probabilities, in_memory.probabilities, atol=1e-12)
            np.testing.assert_allclose(in_database.standard_errors, in_memory.standard_errors, atol=1e-12)


def test_the_page_goes_through_stored_reports_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question, every pair with one of them and every group: as few queries as there are tables to count together."""
    from tacit.count.table import TableEngine
    from tacit.survey import counting, kept_counts

    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    fill(store, survey, [("yes", "no", AGES[0]), ("no", "yes", AGES[1])] * 20)
    asked: list[tuple[str, ...]] = []
    counted = TableEngine._count_columns

    def watched(engine: TableEngine, columns: tuple[str, ...]) -> object:
        asked.append(tuple(columns))
        return counted(engine, columns)

    monkeypatch.setattr(TableEngine, "_count_columns", watched)
    monkeypatch.setattr(kept_counts, "countable", lambda *given: counting.countable(*given, read_up_to=0))
    view = dashboard(store, survey, by="smokes")
    assert len(view.tables) == 3
    assert len(view.crossed) == 2
    assert len(asked) == 1
    store.close()


FEW = SMALL.replace(
    "name: health",
    "name: few",
).replace(
    "      - {name: smokes",
    "      - {name: region, kind: choice, text: Where?, answers: [a, b, c], sensitive: false}\n"
    "      - {name: member, kind: yes-no, text: In the union?, sensitive: false}\n      - {name: smokes",
)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, StoredSurvey]]:
    """Eighty people in one region, fifteen in another, and three in a third, who alone are all union members."""
    store = Store.open(tmp_path_factory.mktemp("few") / "s.db")
    survey = store.add(Definition.from_yaml(FEW), FEW)
    rows = []
    for number, region in enumerate(["a"] * 80 + ["b"] * 15 + ["c"] * 3):
        odd = ("no", "yes")[number % 2]
        row = {"region": region, "member": "yes" if region == "c" else odd, "age": AGES[number % 3], "smokes": odd}
        rows.append(tuple({**row, "drinks": odd}[name] for name in survey.wire.names))
    fill(store, survey, rows)
    yield store, survey
    store.close()


@pytest.mark.parametrize("share", [1.0, 0.999998, 0.3])
def test_weights_do_not_single_out_a_few_people(few: tuple[Store, StoredSurvey], share: float) -> None:
    store, survey = few
    rest = (1 - share) / 2
    shown = results_document(store, survey, population={"region": {"a": rest, "b": rest, "c": share}})
    assert shown["weighted"] is None
    assert "Fewer than 10 reports say region = 'c'" in shown["warnings"][-1]


def test_weights_of_many_people_do_not_become_a_filter(few: tuple[Store, StoredSurvey]) -> None:
    store, survey = few
    extreme = results_document(store, survey, population={"member": {"no": 1e-6, "yes": 1 - 1e-6}})
    assert extreme["weighted"] is not None  # 51 people: as many as any group that is shown
    assert "region" not in [one["attribute"] for one in extreme["weighted"]["questions"]]
    both = {"member": {"no": 1.0, "yes": 0.0}, "age": {AGES[0]: 1.0, AGES[1]: 0.0, AGES[2]: 0.0}}
    together = results_document(store, survey, population=both)
    assert together["weighted"] is None
    assert "fewer than 30 of equal weight" in together["warnings"][-1]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["member", "region", "smokes"])
def test_models_say_nothing_of_a_few_people(few: tuple[Store, StoredSurvey], target: str) -> None:
    store, survey = few
    said = "\n".join(model.text for model in dashboard(store, survey, target=target).models)
    assert "Where? = c" not in said
    assert "3.1%" not in said
    assert "people" in said
