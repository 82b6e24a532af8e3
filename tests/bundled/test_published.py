"""Preparations of Adult against the numbers their publications print."""

import itertools
import json
import math

import numpy as np
import pytest

from tacit import Reports
from tacit.bundled import adult_attribute_priors, adult_fourteen, adult_nine, adult_nine_document, census, raw_adult
from tacit.channel.scheme import Scheme
from tacit.count import MemoryEngine


def frequent_itemsets_by_length(data, support: float) -> list[int]:
    """Cells of all tallies that reach a support: no candidate generation, so nothing can be missed."""
    engine = MemoryEngine(data.table)
    counts = [0] * len(data.schema)
    for length in range(1, len(data.schema) + 1):
        for names in itertools.combinations(data.schema.names, length):
            counts[length - 1] += int((engine.tally(names) >= support * data.n_rows).sum())
    return counts


def test_census_has_the_published_numbers_of_frequent_itemsets():
    data = census()
    assert data.n_rows == 48_842
    assert math.prod(data.schema.shape()) == 2000
    assert frequent_itemsets_by_length(data, 0.02) == [19, 102, 203, 165, 64, 10]


def test_the_published_numbers_depend_on_the_closed_side_of_hours():
    data = census()
    hours = raw_adult()["hours-per-week"].to_numpy()
    right_closed = np.searchsorted([20, 40, 60, 80], hours, side="left").astype(np.uint8)
    other = type(data)(type(data.table)(data.schema, {**data.table.columns, "hours-per-week": right_closed}))
    assert frequent_itemsets_by_length(other, 0.02) != [19, 102, 203, 165, 64, 10]


@pytest.mark.parametrize(
    ("name", "number", "answer"),
    [
        ("age", 35, "(15-35]"),
        ("age", 36, "(35-55]"),
        ("age", 75, "(55-75]"),
        ("age", 76, ">75"),
        ("hours-per-week", 20, "[20-40)"),
        ("hours-per-week", 40, "[40-60)"),
        ("hours-per-week", 80, ">=80"),
    ],
)
def test_census_cuts_at_the_edges_as_its_labels_say(name, number, answer):
    data = census()
    rows = raw_adult()[name].to_numpy() == number
    assert rows.any()
    assert set(data.table[name][rows]) == {data.schema[name].encode(answer)}


def test_an_unknown_country_counts_as_other():
    assert np.bincount(census().table["native-country"]).tolist() == [43_832, 48_842 - 43_832]


def test_adult_nine_has_the_published_rows_and_bits():
    data = adult_nine()
    assert data.n_rows == 30_162
    assert data.schema.shape() == (20, 7, 16, 7, 14, 5, 2, 41, 2)
    assert sum(size - 1 for size in data.schema.shape()) == 105
    assert all(attribute.ordered for attribute in data.schema)


def test_adult_nine_keeps_the_order_of_answers_of_its_document():
    document = adult_nine_document()
    assert Scheme.from_document(document).is_identity
    assert [attribute.answers for attribute in adult_nine().schema] == [
        tuple(entry["answers"]) for entry in document["attributes"]
    ]
    assert json.dumps(document)


def test_ages_of_adult_nine_are_closed_on_the_right():
    raw = raw_adult().slice(0, 32_561).drop_null()["age"].to_numpy()
    codes = adult_nine().table["age"]
    assert set(codes[raw == 20]) == {3}
    assert set(codes[raw == 21]) == {4}
    assert (codes == np.ceil(raw / 5) - 1).all()


def test_attribute_priors_are_distributions_without_zeros():
    data, priors = adult_fourteen(), adult_attribute_priors()
    assert len(priors) == 14
    assert "income" not in priors
    for attribute in data.schema:
        assert priors[attribute.name].sum() == pytest.approx(1, abs=1e-12)
        assert priors[attribute.name].min() > 0
        assert len(priors[attribute.name]) == attribute.size


def test_empty_intervals_are_merged_into_the_one_below():
    gains = raw_adult()["capital-gain"].to_numpy()
    attribute = adult_fourteen().schema["capital-gain"]
    width = (gains.max() - gains.min()) / 10
    tenths = np.histogram(gains, bins=np.arange(11) * width + gains.min())[0]
    assert attribute.size == np.count_nonzero(tenths)
    assert attribute.cut.edges == pytest.approx([width * i for i in range(1, 10) if tenths[i]])


def test_preparations_can_be_taken_as_clear_reports():
    assert Reports.from_truth(census()).n_reports == 48_842
