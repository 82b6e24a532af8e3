"""Supports of the most likely joint distribution: never negative, and consistent among each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.shown_counts import Level
from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput
from tacit.estimation import estimate
from tacit.estimation.result import ErrorRule
from tacit.estimation.sub_itemsets import Codes, Names
from tacit.estimation.supports import Supports
from tacit.schema import Schema

# The iteration goes through the whole joint domain many times.
JOINT_CELLS = 1 << 16
# Accelerated steps from an even start: about 5 CPU seconds on CENSUS split by questionnaires, where the iteration had not
# reached its tolerance after minutes; the supports of these steps are well ahead of the unbiased ones.
MOST_STEPS = 60


@dataclass(frozen=True, eq=False)
class LikelySupports:
    """The margins of one joint distribution; the errors given are those of the unbiased estimates."""

    unbiased: Supports
    joint: Array

    @property
    def schema(self) -> Schema:
        return self.unbiased.schema

    @property
    def origins(self) -> tuple[Source, ...]:
        return ()

    @property
    def error_rule(self) -> ErrorRule:
        return self.unbiased.error_rule

    @property
    def n_reports(self) -> int:
        return self.unbiased.n_reports

    def known(self, level: Level) -> tuple[Level, list[str]]:
        return self.unbiased.known(level)

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        self.unbiased.keep(answers)

    def prepare(self, level: Level) -> None:
        self.unbiased.prepare(level)

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        others = tuple(axis for axis, name in enumerate(self.schema.names) if name not in names)
        return self.joint.sum(axis=others)[tuple(codes.T)], self.unbiased.estimates(names, codes)[1]

    def level_estimates(self, level: Level) -> Mapping[Names, tuple[Array, Array]]:
        return {names: self.estimates(names, codes) for names, codes in level.items()}

    def covariances(self, names: Names, codes: Codes) -> Array:
        return self.unbiased.covariances(names, codes)


def most_likely_supports(reports: ReportSource | Sequence[ReportSource], unbiased: Supports) -> LikelySupports:
    """Supports of the joint distribution of all attributes that makes the reports (nearly) most likely."""
    schema = unbiased.schema
    cells = math.prod(schema.shape())
    if cells > JOINT_CELLS:
        raise InvalidInput(
            f"The joint domain of {len(schema)} attributes has {cells:,} cells; the likelihood can be maximised over at "
            f"most {JOINT_CELLS:,}. Use method='inversion', or deal split questionnaires of fewer attributes each."
        )
    fit = estimate(reports, schema.names, method="likelihood", max_steps=MOST_STEPS)
    return LikelySupports(unbiased, fit.probabilities)
