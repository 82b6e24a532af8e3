import numpy as np
import pytest

from tacit import Attribute, Scheme, channels
from tacit.errors import InvalidInput, UnknownName
from tacit.measures.prior import Prior, with_prior
from tacit.schema import Schema
from tacit.table import Table
from tests.channel.routed_groups import records_of, scheme_of

SCHEMA = Schema((Attribute("a", ("0", "1")), Attribute("b", ("0", "1", "2")), Attribute("c", ("0", "1"))))
JOINT = np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.1]])


def test_parts_multiply_and_axes_follow_the_asked_order():
    prior = Prior.of(SCHEMA, {"a+b": JOINT, "c": [0.9, 0.1]})
    assert prior.joint(["c", "b", "a"]) == pytest.approx(np.multiply.outer([0.9, 0.1], JOINT.T))
    assert prior.joint(["b"]) == pytest.approx([0.3, 0.3, 0.4])
    assert not prior.are_independent(["a", "b"])
    assert prior.are_independent(["b", "c"])


def test_what_is_not_named_is_uniform():
    prior = Prior.of(SCHEMA, {"a": [0.8, 0.2]})
    assert prior.joint(["a", "c"]) == pytest.approx(np.array([[0.4, 0.4], [0.1, 0.1]]))
    assert prior.is_uniform(["b", "c"])
    assert not prior.is_uniform(["a"])


def test_a_scheme_keeps_the_prior_it_was_designed_for():
    scheme = Scheme.of(SCHEMA, [(["a"], channels.warner(0.8))])
    stated = with_prior(scheme, {"a+b": JOINT.reshape(-1), "c": [0.9, 0.1]})
    assert stated.prior["a+b"] == pytest.approx(JOINT.reshape(-1))
    assert stated.prior["c"] == pytest.approx([0.9, 0.1])
    assert with_prior(scheme, None) is scheme
    assert with_prior(stated, {"c": [0.5, 0.5]}) is stated  # what it states already stays
    # One distribution is that of the only group; of data single answers are kept.
    assert with_prior(scheme, [0.3, 0.7]).prior["a"] == pytest.approx([0.3, 0.7])
    codes = {"a": [0, 1, 1, 1], "b": [2, 2, 0, 1], "c": [0, 0, 1, 1]}
    table = Table.from_codes(SCHEMA, {name: np.array(column) for name, column in codes.items()})
    assert with_prior(scheme, table).prior == {"a": (0.25, 0.75), "b": (0.25, 0.25, 0.5), "c": (0.5, 0.5)}


def test_single_answers_of_a_routed_group_are_fitted_on_its_legal_records():
    """Whoever is not asked has no answer to the follow-ups; what is not stated is even among those who are."""
    scheme = scheme_of(records_of(2), channels.gamma_diagonal(9))
    for stated, first in (
        ({"filter": [0.3, 0.7]}, [0.35, 0.35]),
        ({"filter": [0.3, 0.7], "f0": [0.2, 0.5, 0.3]}, [0.2, 0.5]),
        ({"f0": [0.2, 0.5, 0.3]}, [0.2, 0.5]),
    ):
        expected = np.zeros((2, 3, 3))
        expected[0, 2, 2] = 0.3
        expected[1, :2, :2] = np.outer(first, [0.5, 0.5])
        fitted = Prior.of(scheme.schema, stated, None, scheme.routed_records).joint(["filter", "f0", "f1"])
        np.testing.assert_allclose(fitted, expected, atol=1e-6)


def test_data_are_counted():
    codes = {"a": [0, 1, 1, 1], "b": [2, 2, 0, 1], "c": [0, 0, 1, 1]}
    table = Table.from_codes(SCHEMA, {name: np.array(column) for name, column in codes.items()})
    prior = Prior.of(SCHEMA, table)
    assert prior.source == "data"
    assert prior.joint(["c", "a"]) == pytest.approx(np.array([[0.25, 0.25], [0, 0.5]]))


def test_a_prior_of_the_wrong_length_is_refused():
    with pytest.raises(InvalidInput, match="'b' has 2 entries; 3 are needed"):
        Prior.of(SCHEMA, {"b": [0.5, 0.5]})


def test_a_prior_that_does_not_sum_to_one_is_refused():
    with pytest.raises(InvalidInput, match=r"sums to 1\.1"):
        Prior.of(SCHEMA, {"a": [0.5, 0.6]})


def test_an_unknown_attribute_is_refused():
    with pytest.raises(UnknownName, match="'d' does not exist"):
        Prior.of(SCHEMA, {"d": [1.0]})


def test_an_attribute_named_twice_is_refused():
    with pytest.raises(InvalidInput, match="names 'a' twice"):
        Prior.of(SCHEMA, {"a": [0.5, 0.5], "a+c": [0.25] * 4})


def test_something_else_is_refused():
    with pytest.raises(
        InvalidInput, match="maps attributes to distributions, or is a data frame or Dataset of truths, not float"
    ):
        Prior.of(SCHEMA, 0.5)


def test_an_empty_table_says_nothing():
    empty = Table.from_codes(SCHEMA, {name: np.array([], dtype=np.uint8) for name in SCHEMA.names})
    with pytest.raises(InvalidInput, match="no rows"):
        Prior.of(SCHEMA, empty)


def test_data_with_other_answers_are_refused():
    other = Schema((Attribute("a", ("1", "0")), *SCHEMA.attributes[1:]))
    table = Table.from_codes(other, {name: np.array([0]) for name in "abc"})
    with pytest.raises(InvalidInput, match="list the answers of 'a' differently"):
        Prior.of(SCHEMA, table)
