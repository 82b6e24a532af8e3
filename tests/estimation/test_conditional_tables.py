"""A node of a tree: shares within a condition, with the errors of a conjunction."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.count import sources
from tacit.estimation.conditional_tables import ConditionedTables
from tests.estimation.simulation import SCHEMA, SCHEMES, simulated


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name not in ("dealt", "tall", "tall-part")])
@pytest.mark.parametrize("free", [["age"], ["sex", "age"], ["drinks"]])
def test_cells_are_the_shares_of_their_conjunctions(scheme: str, free: list[str]) -> None:
    reports = simulated(SCHEMES[scheme], 800, 4)
    fixed = {"smokes": np.array([False, True])}
    found = ConditionedTables(sources(reports)[0]).table(fixed, free)
    for index in np.ndindex(found.probabilities.shape):
        where = {name: SCHEMA[name].answers[code] for name, code in zip(free, index, strict=True)}
        share = tacit.estimate_share(reports, {"smokes": "yes", **where})
        assert found.probabilities[index] == pytest.approx(share.probability, abs=1e-12)
        # The share's error is the channels' at a proper distribution, the cell's is as counted.
        assert np.sqrt(found.population_variance[index]) == pytest.approx(share.standard_error, rel=0.1, abs=2e-3)
        alone = tacit.estimate_share(reports, {"smokes": "yes", **where}, sampling="respondents")
        assert np.sqrt(found.respondents_variance[index]) == pytest.approx(alone.standard_error, rel=0.1, abs=2e-3)


def test_a_condition_may_allow_several_answers() -> None:
    reports = simulated(SCHEMES["gamma"], 800, 4)
    found = ConditionedTables(sources(reports)[0]).table({"age": np.array([True, False, True])}, ["smokes"])
    share = tacit.estimate_share(reports, {"age": ["young", "old"], "smokes": "yes"})
    assert found.probabilities[1] == pytest.approx(share.probability, abs=1e-12)
