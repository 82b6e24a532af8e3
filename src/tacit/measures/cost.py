"""What a disguise costs: the standard error to expect of each estimated share at N respondents.

Each respondent adds one number to the estimate of a share, and these numbers are independent. So the variance is that
of one respondent's number, divided by N: its mean square less the squared share (respondents are a sample from a
population). The mean square is linear in the distribution of the truth, group by group, and so never needs a joint law.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.channel.protocol import Array
from tacit.channel.scheme import Group, Questionnaire, Scheme
from tacit.errors import NotEstimable
from tacit.measures.prior import JOINT_CELLS, Prior
from tacit.randomness import ONE

# From an array over some true answers (and further axes behind them) to mean squares over the asked cells.
MeanSquares = Callable[[Array], Array]


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
    """Variance of one respondent's contribution to each cell; dealt questionnaires count by their information."""
    share = prior.joint(names)
    dealt = zip(scheme.questionnaires, scheme.dealing_weights / ONE, strict=True)
    asking = [(part, chance) for part, chance in dealt if chance > 0 and set(names) <= set(part.attributes)]
    if not asking:
        raise NotEstimable(
            f"No questionnaire asks {' and '.join(names)} together, so they have no joint estimate. "
            "Ask for them separately, or deal a questionnaire that holds both."
        )
    # Rounding may leave a hair below zero where everyone gives the same answer undisguised.
    variances = [np.maximum(_mean_squares(part, prior, names) - share**2, 0.0) for part, _ in asking]
    if len(asking) == 1:
        return variances[0] / asking[0][1]
    with np.errstate(divide="ignore"):  # a certain answer has infinite information, and no variance
        information = sum(chance / variance for (_, chance), variance in zip(asking, variances, strict=True))
        return 1 / np.asarray(information)


def _mean_squares(questionnaire: Questionnaire, prior: Prior, names: Sequence[str]) -> Array:
    """Mean square of one report's contribution to each cell, axes in the order of `names`."""
    parts = _parts(questionnaire, names, prior)
    needed = [name for part in parts for name in part.needed]
    if not prior.is_joint_small(needed):
        raise NotEstimable(
            f"The joint domain of {', '.join(needed)} is too large to foresee this error. Choose smaller groups."
        )
    array = prior.joint(needed)
    for part in parts:  # each step turns the leading axes into asked ones and moves them behind the rest
        array = part.squares(array)
        array = np.moveaxis(array, range(len(part.asked)), range(array.ndim - len(part.asked), array.ndim))
    order = [name for part in parts for name in part.asked]
    return array.transpose([order.index(name) for name in names])


@dataclass(frozen=True, eq=False)
class _Part:
    """The asked attributes of one group, and what the mean squares of their cells depend on."""

    asked: tuple[str, ...]
    needed: tuple[str, ...]
    squares: MeanSquares


def _parts(questionnaire: Questionnaire, names: Sequence[str], prior: Prior) -> list[_Part]:
    parts = []
    for group in questionnaire.groups:
        asked = tuple(name for name in group.names if name in names)
        if asked:
            parts.append(_group_part(group, asked, prior))
    for attribute in questionnaire.public:
        if attribute.name in names:
            parts.append(_Part((attribute.name,), (attribute.name,), lambda array: array))
    return parts


def _group_part(group: Group, asked: tuple[str, ...], prior: Prior) -> _Part:
    axes = [group.names.index(name) for name in asked]
    if group.channel.has_marginals:
        marginal = group.channel.marginal(axes)
        return _Part(asked, asked, lambda array: marginal.solve_squares(marginal.apply(array)))
    channel, margin = group.channel, group.channel.margin(axes)
    guess = prior.joint(group.names) if channel.has_choice else None
    return _Part(asked, group.names, lambda array: margin.solve_squares(channel.apply(array), guess))
