"""The kinds of channels by name: which file of `tacit.channel.kinds` knows each.

A new kind is a file there and a line here. The file has a `KINDS` that says how such a channel is made and asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tacit.errors import UnknownName

if TYPE_CHECKING:
    from tacit.channel.recipe import Kind

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
    "threshold": "threshold",
}

KINDS = tuple(FILES)


def kind(name: str) -> Kind:
    """What is known of a kind of channel."""
    if name not in FILES:
        raise UnknownName("Channel kind", name, FILES)
    channel_kind: Kind = importlib.import_module(f"tacit.channel.kinds.{FILES[name]}").KINDS[name]
    return channel_kind
