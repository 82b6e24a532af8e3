"""What a flip of a whole group reveals, in time linear in the number of records."""

from __future__ import annotations

import math

from tacit.channel.flip import FlipChannel
from tacit.channel.protocol import Array
from tacit.measures.figures import Figures


def flip_figures(channel: FlipChannel, prior: Array) -> Figures:
    """A report leaves two records: itself, and its opposite, which is the cell counted from the other end."""
    p = prior.reshape(-1)
    same, opposite = channel.chance * p, (1 - channel.chance) * p[::-1]
    seen = same + opposite
    possible = seen > 0
    same, opposite, seen = same[possible], opposite[possible], seen[possible]
    best = same.clip(min=opposite)
    return Figures(
        map_privacy=float(1 - best.sum()),
        worst_posterior=float((best / seen).max()),
        pse=float(1 - ((same**2 + opposite**2) / seen).sum()),
    )


def condition_number(channel: FlipChannel) -> float:
    spread = abs(2 * channel.chance - 1)
    return 1 / spread if spread else math.inf
