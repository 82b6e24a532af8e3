"""The OptRR study at its smallest: everything is there, and the simulation is right."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import numpy as np
import pytest

from tacit.design import named_prior, optimal_front
from tacit.errors import UnknownName
from tacit.experiments import iterative, optrr
from tacit.experiments.page import write_study
from tacit.experiments.registry import STUDIES, study


def test_studies_are_found_by_name() -> None:
    assert study("optrr") is STUDIES["optrr"]
    with pytest.raises(UnknownName, match="Did you mean 'optrr'"):
        study("optr")


def test_the_likelihood_estimate_of_exact_shares_is_the_truth() -> None:
    prior = np.array([0.5, 0.3, 0.2])
    matrix = optimal_front(prior, delta=0.8, method="warner").points[0].matrix
    np.testing.assert_allclose(iterative.most_likely(matrix, matrix @ prior), prior, atol=1e-3)


@pytest.mark.slow
def test_the_iterative_check_compares_at_equal_privacy() -> None:
    prior = named_prior("gamma", 5)
    warner = optimal_front(prior, delta=0.75, method="warner")
    found = optimal_front(prior, delta=0.75, generations=200, polish=False, seed=1)
    check = iterative.iterative_errors(warner, found, repetitions=50, seed=1)
    assert len(check.table.rows) == iterative.LEVELS
    assert "of 8 privacies" in check.comparison.ours


def test_attributes_without_a_shared_privacy_are_told_apart() -> None:
    """Under a tight bound all of Warner's matrices say next to nothing, and OptRR's stay below their privacy."""
    prior = named_prior("gamma", 5)
    warner = optimal_front(prior, delta=0.75, method="warner")
    found = optimal_front(prior, delta=0.75, generations=50, polish=False, seed=1)
    apart = dataclasses.replace(warner, points=warner.points[-1:])
    below = dataclasses.replace(found, points=found.points[:3])
    panels = [optrr.Panel("a", "a", 0.75, apart, below), optrr.Panel("b", "b", 0.75, warner, found)]
    assert panels[0].ratios == []
    (said,) = optrr._adult_comparison(panels)
    assert "of 1 attributes that share any" in said.ours
    assert said.ours.endswith("of 2")
    assert optrr._adult_table(panels).rows[0][-2:] == ("none shared", "-")


@pytest.mark.slow
def test_operators_and_polish_stand_side_by_side_with_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.design.polish.LEVELS", 3)
    monkeypatch.setattr("tacit.design.polish.RANDOM_STARTS", 1)
    panel = optrr._panel("normal", named_prior("normal", 4), 0.8, 20, 1, polish=True)
    assert [front.method for front in panel.fronts] == ["warner", "published operators", "polished"]
    said = optrr._least_privacies(panel)
    assert f"published operators {panel.operators.privacies.min():.3f}; polished {panel.least[1]:.3f}" in said
    assert [row[1] for row in optrr._front_table({("normal", 0.8): panel}).rows] == [f.method for f in panel.fronts]
    drawn = [line.get_label() for line in panel.plot().figure.axes[0].lines]
    assert drawn == ["polished", "published operators", "warner", "least possible error"]


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.skipif("TACIT_SOAK" not in os.environ, reason="a minute; its panels and tables are tested above")
def test_the_quick_study_shows_all_that_was_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    priors = {"sex": np.array([0.67, 0.33]), "race": np.array([0.85, 0.05, 0.05, 0.03, 0.02])}
    monkeypatch.setattr("tacit.bundled.adult_attribute_priors", lambda: priors)
    told: list[float] = []
    result = optrr.run(True, 2008, told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert [row.published for row in result.comparisons][:2] == [
        "Warner about 0.6, OptRR about 0.4",
        "Warner about 0.5, OptRR about 0.3",
    ]
    assert len(result.plots) == 6 + 2
    page = write_study(result, tmp_path / "study")
    text = page.read_text()
    assert "OptRR is below Warner everywhere" in text
    assert "race, 5 answers, delta 0.925, N 10,000, seed 2008, 100 generations" in text
    assert "published operators" in text
    assert "(not polished)" in result.comparisons[0].ours
    document = json.loads((tmp_path / "study" / "optrr.json").read_text())
    assert len(document["comparisons"]) == len(result.comparisons)
    assert (tmp_path / "study" / "optrr-normal-0.6.png").read_bytes().startswith(b"\x89PNG")
