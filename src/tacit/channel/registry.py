"""The kinds of channels by name: which file of `tacit.channel.kinds` knows each.

A new kind is a file there and a line here. The file has a `KINDS` that says how such a channel is made and asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

from tacit.channel.recipe import Kind, Recipe, Shape
from tacit.errors import UnknownName

FILES = {
    "warner": "mixture",
    "uniform-perturbation": "mixture",
    "gamma-diagonal": "mixture",
    "mixture": "mixture",
    "flip": "flip",
    "matrix": "matrix",
    "mask": "mask",
    "cut-and-paste": "cut_and_paste",
    "randomized-gamma-diagonal": "randomized",
    "subset": "subset",
    "hadamard": "hadamard",
    "local-hashing": "hashing",
}

KINDS = tuple(FILES)


def kind(name: str) -> Kind:
    """What is known of a kind of channel."""
    if name not in FILES:
        raise UnknownName("Channel kind", name, FILES)
    known: Kind = importlib.import_module(f"tacit.channel.kinds.{FILES[name]}").KINDS[name]
    return known


def for_amplification(name: str, shape: Shape, gamma: float, **chosen: Any) -> Recipe | None:
    """The channel of this kind that tells most within an amplification; None where the kind has none.

    Parameters that are `chosen` already, such as the K of cut-and-paste, are kept.
    """
    parameters = kind(name).for_amplification(tuple(shape), gamma, **chosen)
    return None if parameters is None else Recipe(name, parameters)
