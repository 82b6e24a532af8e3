"""What the reports of one channel reveal: the closed form of its family, or the dense formula while it is small."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.channel.flip import FlipChannel
from tacit.channel.matrix import MatrixChannel
from tacit.channel.mixture import MixtureLaw
from tacit.channel.onehot import MaskChannel, OneHotLaw
from tacit.channel.protocol import Array, Channel
from tacit.channel.subset import SubsetChannel
from tacit.errors import InvalidInput
from tacit.measures import flip, matrix, mixture, onehot, subset
from tacit.measures.figures import UNKNOWN, Figures

# A dense matrix of 2**22 chances takes 32 MB and well under a second.
DENSE_ENTRIES = 1 << 22


def channel_figures(channel: Channel, prior: Array) -> Figures:
    """MAP privacy, worst posterior and PSE of whole reports, for a prior over the channel's joint domain."""
    if isinstance(channel, MixtureLaw):
        return mixture.mixture_figures(channel, prior)
    if isinstance(channel, FlipChannel):
        return flip.flip_figures(channel, prior)
    if isinstance(channel, SubsetChannel):
        return subset.subset_figures(channel, prior)
    if isinstance(channel, OneHotLaw) and len(channel.shape) == 1:
        return onehot.bits_figures(channel, prior)
    if not has_small_matrix(channel):
        return UNKNOWN
    return dense_figures(channel.matrix, prior.reshape(-1))


def dense_figures(law: Array, prior: Array) -> Figures:
    return Figures(
        matrix.map_privacy(law, prior),
        matrix.worst_posterior(law, prior),
        matrix.prediction_entropy(law, prior),
    )


def independent_figures(parts: Sequence[Figures]) -> Figures:
    """Figures of several parts that are independent in truth and in disguise: being right multiplies."""

    def product(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return math.prod(known) if len(known) == len(values) else None

    def missed(values: Sequence[float | None]) -> float | None:
        right = product([None if value is None else 1 - value for value in values])
        return None if right is None else 1 - right

    return Figures(
        missed([part.map_privacy for part in parts]),
        product([part.worst_posterior for part in parts]),
        missed([part.pse for part in parts]),
    )


def entry_figures(channel: Channel, axis: int, prior: Array) -> Figures:
    """What a report reveals of one attribute of a group, for a prior over the whole group.

    Where the group has marginals, from the attribute's own column, as PSE is defined; else from the whole report.
    """
    if len(channel.shape) == 1:
        return channel_figures(channel, prior)
    others = tuple(other for other in range(len(channel.shape)) if other != axis)
    marginal = prior.sum(axis=others)
    if channel.has_marginals:
        return channel_figures(channel.marginal([axis]), marginal)
    if not has_small_matrix(channel):
        return UNKNOWN
    return dense_figures(attribute_law(channel, axis, prior), marginal)


def attribute_law(channel: Channel, axis: int, prior: Array) -> Array:
    """Chance of each whole report given one attribute's answer, the others distributed as in the prior."""
    joint = (channel.matrix * prior.reshape(-1)).reshape(-1, *channel.shape)
    others = tuple(other + 1 for other in range(len(channel.shape)) if other != axis)
    shares = joint.sum(axis=others)
    total = shares.sum(axis=0)
    # An answer nobody gives has no law; it carries no weight in any figure.
    return shares / np.where(total > 0, total, 1)


def accurate_map_privacy(channel: Channel, prior: Array, accuracy: Array) -> float:
    """MAP privacy where `accuracy[guess, truth]` says what a guess is worth (OptRR eq. 4 and 5).

    An ordered attribute may count a near miss as half right, for example.
    """
    n = math.prod(channel.shape)
    worth = np.asarray(accuracy, dtype=np.float64)
    if worth.ndim != 2 or worth.shape[1] != n or not np.isfinite(worth).all():
        raise InvalidInput(
            f"The accuracy must be a table of numbers [guess, truth] with {n} truths, but its shape is {worth.shape}."
        )
    if isinstance(channel, MixtureLaw):
        return 1 - mixture.accurate_guess(channel, prior, worth)
    return matrix.map_privacy(channel.matrix, prior.reshape(-1), worth)


def condition_number(channel: Channel) -> float | None:
    """Ratio of the extreme singular values of the channel: how much inverting it may magnify noise."""
    if isinstance(channel, MixtureLaw):
        return mixture.condition_number(channel)
    if isinstance(channel, FlipChannel):
        return flip.condition_number(channel)
    if isinstance(channel, SubsetChannel):
        return subset.condition_number(channel)
    if isinstance(channel, MaskChannel):
        return math.prod(onehot.condition_number(channel.marginal([axis])) for axis in range(len(channel.shape)))
    if isinstance(channel, OneHotLaw) and len(channel.shape) == 1:
        return onehot.condition_number(channel)
    return _dense_condition(channel.matrix) if has_small_matrix(channel) else None


def _dense_condition(law: Array) -> float:
    singular = np.linalg.svd(law, compute_uv=False)
    smallest = singular[-1] if len(law) >= law.shape[1] else 0.0
    # What rounding leaves of a zero is no information.
    if smallest <= singular[0] * max(law.shape) * np.finfo(np.float64).eps:
        return math.inf
    return float(singular[0] / smallest)


def has_small_matrix(channel: Channel) -> bool:
    """Whether its dense matrix may be written out in a moment."""
    size = math.prod(channel.shape)
    if isinstance(channel, MatrixChannel):
        n_reports = len(channel.weights)
    elif isinstance(channel, SubsetChannel):
        n_reports = math.comb(size, channel.members)
    elif isinstance(channel, OneHotLaw):
        # Its rows are made from one table of reports by answers by answers.
        n_reports = 2 ** sum(channel.shape) * max(channel.shape)
    else:
        n_reports = size
    return n_reports * size <= DENSE_ENTRIES
