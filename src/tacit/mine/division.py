"""Reports divided into folds, wherever they are stored, and the joint model that several classifiers learn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.scheme import Scheme
from tacit.count.abilities import distinct_rows, held_rows
from tacit.count.memory import MemoryEngine
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources, true_schema
from tacit.errors import InvalidInput
from tacit.joint import JointModel, fit_joint
from tacit.table import Table

# Of more reports than this a random part is divided: errors over folds are small long before.
MOST_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class LoadedReports:
    """Reports whose rows lie in memory: counted like any others, and divided.

    `scheme` tells in which order attributes are listed.
    """

    parts: tuple[Source, ...]
    scheme: Scheme

    def sources(self) -> tuple[Source, ...]:
        return self.parts

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.parts)

    @cached_property
    def joint(self) -> JointModel:
        """The model of whole records; fitted once, however many classifiers learn from it."""
        return fit_joint(self)

    def select_rows(self, rows: Sequence[NDArray[np.int64]]) -> LoadedReports:
        """The reports at these positions of each part."""
        parts = [
            replace(source, engine=MemoryEngine(_rows(source).rows(which)))
            for source, which in zip(self.parts, rows, strict=True)
        ]
        return LoadedReports(tuple(parts), self.scheme)


def loaded_reports(
    reports: ReportSource | Sequence[ReportSource], seed: int = 0, most_rows: int = MOST_ROWS
) -> LoadedReports:
    """The reports with their rows in memory; of very many a random part."""
    if isinstance(reports, LoadedReports):
        return reports
    origins = sources(reports)
    if not sum(source.engine.n_rows for source in origins):
        raise InvalidInput("There are no reports to learn from.")
    rng = np.random.default_rng(seed)
    share = min(1.0, most_rows / sum(source.engine.n_rows for source in origins))
    parts = tuple(replace(source, engine=MemoryEngine(_written_out(source, share, rng))) for source in origins)
    listed = reports if isinstance(reports, Sequence) else [reports]
    schemes = [source.scheme for source in listed if hasattr(source, "scheme")]
    return LoadedReports(parts, schemes[0] if schemes else Scheme.from_groups(true_schema(origins)))


def joint_model(reports: ReportSource | Sequence[ReportSource]) -> JointModel:
    """The joint model of the reports: the one they hold already, or a new one."""
    return reports.joint if isinstance(reports, LoadedReports) else fit_joint(reports)


def folds(reports: LoadedReports, number: int, seed: int) -> Iterator[tuple[LoadedReports, LoadedReports]]:
    """Reports to learn from and reports to test on, so that every report is tested on once."""
    fewest = min(source.engine.n_rows for source in reports.parts)
    if not (isinstance(number, int) and 2 <= number <= fewest):
        raise InvalidInput(f"The number of folds must be from 2 to the {fewest:,} reports there are, not {number!r}.")
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(source.engine.n_rows) for source in reports.parts]
    for fold in range(number):
        testing = [np.sort(order[fold::number]) for order in orders]
        learning = [np.setdiff1d(order, rows) for order, rows in zip(orders, testing, strict=True)]
        yield reports.select_rows(learning), reports.select_rows(testing)


def _written_out(source: Source, share: float, rng: np.random.Generator) -> Table:
    """One row for each report, or for a random part of them."""
    rows = held_rows(source.engine)
    if rows is None:
        # Which answers were given together is all that is needed, so tallies of whole reports are written out again.
        distinct, counts = distinct_rows(source.engine, source.questionnaire.report_schema.names)
        rows = distinct.rows(np.repeat(np.arange(len(counts)), counts))
    if share == 1.0:
        return rows
    return rows.rows(np.sort(rng.choice(rows.n_rows, max(1, int(share * rows.n_rows)), replace=False)))


def _rows(source: Source) -> Table:
    rows = held_rows(source.engine)
    assert rows is not None, "loaded reports have their rows in memory"
    return rows
