"""Estimated supports of itemsets, with errors: what the search for frequent itemsets asks for.

An itemset is one answer to each of some attributes; its support is the share of people to whom all of them apply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.shown_counts import Level
from tacit.count.sources import ReportSource, sources
from tacit.errors import InvalidInput
from tacit.estimation.result import ErrorRule
from tacit.estimation.sampled_sources import is_weighted
from tacit.estimation.shown_supports import ShownSupports, shows_answers
from tacit.estimation.split_supports import SplitSupports, is_symmetric
from tacit.estimation.sub_itemsets import Codes, Names
from tacit.estimation.table_supports import TableSupports
from tacit.schema import Schema


class Supports(Protocol):
    """Supports estimated from some reports; itemsets come grouped by their attributes, one row of codes each."""

    @property
    def schema(self) -> Schema:
        """The attributes that are asked."""

    @property
    def n_reports(self) -> int: ...

    @property
    def error_rule(self) -> ErrorRule:
        """Which rule its errors follow."""

    @property
    def origins(self) -> Sequence[Source]:
        """The sources whose tables have the supports as cells; none where a model has them."""

    def known(self, level: Level) -> tuple[Level, list[str]]:
        """The itemsets of one length that the reports hold information about, and why they hold none about the others."""

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        """Only these answers of each attribute will be asked for from now on."""

    def prepare(self, level: Level) -> None:
        """All itemsets of one length that will be asked for, after those of every shorter length."""

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        """The unbiased estimate of each support and its standard error, for a population that was sampled at random."""

    def level_estimates(self, level: Level) -> Mapping[Names, tuple[Array, Array]]:
        """`estimates` of all itemsets of one length, by their attributes."""

    def covariances(self, names: Names, codes: Codes) -> Array:
        """Covariances of the supports of all sub-itemsets of each: ``(itemsets, 2**length, 2**length)``."""


def supports_from(reports: ReportSource | Sequence[ReportSource]) -> Supports:
    """The supports in reports, by closed forms where their channels have them."""
    origins = [source for source in sources(reports) if source.engine.n_rows]
    if not origins:
        raise InvalidInput("There are no reports to mine.")
    if is_weighted(origins):
        return TableSupports(tuple(origins))
    if len(origins) == 1 and shows_answers(origins[0]):
        return ShownSupports(origins[0])
    if all(is_symmetric(source) for source in origins):
        return SplitSupports(tuple(origins))
    return TableSupports(tuple(origins))
