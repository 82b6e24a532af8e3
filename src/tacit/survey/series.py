"""Declared waves: one questionnaire asked several times, promised and capped as a whole before the first wave (FORMULAS 17).

Every wave is drawn anew, so amplifications multiply: over m waves a block of amplification g has g^m. A series is everything
that its waves have in common, and known by its hash.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tacit.channel.document import document_hash

# What tells the waves of a series apart: the number, and the key of the tokens, which are good for one wave.
OF_ONE_WAVE = ("wave", "series", "issuer", "hash")
MOST_WAVES = 1000
PANEL_DIGITS = 32  # of the random mark by which the reports of one person in several waves can be put together
# The most that a block may tell in one survey or wave (static/checks.js), and over a series that states nothing else.
GAMMA_CAP = 19.0


def series_hash(document: Mapping[str, Any]) -> str:
    """SHA-256 of what the waves of a series have in common; of a definition with long lists of answers apart."""
    return document_hash({name: value for name, value in document.items() if name not in OF_ONE_WAVE})


def waves_of(document: Mapping[str, Any]) -> int:
    """How many waves a definition declares; one that declares none is asked once."""
    return int(document.get("waves", 1))


def series_cap(document: Mapping[str, Any]) -> float:
    """The most that a block may tell over all waves."""
    return float(document.get("series_gamma", GAMMA_CAP))


def split_gamma(cap: float, waves: int) -> float:
    """The amplification of one wave of which so many stay within a cap, rounded down to what can be read aloud."""
    return math.floor(cap ** (1 / waves) * 1e4) / 1e4
