from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import channels
from tacit.channel.kinds.cut_and_paste import random_orders
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import SeededRandomness
from tests.statistics import assert_drawn_from


@pytest.mark.parametrize(("attributes", "p"), [(6, 0.5610), (7, 0.5524)])
def test_the_published_chances_of_mask_give_gamma_19(attributes: int, p: float) -> None:
    """FRAPP: (p / (1 - p))**(2 M) = 19."""
    assert channels.mask(p).build((3,) * attributes).amplification == pytest.approx(19, rel=2e-3)


def test_the_tight_rho_of_cut_and_paste_for_gamma_19() -> None:
    assert channels.cut_and_paste(3, 0.4514).build((3,) * 6).amplification == pytest.approx(19, rel=1e-3)
    assert channels.cut_and_paste(3, 0.494).build((3,) * 6).amplification < 19


@given(st.integers(1, 8), st.integers(1, 6), st.floats(0.05, 0.95))
def test_amplification_of_cut_and_paste_is_the_published_sum(K: int, M: int, rho: float) -> None:
    terms = [rho**-w for w in range(min(K, M) + 1)]
    published = sum(terms) if K <= M else sum(terms[:-1]) + (K + 1 - M) * rho**-M
    assert channels.cut_and_paste(K, rho).build((2,) * M).amplification == pytest.approx(published, rel=1e-6)


def test_a_certain_bit_reveals_without_bound() -> None:
    assert channels.mask(1.0).build((3,)).amplification == math.inf
    assert channels.cut_and_paste(1, 0.0).build((3,)).amplification == math.inf


def test_an_amplification_beyond_floats_is_infinite() -> None:
    assert channels.mask(0.9999).build((2,) * 60).amplification == math.inf
    assert channels.mask(0.9).build((2,) * 60).amplification == pytest.approx(9.0**120, rel=1e-6)


def test_longer_itemsets_than_are_kept_are_refused_and_shorter_ones_estimated() -> None:
    channel = channels.cut_and_paste(2, 0.25).build((2, 2, 2))
    assert not channel.is_invertible()
    assert channel.marginal([0, 2]).is_invertible()
    with pytest.raises(NotEstimable, match=r"K = 2 .* 3 attributes together\. Ask for at most 2"):
        channel.solve(np.zeros(channel.tally_shape))


@pytest.mark.parametrize("K", [0, -1, 1.5, "3", None])
def test_an_impossible_number_of_kept_items_is_refused(K: object) -> None:
    with pytest.raises(InvalidInput, match="K, the most items that are kept, must be a whole number of at least 1"):
        channels.Recipe("cut-and-paste", {"K": K, "rho": 0.5}).build((2, 2))


def test_too_many_bits_have_no_dense_matrix() -> None:
    for bits in (24, 2000):
        with pytest.raises(InvalidInput, match="too large to write out"):
            channels.mask(0.8).build((bits,)).reports()


def test_random_orders_are_uniform() -> None:
    orders = random_orders(60_000, 4, SeededRandomness(2))
    assert (np.sort(orders, axis=1) == np.arange(4)).all()
    codes = orders @ [64, 16, 4, 1]
    counts = np.unique(codes, return_counts=True)[1]
    assert len(counts) == 24
    assert_drawn_from(counts, np.full(24, 1 / 24))


def test_reports_need_not_be_one_answer() -> None:
    (bits,) = channels.mask(0.6).build((3,)).sample([np.zeros(2000, dtype=np.uint8)], SeededRandomness(1))
    assert set(bits.sum(axis=1).tolist()) == {0, 1, 2, 3}
