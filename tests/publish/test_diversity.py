"""Recursive (c, l), entropy and beta-likeness: demanded, counted from the written rows, and held against pycanon."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tacit import check_release
from tacit.errors import InvalidInput
from tests.cli.run import refused, tacit
from tests.publish.test_population import BRIEF, drawn, everybody, written
from tests.publish.wishes import anonymize

NAMES = ["age", "town"]


def by_class(table) -> list[Counter]:
    classes = defaultdict(Counter)
    for *key, ill in zip(*(table[name] for name in NAMES), table["ill"], strict=True):
        classes[tuple(key)][ill] += 1
    return list(classes.values())


def ratio(answers: Counter, tail: int) -> float:
    counts = sorted(answers.values(), reverse=True)
    rest = sum(counts[tail - 1 :])
    return counts[0] / rest if rest else math.inf


def gain(answers: Counter, whole: Counter) -> float:
    n, everyone = answers.total(), whole.total()
    return max((answers[a] / n - whole[a] / everyone) / (whole[a] / everyone) for a in whole)


@pytest.mark.parametrize(("method", "suppress"), [("search", 0.0), ("search", 0.05), ("local", 0.0)])
def test_recursive_diversity_holds_in_every_class(method, suppress) -> None:
    sample = drawn(everybody())
    plain = anonymize(sample, 3, NAMES, method=method, sensitive=["ill"], **BRIEF)
    release = anonymize(
        sample, 3, NAMES, method=method, sensitive=["ill"], **BRIEF, l=2, recursive=1.6, suppress=suppress
    )
    assert max(ratio(own, 2) for own in by_class(plain.to_arrow().to_pydict())) >= 1.6
    assert max(ratio(own, 2) for own in by_class(release.to_arrow().to_pydict())) < 1.6


@pytest.mark.parametrize("method", ["search", "local"])
def test_beta_likeness_holds_in_every_class(method, tmp_path: Path) -> None:
    sample = drawn(everybody())
    release = anonymize(sample, 3, NAMES, method=method, sensitive=["ill"], **BRIEF, beta=0.5)
    shown = by_class(release.to_arrow().to_pydict())
    assert max(gain(own, sum(shown, Counter())) for own in shown) <= 0.5 + 1e-9
    assert len(shown) > 1
    path = release.write(tmp_path / "out.csv")
    found = check_release(path, NAMES, ["ill"]).sensitive[0]
    assert found.beta == pytest.approx(max(gain(own, sum(shown, Counter())) for own in shown))


def test_persons_with_several_rows_are_asked_for_beta_and_recursive_too() -> None:
    people = everybody(900)
    people["id"] = [str(i // 3) for i in range(900)]
    release = anonymize(people, 3, NAMES, method="local", sensitive=["ill"], person="id", l=2, recursive=3.0, beta=1.0)
    checks = release.publication.persons.checks(release.recoding, 2)
    assert max(check.beta for check in checks) <= 1 + 1e-9
    assert max(check.recursive for check in checks) < 3


def test_the_command_demands_and_verifies(tmp_path: Path) -> None:
    sample = written(tmp_path / "sample.csv", drawn(everybody()))
    answer = tacit(
        "publish", sample, "--attributes", "age,town", "--sensitive", "ill", "--k", 3, "--l", 2, "--recursive", 1.6,
        "--beta", 1, "--method", "local", "--out", tmp_path / "out.csv", "--json",
    ).json  # fmt: skip
    assert answer["verified"]["recursive"] < 1.6
    assert answer["verified"]["beta"] <= 1
    checked = tacit("check", tmp_path / "out.csv", "--attributes", "age,town", "--sensitive", "ill", "--json").json
    assert checked["sensitive"][0]["beta"] == pytest.approx(answer["verified"]["beta"])


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"recursive": 2.0}, "give l too"),
        ({"recursive": 2.0, "l": 2, "entropy": True}, "leave out entropy"),
        ({"recursive": -1.0, "l": 2}, "recursive must be at least 0"),
        ({"beta": -0.5}, "beta must be at least 0"),
        ({"beta": math.nan}, "beta must be at least 0"),
        ({"l": 3, "recursive": 0.5}, "smaller l: at most 0 with c = 0.5"),
        ({"l": 9}, "smaller l: at most 3"),
    ],
)
def test_refusals(wishes, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        anonymize(drawn(everybody()), 2, NAMES, sensitive=["ill"], **wishes)


def test_beta_needs_a_sensitive_attribute(tmp_path: Path) -> None:
    sample = written(tmp_path / "sample.csv", drawn(everybody()))
    message = refused("publish", sample, "--attributes", "age", "--beta", 1, "--out", tmp_path / "out.csv")
    assert "Name these too" in message


@pytest.mark.parametrize("seed", range(3))
def test_pycanon_says_the_same_of_one_file(seed, tmp_path: Path) -> None:
    """Its recursive (c, l) takes the rarest answer for the most frequent one, so that is counted by hand."""
    anonymity = pytest.importorskip("pycanon.anonymity")
    table = drawn(everybody(seed=seed), 200, seed)
    table["age"] = [str(int(age) // 20 * 20) for age in table["age"]]
    path = written(tmp_path / "table.csv", table)
    frame = pd.read_csv(path, dtype=str)
    found = check_release(path, NAMES, ["ill"])
    ill = found.sensitive[0]
    assert found.k == anonymity.k_anonymity(frame, NAMES)
    assert ill.distinct == anonymity.l_diversity(frame, NAMES, ["ill"])
    assert int(ill.entropy + 1e-9) == anonymity.entropy_l_diversity(frame, NAMES, ["ill"])
    assert ill.closeness == pytest.approx(anonymity.t_closeness(frame, NAMES, ["ill"]))
    assert ill.beta == pytest.approx(anonymity.basic_beta_likeness(frame, NAMES, ["ill"]))
    assert ill.recursive == pytest.approx(max(ratio(own, ill.distinct) for own in by_class(table)))


def test_enhanced_beta_likeness_caps_the_gain_of_frequent_answers() -> None:
    """A gain of 1 for an answer that half of all give is above ln 2; one of 1/3 for a rarer one is below its logarithm."""
    half = {"age": ["1", "1", "2", "2"], "ill": ["a", "a", "b", "b"]}
    assert not check_release(half, ["age"], ["ill"]).sensitive[0].is_enhanced
    rare = {"age": ["1"] * 10 + ["2"] * 10, "ill": ["a"] * 2 + ["b"] * 8 + ["a"] + ["b"] * 9}
    assert check_release(rare, ["age"], ["ill"]).sensitive[0].is_enhanced
    assert np.isclose(check_release(rare, ["age"], ["ill"]).sensitive[0].beta, 1 / 3)
