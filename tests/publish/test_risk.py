"""Risks as the field states them, against populations that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import nbinom

from tacit import check_release
from tacit.errors import InvalidInput
from tacit.publish.risk import Journalist, KnownClasses, expected_inverse, risk_of
from tests.cli.run import refused, tacit


def test_prosecutor_and_marketer_by_hand() -> None:
    found = risk_of(np.array([1, 2, 5]))
    assert found.prosecutor_highest == 1
    assert found.prosecutor_mean == pytest.approx(3 / 8)
    assert found.marketer == pytest.approx(3 / 8)
    assert found.to_document()["journalist"] is None


def test_zayatz_by_hand() -> None:
    """Sizes 1, 1, 2 of a population twice the sample: 2 / (2 + 2 * .5) of two uniques, over one half."""
    found = risk_of(np.array([1, 1, 2]), 8)
    assert found.uniques is not None
    assert found.uniques.zayatz == pytest.approx(2 * (2 / 3) / 0.5)


def test_uniques_of_a_known_population_are_about_right() -> None:
    """Both are models; on long-tailed classes they stay within a factor of two of the truth."""
    generator = np.random.default_rng(1)
    people = generator.zipf(1.6, 20_000)
    true = int((np.unique(people, return_counts=True)[1] == 1).sum())
    sample = generator.choice(people, 4_000, replace=False)
    found = risk_of(np.unique(sample, return_counts=True)[1], 20_000)
    assert found.uniques is not None
    assert true / 2 <= found.uniques.pitman <= 2 * true
    assert true / 2 <= found.uniques.zayatz <= 2 * true


@pytest.mark.parametrize(("size", "share"), [(1, 0.1), (2, 0.1), (7, 0.03), (40, 0.6), (3, 0.9999)])
def test_the_expected_inverse_is_that_of_the_negative_binomial(size, share) -> None:
    """F is the number of draws until `size` people were drawn, each with the same chance."""
    failures = np.arange(int(60 * size / share))
    expected = (nbinom.pmf(failures, size, share) / (failures + size)).sum()
    assert expected_inverse(np.array([size]), np.array([share]))[0] == pytest.approx(expected, rel=1e-6)


def test_closed_forms_of_one_and_two_rows() -> None:
    share = 0.2
    odds = share / (1 - share)
    found = expected_inverse(np.array([1, 2]), np.full(2, share))
    assert found[0] == pytest.approx(odds * np.log(1 / share))
    assert found[1] == pytest.approx(odds - odds**2 * np.log(1 / share))
    assert expected_inverse(np.array([4]), np.array([1.0]))[0] == 0.25


def test_a_journalists_risk_by_hand() -> None:
    known = KnownClasses(np.array([10.0, 4.0]), "table", 20, unmatched=6)
    found = risk_of(np.array([5, 2]), known)
    assert found.journalist == Journalist(0.25, pytest.approx((5 / 10 + 2 / 4) / 7), "table")
    assert found.marketer == pytest.approx((5 / 10 + 2 / 4) / 7)
    assert found.k_map == 4
    assert found.presence == (0.0, 0.5)  # six people are in no class


def test_weights_say_how_many_people_a_row_stands_for(tmp_path: Path) -> None:
    """Two rows alone that stand for 10 people each, and two together for 3."""
    (tmp_path / "t.csv").write_text("age,w\n30,10\n40,10\n50,1\n50,2\n")
    answer = tacit("check", tmp_path / "t.csv", "--attributes", "age", "--weights", "w", "--json").json["risk"]
    expected = expected_inverse(np.array([1, 2]), np.array([0.1, 2 / 3]))
    assert answer["journalist"]["highest"] == pytest.approx(max(expected))
    assert answer["journalist"]["mean"] == pytest.approx((2 * expected[0] + 2 * expected[1]) / 4)
    assert answer["population"] == 23
    (tmp_path / "bad.csv").write_text("age,w\n30,-1\n40,x\n")
    assert "numbers above 0" in refused("check", tmp_path / "bad.csv", "--attributes", "age", "--weights", "w")
    (tmp_path / "negative.csv").write_text("age,w\n30,-1\n40,2\n")
    assert "numbers above 0" in refused("check", tmp_path / "negative.csv", "--attributes", "age", "--weights", "w")


def test_a_table_of_people_must_hold_those_of_the_rows() -> None:
    with pytest.raises(InvalidInput, match="fewer than the 2 rows"):
        check_release({"age": ["1", "1"]}, ["age"], people={"age": ["1", "2", "3"]})


def test_nobody_is_unique_where_no_row_is() -> None:
    found = risk_of(np.array([5, 6, 7]), 1000)
    assert found.uniques is not None
    assert found.uniques.zayatz == 0


def test_the_command_states_risk(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,town\n30,a\n30,a\n40,b\n")
    answer = tacit("check", tmp_path / "t.csv", "--attributes", "age,town", "--people", 30, "--json").json
    assert answer["risk"]["prosecutor"] == {"highest": 1.0, "mean": pytest.approx(2 / 3)}
    assert answer["risk"]["population_uniques"]["zayatz"] > 0
    assert (
        "unique in the population" in tacit("check", tmp_path / "t.csv", "--attributes", "age,town", "--people", 30).out
    )
    message = refused("check", tmp_path / "t.csv", "--attributes", "age,town", "--people", 2)
    assert "fewer than the 3 rows" in message


def test_a_population_smaller_than_its_sample_is_refused() -> None:
    with pytest.raises(InvalidInput, match="fewer than the 2 rows"):
        check_release({"age": ["1", "2"]}, ["age"], people=1)
