"""Special uniques against a count by hand and against plain enumeration."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from tacit import check_release
from tacit.publish.special_uniques import affordable_set, special_uniques


def plain_scores(rows: list[tuple[int, ...]], largest: int) -> list[float]:
    attributes = len(rows[0])
    unique = {
        members: Counter(tuple(row[j] for j in members) for row in rows)
        for size in range(largest + 1)
        for members in itertools.combinations(range(attributes), size)
    }
    scores = []
    for row in rows:
        alone = {members for members, counts in unique.items() if counts[tuple(row[j] for j in members)] == 1}
        minimal = [m for m in alone if not any(set(other) < set(m) for other in alone)]
        scores.append(sum(math.prod(attributes - i for i in range(len(m), largest + 1)) for m in minimal))
    return scores


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_plain_enumeration(seed) -> None:
    rng = np.random.default_rng(seed)
    rows = [tuple(row) for row in rng.integers(0, 4, (40, 4)).tolist()]
    codes, place, counts = np.unique(np.array(rows), axis=0, return_inverse=True, return_counts=True)
    found = special_uniques(codes, counts, 3)
    assert found.scores[place.ravel()].tolist() == plain_scores(rows, 3)


def test_a_widow_of_sixteen_is_special() -> None:
    """Unique on two attributes: of three attributes with sets of up to two, that scores (3 - 2)."""
    table = {
        "age": ["16", "16", "70", "70", "70"],
        "status": ["single", "widowed", "widowed", "widowed", "single"],
        "sex": ["f", "f", "f", "f", "f"],
    }
    found = check_release(table, ["age", "status", "sex"])
    assert found.special is not None
    assert found.special.largest_set == 2
    assert found.special.by_size == {1: 0, 2: 3}
    document = found.to_document()["special_uniques"]
    assert document["highest_score"] == 1
    assert {"age": "16", "status": "widowed", "sex": "f"} in [own["answers"] for own in document["worst"]]


def test_larger_sets_are_left_out_where_they_would_take_long() -> None:
    assert affordable_set(30_000, 9) == 8
    assert affordable_set(1_000_000, 20) == 1
    assert affordable_set(100, 2) == 1


def test_persons_have_no_special_rows() -> None:
    table = {"age": ["1", "2", "2"], "town": ["a", "b", "b"], "id": ["x", "x", "y"]}
    assert check_release(table, ["age", "town"], person="id").special is None


def test_where_nobody_is_unique_no_set_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is unique on some attributes is unique on all: 45 attributes of a release need no sets of them."""
    monkeypatch.setattr("tacit.publish.special_uniques._alone", lambda *_: pytest.fail("a set was counted"))
    nobody = special_uniques(np.arange(90).reshape(2, 45), np.array([2, 3]))
    assert nobody.rows == 0
    assert set(nobody.by_size.values()) == {0}
