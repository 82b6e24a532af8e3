"""Channels: how a truth becomes a report.

Each function here gives a recipe; a `Scheme` (or ``recipe.build(shape)``) makes the channel of a group from it.

>>> from tacit import channels
>>> channel = channels.gamma_diagonal(19).build((10,))
>>> round(channel.amplification, 6)
19.0
"""

from tacit.channel.recipe import (
    KINDS,
    Recipe,
    cut_and_paste,
    flip,
    gamma_diagonal,
    mask,
    matrix,
    mixture,
    subset,
    uniform_perturbation,
    warner,
)
from tacit.channel.recipe import randomized_gamma_diagonal_recipe as randomized_gamma_diagonal

__all__ = [
    "KINDS",
    "Recipe",
    "cut_and_paste",
    "flip",
    "gamma_diagonal",
    "mask",
    "matrix",
    "mixture",
    "randomized_gamma_diagonal",
    "subset",
    "uniform_perturbation",
    "warner",
]
