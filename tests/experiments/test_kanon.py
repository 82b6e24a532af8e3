from __future__ import annotations

import numpy as np
import pytest

from tacit import bundled
from tacit.experiments import kanon


@pytest.fixture(scope="module")
def result():
    return kanon.run(True, 1)


def test_every_study_has_its_rows(result):
    wanted, populations, weights, blocks, biases = result.tables
    assert len(wanted.rows) == 12
    assert [row[0] for row in populations.rows] == ["population 100", "population 250", "population 500"]
    assert len(weights.rows) == len(blocks.rows) == 5
    assert len(biases.rows) == 4
    assert [plot.name for plot in result.plots] == ["k", "population", "weights", "bias"]


def test_it_quotes_only_what_was_published_and_says_on_what_it_ran(result):
    quoted = [row.published for row in result.comparisons]
    assert quoted == ["about 15 minutes for 50,000, in 2009", None, None, None]
    assert "30,162 complete rows" in result.settings
    assert "seed 1" in result.settings


def test_axes_name_the_values_that_were_tried(result):
    ticks = [label.get_text() for label in result.plots[0].figure.axes[0].get_xticklabels()]
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
