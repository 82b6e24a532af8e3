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

from tacit.channel.recipe import Recipe
from tacit.channel.registry import KINDS
from tacit.channel.registry import kind as _kind

__all__ = ["KINDS", "Recipe", *(name.replace("-", "_") for name in KINDS)]


def __getattr__(name: str) -> Callable[..., Recipe]:
    if name.replace("_", "-") in KINDS and "-" not in name:
        return _kind(name.replace("_", "-")).recipe
    raise AttributeError(f"module 'tacit.channel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
