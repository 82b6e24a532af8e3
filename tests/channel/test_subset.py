from __future__ import annotations

import importlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import channels
from tacit.errors import InvalidInput
from tacit.randomness import ONE, SeededRandomness
from tacit.schema import Attribute
from tests.statistics import assert_drawn_from


@given(st.floats(1.01, 1e9), st.integers(2, 500), st.data())
def test_a_demanded_gamma_is_never_exceeded(gamma: float, size: int, data: st.DataObject) -> None:
    members = data.draw(st.integers(1, size - 1))
    channel = channels.subset(members, gamma).build((size,))
    holds = Fraction(channel.coin, ONE)
    assert 1 <= holds * (size - members) / ((1 - holds) * members) <= Fraction(gamma)
    assert 1 <= channel.amplification <= gamma


@given(st.integers(2, 500), st.data())
def test_a_gamma_just_below_a_step_is_not_rounded_up_to_it(size: int, data: st.DataObject) -> None:
    """Where a quotient of floats would round to the step itself."""
    members = data.draw(st.integers(1, size - 1))
    coin = data.draw(st.integers(members * ONE // size + 1000, ONE - 1))
    step = Fraction(coin * (size - members), (ONE - coin) * members)
    gamma = math.nextafter(float(step), 0)
    assert gamma < step
    assert channels.subset(members, gamma).build((size,)).coin < coin


@given(st.integers(2, 40), st.floats(1.5, 100), st.data())
def test_inclusion_chances_are_the_published_ones(n: int, gamma: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n - 1))
    channel = channels.subset(k, gamma).build((n,))
    a = gamma * k / (gamma * k + n - k)
    b = k * (gamma * (k - 1) + n - k) / ((n - 1) * (gamma * k + n - k))
    assert channel.holds == pytest.approx(a, abs=1e-9)
    assert channel.background == pytest.approx(b, abs=1e-9)


def test_a_subset_of_one_is_gamma_diagonal() -> None:
    np.testing.assert_allclose(
        channels.subset(1, 7).build((5,)).matrix, channels.gamma_diagonal(7).build((5,)).matrix, atol=1e-9
    )


def test_members_ascend_and_never_repeat() -> None:
    (sets,) = (
        channels.subset(7, 3)
        .build((4, 5))
        .sample([np.full(5000, 1, dtype=np.uint8), np.full(5000, 3, dtype=np.uint8)], SeededRandomness(6))
    )
    assert sets.shape == (5000, 7)
    assert (np.diff(sets.astype(int), axis=1) > 0).all()


def test_members_of_a_large_domain_are_included_as_declared() -> None:
    channel = channels.subset(100, 19).build((2000,))
    (sets,) = channel.sample([np.full(20_000, 1234, dtype=np.uint16)], SeededRandomness(7))
    held = int((sets == 1234).sum())
    assert_drawn_from([held, 20_000 - held], [channel.holds, 1 - channel.holds])
    others = np.bincount(sets[sets != 1234] * 20 // 2000, minlength=20)
    # Members of one set exclude each other, so the counts vary a little less than independent draws would.
    share = np.full(20, 100.0)
    share[12] -= 1
    assert_drawn_from(others, share / share.sum())


def test_batches_are_cut_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("tacit.channel.kinds.subset"), "MARKED_CELLS", 8)  # two rows at a time
    (sets,) = channels.subset(2, 1e9).build((4,)).sample([np.arange(5, dtype=np.uint8) % 4], SeededRandomness(1))
    assert sets.shape == (5, 2)
    assert (sets == np.arange(5)[:, None] % 4).any(axis=1).all()


def test_the_report_is_one_column_of_sets_of_joint_answers() -> None:
    smokes, age = Attribute("smokes", ("no", "yes")), Attribute("age", ("young", "old"))
    (column,) = channels.subset(2, 3).build((2, 2)).report_attributes([smokes, age])
    assert column.name == "smokes+age"
    assert column.answers == ("no+young", "no+old", "yes+young", "yes+old")
    assert column.shows == "set"


@pytest.mark.parametrize("size", [0, 4, -1, 1.5, "2", None])
def test_an_impossible_size_is_refused(size: object) -> None:
    with pytest.raises(
        InvalidInput, match=r"must be a whole number from 1 to 3 \(the group has 4 joint answers\), not"
    ):
        channels.Recipe("subset", {"size": size, "gamma": 3}).build((4,))


@pytest.mark.parametrize("gamma", [1, math.nextafter(1, 2)])
def test_a_gamma_that_the_steps_cannot_keep_is_refused(gamma: float) -> None:
    with pytest.raises(InvalidInput, match="too close to 1"):
        channels.subset(1, gamma).build((3,))


def test_too_many_subsets_have_no_dense_matrix() -> None:
    with pytest.raises(InvalidInput, match=r"about 10\*\*\d+ reports"):
        channels.subset(1500, 3).build((3000,)).reports()
