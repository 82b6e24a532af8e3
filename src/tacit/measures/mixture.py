"""What a mixture reveals, in time linear in the number of records: no matrix is built."""

from __future__ import annotations

import math

import numpy as np

from tacit.channel.mixture import MixtureChannel, MixtureLaw
from tacit.channel.protocol import Array
from tacit.measures.figures import Figures


def mixture_figures(channel: MixtureLaw, prior: Array) -> Figures:
    """Figures of ``keep * I + noise 1^T``: a report v is either the truth v, or says nothing but its own chance."""
    p = prior.reshape(-1)
    noise = (1 - channel.keep) * channel.personal_distribution.reshape(-1)
    own = (channel.keep + noise) * p
    best = np.maximum(own, noise * _largest_other(p))
    seen = channel.keep * p + noise
    possible = seen > 0
    squares = (own**2 + noise**2 * (p @ p - p**2))[possible] / seen[possible]
    return Figures(
        map_privacy=float(1 - best.sum()),
        worst_posterior=float((best[possible] / seen[possible]).max()),
        pse=float(1 - squares.sum()),
    )


def _largest_other(p: Array) -> Array:
    """For each entry the largest of all the others."""
    second, first = np.partition(p, -2)[-2:]
    largest = np.full(len(p), first)
    largest[np.argmax(p)] = second
    return largest


def even_mixture_figures(keep: float, size: int) -> Figures:
    """The same for a uniform prior and a uniform alternative on a domain too large to write out."""
    other = (1 - keep) / size
    best = max(keep + other, other)
    return Figures(1 - best, best, 1 - (keep + other) ** 2 - (size - 1) * other**2)


def accurate_guess(channel: MixtureLaw, prior: Array, accuracy: Array) -> float:
    """Mean accuracy of the best guesser, where `accuracy[guess, truth]` says what a guess is worth (OptRR eq. 4)."""
    p = prior.reshape(-1)
    noise = (1 - channel.keep) * channel.personal_distribution.reshape(-1)
    worth = channel.keep * accuracy * p + np.outer(accuracy @ p, noise)  # [guess, report]
    return float(worth.max(axis=0).sum())


def condition_number(channel: MixtureLaw) -> float:
    """Ratio of the extreme singular values; 1 / |keep| where the alternative is uniform.

    All but two singular values are |keep|. The two have the product |keep|, as the columns sum to one, and their squares
    add up to what is left of the squared entries; so they enclose |keep|.
    """
    keep = abs(channel.keep)
    if keep == 0:
        return math.inf
    if isinstance(channel, MixtureChannel) and channel.personal is None:  # of any size, so nothing is written out
        return 1 / keep
    noise = (1 - channel.keep) * channel.personal_distribution.reshape(-1)
    squares = 2 * channel.keep + len(noise) * float(noise @ noise)
    largest = (squares + math.sqrt(max(squares**2 - 4 * keep**2, 0.0))) / 2
    return largest / keep
