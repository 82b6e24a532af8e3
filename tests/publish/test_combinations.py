from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InvalidInput, TacitError
from tacit.publish import check_release
from tacit.publish.combinations import Combinations
from tests.publish.wishes import anonymize


@pytest.mark.parametrize("sizes", [(4, 3, 5), (2**30, 2**30, 2**30, 7), (1_000,) * 12])
def test_combinations_are_numbered_in_order_and_found_again(sizes):
    rng = np.random.default_rng(1)
    few = [rng.integers(0, size, 20) for size in sizes]  # rows repeat
    rows = rng.integers(0, 20, 500)
    columns = [column[rows] for column in few]
    found = Combinations(columns, sizes)
    expected, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    assert found.codes.tolist() == expected.tolist()
    assert found.number.tolist() == inverse.ravel().tolist()
    assert found.places([column[::-1] for column in columns]).tolist() == inverse.ravel()[::-1].tolist()
    assert all((columns[j][found.first] == expected[:, j]).all() for j in range(len(sizes)))


def test_rows_that_are_the_combinations_are_not_copied():
    rows = np.array([[0, 1], [0, 2], [3, 0]])
    ordered = Combinations.of_rows(rows, [4, 3])
    assert ordered.are_the_rows
    assert ordered.codes is rows
    shuffled = Combinations.of_rows(rows[::-1].copy(), [4, 3])  # each once, and out of order
    assert not shuffled.are_the_rows
    assert shuffled.codes.tolist() == rows.tolist()
    assert shuffled.first.tolist() == [2, 1, 0]


def test_a_combination_that_never_occurred_is_refused():
    found = Combinations([np.array([0, 2])], [3])
    with pytest.raises(TacitError, match="rows that it did not hold"):
        found.places([np.array([1])])
    with pytest.raises(InvalidInput, match="too many to be numbered in a database"):
        Combinations([np.zeros(1, int)] * 9, [1_000] * 9).radix_keys()


def many_attributes(attributes: int, rows: int = 400) -> dict[str, list[str]]:
    """Attributes that hang together: noisy copies of three."""
    rng = np.random.default_rng(7)
    causes = rng.integers(0, 8, (rows, 3))
    return {
        f"x{j}": [str(v) for v in np.where(rng.random(rows) < 0.9, causes[:, j % 3], rng.integers(0, 8, rows))]
        for j in range(attributes)
    }


@pytest.mark.parametrize("attributes", [20, 45])
def test_many_quasi_identifiers_are_published(attributes, tmp_path):
    release = anonymize(many_attributes(attributes), 4, method="compare", evaluations=400, seed=1)
    assert check_release(release, list(many_attributes(attributes))).k >= 4
    release.write(tmp_path / "out.parquet")
    assert any(f"{attributes} quasi-identifiers" in warning for warning in release.warnings)
    if attributes == 45:
        assert [result.method for result in release.methods] == ["local"]
        with pytest.raises(InvalidInput, match=r"too many for global recoding\. Use method 'local'"):
            anonymize(many_attributes(attributes), 4, method="search", seed=1)
