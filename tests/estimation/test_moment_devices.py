"""Devices whose reports are numbers: list experiments, item sums and scrambled amounts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.channel.moment_devices import MOMENT_DEVICES, moment_design
from tacit.errors import InvalidInput
from tests.cli.run import tacit as run
from tests.statistics import assert_standard_scores

ITEMS = ("list-experiment", "items=0:4,1:5")


def counts(n: int, share: float, seed: int, *, double: bool = False) -> dict[str, np.ndarray]:
    g = np.random.default_rng(seed)
    arm, carries = g.integers(0, 2, n), g.random(n) < share
    columns = {"arm": arm, "count": g.binomial(4, 0.4, n) + carries * (arm == 1), "town": g.choice(["a", "b"], n)}
    if double:
        columns["other"] = g.binomial(4, 0.5, n) + carries * (arm == 0)
    columns["says"] = (carries & (g.random(n) < 0.5)).astype(int)
    return columns


class TestLists:
    def test_the_share_is_the_difference_of_means(self) -> None:
        frame = pd.DataFrame(counts(1200, 0.3, 1))
        result = tacit.prevalence(frame, "count", *ITEMS, sample="arm", by="town")
        long, short = (frame["count"][frame.arm == arm] for arm in (1, 0))
        assert result["yes"].share == pytest.approx(long.mean() - short.mean())
        expected = np.sqrt(long.var() / len(long) + short.var() / len(short))
        assert result["yes"].standard_error == pytest.approx(expected, rel=0.01)
        assert len(result.groups) == 2
        assert result.overall.p == pytest.approx(result.differences[0].p)
        assert result.design_effect.p > 0.05

    @pytest.mark.parametrize("how", ["single", "double", "with a direct question"])
    def test_errors_are_true_and_more_questions_help(self, how: str) -> None:
        scores, errors = [], []
        for seed in range(300):
            frame = counts(400, 0.3, seed, double=how == "double")
            item = "count,other" if how == "double" else "count"
            direct = "says" if "direct" in how else None
            yes = tacit.prevalence(frame, item, *ITEMS, sample="arm", direct_item=direct)["yes"]
            scores.append((yes.share - 0.3) / yes.standard_error)
            errors.append(yes.standard_error)
        assert_standard_scores(scores)
        assert np.mean(errors) < {"single": 0.11, "double": 0.075, "with a direct question": 0.10}[how]

    def test_clusters_and_weights(self) -> None:
        frame = counts(900, 0.4, 2) | {
            "school": np.repeat(np.arange(30), 30),
            "w": np.random.default_rng(1).uniform(1, 3, 900),
        }
        result = tacit.prevalence(frame, "count", *ITEMS, sample="arm", clusters="school", weights="w")
        w = frame["w"]
        means = [np.average(frame["count"][frame["arm"] == arm], weights=w[frame["arm"] == arm]) for arm in (1, 0)]
        assert result["yes"].share == pytest.approx(means[0] - means[1])
        assert "30 clusters" in result.errors
        with pytest.raises(InvalidInput, match="Leave out sampled"):
            tacit.prevalence(frame, "count", *ITEMS, sample="arm", sampled=0.1)

    def test_an_item_that_changes_other_answers_is_found(self) -> None:
        g = np.random.default_rng(3)
        arm = g.integers(0, 2, 2000)
        frame = {"arm": arm, "count": np.where(arm == 1, g.binomial(4, 0.2, 2000), g.binomial(4, 0.6, 2000))}
        result = tacit.prevalence(frame, "count", *ITEMS, sample="arm")
        assert result.design_effect.p < 1e-6
        assert any("design effect" in warning for warning in result.warnings)
        assert any("may be swapped" in warning for warning in result.warnings)
        assert any("tells their answer" in warning for warning in result.warnings)

    def test_the_design_effect_test_keeps_its_level(self) -> None:
        ps = [tacit.prevalence(counts(300, 0.3, s), "count", *ITEMS, sample="arm").design_effect.p for s in range(200)]
        assert np.mean(np.array(ps) < 0.05) < 0.065 + 5 * np.sqrt(0.05 * 0.95 / 200)

    def test_what_cannot_be_is_refused(self) -> None:
        frame = counts(50, 0.3, 1)
        frame["count"][7] = 6
        with pytest.raises(InvalidInput, match=r"'count' holds 6 in row 8, but the list of the sample '.' has . items"):
            tacit.prevalence(frame, "count", *ITEMS, sample="arm")
        for items, why in (
            ("items=4", "two samples"),
            ("items=0:4,1:6", "holds one more"),
            ("items=0:4,1:x", "whole number"),
        ):
            with pytest.raises(InvalidInput, match=why):
                moment_design("list-experiment", items)
        with pytest.raises(InvalidInput, match="must hold numbers"):
            tacit.prevalence({"count": ["a", "b"], "arm": [0, 1]}, "count", *ITEMS, sample="arm")
        with pytest.raises(InvalidInput, match="no reports in the sample '1'"):
            tacit.prevalence({"count": [1, 2], "arm": [0, 0]}, "count", *ITEMS, sample="arm")
        with pytest.raises(InvalidInput, match="combined with a list experiment"):
            tacit.prevalence({"x": [0, 1], "d": [0, 1]}, "x", "warner", "p=.8", direct_item="d")


DRAWS = {
    "scrambled": ("slope=2,shift=5", lambda x, g: 2 * x + g.normal(5, 2, len(x))),
    "eichhorn-hayre": ("s=1.2", lambda x, g: x * g.uniform(0.9, 1.5, len(x))),
    "bar-lev": ("p=.6,s=1.2", lambda x, g: np.where(g.random(len(x)) < 0.6, x, x * g.uniform(0.9, 1.5, len(x)))),
    "eriksson": ("p=.6,mean=30", lambda x, g: np.where(g.random(len(x)) < 0.6, x, g.uniform(0, 60, len(x)))),
    "saha": ("w=1.1,u=20", lambda x, g: g.uniform(0.8, 1.4, len(x)) * (x + g.uniform(0, 40, len(x)))),
    "diana-perri-1": (
        "p=.6,w=1.1,u=20",
        lambda x, g: np.where(g.random(len(x)) < 0.6, x, g.uniform(0.8, 1.4, len(x)) * (x + g.uniform(0, 40, len(x)))),
    ),
    "diana-perri-2": (
        "beta=.3,w=1.1,u=20",
        lambda x, g: g.uniform(0.8, 1.4, len(x)) * (0.3 * g.uniform(0, 40, len(x)) + 0.7 * x),
    ),
    "chaudhuri-christofides": (
        "a=3,b=30",
        lambda x, g: g.choice([2.0, 4.0], len(x)) * x + g.choice([20.0, 40.0], len(x)),
    ),
}


class TestAmounts:
    @pytest.mark.parametrize("name", DRAWS)
    def test_means_are_unbiased_with_true_errors(self, name: str) -> None:
        parameters, draw = DRAWS[name]
        scores = []
        for seed in range(300):
            g = np.random.default_rng(seed)
            x = g.gamma(4, 10, 200)
            mean = tacit.prevalence({"z": draw(x, g)}, "z", name, parameters)["mean"]
            scores.append((mean.share - 40) / mean.standard_error)
        assert_standard_scores(scores)

    def test_item_sums(self) -> None:
        g = np.random.default_rng(1)
        arm = g.integers(0, 2, 800)
        frame = {"arm": arm, "sum": g.gamma(2, 5, 800) + arm * g.gamma(3, 4, 800)}
        mean = tacit.prevalence(frame, "sum", "item-sum", "long=1,short=0", sample="arm")["mean"]
        assert abs(mean.share - 12) < 4.5 * mean.standard_error

    def test_all_are_drawn_above_and_listed(self) -> None:
        assert set(MOMENT_DEVICES) == {*DRAWS, "list-experiment", "item-sum"}
        listed = run("devices", "--json").json["devices"]
        assert set(MOMENT_DEVICES) <= {device["name"] for device in listed}
        for name in MOMENT_DEVICES:
            assert "to the mean" in run("devices", name).out
        assert run("devices", "eriksson", "--json").json["samples"][0]["shift"] == 12

    def test_a_slope_of_nothing_is_refused(self) -> None:
        for name, parameters in (("scrambled", "slope=0,shift=1"), ("diana-perri-2", "beta=1,w=1,u=3")):
            with pytest.raises(InvalidInput, match="slope is 0"):
                moment_design(name, parameters)
        with pytest.raises(InvalidInput, match="needs shift"):
            moment_design("scrambled", "slope=1")
        with pytest.raises(InvalidInput, match="no parameter 'q'"):
            moment_design("scrambled", "slope=1,shift=2,q=3")
        with pytest.raises(InvalidInput, match="must be a number"):
            moment_design("scrambled", "slope=a,shift=2")

    def test_the_command(self, tmp_path) -> None:
        pd.DataFrame(counts(300, 0.3, 1)).to_csv(tmp_path / "p.csv", index=False)
        asked = ("prevalence", tmp_path / "p.csv", "--item", "count", "--sample", "arm", "--device", ITEMS[0])
        answer = run(*asked, "--parameters", ITEMS[1], "--json").json
        assert [share["answer"] for share in answer["shares"]] == ["no", "yes"]
        assert set(answer["design_effect"]) == {"lowest", "p"}
        assert "list-experiment" in run(*asked, "--parameters", ITEMS[1], "--by", "town").out
