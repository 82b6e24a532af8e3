"""What the bits of MASK and cut-and-paste reveal of one attribute, without listing the 2**n reports.

Given the truth u its own bit is shown with chance `own`, every other with chance `background`, all independently.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.channel.onehot import OneHotLaw
from tacit.channel.protocol import Array
from tacit.measures.figures import Figures

# For uneven answers the average over all bit patterns has no closed form; 2**20 of them are a few milliseconds.
LISTED_BITS = 20


def bits_figures(channel: OneHotLaw, prior: Array) -> Figures:
    """Figures of a channel on one attribute."""
    own, background = _chances(channel)
    p = prior.reshape(-1)
    return Figures(
        map_privacy=1 - _guessed_right(own, background, p),
        worst_posterior=_worst_posterior(own, background, float(p.max())),
        pse=_pse(own, background, p),
    )


def _chances(channel: OneHotLaw) -> tuple[float, float]:
    return channel.background + channel.contrast(1), channel.background


def _guessed_right(own: float, background: float, p: Array) -> float:
    """Sum over the reports of the best guess among the answers shown and the best among those hidden.

    With the answers sorted, the likeliest one is shown, and the best hidden one is the first hidden; or the other way
    round. So the reports fall into 2 n classes; the bits behind the one that decides may be anything.
    """
    falling = np.sort(p)[::-1]
    shown, hidden = background, 1 - background
    steps = np.arange(len(p) - 1)  # 0 for the second answer
    first_shown = np.maximum(own * hidden * shown**steps * falling[0], (1 - own) * shown ** (steps + 1) * falling[1:])
    first_hidden = np.maximum((1 - own) * shown * hidden**steps * falling[0], own * hidden ** (steps + 1) * falling[1:])
    all_alike = (own * shown ** len(steps) + (1 - own) * hidden ** len(steps)) * falling[0]
    return float(first_shown.sum() + first_hidden.sum() + all_alike)


def _worst_posterior(own: float, background: float, largest: float) -> float:
    """One answer shown and all others hidden, or the reverse; bits that are all alike leave the prior."""
    for_shown, for_hidden = own * (1 - background), (1 - own) * background
    worst = largest
    for speaks, against in ((for_shown, for_hidden), (for_hidden, for_shown)):
        if speaks > 0:
            worst = max(worst, speaks * largest / (speaks * largest + against * (1 - largest)))
    return worst


def _pse(own: float, background: float, p: Array) -> float | None:
    if background in (0, 1):  # a bit that differs from all others tells the truth
        telling = own if background == 0 else 1 - own
        return float(1 - telling - (1 - telling) * (p @ p))
    shown, hidden = own / background, (1 - own) / (1 - background)
    if np.ptp(p) == 0:
        return _even_pse(shown, hidden, background, len(p))
    if len(p) > LISTED_BITS:
        return None
    chance, seen, squares = np.ones(1), np.zeros(1), np.zeros(1)
    for share in p:  # one more bit doubles the patterns
        chance = np.concatenate([chance * background, chance * (1 - background)])
        seen = np.concatenate([seen + shown * share, seen + hidden * share])
        squares = np.concatenate([squares + (shown * share) ** 2, squares + (hidden * share) ** 2])
    possible = seen > 0
    return float(1 - (chance * squares)[possible] @ (1 / seen[possible]))


def _even_pse(shown: float, hidden: float, background: float, n: int) -> float:
    """Where all answers are equally likely, all that counts of a report is how many bits it shows."""
    bits = np.arange(n + 1)
    ways = math.lgamma(n + 1) - np.array([math.lgamma(k + 1) + math.lgamma(n - k + 1) for k in bits])
    chance = np.exp(ways + bits * math.log(background) + (n - bits) * math.log1p(-background))
    seen = (bits * shown + (n - bits) * hidden) / n
    squares = (bits * shown**2 + (n - bits) * hidden**2) / n**2
    possible = seen > 0
    return float(1 - (chance * squares)[possible] @ (1 / seen[possible]))


def condition_number(channel: OneHotLaw) -> float:
    """Ratio of the extreme singular values for one attribute, from the two entries of ``A^T A``."""
    own, background = _chances(channel)
    same = (own**2 + (1 - own) ** 2) * (background**2 + (1 - background) ** 2)
    different = (own * background + (1 - own) * (1 - background)) ** 2
    n = channel.shape[0]
    return math.sqrt((same + (n - 1) * different) / (same - different)) if same > different else math.inf
