"""What a reported subset reveals, without listing the subsets.

In units in which the C(n-1, k-1) sets that hold a truth have the chance `inside` together, every set has the weight
`inside` for the truths it holds and `outside` for the others.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.channel.protocol import Array
from tacit.channel.subset import SubsetChannel
from tacit.measures.figures import Figures
from tacit.measures.matrix import prediction_entropy

# Listing sets is left to few of them; the closed forms do the rest.
LISTED_ENTRIES = 1 << 20


def subset_figures(channel: SubsetChannel, prior: Array) -> Figures:
    p = prior.reshape(-1)
    return Figures(1 - _guessed_right(channel, p), _worst_posterior(channel, p), _pse(channel, p))


def _weights(channel: SubsetChannel) -> tuple[float, float]:
    n, k = channel.size, channel.members
    return channel.holds, (1 - channel.holds) * k / (n - k)


def _guessed_right(channel: SubsetChannel, p: Array) -> float:
    """Sum over the sets of the likelier of the best guess within and the best guess without.

    With the answers sorted, the likeliest one is either in the set, and then the best one outside is the first that is
    missing; or it is not, and then the best one inside is the first member. So the sets fall into n classes.
    """
    n, k = channel.size, channel.members
    inside, outside = _weights(channel)
    falling = np.sort(p)[::-1]
    # Shares of the sets whose first missing answer is the j-th, j = 2 .. k+1, and whose first member is the i-th.
    missing = np.cumprod(np.r_[(n - k) / (n - 1), (k - np.arange(2.0, k + 1) + 1) / (n - np.arange(2.0, k + 1))])
    member = np.cumprod(
        np.r_[(n - k) / (n - 1), (n - np.arange(2.0, n - k + 1) - k + 1) / (n - np.arange(2.0, n - k + 1))]
    )
    with_first = missing @ np.maximum(inside * falling[0], outside * falling[1 : k + 1])
    without = member @ np.maximum(inside * falling[1 : n - k + 1], outside * falling[0])
    return float(with_first + without)


def _worst_posterior(channel: SubsetChannel, p: Array) -> float:
    """The likeliest answer in a set beside the answers that add least; a set that lacks it only lowers its chance."""
    inside, outside = _weights(channel)
    rising = np.sort(p)
    held = rising[-1] + rising[: channel.members - 1].sum()
    return float(inside * rising[-1] / (outside + (inside - outside) * held))


def _pse(channel: SubsetChannel, p: Array) -> float | None:
    n, k = channel.size, channel.members
    if np.ptp(p) == 0:
        inside, outside = _weights(channel)
        seen = (inside * k + outside * (n - k)) / n
        squares = (inside**2 * k + outside**2 * (n - k)) / n**2
        return 1 - n / k * squares / seen
    if math.comb(n, k) * n > LISTED_ENTRIES:
        return None
    return prediction_entropy(channel.matrix, p)


def condition_number(channel: SubsetChannel) -> float:
    """Ratio of the extreme singular values, from the two entries of ``A^T A``."""
    n, k = channel.size, channel.members
    inside, outside = _weights(channel)
    same = inside**2 + outside**2 * (n - k) / k
    different = (inside**2 * (k - 1) + 2 * inside * outside * (n - k) + outside**2 * (n - k) * (n - k - 1) / k) / (
        n - 1
    )
    return math.sqrt((same + (n - 1) * different) / (same - different)) if same > different else math.inf
