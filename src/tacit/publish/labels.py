"""Readable names of generalized answers: "30-45", "Private or Self-emp-inc", "*" for anything."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tacit.schema import Attribute, Cut

ANY = "*"
MOST_NAMED = 3
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def label(attribute: Attribute, low: int, high: int) -> str:
    """Name of the answers with codes `low` to `high`, both included."""
    if low == high:
        return attribute.answers[low]
    if low == 0 and high == attribute.size - 1:
        return ANY
    if attribute.cut is not None and attribute.answers == attribute.cut.labels():
        return _interval(attribute.cut, low, high)
    return _span(attribute.answers[low], attribute.answers[high]) or _listed(attribute.answers[low : high + 1])


def block_label(attribute: Attribute, members: Sequence[int]) -> str:
    """Name of a block of answers that need not be neighbours, as hierarchies make them."""
    if len(members) == members[-1] - members[0] + 1:
        return label(attribute, members[0], members[-1])
    return _listed([attribute.answers[code] for code in members])


def _interval(cut: Cut, low: int, high: int) -> str:
    opening, closing = ("(", "]") if cut.closed == "right" else ("[", ")")
    if low == 0:
        return f"{'<=' if cut.closed == 'right' else '<'}{cut.edges[high]:g}"
    if high == len(cut.edges):
        return f"{'>' if cut.closed == 'right' else '>='}{cut.edges[low - 1]:g}"
    return f"{opening}{cut.edges[low - 1]:g},{cut.edges[high]:g}{closing}"


def _span(first: str, last: str) -> str | None:
    """One range from two, or from two numbers; None where the answers are no numbers."""
    begin, end = _RANGE.fullmatch(first), _RANGE.fullmatch(last)
    if begin and end:
        return f"{begin[1]}-{end[2]}"
    if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last):
        return f"{first}-{last}"
    return None


def _listed(answers: Sequence[str]) -> str:
    if len(answers) <= MOST_NAMED:
        return " or ".join(answers)
    return f"{answers[0]} ... {answers[-1]} ({len(answers)} answers)"
