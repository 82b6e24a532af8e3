"""Reports that show a bucket of a hash, counted answer by answer in plain whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.count import hashed
from tacit.table.hashed import Hashing


def random_digits(hashing: Hashing, rows: int, seed: int) -> np.ndarray:
    word = 1 << hashing.width
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, bound, rows) for bound in (hashing.buckets, word, word)], axis=1).astype(np.uint32)


def held(digits: np.ndarray, hashing: Hashing) -> np.ndarray:
    """Which answers each report stands for, by the definition: the top bits of factor * answer + shift."""
    inside = np.zeros((len(digits), hashing.answers), dtype=bool)
    for row, (bucket, factor, shift) in enumerate(digits.tolist()):
        for answer in range(hashing.answers):
            hash_ = (factor * answer + shift) % (1 << hashing.width)
            inside[row, answer] = hash_ >> (hashing.width - hashing.bucket_bits) == bucket
    return inside


@pytest.mark.parametrize(("answers", "buckets"), [(3, 2), (12, 4), (21, 8)])
@pytest.mark.parametrize("way", ["support", "_compiled_support"])
def test_each_answer_counts_the_reports_that_hold_it(
    monkeypatch: pytest.MonkeyPatch, answers: int, buckets: int, way: str
) -> None:
    hashing = Hashing(answers, buckets)
    digits = random_digits(hashing, 41, answers)
    monkeypatch.setattr(hashed, "BLOCK_PAIRS", 5 * answers)  # several blocks, the last one shorter
    with np.errstate(over="ignore"):  # words overflow on purpose, and say so where they are not compiled
        counts = getattr(hashed, way)(digits, hashing)
    np.testing.assert_array_equal(counts, held(digits, hashing).sum(axis=0))


def test_compiled_counts_go_on_from_block_to_block(monkeypatch: pytest.MonkeyPatch) -> None:
    hashing = Hashing(6, 2)
    digits = random_digits(hashing, 2048 + 3, 2)
    with np.errstate(over="ignore"):
        counts = hashed._compiled_support(digits, hashing)
    np.testing.assert_array_equal(counts, hashing.holding(digits).sum(axis=0))
    # The compiled loop is taken from so many pairs on.
    monkeypatch.setattr(hashed, "_compiled_support", lambda digits, hashing: "compiled")
    monkeypatch.setattr(hashed, "COMPILED_PAIRS", 6 * len(digits))
    assert hashed.support(digits, hashing) == "compiled"
    assert hashed.support(digits[1:], hashing) is not None
    assert not isinstance(hashed.support(digits[1:], hashing), str)


def test_weights_of_held_answers_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    hashing = Hashing(10, 4)
    digits = random_digits(hashing, 17, 3)
    weights = np.array([0.5, 0, 0, -2, 0, 0, 7, 0, 0, 1.25, 100])  # the last is of every report
    monkeypatch.setattr(hashed, "BLOCK_PAIRS", 12)
    expected = held(digits, hashing) @ weights[:-1] + 100
    np.testing.assert_allclose(hashed.held_weights(digits, hashing, weights), expected)
    np.testing.assert_allclose(hashed.held_weights(digits, hashing, np.zeros(11)), 0)
