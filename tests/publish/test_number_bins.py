"""Steps of numbers found from the data."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from tacit.errors import InvalidInput, UnknownName
from tacit.publish.labels import label
from tacit.publish.number_bins import _best_edges, bin_rule, binned_attribute
from tests.cli.run import tacit


def incomes(n: int = 3_000) -> np.ndarray:
    return np.round(np.exp(np.random.default_rng(1).normal(10, 0.7, n)))


def test_quantiles_hold_about_equally_many_rows() -> None:
    numbers = incomes()
    attribute = binned_attribute("income", numbers, "quantile", 10)
    counts = np.bincount(np.searchsorted(attribute.cut.edges, numbers, side="right"))
    assert len(counts) == 10
    assert counts.min() > 280


def test_equal_steps_are_equally_wide() -> None:
    attribute = binned_attribute("x", incomes() / 7, "equal", 20)
    assert np.allclose(np.diff(attribute.cut.edges), np.diff(attribute.cut.edges)[0])


def mean_width(numbers: np.ndarray, edges: np.ndarray) -> float:
    ends = np.array([numbers.min(), *edges, numbers.max()])
    return float(np.diff(ends)[np.searchsorted(edges, numbers, side="right")].mean())


def test_the_best_steps_are_those_of_plain_enumeration() -> None:
    numbers = np.array([1, 2, 2, 3, 9, 10, 30, 31, 33, 80], float)
    best = min(
        itertools.combinations(np.unique(numbers)[1:-1], 3), key=lambda edges: mean_width(numbers, np.array(edges))
    )
    found = _best_edges(numbers, 4)
    assert mean_width(numbers, found) == pytest.approx(mean_width(numbers, np.array(best)))


def test_the_best_steps_are_narrower_than_the_others() -> None:
    numbers = incomes()
    widths = {
        rule: mean_width(numbers, np.array(binned_attribute("x", numbers, rule, 12).cut.edges))
        for rule in ("equal", "quantile", "optimal")
    }
    assert widths["optimal"] < min(widths["equal"], widths["quantile"])


def test_labels_read_well_and_the_command_takes_rules(tmp_path: Path) -> None:
    numbers = incomes(400).astype(int)
    (tmp_path / "t.csv").write_text("income,sex\n" + "".join(f"{x},{'fm'[i % 2]}\n" for i, x in enumerate(numbers)))
    answer = tacit(
        "publish", tmp_path / "t.csv", "--attributes", "income,sex", "--granularity", "income=quantile:8", "--k", 5,
        "--method", "local", "--out", tmp_path / "out.csv", "--json",
    ).json  # fmt: skip
    assert len(answer["partitions"]["income"]) <= 8
    assert all(" to " in label or "below" in label or "more" in label for label in answer["labels"]["income"])


@pytest.mark.parametrize("rule", ["equal", "quantile", "optimal"])
def test_steps_do_not_tell_the_least_and_the_greatest_number(rule) -> None:
    """Whoever knows the richest person would read off the very income."""
    numbers = np.append(incomes(400), [317, 1_234_567])
    attribute = binned_attribute("income", numbers, rule, 8)
    text = " ".join(attribute.answers)
    assert attribute.answers[0].startswith("below ")
    assert attribute.answers[-1].endswith(" and more")
    assert "1234567" not in text
    assert "317 " not in text
    edges = np.array(attribute.cut.edges)
    if rule == "equal":  # the next edges on either side are no values of the table
        assert edges[0] - np.diff(edges)[0] != 317
        assert edges[-1] + np.diff(edges)[0] != 1_234_567


def test_equal_steps_are_at_most_as_many_as_asked_for() -> None:
    rng = np.random.default_rng(8)
    for steps in (2, 7, 20, 250):
        numbers = rng.normal(rng.normal(0, 100), 50, 1_000)
        assert steps / 2 <= binned_attribute("x", numbers, "equal", steps).size <= steps


def test_open_steps_are_joined_with_their_neighbours() -> None:
    whole = binned_attribute("income", incomes(), "quantile", 6)
    parts = binned_attribute("x", incomes() / 7, "quantile", 6)
    for attribute, more in ((whole, 1), (parts, 0)):
        second, before_last = attribute.answers[1].split(), attribute.answers[-2].split()
        assert label(attribute, 0, 1) == f"below {float(second[-1]) + more:.10g}"
        assert label(attribute, 4, 5) == f"{before_last[0]} and more"
        assert label(attribute, 0, 5) == "*"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("median:4", UnknownName, "median"),
        ("quantile", InvalidInput, "such as quantile:20"),
        ("optimal:1", InvalidInput, "from 2 to 250"),
        ("equal:x", InvalidInput, "from 2 to 250"),
    ],
)
def test_rules_that_do_not_exist(text, error, message) -> None:
    with pytest.raises(error, match=message):
        bin_rule("income", text)


def test_numbers_that_cannot_be_cut() -> None:
    with pytest.raises(InvalidInput, match="nothing to cut"):
        binned_attribute("x", np.ones(5), "equal", 3)
    with pytest.raises(InvalidInput, match="not finite"):
        binned_attribute("x", np.array([1.0, np.nan]), "equal", 3)
