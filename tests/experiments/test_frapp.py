from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit import Reports, Scheme, channels
from tacit.bundled import census
from tacit.dataset import Dataset
from tacit.estimation.closed_supports import supports_from
from tacit.experiments import frapp
from tacit.experiments.frapp_bayes import bayes_gain
from tacit.experiments.itemset_accuracy import Truth, accuracy_of_all, accuracy_of_found
from tacit.experiments.itemset_schemes import Contestant, contestants
from tacit.experiments.registry import study
from tacit.mine import FrequentItemsets
from tacit.schema import Schema
from tests.mine.itemset_checks import dataset

CENSUS = census()
TRUTH = Truth.of(CENSUS, 0.02)
COUNTS = dict(zip(TRUTH.lengths, TRUTH.counts(), strict=True))
FIELD = {contestant.name: contestant for contestant in contestants(CENSUS.schema, 19.0, COUNTS)}


def test_clear_records_are_mined_without_error() -> None:
    reports = Reports.from_truth(CENSUS)
    found = FrequentItemsets(0.02).fit(reports).itemsets_
    for accuracy in (accuracy_of_all(TRUTH, supports_from(reports)), accuracy_of_found(TRUTH, found)):
        assert tuple(accuracy.frequent) == tuple(accuracy.found) == frapp.PUBLISHED_COUNTS
        assert (accuracy.missed_percent(), accuracy.false()) == (0, 0)
        assert accuracy.support_error() == pytest.approx(0, abs=1e-9)


def test_measures_by_hand() -> None:
    """Of four frequent answers three are found, a fifth by mistake; their errors are 10, 0 and 20 percent."""
    data = Dataset.from_arrow({"a": ["x"] * 5 + ["y"] * 5, "b": ["p"] * 5 + ["q"] * 3 + ["r"] * 2})
    truth = Truth.of(data, 0.3)
    found = FrequentItemsets(0.3).fit(Reports.from_truth(data)).itemsets_
    for part in found.found:
        if part.names == ("a",):
            part.supports[:] = [0.55, 0.5]
        if part.names == ("b",):
            part.supports[:] = [0.6, 0.2]
    accuracy = accuracy_of_found(truth, found)
    assert accuracy.missed_percent(1) == pytest.approx(25)
    assert accuracy.support_error(1) == pytest.approx((10 + 0 + 20) / 3)
    assert accuracy.published_support_error(1) == pytest.approx((10 + 0 + 20) / 4)


@pytest.mark.slow
def test_the_split_questionnaire_reaches_its_marks() -> None:
    """Support error, false negatives and false positives, all lengths together, in the mean of ten surveys."""
    found = frapp.outcome(CENSUS, TRUTH, FIELD["split, by itemset counts"], range(10))
    for way in (found.every, found.with_slack):  # of what every itemset's own estimate says, and of what a search finds
        assert np.mean([accuracy.support_error() for accuracy in way]) <= 11.7
        assert np.mean([accuracy.missed_percent() for accuracy in way]) <= 9
        assert np.mean([accuracy.false() for accuracy in way]) <= 15


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.skipif("TACIT_SOAK" not in os.environ, reason="two minutes: make soak")
def test_likelihood_keeps_its_marks_on_census() -> None:
    """Support error, false negatives and false positives, every itemset judged, in the mean of twenty surveys."""
    scheme = FIELD["split, by itemset counts"].scheme
    judged = [
        frapp._both_ways(TRUTH, tacit.disguise(CENSUS, scheme, seed=seed), "likelihood")[0]
        for seed in range(2008, 2028)
    ]
    assert np.mean([accuracy.support_error() for accuracy in judged]) <= 8.2
    assert np.mean([accuracy.missed_percent() for accuracy in judged]) <= 8.5
    assert np.mean([accuracy.false() for accuracy in judged]) <= 4.8


def test_the_gamma_diagonal_channel_is_as_bad_as_expected() -> None:
    found = frapp.outcome(CENSUS, TRUTH, FIELD["DET-GD"], range(10)).searched
    assert np.mean([accuracy.support_error() for accuracy in found]) == pytest.approx(94, abs=10)
    assert np.mean([accuracy.missed_percent() for accuracy in found]) == pytest.approx(54, abs=8)
    assert np.mean([accuracy.false() for accuracy in found]) == pytest.approx(36, abs=15)


def test_cut_and_paste_as_published_finds_nothing_beyond_three() -> None:
    found = frapp.outcome(CENSUS, TRUTH, FIELD["C&P"], [1])
    assert found.searched[0].found[3:].sum() == 0
    assert found.every[0].added[3:].sum() == 0


def test_naive_bayes_gains_from_asking_for_pairs() -> None:
    gain = bayes_gain(19.0, [1])
    accuracies = [float(str(row[1]).split()[0]) for row in gain.table.rows]
    one_group, split, clear, majority = accuracies
    assert split > majority - 0.01
    assert split > one_group + 0.05
    assert clear > majority


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study on a small made-up table, its costly parts left out."""
    monkeypatch.setattr(frapp, "census", lambda: dataset((3, 2, 4, 2), 3000, 1))
    monkeypatch.setattr(frapp, "likelihood_gain", lambda *_: frapp.StudyTable("likelihood", (), ()))
    monkeypatch.setattr(frapp, "bayes_gain", lambda *_: bayes_gain(19.0, [1]))


@pytest.mark.usefixtures("small")
def test_the_whole_study_says_what_was_published_and_what_was_found() -> None:
    shares: list[float] = []
    result = study("frapp").run(True, 1, shares.append, health=None)
    assert shares[-1] == 1.0
    said = {row.what: row for row in result.comparisons}
    assert said["RAN-GD's posterior, alpha = gamma x / 2"].holds
    assert "no health table was given" in said["HEALTH"].ours
    assert {plot.name for plot in result.plots} >= {"ran-gd", "condition-numbers", "census-support-error"}
    assert result.to_document()["name"] == "frapp"
    assert "3,000 records" in result.settings
    assert "seeds 1 to 2" in result.settings
    assert "23, 123, 292, 361, 250, 86, 12" in (said["HEALTH"].published or "")
    assert said["DET-GD, short itemsets"].published is None
    drawn = next(plot for plot in result.plots if plot.name == "census-support-error").figure.axes[0]
    assert len(drawn.collections) == len(drawn.get_legend_handles_labels()[1])  # bars of deviation for each mechanism


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_a_health_table_gets_the_same_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def field(schema: Schema, gamma: float, counts: dict[int, float]) -> tuple[Contestant, ...]:
        if len(schema) < 7:
            return contestants(schema, gamma, counts)
        return (Contestant("DET-GD", Scheme.of(schema, [(schema.names, channels.gamma_diagonal(100 * gamma))]), True),)

    monkeypatch.setattr(frapp, "contestants", field)
    generator = np.random.default_rng(1)
    rows = ["mdu,lc,idp,ndisease,health,linc,age,sex"]
    for _ in range(400):
        visits, diseases, age = generator.integers(0, 70), generator.integers(0, 30), generator.integers(0, 65)
        health, sex = generator.choice(["good", "poor"]), generator.choice(["male", "female"])
        rows.append(f"{visits},{generator.choice([0, 3.2, 4.6])},True,{diseases},{health},9,{age},{sex}")
    path = tmp_path / "health.csv"
    path.write_text("\n".join(rows) + "\n")
    result = study("frapp").run(True, 1, health=path)
    assert any(table.title.startswith("HEALTH: all lengths together") for table in result.tables)
    assert {"health-support-error"} <= {plot.name for plot in result.plots}


def test_likelihood_is_tried_beside_inversion() -> None:
    data = dataset((3, 2, 4), 2000, 1)
    truth = Truth.of(data, 0.05)
    field = contestants(data.schema, 19.0, dict(zip(truth.lengths, truth.counts(), strict=True)))
    table = frapp.likelihood_gain(data, truth, field, [1])
    told = {row[:3]: row[3:] for row in table.rows}
    assert len(told) == 8
    reports = tacit.disguise(data, field[6].scheme, seed=1)
    for method in ("inversion", "likelihood"):
        miner = FrequentItemsets(0.05, slack=frapp.SLACK, method=method, certainty=None).fit(reports)
        searched = accuracy_of_found(truth, miner.itemsets_)
        expected = [
            frapp.spread([value]) for value in (searched.support_error(), searched.missed_percent(), searched.false())
        ]
        assert list(told["split, by itemset counts", method, "slack 1"]) == expected
    inverted, likely = (told["DET-GD", method, "every itemset"] for method in ("inversion", "likelihood"))
    assert float(str(likely[0]).split()[0]) < float(str(inverted[0]).split()[0])
