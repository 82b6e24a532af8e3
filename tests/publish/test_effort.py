"""Large tables are searched for as long as small ones, with fewer evaluations, and that is said."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.publish import Effort, Preferences, Protection, methods, settings
from tacit.publish.cells import CUTS_TRIED, FEWEST_TRIED, recodings_worth
from tacit.publish.publication import pose_publication
from tacit.publish.settings import Settings
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize


@pytest.mark.parametrize(
    ("cells", "evaluations"), [(100, 50_000), (750_000, 50_000), (5_000_000, 8_000), (250_000_000, 1_000)]
)
def test_the_evaluations_fit_the_table(cells, evaluations):
    assert Effort().fitted(cells).evaluations == evaluations
    assert Effort(evaluations=20_000).fitted(cells).evaluations == 20_000  # what is asked for is done


def test_a_shorter_search_is_said(monkeypatch):
    monkeypatch.setattr(settings, "COUNTED", 1)
    monkeypatch.setattr(settings, "FEWEST_EVALUATIONS", 200)
    release = anonymize(people(), 6, seconds=0, seed=1)
    assert release.answer.evaluations <= 400
    assert any("evaluated 200 generalizations in place of 50,000 (Effort" in own for own in release.warnings)
    asked = anonymize(people(), 6, **QUICK)
    assert not any("evaluated" in own for own in asked.warnings)


def test_fewer_recodings_of_a_large_table_are_tried():
    assert recodings_worth(10_000) == CUTS_TRIED
    assert recodings_worth(400_000) == 20
    assert recodings_worth(10**8) == FEWEST_TRIED


def test_a_thinned_front_keeps_its_ends():
    front = np.arange(100, 200)
    thinned = methods._spaced(front, 8)
    assert len(thinned) == 8
    assert (thinned[0], thinned[-1]) == (100, 199)
    assert methods._spaced(front, 100) is front


def test_a_large_table_is_proven_for_less_time(monkeypatch):
    posed = pose_publication(people(), Settings(Protection(attributes=["age", "town"]), Preferences(method="exact")))
    assert methods._proof_seconds(posed, "exact") == 300
    monkeypatch.setattr(methods, "LARGE_TABLE", 10)
    assert methods._proof_seconds(posed, "exact") == 80
    asked = Settings(Protection(attributes=["age", "town"]), Preferences(method="exact"), Effort(seconds=7))
    assert methods._proof_seconds(pose_publication(people(), asked), "exact") == 7
