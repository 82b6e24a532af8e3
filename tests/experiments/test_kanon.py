from __future__ import annotations

import numpy as np
import pytest

from tacit import bundled
from tacit.experiments import kanon
from tacit.experiments.registry import PublishedComparison


@pytest.fixture(scope="module")
def result():
    return kanon.run(True, 1)


def test_every_study_has_its_rows(result):
    wanted, populations, weights, blocks, biases = result.tables
    assert len(wanted.rows) == 12
    assert [row[0] for row in populations.rows] == ["population 100", "population 250", "population 500"]
    assert len(weights.rows) == len(blocks.rows) == 5
    assert len(biases.rows) == 4
    assert [plot.name for plot in result.plots] == ["fronts", "k", "population", "weights", "bias"]
    assert len(result.plots[0].figure.axes) == len(kanon.WANTED_K)


def test_every_claim_of_the_publication_has_a_row_and_a_quick_run_judges_none(result):
    quoted = {row.published for row in result.comparisons}
    assert {
        "close to the wanted k",
        "above the wanted k",
        "8 for one vector",
        "5, 6, 7, within a loss of 0.2",
    } <= quoted
    assert {row.verdict for row in result.comparisons if row.published is not None} == {"full run"}
    assert [row.verdict for row in result.comparisons if row.published is None] == ["found here"]
    assert "30,162 complete rows" in result.settings
    assert "seed 1" in result.settings


def test_a_claim_that_does_not_hold_says_why():
    assert PublishedComparison("loss", "more", "less", False, "the search ended early").verdict == (
        "differs: the search ended early"
    )
    assert PublishedComparison("loss", "more", "more", True, "never said").verdict == "agrees"


def test_axes_name_the_values_that_were_tried(result):
    ticks = [label.get_text() for label in result.plots[1].figure.axes[0].get_xticklabels()]
    assert ticks == ["2", "5", "10", "25", "50", "100"]


def test_the_wanted_k_is_reached(result):
    for row in result.tables[0].rows:
        wanted = int(row[0].split(",")[0].removeprefix("k = "))
        assert row[3] >= wanted


@pytest.mark.slow
def test_a_smaller_preferred_bias_makes_the_release_fairer(result):
    biases = [float(row[2]) for row in result.tables[4].rows]
    assert biases[-1] < biases[0]


def test_weights_sum_to_one_and_the_heavy_attribute_keeps_most_blocks(result):
    schema = bundled.adult_nine().schema
    vectors = kanon.weight_vectors(schema.names, np.array(schema.shape()))
    assert all(vector.sum() == pytest.approx(1) for vector in vectors.values())
    blocks = {row[0]: dict(zip(schema.names, row[1:], strict=True)) for row in result.tables[3].rows}
    assert blocks["country"]["native-country"] >= blocks["equal"]["native-country"]
