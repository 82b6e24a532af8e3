"""The tree study on little material: its ends are those of clear data, its pictures and tables are complete."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.bundled import binary_breast_cancer
from tacit.experiments import trees
from tacit.experiments.registry import StudyResult


@pytest.fixture(scope="module")
def told() -> list[float]:
    return []


@pytest.fixture(scope="module")
def result(told: list[float]) -> StudyResult:
    with pytest.MonkeyPatch.context() as patch:
        material = trees.TreeMaterial("Breast Cancer", "Class", binary_breast_cancer())
        patch.setattr(trees, "materials", lambda: (material,))
        return trees.run(True, 2008, told.append)


def test_the_thetas_are_the_published_ones() -> None:
    assert trees.THETAS == (0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 1)
    assert (trees.GROUPS, trees.REPEATS) == ((1, 2, 3), 50)


def test_what_was_published_holds(result: StudyResult) -> None:
    said = {row.what: row.holds for row in result.comparisons}
    assert said["Breast Cancer: theta 0 and 1"] is True
    assert said["Breast Cancer: towards theta 1/2"] is True
    assert said["Breast Cancer: more groups"] is True


@pytest.mark.slow
def test_guarded_splits_do_better_with_more_groups(result: StudyResult) -> None:
    gains = [row.ours for row in result.comparisons if "guarded splits, " in row.what]
    assert len(gains) == 3
    assert "+" in gains[1]
    assert "+" in gains[2]


def test_tables_and_pictures_are_complete(result: StudyResult) -> None:
    accuracies, surface = result.tables
    assert len(accuracies.rows) == len(trees.THETAS) * len(trees.GROUPS)
    assert surface.columns[-1] == "10 groups"
    assert [plot.name for plot in result.plots] == ["breast-cancer", "breast-cancer-surface"]
    assert result.to_document()["name"] == "trees"


def test_every_mean_has_a_bar_of_deviation_that_stays_within_accuracies(result: StudyResult) -> None:
    axes = result.plots[0].figure.axes
    bars = [path.vertices[:, 1] for axis in axes for drawn in axis.collections for path in drawn.get_paths()]
    assert len(bars) == len(trees.GROUPS) * 2 * len(trees.THETAS)
    assert all(bar.min() >= 0 and bar.max() <= 1 for bar in bars)


def test_every_fold_is_tested_on_as_often_so_that_quick_runs_compare_like_with_like() -> None:
    """Three repeats on five folds were once held against a majority and a clear tree of all five."""
    for repeats in (trees.REPEATS, trees.QUICK_REPEATS, trees.SURFACE_REPEATS, trees.QUICK_SURFACE_REPEATS):
        assert repeats % trees.FOLDS == 0


def test_it_says_how_many_records_repeats_and_which_seed(result: StudyResult) -> None:
    assert "Breast Cancer 699" in result.settings
    assert "5 repeats" in result.settings
    assert "seed 2008" in result.settings
    assert "699 records" in result.plots[0].description


def test_what_the_publication_does_not_say_stands_under_nothing_published(result: StudyResult) -> None:
    ours = [row for row in result.comparisons if "guarded" in row.what or "majority" in row.what]
    assert ours
    assert all(row.published is None and row.holds is None for row in ours)


def test_progress_never_goes_back(result: StudyResult, told: list[float]) -> None:
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_every_attribute_is_dealt_into_one_group() -> None:
    truth = binary_breast_cancer()
    scheme = trees.dealt_scheme(truth, 0.7, 3, np.random.default_rng(1))
    dealt = sorted(name for group in scheme.groups for name in group.names)
    assert dealt == sorted(truth.schema.names)
    assert [len(group.names) for group in scheme.groups] == [4, 3, 3]


def test_folds_cut_the_rows_by_their_number() -> None:
    material = trees.TreeMaterial("Breast Cancer", "Class", binary_breast_cancer())
    learning, testing = material.fold(2)
    np.testing.assert_array_equal(testing["Class"], material.truth.table["Class"][2::5])
    assert learning.n_rows + testing.n_rows == 699
    assert material.majority == pytest.approx(458 / 699, abs=0.001)
