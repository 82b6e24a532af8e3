"""What is offered instead of whole-group flips costs as much and hides more."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit import Attribute, Schema, Scheme, channels
from tacit.attacks import attack
from tacit.bundled import binary_breast_cancer
from tacit.design.alternatives import better_alternatives
from tacit.design.scheme import design_scheme
from tacit.disguising import disguise

BINARY = Schema(tuple(Attribute(name, ("no", "yes")) for name in "abcd"))


@pytest.mark.parametrize("theta", [0.2, 0.7, 0.9])
def test_single_answers_are_estimated_as_well_as_from_the_flip(theta: float) -> None:
    made = design_scheme(BINARY, [["a", "b", "c"], ["d"]], theta=theta, prior={"a": [0.8, 0.2]})
    assert math.isinf(made.measures.gamma)
    singles = {error.attributes: error.worst for error in made.measures.errors if len(error.attributes) == 1}
    for other in made.alternatives:
        assert math.isfinite(other.measures.gamma)
        found = {error.attributes: error.worst for error in other.measures.errors if len(error.attributes) == 1}
        np.testing.assert_allclose([found[name] for name in singles], list(singles.values()), rtol=1e-6)


def test_groups_that_are_no_whole_flips_stay_as_they_are() -> None:
    groups = [(["a", "b"], channels.flip(0.7)), (["c"], channels.warner(0.8)), (["d"], channels.flip(0.6))]
    unrelated, alone = better_alternatives(Scheme.of(BINARY, groups))
    assert [group.channel.kind for group in unrelated.scheme.groups] == ["mixture", "warner", "flip"]
    assert [group.names for group in alone.scheme.groups] == [("a",), ("b",), ("c",), ("d",)]


def test_the_offer_is_among_the_warnings_and_in_the_document() -> None:
    made = design_scheme(BINARY, [["a", "b", "c", "d"]], theta=0.7)
    assert sum(warning.startswith("Better at the same usefulness") for warning in made.warnings) == 2
    document = made.to_document()
    assert [other["scheme"]["groups"][0]["channel"]["kind"] for other in document["alternatives"]] == [
        "mixture",
        "flip",
    ]
    assert document["warnings"][-1].startswith("Better at the same usefulness: a coin of its own for every answer")


def test_nothing_is_offered_where_no_group_is_flipped_as_a_whole() -> None:
    assert design_scheme(BINARY, theta=0.7).alternatives == ()
    assert design_scheme(BINARY, [["a", "b", "c", "d"]], gamma=19).alternatives == ()


@pytest.mark.slow
def test_a_guesser_gets_less_from_what_is_offered() -> None:
    truth = binary_breast_cancer()
    chosen = Scheme.of(truth.schema, [(truth.schema.names, channels.flip(0.7))])
    schemes = [chosen, *(other.scheme for other in better_alternatives(chosen))]
    flipped, unrelated, alone = (attack(disguise(truth, scheme, seed=3), truth=truth).records for scheme in schemes)
    assert flipped.with_reports > 0.9
    assert max(alone.with_reports, unrelated.with_reports) < flipped.with_reports - 0.1
