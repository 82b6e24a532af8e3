"""Distinct rows, of one answer, bits or sets, also where a joint code would not fit 64 bits."""

from __future__ import annotations

import numpy as np

from tacit.joint.numbering import distinct


def test_rows_of_one_kind_share_a_number() -> None:
    columns = [np.array([0, 1, 0, 1, 0]), np.array([2, 0, 2, 1, 1])]
    first, kind = distinct(columns)
    assert len(first) == 4
    assert kind[0] == kind[2]
    for column in columns:
        np.testing.assert_array_equal(column[first][kind], column)


def test_more_columns_than_fit_into_one_number() -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 200, 300) for _ in range(12)]
    repeated = [np.concatenate([column, column]) for column in columns]
    first, kind = distinct(repeated)
    assert len(first) == 300
    np.testing.assert_array_equal(kind[:300], kind[300:])
    for column in repeated:
        np.testing.assert_array_equal(column[first][kind], column)


def test_bits_and_sets_are_compared_whole() -> None:
    bits = np.array([[True, False], [True, True], [True, False]])
    sets = np.array([[0, 300], [0, 300], [0, 301]], dtype=np.uint16)
    first, kind = distinct([bits, sets])
    assert len(first) == 3
    first, kind = distinct([bits])
    assert kind[0] == kind[2] != kind[1]
