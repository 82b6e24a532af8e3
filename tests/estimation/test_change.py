"""Change between two waves: its difference, error and interval, with and without a panel."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit import Attribute, Reports, Scheme, channels
from tacit.errors import InvalidInput, SchemeMismatch
from tacit.estimation.change import Change
from tacit.reports import join_waves
from tests.cli import run
from tests.statistics import FALSE_ALARM

SCHEME = Scheme.of(
    [Attribute("smokes", ("no", "yes")), Attribute("sex", ("f", "m"))], [(["smokes"], channels.warner(0.7))]
)
SOAK = os.environ.get("TACIT_SOAK") == "1"


def wave(truths: np.ndarray, rng: np.random.Generator, sex: np.ndarray | None = None) -> Reports:
    reported = np.where((rng.random(len(truths)) < 0.7) == truths, "yes", "no")
    sexes = np.where(rng.random(len(truths)) < 0.5, "f", "m") if sex is None else sex
    return Reports.from_arrow({"smokes": reported, "sex": sexes}, SCHEME)


def study(n: int, share: float, changing: float, rng: np.random.Generator, *, panel: bool) -> Change:
    """Two waves of n people of whom `changing` give another answer the second time."""
    before = rng.random(n) < share
    after = before ^ (rng.random(n) < changing)
    order = rng.permutation(n) if panel else np.arange(n)
    people = (np.arange(n), order) if panel else None
    return tacit.change(wave(before, rng), wave(after[order], rng), "smokes", people=people)


def yes(change: Change) -> dict[str, float]:
    return next(row for row in change.rows() if row["answers"]["smokes"] == "yes")


CASES = [(300, 0.3, 0.1), (1000, 0.5, 0.1), (3000, 0.1, 0.2), (40, 1.0, 1.0), (300, 0.0, 0.0)]


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("panel", [False, True])
@pytest.mark.parametrize(("n", "share", "changing"), CASES)
def test_intervals_of_change_hold_the_truth(n: int, share: float, changing: float, *, panel: bool) -> None:
    truth = changing * (1 - 2 * share)
    studies = 1000 if SOAK else 60
    rng = np.random.default_rng(20261118)
    rows = [yes(study(n, share, changing, rng, panel=panel)) for _ in range(studies)]
    covered = sum(row["low"] - 1e-9 <= truth <= row["high"] + 1e-9 for row in rows)
    assert stats.binom.cdf(covered, studies, 0.93) >= FALSE_ALARM, f"{covered} of {studies}"
    assert all(-1 <= row["low"] <= row["high"] <= 1 for row in rows)


def test_forty_people_who_all_change_their_answer_are_seen_to() -> None:
    rng = np.random.default_rng(17)
    row = yes(study(40, 1.0, 1.0, rng, panel=False))
    assert row["low"] == -1.0
    assert row["high"] < 0
    assert row["p"] < 0.01


def test_variances_of_unlinked_waves_add_up() -> None:
    rng = np.random.default_rng(3)
    first, second = wave(rng.random(500) < 0.4, rng), wave(rng.random(700) < 0.3, rng)
    change = tacit.change(first, second, "smokes")
    tables = [tacit.estimate(reports, "smokes") for reports in (first, second)]
    row = yes(change)
    assert row["difference"] == pytest.approx(tables[1].probabilities[1] - tables[0].probabilities[1], abs=1e-12)
    error = np.hypot(*(table.standard_errors[1] for table in tables))
    assert row["standard_error"] == pytest.approx(error, rel=1e-9)


@pytest.mark.slow
def test_a_panel_has_the_smaller_error_of_change_that_the_correlation_of_answers_allows() -> None:
    rng = np.random.default_rng(11)
    ratios, differences, errors = [], [], []
    for _ in range(40):
        linked = study(1000, 0.5, 0.1, rng, panel=True)
        apart = Change(linked.first, linked.second, None, "population")
        row = yes(linked)
        ratios.append(row["standard_error"] / yes(apart)["standard_error"])
        differences.append(row["difference"])
        errors.append(row["standard_error"])
    # 0.934 is what a covariance of .2 leaves of two variances of 1.5625 each (FORMULAS 17).
    assert np.mean(ratios) == pytest.approx(0.934, abs=4 * np.std(ratios) / np.sqrt(40))
    assert np.mean(ratios) <= 0.95
    spread = 39 * np.var(differences, ddof=1) / np.mean(np.square(errors))
    assert FALSE_ALARM < stats.chi2.cdf(spread, 39) < 1 - FALSE_ALARM


def test_for_the_respondents_a_panel_gains_nothing() -> None:
    rng = np.random.default_rng(5)
    before = rng.random(400) < 0.5
    first, second, people = wave(before, rng), wave(before, rng), range(400)
    linked = tacit.change(first, second, "smokes", people=(people, people), sampling="respondents")
    apart = tacit.change(first, second, "smokes", sampling="respondents")
    assert yes(linked)["standard_error"] == pytest.approx(yes(apart)["standard_error"], rel=1e-12)


def test_only_people_of_both_waves_share_an_error() -> None:
    rng = np.random.default_rng(6)
    before = rng.random(600) < 0.5
    first, second = wave(before, rng), wave(before[300:], rng)
    linked = tacit.change(first, second, "smokes", people=(range(600), range(300, 600)))
    assert linked.pairs is not None
    assert linked.pairs.n_pairs == 300
    apart = yes(tacit.change(first, second, "smokes"))["standard_error"]
    assert 0.93 * apart < yes(linked)["standard_error"] < apart


def test_transitions_are_the_joint_table_of_both_waves() -> None:
    rng = np.random.default_rng(8)
    before = rng.random(20_000) < 0.5
    people = range(20_000)
    change = tacit.change(wave(before, rng), wave(~before, rng), "smokes", people=(people, people))
    assert change.transitions is not None
    assert change.transitions.names == ("smokes@1", "smokes@2")
    far = np.abs(change.transitions.probabilities - [[0, 0.5], [0.5, 0]]) / change.transitions.standard_errors
    assert far.max() < 5


def test_the_second_wave_is_regressed_on_the_first() -> None:
    rng = np.random.default_rng(3)
    before = rng.random(4000) < 0.5
    after = before ^ (rng.random(4000) < 0.2)
    both = join_waves(wave(before, rng), wave(after, rng), range(4000), range(4000))
    fit = tacit.regress(both, "`smokes@2` ~ `smokes@1`")
    slope = fit.coefficients[1]
    assert abs(slope.estimate - 2 * np.log(4)) < 5 * slope.standard_error


def test_shares_within_groups_change_too() -> None:
    rng = np.random.default_rng(9)
    sex = np.repeat(["f", "m"], 4000)
    before = rng.random(8000) < 0.3
    after = np.where(sex == "f", rng.random(8000) < 0.7, before)
    change = tacit.change(wave(before, rng, sex), wave(after, rng, sex), "smokes", given="sex")
    assert change.headline().startswith("change of smokes within each sex from 8,000 to 8,000 reports")
    rows = {(row["answers"]["sex"], row["answers"]["smokes"]): row for row in change.rows()}
    assert rows["f", "yes"]["low"] < 0.4 < rows["f", "yes"]["high"]
    assert rows["m", "yes"]["low"] < 0.0 < rows["m", "yes"]["high"]
    assert rows["f", "yes"]["p"] < 1e-6 < rows["m", "yes"]["p"]


HOURS = Scheme.of(
    [Attribute("hours", ("0", "10", "20", "30", "40"), ordered=True), Attribute("sex", ("f", "m"))],
    [(["hours"], channels.gamma_diagonal(9))],
    public=["sex"],
)


def hours(codes: np.ndarray, seed: int) -> Reports:
    data = {"hours": (10 * codes).astype(str), "sex": np.where(np.arange(len(codes)) % 3 == 0, "f", "m")}
    return tacit.disguise(tacit.Dataset.from_arrow(data, schema=HOURS.schema), HOURS, seed=seed)


@pytest.mark.parametrize("given", [(), "sex"])
def test_means_change_too(given) -> None:
    rng = np.random.default_rng(12)
    before = rng.integers(0, 4, 4000)
    change = tacit.change(hours(before, 1), hours(before + 1, 2), "hours", given=given, mean=True)
    tables = [wave.table.mean("hours") for wave in (change.first, change.second)]
    for index, row in enumerate(change.rows()):
        assert row["attribute"] == "hours"
        assert row["low"] < 10 < row["high"]
        assert row["p"] < 1e-6
        error = np.hypot(*(table.standard_errors[index] for table in tables))
        assert row["standard_error"] == pytest.approx(error, rel=1e-9)


def test_a_panel_makes_the_error_of_a_changed_mean_smaller() -> None:
    before = np.random.default_rng(13).integers(0, 4, 4000)
    waves, people = (hours(before, 3), hours(before + 1, 4)), range(4000)
    linked, apart = (tacit.change(*waves, "hours", mean=True, people=who) for who in ((people, people), None))
    (row,), (other,) = linked.rows(), apart.rows()
    assert row["low"] < 10 < row["high"]
    assert row["standard_error"] < 0.95 * other["standard_error"]


def test_the_mean_of_one_attribute_is_compared_at_a_time() -> None:
    reports = hours(np.zeros(10, dtype=int), 1)
    with pytest.raises(InvalidInput, match="one attribute is compared at a time"):
        tacit.change(reports, reports, ["hours", "sex"], mean=True)


def test_the_command_answers_the_change_of_a_mean(tmp_path) -> None:
    before = np.random.default_rng(14).integers(0, 4, 500)
    for number in (0, 1):
        hours(before + number, number).write(tmp_path / f"w{number}.parquet")
    waves = ("--change", tmp_path / "w0.parquet", tmp_path / "w1.parquet")
    document = run.tacit("estimate", *waves, "--mean", "hours", "--by", "sex", "--json").json
    assert [row["given"] for row in document["changes"]] == [{"sex": "f"}, {"sex": "m"}]
    assert "mean of" in run.tacit("estimate", *waves, "--mean", "hours").out
    assert "are for shares" in run.refused("estimate", *waves, "--mean", "hours", "--attributes", "hours")


def test_two_schemes_are_refused() -> None:
    other = Scheme.of(SCHEME.schema, [(["smokes"], channels.warner(0.8))])
    data = {"smokes": ["no", "yes"], "sex": ["f", "m"]}
    with pytest.raises(SchemeMismatch, match="disguised under different schemes"):
        tacit.change(Reports.from_arrow(data, SCHEME), Reports.from_arrow(data, other), "smokes")


def test_a_person_twice_in_one_wave_is_refused() -> None:
    reports = Reports.from_arrow({"smokes": ["no", "yes"], "sex": ["f", "m"]}, SCHEME)
    with pytest.raises(InvalidInput, match="occurs twice"):
        tacit.change(reports, reports, "smokes", people=(["a", "a"], ["a", "b"]))


def test_waves_of_a_dealt_scheme_are_not_put_together() -> None:
    smokes, drinks = (Attribute(name, ("no", "yes")) for name in ("smokes", "drinks"))
    halves = [(name, 0.5, [([name], channels.warner(0.7))]) for name in ("smokes", "drinks")]
    scheme = Scheme.dealt([smokes, drinks], halves)
    data = {"questionnaire": ["smokes", "drinks"], "smokes": ["no", None], "drinks": [None, "yes"]}
    reports = Reports.from_arrow(data, scheme)
    with pytest.raises(InvalidInput, match="cannot be put together by person"):
        tacit.change(reports, reports, "smokes", people=(range(2), range(2)))


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(2)
    before = rng.random(400) < 0.5
    SCHEME.write(tmp_path / "scheme.json")
    for number, truths in ((1, before), (2, before | (rng.random(400) < 0.5))):
        table = wave(truths, rng).to_arrow()
        wave(truths, rng).write(tmp_path / f"w{number}.parquet")
        lines = [f"{s},{x},{i}" for i, (s, x) in enumerate(zip(*table.to_pydict().values(), strict=True))]
        (tmp_path / f"p{number}.csv").write_text("\n".join([",".join([*table.column_names, "panel"]), *lines]) + "\n")
    return tmp_path


def test_the_command_answers_the_changes(files) -> None:
    waves = (files / "w1.parquet", files / "w2.parquet")
    document = run.tacit("estimate", "--change", *waves, "--attributes", "smokes", "--json").json
    row = document["changes"][1]
    assert set(row) == {"answers", "from", "to", "difference", "standard_error", "low", "high", "p"}
    assert row["difference"] == pytest.approx(row["to"] - row["from"])


def test_the_command_puts_a_panel_together(files) -> None:
    options = ("--panel", "panel", "--scheme", files / "scheme.json", "--attributes", "smokes")
    document = run.tacit("estimate", "--change", files / "p1.csv", files / "p2.csv", *options, "--json").json
    assert document["n_pairs"] == 400
    assert len(document["transitions"]) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["w1.parquet", "--change", "w1.parquet", "w2.parquet"], "REPORTS does not go with --change"),
        (["--change", "w1.parquet", "w2.parquet", "--compare", "sex"], "--compare does not go with --change"),
        (["w1.parquet", "--panel", "panel"], "name them with --change A B"),
        ([], "Name the reports to estimate from"),
    ],
)
def test_what_does_not_go_with_change_is_refused(files, options, message, monkeypatch) -> None:
    monkeypatch.chdir(files)
    assert message in run.refused("estimate", *options, "--attributes", "smokes")
