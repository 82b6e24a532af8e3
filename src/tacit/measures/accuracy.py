"""Privacy against a guesser whose guesses may be partly right."""

from __future__ import annotations

import math

import numpy as np

from tacit.channel.base import Array, Channel
from tacit.errors import InvalidInput


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
    return channel.accurate_map_privacy(prior, worth)
