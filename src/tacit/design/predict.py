"""Standard errors of itemset supports before any data are collected."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    """The errors to expect of itemsets of every length; without a prior, answers are taken to be evenly spread.

    The mean over all itemsets hardly depends on the truth: for channels that treat all records alike, what one itemset
    gains by being common others lose.
    """
    if not (isinstance(respondents, int) and respondents >= 1):
        raise InvalidInput(f"The number of respondents must be a whole number of at least 1, not {respondents!r}.")
    names = scheme.schema.names
    longest = len(names) if max_length is None else min(max_length, len(names))
    known = known_interactions(scheme, names)
    assumed = Prior.of(scheme.schema, prior, scheme.prior, scheme.routed)
    errors: list[float | None] = []
    for length in range(1, longest + 1):
        tables = list(itertools.combinations(names, length))
        try:
            if known is not None:
                sums = [_split_variances(scheme, known, table) for table in tables]
            else:
                sums = [float(report_variance(scheme, assumed, table).sum()) for table in tables]
        except NotEstimable:
            errors.append(None)
            continue
        cells = sum(math.prod(scheme.schema.shape(table)) for table in tables)
        errors.append(math.sqrt(sum(sums) / cells / respondents))
    return PredictedErrors(respondents, tuple(errors))


def _split_variances(scheme: Scheme, known: np.ndarray[Any, np.dtype[np.float64]], table: Sequence[str]) -> float:
    """Summed over the cells of a table, times the number of respondents; exact for even answers."""
    places = [scheme.schema.names.index(name) for name in table]
    sizes = scheme.schema.shape(table)
    total = 0.0
    for chosen in itertools.product((False, True), repeat=len(table)):
        if not any(chosen):
            continue
        information = known[sum(1 << place for place, inside in zip(places, chosen, strict=True) if inside)]
        if information == 0:
            raise NotEstimable(f"{', '.join(table)} are never asked together.")
        factors = [(1 - 1 / d) / d if inside else 1 / d**2 for d, inside in zip(sizes, chosen, strict=True)]
        total += math.prod(factors) / information
    return total * math.prod(sizes)
