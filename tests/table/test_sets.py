"""Sets and bits, as Parquet (lists, truth values) and as CSV (JSON, 0 and 1) hold them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Attribute, Schema
from tacit.errors import InvalidInput, UnknownAnswer
from tacit.table import Table, decode, encode

SET = Schema((Attribute("car", ("none", 'so-called "city", small', "van"), shows="set"),))
BITS = Schema((Attribute("car", ("none", "small"), shows="bits"),))


@pytest.mark.parametrize("text_only", [False, True])
def test_sets_go_out_and_come_back(text_only):
    codes = np.array([[0, 1], [2, 1]], dtype=np.uint8)
    found = encode(decode(Table(SET, {"car": codes}), text_only=text_only), SET)
    assert (found["car"] == codes).all()


@pytest.mark.parametrize("text_only", [False, True])
def test_bits_go_out_and_come_back(text_only):
    codes = np.array([[True, False], [True, True], [False, False]])
    arrow = decode(Table(BITS, {"car": codes}), text_only=text_only)
    assert arrow.column_names == ["car=none", "car=small"]
    found = encode(arrow, BITS)["car"]
    assert found.dtype == np.bool_
    assert (found == codes).all()


@given(st.integers(1, 4), st.integers(0, 30), st.integers(0, 2**32 - 1), st.booleans())
def test_sets_of_any_size_go_out_and_come_back(size, rows, seed, text_only):
    schema = Schema((Attribute("x", tuple("abcd"), shows="set"),))
    codes = np.random.default_rng(seed).permuted(np.tile(np.arange(4), (rows, 1)), axis=1)[:, :size]
    found = encode(decode(Table(schema, {"x": codes.astype(np.uint8)}), text_only=text_only), schema)["x"]
    assert found.tolist() == codes.tolist()


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_(pa.string(), 2)])
def test_lists_of_every_type_are_sets(kind):
    column = pa.array([["none", "van"], ["van", "none"]], kind)
    assert encode(pa.table({"car": column}), SET)["car"].tolist() == [[0, 2], [2, 0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["none", "vam"]], "'car' has no answer 'vam'. Did you mean 'van'?"),
        ([["none", "van"], ["van"]], r"All sets of 'car' must have one size, not \[1, 2\]"),
        ([["van", "van"]], "names the same answer twice"),
        ([["van"], None], "has an empty report"),
        (["van, none"], r'are written as \["a", "b"\] in a CSV file'),
        (['{"a": 1}'], r'are written as \["a", "b"\] in a CSV file'),
    ],
)
def test_what_is_no_set_is_refused(values, message):
    with pytest.raises(InvalidInput, match=message):
        encode(pa.table({"car": values}), SET)


def test_an_unknown_member_is_an_unknown_answer():
    with pytest.raises(UnknownAnswer):
        encode(pa.table({"car": [["none", "bus"]]}), SET)


@pytest.mark.parametrize("values", [[True, False], [1, 0], ["1", "0"], ["True", "false"]])
def test_bits_are_truth_values_or_digits(values):
    table = pa.table({"car=none": values, "car=small": values})
    assert encode(table, BITS)["car"].tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize("bad", ["2", "", "yes"])
def test_what_is_no_bit_is_refused(bad):
    with pytest.raises(InvalidInput, match=f"The bit 'car=small' must be 0 or 1, not '{bad}'"):
        encode(pa.table({"car=none": ["0"], "car=small": [bad]}), BITS)


def test_a_missing_bit_column_is_refused():
    with pytest.raises(InvalidInput, match="The column 'car=small' is missing"):
        encode(pa.table({"car=none": ["0"]}), BITS)
