"""Channels: how a truth becomes a report.

Each function here gives a recipe; a `tacit.Scheme` (or ``recipe.build(shape)``) makes the channel of a group from it. There is
one for every kind that `tacit.channel.registry` lists, under its name with underscores.

>>> from tacit import channels
>>> channel = channels.gamma_diagonal(19).build((10,))
>>> round(channel.amplification, 6)
19.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tacit.channel.recipe import Recipe
from tacit.channel.registry import KINDS
from tacit.channel.registry import kind as _kind

if TYPE_CHECKING:
    from tacit.channel.kinds.cut_and_paste import cut_and_paste as cut_and_paste
    from tacit.channel.kinds.flip import flip as flip
    from tacit.channel.kinds.hadamard import hadamard as hadamard
    from tacit.channel.kinds.hashing import local_hashing as local_hashing
    from tacit.channel.kinds.mask import mask as mask
    from tacit.channel.kinds.matrix import matrix as matrix
    from tacit.channel.kinds.mixture import gamma_diagonal as gamma_diagonal
    from tacit.channel.kinds.mixture import mixture as mixture
    from tacit.channel.kinds.mixture import uniform_perturbation as uniform_perturbation
    from tacit.channel.kinds.mixture import warner as warner
    from tacit.channel.kinds.randomized import randomized_gamma_diagonal as randomized_gamma_diagonal
    from tacit.channel.kinds.subset import subset as subset
    from tacit.channel.kinds.threshold import threshold as threshold

__all__ = ["KINDS", "Recipe", *(name.replace("-", "_") for name in KINDS)]

if not TYPE_CHECKING:  # a type checker would take every name for a channel

    def __getattr__(name: str) -> Callable[..., Recipe]:
        if name.replace("_", "-") in KINDS and "-" not in name:
            return _kind(name.replace("_", "-")).recipe
        raise AttributeError(f"module 'tacit.channel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
