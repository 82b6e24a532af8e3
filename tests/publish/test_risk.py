"""Risks as the field states them, against populations that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit import check_release
from tacit.errors import InvalidInput
from tacit.publish.risk import risk_of
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
