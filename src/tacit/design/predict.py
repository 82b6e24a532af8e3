"""Standard errors of itemset supports before any data are collected."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.channel.base import Array
from tacit.channel.scheme import Scheme
from tacit.design.split import known_interactions
from tacit.errors import InvalidInput, NotEstimable
from tacit.measures.cost import report_variance
from tacit.measures.prior import Prior


@dataclass(frozen=True)
class PredictedErrors:
    """For each itemset length the standard error to expect: the root mean square over all itemsets of that length.

    None where some of them cannot be estimated.
    """

    respondents: int
    by_length: tuple[float | None, ...]

    def at(self, length: int) -> float | None:
        return self.by_length[length - 1]

    def to_document(self) -> list[dict[str, Any]]:
        return [{"length": at, "standard_error": error} for at, error in enumerate(self.by_length, start=1)]


def predicted_errors(
    scheme: Scheme, respondents: int, max_length: int | None = None, prior: Any = None
) -> PredictedErrors:
    """The errors to expect of itemsets of every length at the prior; without one, answers are taken to be even."""
    if not (isinstance(respondents, int) and respondents >= 1):
        raise InvalidInput(f"The number of respondents must be a whole number of at least 1, not {respondents!r}.")
    names = scheme.schema.names
    longest = len(names) if max_length is None else min(max_length, len(names))
    assumed = Prior.of(scheme.schema, prior, scheme.prior, scheme.routed_records)
    variances = _SplitVariances.of(scheme, assumed) or (
        lambda table: float(report_variance(scheme, assumed, table).sum())
    )
    errors: list[float | None] = []
    for length in range(1, longest + 1):
        tables = list(itertools.combinations(names, length))
        try:
            total = sum(variances(table) for table in tables)
        except NotEstimable:
            errors.append(None)
            continue
        cells = sum(math.prod(scheme.schema.shape(table)) for table in tables)
        errors.append(math.sqrt(total / cells / respondents))
    return PredictedErrors(respondents, tuple(errors))


@dataclass(frozen=True, eq=False)
class _SplitVariances:
    """Variances of pooled tables, summed over their cells, where every questionnaire treats all records alike.

    Then a report's squared contributions have the same sum whatever is true, so that no table need be pooled: what the
    prior changes is only the squares of the means, interaction by interaction.
    """

    scheme: Scheme
    prior: Prior
    information: Array  # information about each set of attributes
    squared: Array  # the same of squared information

    @classmethod
    def of(cls, scheme: Scheme, prior: Prior) -> _SplitVariances | None:
        names = scheme.schema.names
        information, squared = known_interactions(scheme, names), known_interactions(scheme, names, 2)
        return None if information is None or squared is None else cls(scheme, prior, information, squared)

    def __call__(self, table: Sequence[str]) -> float:
        """Times the number of respondents."""
        sizes = dict(zip(table, self.scheme.schema.shape(table), strict=True))
        total = 0.0
        for members in (chosen for size in range(1, len(table) + 1) for chosen in itertools.combinations(table, size)):
            number = sum(1 << self.scheme.schema.names.index(name) for name in members)
            if self.information[number] == 0:
                raise NotEstimable(f"{', '.join(table)} are never asked together.")
            others = math.prod(size for name, size in sizes.items() if name not in members)
            even = math.prod(sizes[name] - 1 for name in members) / math.prod(sizes[name] for name in members)
            from_shares = self.squared[number] / self.information[number] ** 2 * self._interaction(members)
            total += (even / self.information[number] - from_shares) / others
        return total

    def _interaction(self, members: tuple[str, ...]) -> float:
        """Summed squares of what the prior's table of some attributes has beyond its margins."""
        table = self.prior.joint(members)
        for axis in range(table.ndim):
            table = table - table.mean(axis=axis, keepdims=True)
        return float((table**2).sum())
