"""What an estimate says of itself."""

from __future__ import annotations

import json
import pkgutil

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import estimation
from tacit.errors import InvalidInput
from tacit.estimation import TableEstimate
from tests.estimation.simulation import SCHEMES, simulated


@pytest.fixture
def found() -> TableEstimate:
    return tacit.estimate(simulated(SCHEMES["gamma"], 300, 1), ["age", "smokes"])


def test_the_document_names_every_cell(found: TableEstimate) -> None:
    document = json.loads(json.dumps(found.to_document(0.9)))
    assert document["n_reports"] == 300
    assert document["method"] == "inversion"
    assert document["sampling"] == "population"
    cell = document["cells"][5]
    assert cell["answers"] == {"age": "old", "smokes": "yes"}
    assert cell["probability"] == found.probabilities[2, 1]
    assert 0 <= cell["low"] <= cell["constrained"] <= cell["high"] <= 1
    assert cell["high"] - cell["low"] == pytest.approx(2 * 1.6449 * cell["standard_error"], rel=0.05)


def test_an_arrow_table_has_a_row_per_cell(found: TableEstimate) -> None:
    table = found.to_arrow()
    assert table.column_names == ["age", "smokes", "probability", "constrained", "standard_error", "low", "high"]
    assert table.num_rows == 6
    assert table.column("probability").to_pylist() == found.probabilities.ravel().tolist()


def test_it_goes_into_any_data_frame(found: TableEstimate) -> None:
    assert pl.DataFrame(found).rows() == [tuple(row.values()) for row in found.to_arrow().to_pylist()]


def test_an_attribute_named_like_a_number_keeps_its_answers() -> None:
    clear = tacit.Reports.from_truth({"low": ["a", "b", "b"]})
    table = tacit.estimate(clear, "low").to_arrow()
    assert table.column("low").to_pylist() == ["a", "b"]
    assert table.column_names == ["low", "probability", "constrained", "standard_error", "low_", "high"]


def test_it_prints_one_line_per_cell(found: TableEstimate) -> None:
    lines = str(found).splitlines()
    assert len(lines) == 7
    assert lines[-1] == "(± one standard error)"
    assert lines[0].startswith("young no ")
    assert "±" in lines[0]


def test_the_distribution_is_one(found: TableEstimate) -> None:
    assert found.distribution().min() >= 0
    assert np.isclose(found.distribution().sum(), 1)


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.2])
def test_levels_that_are_none_are_refused(found: TableEstimate, level: float) -> None:
    with pytest.raises(InvalidInput, match=f"it cannot be {level}"):
        found.interval(level)


def test_no_function_of_the_package_has_the_name_of_one_of_its_modules() -> None:
    """The module would take its place as soon as somebody imports it."""
    modules = {module.name for module in pkgutil.iter_modules(estimation.__path__)}
    assert modules > {"mean", "result"}
    assert [name for name in modules if callable(getattr(estimation, name, None))] == []
