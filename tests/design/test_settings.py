"""A front asked for in groups is the front asked for in keywords, and what contradicts itself is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tacit.design import (
    Bounds,
    Front,
    FrontPreferences,
    SearchEffort,
    closeness,
    design_front,
    exact_front,
    optimal_front,
    safe_front,
)
from tacit.errors import InvalidInput

PRIOR = [0.5, 0.3, 0.2]


def assert_same(first: Front, second: Front) -> None:
    assert first.method == second.method
    assert [point.to_document() for point in first.points] == [point.to_document() for point in second.points]


def test_the_search_is_the_same_by_groups_and_by_keywords() -> None:
    search = {"generations": 20, "population": 12, "archive": 8, "slots": 60, "polish": False, "seed": 4}
    preferences = FrontPreferences(method="optrr", accuracy=closeness(3))
    grouped = design_front(PRIOR, 500, bounds=Bounds(delta=0.8), preferences=preferences, effort=SearchEffort(**search))
    assert_same(grouped, optimal_front(PRIOR, records=500, delta=0.8, accuracy=closeness(3), **search))


def test_the_exact_front_is_the_same_by_groups_and_by_keywords() -> None:
    bounds = Bounds(delta=0.8, gamma=6.0, privacy=[0.4, 0.3])
    assert_same(
        design_front(PRIOR, 500, bounds=bounds), exact_front(PRIOR, 500, delta=0.8, gamma=6.0, privacy=[0.4, 0.3])
    )
    assert_same(design_front(PRIOR), optimal_front(PRIOR, method="exact"))


def test_a_set_of_priors_is_the_same_by_groups_and_by_keywords() -> None:
    others = [[0.4, 0.3, 0.3]]
    grouped = design_front(PRIOR, 500, bounds=Bounds(delta=0.8, others=others, ball=0.02))
    assert_same(grouped, safe_front(PRIOR, 500, delta=0.8, others=others, ball=0.02))


@pytest.mark.parametrize(
    ("bounds", "preferences", "message"),
    [
        ({"gamma": 3.0}, {"method": "warner"}, "gamma is for the exact method only, not for warner"),
        ({"privacy": [0.4]}, {"method": "optrr"}, "privacy is for the exact method only"),
        ({"ball": 0.1}, {}, "for the method exact with delta"),
        ({"ball": 0.1, "delta": 0.8}, {"method": "gamma-diagonal"}, "for the method exact with delta"),
        ({"others": [PRIOR], "delta": 0.8, "gamma": 3.0}, {}, "gamma cannot be given with it"),
        ({"ball": 1.0, "delta": 0.8}, {}, "ball is 1; it is the share of people"),
        ({"gamma": [3.0, np.inf]}, {}, "gamma is inf; it must be finite and above 1"),
        ({}, {"points": 0}, "points is 0"),
        ({}, {"accuracy": closeness(3)}, "The proof of the exact method counts right guesses only"),
        ({}, {"method": "optr"}, "Did you mean 'optrr'"),
    ],
)
def test_what_cannot_be_kept_together_is_refused(bounds: dict, preferences: dict, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        design_front(PRIOR, 500, bounds=Bounds(**bounds), preferences=FrontPreferences(**preferences))


@pytest.mark.parametrize("group", [Bounds, FrontPreferences, SearchEffort])
def test_settings_are_frozen_and_take_names_only(group: type) -> None:
    with pytest.raises(TypeError):
        group(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        group().delta = 0.5
