"""The naive Bayes study on little material, and its published curves of privacy."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bundled import binary_breast_cancer
from tacit.experiments import bayes
from tacit.experiments.registry import StudyResult


@pytest.fixture(scope="module")
def material() -> bayes.BayesMaterial:
    return bayes.BayesMaterial("Breast Cancer", "Class", binary_breast_cancer().table)


@pytest.fixture(scope="module")
def result(material: bayes.BayesMaterial) -> StudyResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bayes, "materials", lambda: (material,))
        return bayes.run(True, 2008, lambda share: None)


def test_the_settings_are_the_published_ones() -> None:
    assert bayes.KEEPS == (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert bayes.REPEATS == 1000


def test_what_was_published_holds(result: StudyResult) -> None:
    said = {row.what: row.holds for row in result.comparisons}
    assert said["Breast Cancer: q = 0"] is True
    assert said["Breast Cancer: q = 1"] is True
    assert said["Breast Cancer: growing q"] is True
    assert said["PSE, W_y = .5"] is True


def test_half_of_the_records_told_lose_next_to_nothing(material: bayes.BayesMaterial) -> None:
    found = bayes.repeated_accuracies(material, 0.5, 100, np.random.default_rng(1))
    assert material.clear - found.mean() < 0.02
    assert found.mean() > material.majority + 0.2


def test_at_nothing_kept_the_table_and_the_picture_say_that_there_is_no_estimate(result: StudyResult) -> None:
    assert result.tables[0].rows[0][:2] == ("0", "no estimate")
    (axes,) = result.plots[0].figure.axes
    assert any("no estimate" in text.get_text() for text in axes.texts)


def test_it_says_how_many_records_repeats_and_which_seed(result: StudyResult) -> None:
    assert "Breast Cancer 699" in result.settings
    assert "20 repeats" in result.settings
    assert "seed 2008" in result.settings
    (unpublished,) = [row for row in result.comparisons if "disguised test data" in row.what]
    assert unpublished.published is None


def test_tables_and_pictures_are_complete(result: StudyResult) -> None:
    assert [plot.name for plot in result.plots] == ["breast-cancer", "breast-cancer-tested", "pse"]
    assert len(result.tables[0].rows) == 12
    assert len(result.tables[1].rows) == 11


def test_the_curves_of_privacy() -> None:
    values = bayes.pse_values()
    np.testing.assert_allclose(values[:, 0], [0.18, 0.32, 0.42, 0.48, 0.5])  # 2 a (1 - a): the report says nothing
    np.testing.assert_allclose(values[:, -1], 0, atol=1e-15)
    assert values[-1, 5] == pytest.approx(0.375)
