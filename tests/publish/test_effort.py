"""Large tables are searched for as long as small ones, with fewer evaluations, and that is said."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.publish import Effort, Preferences, Protection, methods, settings
from tacit.publish import anonymize as plainly_anonymize
from tacit.publish.cells import CUTS_TRIED, FEWEST_TRIED, recodings_worth
from tacit.publish.publication import pose_publication
from tacit.publish.settings import Settings
from tacit.publish.watch import Watch
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize


@pytest.mark.parametrize(
    ("cells", "evaluations"), [(100, 50_000), (750_000, 50_000), (5_000_000, 8_000), (250_000_000, 1_000)]
)
def test_the_evaluations_fit_the_table(cells, evaluations):
    assert Effort().fit_to(cells).evaluations == evaluations
    assert Effort(evaluations=20_000).fit_to(cells).evaluations == 20_000  # what is asked for is done


def test_a_shorter_search_is_said(monkeypatch):
    monkeypatch.setattr(settings, "COUNTED", 1)
    monkeypatch.setattr(settings, "FEWEST_EVALUATIONS", 200)
    release = anonymize(people(), 6, seed=1)
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
    thinned = methods._spaced_front(front, 8)
    assert len(thinned) == 8
    assert (thinned[0], thinned[-1]) == (100, 199)
    assert methods._spaced_front(front, 100) is front


def test_a_large_table_is_proven_for_less_time(monkeypatch):
    posed = pose_publication(people(), Settings(Protection(attributes=["age", "town"]), Preferences(method="exact")))
    assert methods._proof_seconds(posed, "exact", Watch()) == 300
    monkeypatch.setattr(methods, "LARGE_TABLE", 10)
    assert methods._proof_seconds(posed, "exact", Watch()) == 80
    assert 6 < methods._proof_seconds(posed, "exact", Watch(7)) <= 7


def test_nothing_is_proven_unasked():
    """The proof took up to 30 CPU seconds of every run."""
    asked = {"attributes": ["age", "town"], "method": "search", "evaluations": 500, "seed": 1}
    assert anonymize(people(), 6, **asked).lower_bound is None
    proven = anonymize(people(), 6, **asked, prove=True)
    assert proven.lower_bound is not None
    near = anonymize(people(), 6, **asked, within=0.5)
    assert 0.5 * near.nwp <= near.lower_bound <= proven.nwp


@pytest.mark.parametrize(("method", "where"), [("local", "local recoding"), ("search", "the search")])
def test_the_time_bounds_the_run_and_what_is_there_is_published(method, where):
    release = anonymize(people(), 6, ["age", "town", "sex"], method=method, seconds=1e-6, seed=1)
    assert release.effective_k >= 6
    assert not release.complete
    assert any(f"The time for {where} was spent" in warning for warning in release.warnings)


@pytest.mark.parametrize("calls", [1, 40])
def test_an_interruption_leaves_the_best_until_then(calls):
    """Also one that comes when the first release stands already and others are looked for."""
    heard = iter(range(calls))

    def interrupt(share, what):
        if next(heard, None) is None:
            raise KeyboardInterrupt

    release = plainly_anonymize(people(), 6, ["age", "town", "sex"], effort=Effort(seed=1), progress=interrupt)
    assert release.effective_k >= 6
    assert release.to_arrow().num_rows == 400
