from __future__ import annotations

import math

import pytest

from tacit.errors import InvalidInput, UnknownName
from tacit.publish import check_release

TABLE = {
    "age": ["30", "30", "30", "40", "40", "50"],
    "sex": ["f", "f", "f", "m", "m", "m"],
    "ill": ["a", "b", "a", "a", "a", "b"],
}


def test_measures_of_a_small_table():
    found = check_release(TABLE, ["age", "sex"], ["ill"], threshold=3)
    assert found.k == 1
    assert found.class_sizes.tolist() == [1, 2, 3]
    assert found.rows_at_risk == 3
    assert found.unique_rows == 1
    assert found.highest_risk == 1
    assert found.mean_risk == pytest.approx(3 / 6)
    (ill,) = found.sensitive
    assert ill.distinct == 1
    assert ill.entropy == pytest.approx(1)
    assert ill.closeness == pytest.approx(2 / 3)


def test_entropy_counts_equally_frequent_answers():
    found = check_release({"x": ["0"] * 4, "s": ["a", "b", "c", "d"]}, "x", "s")
    assert found.sensitive[0].entropy == pytest.approx(4)
    assert found.sensitive[0].closeness == pytest.approx(0)
    assert math.isclose(found.highest_risk, 0.25)


def test_empty_values_are_a_value_of_their_own():
    assert check_release({"x": ["a", "a", None, None], "y": ["1", "1", "1", "1"]}, ["x", "y"]).k == 2


def test_the_document_has_the_promised_names():
    document = check_release(TABLE, ["age"], ["ill"]).to_document()
    assert {"k", "l", "t", "class_sizes", "rows_at_risk"} <= set(document)
    assert document["verified"] == {name: document[name] for name in ("k", "l", "t")}  # as publish calls them


@pytest.mark.parametrize(
    ("attributes", "sensitive", "error", "message"),
    [
        (["agee"], [], UnknownName, "Did you mean 'age'"),
        ([], [], InvalidInput, "at least one attribute"),
        (["age"], ["age"], InvalidInput, "cannot be sensitive and known"),
    ],
)
def test_refusals(attributes, sensitive, error, message):
    with pytest.raises(error, match=message):
        check_release(TABLE, attributes, sensitive)


def test_a_threshold_is_a_class_size():
    with pytest.raises(InvalidInput, match="at least 1, not 0"):
        check_release(TABLE, ["age"], threshold=0)


def test_an_empty_table_is_refused():
    with pytest.raises(InvalidInput, match="no rows"):
        check_release({"age": []}, ["age"])
