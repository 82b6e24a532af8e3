"""Two parties' tables about the same people, joined on a key and estimated together."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Reports, Scheme, channels
from tacit.errors import InvalidInput
from tacit.reports import joined
from tests.estimation.simulation import REPEATS, SCHEMA, assert_true_errors, marginal, people, simulated, stacked

HOSPITAL = Scheme.of(SCHEMA.select(["smokes", "age"]), [(["smokes", "age"], channels.gamma_diagonal(9))])
INSURER = Scheme.of(SCHEMA.select(["drinks", "sex"]), [(["drinks"], channels.flip(0.85))])


def two_parties(seed: int, n: int = 1200) -> Reports:
    """Both know the same people, in different orders, and each some whom the other does not know."""
    rng = np.random.default_rng(seed)
    table = people(n, rng)
    here, there = rng.permutation(n)[: n - 100], rng.permutation(n)[: n - 100]
    return joined(
        simulated(HOSPITAL, 0, seed, table.rows(here)), simulated(INSURER, 0, seed + 1, table.rows(there)), here, there
    )


@pytest.mark.soak
@pytest.mark.slow
def test_joined_tables_are_unbiased_with_true_errors() -> None:
    names = ["drinks", "smokes", "sex"]
    tables = [tacit.estimate(two_parties(seed), names) for seed in range(REPEATS // 2)]
    assert_true_errors(*stacked(tables), marginal(names).ravel())


def test_people_whom_only_one_party_knows_are_left_out() -> None:
    left = Reports.from_arrow({"smokes": ["no", "yes", "yes"]}, Scheme.of(SCHEMA.select(["smokes"])))
    right = Reports.from_arrow({"sex": ["m", "f"]}, Scheme.of(SCHEMA.select(["sex"])))
    both = joined(left, right, ["ann", "bob", "eve"], ["eve", "ann"])
    assert both.n_reports == 2
    assert np.array_equal(tacit.estimate(both, ["smokes", "sex"]).probabilities, [[0.5, 0], [0, 0.5]])


def test_joining_refuses_what_it_cannot_match() -> None:
    left = Reports.from_arrow({"smokes": ["no", "yes"]}, Scheme.of(SCHEMA.select(["smokes"])))
    right = Reports.from_arrow({"sex": ["m", "f"]}, Scheme.of(SCHEMA.select(["sex"])))
    with pytest.raises(InvalidInput, match="The key 'ann' occurs twice"):
        joined(left, right, ["ann", "ann"], ["ann", "bob"])
    with pytest.raises(InvalidInput, match="Both tables hold 'smokes'; joined tables must ask different things"):
        joined(left, left, ["ann", "bob"], ["ann", "bob"])
    with pytest.raises(InvalidInput, match="no key in common"):
        joined(left, right, ["ann", "bob"], ["eve", "joe"])
    with pytest.raises(InvalidInput, match="There are 1 keys for 2 reports"):
        joined(left, right, ["ann"], ["eve", "joe"])
