from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InvalidInput
from tacit.publish.opening import open_input
from tacit.publish.order import ordered_by_data
from tests.publish.wishes import anonymize


def test_answers_that_keep_the_same_company_become_neighbours():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, 2000)
    town = np.where(group == 0, rng.choice(["a", "c"], 2000), rng.choice(["b", "d"], 2000))
    food = np.where(rng.random(2000) < 0.9, group, 1 - group).astype(str)
    ordered = ordered_by_data(open_input({"town": town.tolist(), "food": food.tolist()}))
    assert {frozenset(ordered.schema["town"].answers[:2]), frozenset(ordered.schema["town"].answers[2:])} == {
        frozenset("ac"),
        frozenset("bd"),
    }
    (batch,) = ordered.batches()
    assert [ordered.schema["town"].answers[code] for code in batch["town"]] == town.tolist()


def test_a_release_may_order_answers_by_the_data():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, 600)
    town = np.where(group == 0, rng.choice(["a", "c"], 600), rng.choice(["b", "d"], 600)).tolist()
    data = {"town": town, "group": group.astype(str).tolist()}
    by_name = anonymize(data, 200, seed=1, seconds=5)
    by_data = anonymize(data, 200, seed=1, seconds=5, order="data")
    assert by_data.nwp < by_name.nwp
    assert sorted(map(sorted, by_data.partitions["town"])) == [["a", "c"], ["b", "d"]]
    with pytest.raises(InvalidInput, match="Order 'alphabet' does not exist"):
        anonymize(data, 2, order="alphabet")


def test_one_attribute_has_no_company():
    with pytest.raises(InvalidInput, match="Give it in the schema"):
        ordered_by_data(open_input({"town": ["a", "b", "c"]}))
