"""Correlations of disguised answers: unbiased enough, covering, and silent where the reports do not tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tacit
from tacit import Attribute, Dataset, Schema, Scheme, channels
from tacit.errors import InvalidInput, TacitError
from tests.statistics import assert_share, assert_standard_scores

SCHEMA = Schema(
    (
        Attribute("cheated", ("no", "yes")),
        Attribute("grade", ("1", "2", "3"), ordered=True),
        Attribute("town", ("A", "B", "C")),
    )
)
SCHEME = Scheme.of(SCHEMA, [(["cheated"], channels.warner(0.8)), (["grade"], channels.gamma_diagonal(6))])
JOINT = np.array([[0.30, 0.25, 0.10], [0.05, 0.10, 0.20]])


def truth_of(n: int, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    cells = rng.choice(JOINT.size, n, p=JOINT.reshape(-1))
    codes = np.unravel_index(cells, JOINT.shape)
    columns = {
        "cheated": np.array(SCHEMA["cheated"].answers)[codes[0]].tolist(),
        "grade": np.array(SCHEMA["grade"].answers)[codes[1]].tolist(),
        "town": np.array(["A", "B", "C"])[rng.integers(0, 3, n)].tolist(),
    }
    return Dataset.from_arrow(columns, SCHEMA)


def true_correlation() -> float:
    u, v = np.array([0.0, 1.0]), np.array([1.0, 2.0, 3.0])
    x, y = u - JOINT.sum(1) @ u, v - JOINT.sum(0) @ v
    return float(x @ JOINT @ y / math.sqrt((JOINT.sum(1) @ x**2) * (JOINT.sum(0) @ y**2)))


def test_undisguised_correlations_are_pearsons() -> None:
    truth = truth_of(500, seed=1)
    reports = tacit.Reports.from_truth(truth)
    pair = tacit.correlations(reports, ["cheated", "grade"]).pairs[0]
    codes = truth.table
    expected = np.corrcoef(codes["cheated"].astype(float), codes["grade"].astype(float))[0, 1]
    assert pair.estimate == pytest.approx(expected, abs=1e-12)
    assert pair.low < pair.estimate < pair.high


@pytest.mark.slow
def test_intervals_of_disguised_correlations_cover() -> None:
    expected, covered, scores = true_correlation(), 0, []
    for seed in range(200):
        reports = tacit.disguise(truth_of(1500, seed), SCHEME, seed=1000 + seed)
        pair = tacit.correlations(reports, ["cheated", "grade"]).pairs[0]
        covered += pair.low <= expected <= pair.high
        scores.append((pair.estimate - expected) / pair.standard_error)
    assert_share(covered, 200, 0.95)
    assert_standard_scores(scores)


def test_what_the_reports_do_not_tell_is_not_given() -> None:
    reports = tacit.disguise(truth_of(60, seed=3), Scheme.of(SCHEMA, [(["cheated"], channels.warner(0.52))]), seed=3)
    pair = tacit.correlations(reports, ["cheated", "grade"]).pairs[0]
    assert (pair.estimate, pair.low, pair.high) == (None, -1.0, 1.0)


def test_results_show_themselves() -> None:
    result = tacit.correlations(tacit.disguise(truth_of(2000, 5), SCHEME, seed=5), ["cheated", "grade"])
    assert result.matrix.shape == (2, 2)
    assert result.matrix[0, 1] == result.matrix[1, 0] == result.pairs[0].estimate
    assert "cheated" in result.summary()
    assert result.to_document()["correlations"][0]["first"] == "cheated"


def test_an_estimate_beyond_one_is_shown_as_the_nearest_correlation() -> None:
    people = {"copied": [1, 0, 1, 1] * 50, "age": [20, 31, 25, 22] * 50}
    strong = tacit.correlations(people, ["copied", "age"], devices={"copied": "warner p=.9"})
    # Var(copied) = .8125 * .1875 of the truth, and the covariance -1.625 of the reports over .8.
    assert strong.pairs[0].estimate == pytest.approx(-1.625 / 0.8 / math.sqrt(0.8125 * 0.1875 * 17.25))
    assert strong.pairs[0].estimate < -1
    assert strong.shown_rows()[0]["correlation"] == strong.shown_rows()[0]["low"] == -1


def test_answers_without_an_order_need_values() -> None:
    reports = tacit.Reports.from_truth(truth_of(100, seed=1))
    with pytest.raises(InvalidInput, match="have no order"):
        tacit.correlations(reports, ["cheated", "town"])
    assert tacit.correlations(reports, ["cheated", "town"], values={"town": [0, 0, 1]}).pairs[0].estimate is not None
    with pytest.raises(InvalidInput, match="needs as many numbers"):
        tacit.correlations(reports, ["cheated", "town"], values={"town": [0, 1]})
    with pytest.raises(InvalidInput, match="two attributes"):
        tacit.correlations(reports, ["cheated"])


def test_clear_columns_of_a_frame_have_pearsons_correlation() -> None:
    g = np.random.default_rng(1)
    frame = {"x": g.integers(0, 2, 300), "y": g.normal(size=300), "town": g.choice(["a", "b"], 300)}
    found = tacit.correlations(frame, ["x", "y", "town"], devices={"x": "warner p=1"}).matrix
    expected = np.corrcoef([frame["x"], frame["y"], frame["town"] == "b"])
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_disguised_and_a_clear_column_have_true_errors() -> None:
    """Warner's device with a number, and with another device of three answers; against the truth's own correlation."""
    scores, covered = [], 0
    for seed in range(80):
        g = np.random.default_rng(seed)
        level = g.integers(0, 3, 1500)
        carries = g.random(1500) < 0.2 + 0.2 * level
        age = 40 + 6 * carries + 5 * level + g.normal(0, 10, 1500)
        said = np.where(g.random(1500) < 0.85, carries, ~carries).astype(int)
        told = np.where(g.random(1500) < 0.8, level, g.integers(0, 3, 1500))
        devices = {"x": "warner p=.85", "level": "forced-response truth=.8,answers=0|1|2"}
        found = tacit.correlations({"x": said, "level": told, "age": age}, ["x", "age", "level"], devices=devices)
        for pair, truth in zip(found.pairs, TRUE_PAIRS, strict=True):
            scores.append((pair.estimate - truth) / pair.standard_error)
            covered += pair.low <= truth <= pair.high
    for at in range(3):
        assert_standard_scores(np.array(scores[at::3]))
    assert_share(covered, 240, 0.95)


def _population() -> tuple[float, float, float]:
    """x and age, x and level, age and level, from the law by which people are made."""
    level, p = np.arange(3), 0.2 + 0.2 * np.arange(3)
    share = p.mean()
    var_x, var_level = share * (1 - share), 2 / 3
    x_level = (p * level).mean() - share
    var_age = 36 * var_x + 25 * var_level + 60 * x_level + 100
    x_age, level_age = 6 * var_x + 5 * x_level, 6 * x_level + 5 * var_level
    return (
        x_age / math.sqrt(var_x * var_age),
        x_level / math.sqrt(var_x * var_level),
        level_age / math.sqrt(var_level * var_age),
    )


TRUE_PAIRS = _population()


def test_clusters_widen_the_error_of_a_correlation() -> None:
    g = np.random.default_rng(2)
    school = np.arange(1000) // 50
    shared = g.normal(size=20)[school]
    carries = g.random(1000) < 1 / (1 + np.exp(-2 * shared))
    frame = {"x": np.where(g.random(1000) < 0.9, carries, ~carries).astype(int), "y": shared + g.normal(size=1000)}
    frame |= {"school": school}
    plain, clustered = (
        tacit.correlations(frame, ["x", "y"], devices={"x": "warner p=.9"}, clusters=clusters).pairs[0]
        for clusters in (None, "school")
    )
    assert clustered.estimate == pytest.approx(plain.estimate)
    assert clustered.standard_error > 1.3 * plain.standard_error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"devices": {"q": "warner p=.9"}}, "belongs to none of the variables"),
        ({"devices": {"x": "stochastic-lie-detector p=1:.1,2:.9"}}, "leaves t open"),
        ({"devices": {"x": "warner p=.9"}, "values": {"x": [1]}}, "give as many numbers"),
        ({"devices": {"x": "warner p=1/2"}}, "carry nothing"),
        ({"devices": None, "clusters": "y"}, "name its devices too"),
        ({"devices": {"x": "warner p=.9"}, "attributes": ["x", "t"]}, "which has no correlation"),
        ({"devices": {"x": "warner p=.9"}, "attributes": ["x", "yy"]}, "Did you mean 'y'"),
    ],
)
def test_columns_that_cannot_be_correlated_are_refused(options: dict[str, object], message: str) -> None:
    frame = {"x": [0, 1, 0, 1], "y": [1.0, 2, 3, 4], "t": ["a", "b", "c", "a"]}
    with pytest.raises(TacitError, match=message):
        tacit.correlations(frame, **{"attributes": ["x", "y"], **options})


class TestOfDevices:
    """Covariances test independence where no correlation can be told; it was `nan -1 1` in 94% of studies of 200 people."""

    @staticmethod
    def study(seed: int, n: int, share: float, r: float) -> dict[str, np.ndarray]:
        g = np.random.default_rng(seed)
        both = share**2 + r * share * (1 - share)
        cells = g.choice(4, n, p=[1 - 2 * share + both, share - both, share - both, both])
        truths = {"x": cells >= 2, "y": cells % 2 == 1}
        return {name: np.where(g.random(n) < 0.8, t, ~t).astype(int) for name, t in truths.items()}

    devices = {"x": "warner p=.8", "y": "warner p=.8"}  # noqa: RUF012

    @pytest.mark.parametrize(("n", "share", "r"), [(200, 0.1, 0.0), (200, 0.3, 0.0), (1000, 0.3, 0.4)])
    def test_p_and_interval_agree_cover_and_keep_their_level(self, n: int, share: float, r: float) -> None:
        covered = rejected = 0
        for seed in range(200):
            pair = tacit.correlations(self.study(seed, n, share, r), ["x", "y"], devices=self.devices).pairs[0]
            holds_zero = pair.low < 0 < pair.high
            assert holds_zero == (pair.p > 0.05)
            assert (pair.reason is None) == (pair.estimate is not None)
            covered += pair.low <= r <= pair.high
            rejected += pair.p < 0.05
        bound = 5 * math.sqrt(0.05 * 0.95 / 200)
        assert covered / 200 > 0.95 - bound
        assert r > 0 or rejected / 200 < 0.05 + bound
        assert r == 0 or rejected / 200 > 0.9

    def test_the_command(self, tmp_path) -> None:
        import pandas as pd

        from tests.cli.run import tacit as run

        pd.DataFrame(self.study(1, 150, 0.05, 0.0)).to_csv(tmp_path / "p.csv", index=False)
        asked = ("correlations", tmp_path / "p.csv", "--attributes", "x,y")
        devices = ("--device", "x: warner p=.8", "--device", "y: warner p=.8")
        (pair,) = run(*asked, *devices, "--json").json["correlations"]
        assert set(pair) >= {"of", "r", "p", "low", "high", "reason"}
        assert pair["r"] is None
        assert "not told from 0" in pair["reason"]
        assert "no correlation, as" in run(*asked, *devices).err
        reports = tacit.disguise(truth_of(500, 3), SCHEME, seed=3)
        reports.write(tmp_path / "r.parquet")
        assert "cheated, grade" in run("correlations", tmp_path / "r.parquet", "--attributes", "cheated,grade").out
