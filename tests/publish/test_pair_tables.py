"""Tables of two attributes as a reader of the release makes them, however many labels there are."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tacit.publish.pair_tables import PairTables, label_places
from tacit.publish.problem import pose
from tacit.publish.recoding import recode_by_classes
from tacit.publish.tally import tally_rows
from tacit.publish.usefulness import linear_survival, query_error, table_error
from tacit.schema import Attribute
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize


def directly(recoding, a: int, b: int) -> np.ndarray:
    """The spread table from one matrix of labels by answers for each attribute."""
    even = [members / members.sum(axis=1, keepdims=True) for members in recoding.members]
    table = np.zeros((recoding.tally.sizes[a], recoding.tally.sizes[b]))
    for labels, count in zip(
        recoding.labels[recoding.classes >= 0], recoding.counts[recoding.classes >= 0], strict=True
    ):
        table += count * np.outer(even[a][labels[a]], even[b][labels[b]])
    return table


@pytest.mark.parametrize(
    ("method", "suppress"), [("search", 0.0), ("search", 0.1), ("local", 0.0), ("microaggregate", 0.0)]
)
def test_labels_are_spread_evenly_over_their_answers(method, suppress):
    recoding = anonymize(people(), 6, method=method, suppress=suppress, **QUICK).recoding
    tables = PairTables(recoding)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        np.testing.assert_allclose(tables.spread(a, b), directly(recoding, a, b), atol=1e-9)
        shown = np.zeros((recoding.tally.sizes[a], recoding.tally.sizes[b]))
        np.add.at(shown, tuple(recoding.combinations.codes[:, [a, b]].T), recoding.counts)
        assert (tables.truth(a, b) == shown).all()


def test_one_attribute_is_a_table_of_one_column():
    recoding = anonymize({"age": people()["age"]}, 50, method="local", **QUICK).recoding
    tables = PairTables(recoding)
    assert tables.truth(0, 0).shape == (recoding.tally.sizes[0], 1)
    assert tables.truth(0, 0).sum() == tables.total
    assert tables.spread(0, 0).sum() == pytest.approx(tables.released)
    assert 0 <= query_error(recoding) < 1
    assert table_error(recoding) == 0


def test_a_label_of_answers_apart_keeps_its_gaps():
    members = np.array([[True, False, True, True], [False, True, False, False]])
    mean, variance = label_places(members)
    np.testing.assert_allclose(mean, [5 / 3, 1])
    np.testing.assert_allclose(variance, [np.var([0, 2, 3]), 0])


def wide_recoding(classes: int = 15_000, answers: int = 500):
    """Pairs of rows far apart, so that nearly every class has labels of its own."""
    rng = np.random.default_rng(5)
    codes = rng.permutation(answers * answers)[: 2 * classes]
    codes = np.stack([codes // answers, codes % answers], axis=1)
    attributes = tuple(Attribute(name, tuple(f"{name}{i:03d}" for i in range(answers))) for name in "ab")
    tally = tally_rows(attributes, codes, np.ones(len(codes), np.int64))
    assert pose(tally, 2, np.array([0.5, 0.5])).rows == len(codes)
    return recode_by_classes(tally, rng.permutation(len(codes)) // 2)


def test_memory_does_not_grow_with_the_pairs_of_labels():
    """A table of labels by labels would hold 200 million cells here: 1.6 gigabytes."""
    recoding = wide_recoding()
    assert min(len(own) for own in recoding.names) > 14_000
    tracemalloc.start()
    table_error(recoding)
    query_error(recoding)
    linear_survival(recoding)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120e6
