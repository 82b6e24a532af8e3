"""What a disguise costs: the standard error to expect of each estimated share at N respondents.

The estimate that will be made is made beforehand, of the reports that the prior makes one expect: the same parts, the
same pooling, the same weights. Its error is that of respondents sampled from a population.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.channel.base import Array
from tacit.channel.scheme import Questionnaire, Scheme
from tacit.errors import NotEstimable
from tacit.estimation.contributions import Contributions
from tacit.estimation.group_parts import Part, apply, parts_for
from tacit.estimation.mean import Mean
from tacit.estimation.pooling import AskedTable, pooled_contributions
from tacit.estimation.simplex import floor_shares
from tacit.measures.prior import JOINT_CELLS, Prior
from tacit.randomness import ONE


@dataclass(frozen=True, eq=False)
class ExpectedError:
    """Standard errors of the shares of every combination of answers of some attributes; None if not estimable."""

    attributes: tuple[str, ...]
    respondents: int
    standard_errors: Array | None
    direct: Array | None  # the same if everyone were asked directly
    reason: str = ""  # why there is no estimate

    @property
    def worst(self) -> float | None:
        return None if self.standard_errors is None else float(self.standard_errors.max())

    @property
    def worst_direct(self) -> float | None:
        return None if self.direct is None else float(self.direct.max())


def expected_errors(scheme: Scheme, prior: Prior, respondents: int) -> tuple[ExpectedError, ...]:
    """The errors to expect of every attribute and of every pair of attributes."""
    names = scheme.schema.names
    sets = [(name,) for name in names] + list(itertools.combinations(names, 2))
    return tuple(expected_error(scheme, prior, attributes, respondents) for attributes in sets)


def expected_error(scheme: Scheme, prior: Prior, attributes: Sequence[str], respondents: int) -> ExpectedError:
    """The errors to expect of one joint table."""
    names = tuple(attributes)
    cells = math.prod(scheme.schema.shape(names))
    if cells > JOINT_CELLS:
        return ExpectedError(names, respondents, None, None, f"{cells:,} combinations are too many to list")
    share = prior.joint(names)
    direct = np.sqrt(share * (1 - share) / respondents)
    try:
        variance = report_variance(scheme, prior, names)
    except NotEstimable as error:
        return ExpectedError(names, respondents, None, direct, str(error))
    return ExpectedError(names, respondents, np.sqrt(variance / respondents), direct)


def report_variance(scheme: Scheme, prior: Prior, names: Sequence[str]) -> Array:
    """Variance of the estimate of each cell, times the number of respondents, if the truth is the prior.

    It is that of the very estimate that will be made: of one questionnaire, or pooled over all that ask any of the
    attributes, with the weights that the reports will get.
    """
    # As if ONE people were asked, each questionnaire by its weight.
    dealt = zip(scheme.questionnaires, map(int, scheme.dealing_weights), strict=True)
    asking = [
        (questionnaire, people)
        for questionnaire, people in dealt
        if people > 0 and set(names) & set(questionnaire.attributes)
    ]
    if not any(set(names) <= set(questionnaire.attributes) for questionnaire, _ in asking):
        raise NotEstimable(
            f"No questionnaire asks {' and '.join(names)} together, so they have no joint estimate. "
            "Ask for them separately, or deal a questionnaire that holds both."
        )
    tables = [
        AskedTable(questionnaire, people, _foreseen(questionnaire, prior, people)) for questionnaire, people in asking
    ]
    if len(tables) == 1:
        foreseen = tables[0].table(tuple(names))
        return ONE * np.asarray(foreseen.moments.variance())
    shape = scheme.schema.shape(names)
    return ONE * Mean(tuple(names), shape, pooled_contributions(tables, names, shape)).moment_variances()


def _foreseen(questionnaire: Questionnaire, prior: Prior, reports: int) -> Callable[[Sequence[str]], Contributions]:
    """A questionnaire's estimates of tables, had the reports been just as the prior makes one expect."""

    def table(names: Sequence[str]) -> Contributions:
        estimators = [_with_guess(estimator, prior) for estimator in parts_for(questionnaire, names)]
        needed = [name for estimator in estimators for name in estimator.covered]
        if not prior.is_joint_small(needed):
            raise NotEstimable(
                f"{', '.join(needed)} have too many joint answers for their error to be predicted. Choose smaller groups, "
                "or fewer attributes."
            )
        return Contributions(tuple(names), tuple(estimators), apply(estimators, prior.joint(needed)), reports)

    return table


def _with_guess(estimator: Part, prior: Prior) -> Part:
    """If the channel has several estimators, choose the one that reports of this prior will lead to."""
    if not estimator.channel.has_choice:
        return estimator
    return replace(estimator, guess=floor_shares(prior.joint(estimator.covered)))
