"""Many tables from one pass over the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import Scheme, channels
from tacit.count import sources
from tacit.count.protocol import CountEngine, Source
from tacit.count.remembered import RememberingEngine
from tacit.errors import NotEstimable, UnknownName
from tests.estimation.simulation import SCHEMA, SCHEMES, simulated

TABLES = ["age", ["smokes"], ["smokes", "age"], ["sex", "drinks"]]


@dataclass(frozen=True, eq=False)
class WatchedEngine:
    """Notes how often the reports are gone through."""

    engine: CountEngine
    passes: list[int] = field(default_factory=list)

    @property
    def schema(self) -> Any:
        return self.engine.schema

    @property
    def n_rows(self) -> int:
        return self.engine.n_rows

    def tally(self, columns: Sequence[str]) -> Any:
        self.passes.append(1)
        return self.engine.tally(columns)

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> Any:
        self.passes.append(len(column_sets))
        return self.engine.tallies(column_sets)

    def sparse_tally(self, columns: Sequence[str]) -> Any:
        self.passes.append(1)
        return self.engine.sparse_tally(columns)

    def totals(self, products: Any) -> Any:
        self.passes.append(1)
        return self.engine.totals(products)


@dataclass(frozen=True, eq=False)
class WatchedReports:
    found: tuple[Source, ...]

    def sources(self) -> tuple[Source, ...]:
        return self.found


def watched(reports: tacit.Reports) -> tuple[WatchedReports, list[WatchedEngine]]:
    found = sources(reports)
    engines = [WatchedEngine(source.engine) for source in found]
    return WatchedReports(tuple(replace(s, engine=e) for s, e in zip(found, engines, strict=True))), engines


@pytest.mark.parametrize("scheme", ["public", "gamma", "flip", "tall-part", "mask", "subset"])
def test_tables_are_the_single_estimates_from_one_pass(scheme: str) -> None:
    reports = simulated(SCHEMES[scheme], 500, 1)
    watching, engines = watched(reports)
    found = tacit.estimate(watching, TABLES)
    assert [len(engine.passes) for engine in engines] == [1]
    for names, table in zip(TABLES, found, strict=True):
        alone = tacit.estimate(reports, names)
        assert np.array_equal(table.probabilities, alone.probabilities)
        assert np.array_equal(table.standard_errors, alone.standard_errors)
        assert table.names == alone.names


def test_questionnaires_are_gone_through_once_each() -> None:
    reports = simulated(SCHEMES["dealt"], 900, 1)
    watching, engines = watched(reports)
    found = tacit.estimate(watching, ["age", ["smokes", "age"]])
    assert all(len(engine.passes) <= 1 for engine in engines)
    assert np.array_equal(found[1].probabilities, tacit.estimate(reports, ["smokes", "age"]).probabilities)


def test_likelihood_in_the_plural() -> None:
    reports = simulated(SCHEMES["gamma"], 300, 1)
    (found,) = tacit.estimate(reports, [["smokes", "age"]], method="likelihood")
    alone = tacit.estimate(reports, ["smokes", "age"], method="likelihood")
    assert np.array_equal(found.probabilities, alone.probabilities)


def test_what_was_not_counted_is_asked_for() -> None:
    (source,) = sources(simulated(SCHEMES["gamma"], 300, 1))
    engine = RememberingEngine.of(WatchedEngine(source.engine), [["smokes", "age"]])
    assert np.array_equal(engine.tally(["age"]), source.engine.tally(["age"]))
    assert np.array_equal(engine.tallies([["age", "smokes"]])[0], source.engine.tally(["age", "smokes"]))
    assert engine.engine.passes == [1]
    assert np.array_equal(engine.tallies([["sex"], ["age"]])[0], source.engine.tally(["sex"]))
    assert np.array_equal(engine.tally(["sex"]), source.engine.tally(["sex"]))
    assert np.array_equal(engine.sparse_tally(["sex"]).counts, source.engine.sparse_tally(["sex"]).counts)
    assert engine.engine.passes == [1, 2, 1, 1]


def test_tables_that_cannot_be_are_refused() -> None:
    reports = simulated(SCHEMES["dealt"], 300, 1)
    with pytest.raises(UnknownName, match="Attribute 'agee' does not exist"):
        tacit.estimate(reports, [["age"], ["agee"]])
    apart = [(name, 0.5, [([name], channels.gamma_diagonal(9))]) for name in ("smokes", "age")]
    with pytest.raises(NotEstimable, match="'smokes', 'age' are never asked together"):
        tacit.estimate(simulated(Scheme.dealt(SCHEMA, apart), 300, 1), ["age", ["smokes", "age"]])
