"""The parameters of a device as people write them: fractions, percent, one value or one per sample.

``p=2/3``, ``truth=75%,yes=1/6``, ``p=1:2/12,2:10/12,direct=0``: parameters are separated by commas, and a piece without an
equals sign belongs to the parameter before it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any

from tacit.errors import InvalidInput

# What a parameter may be before it is read: a chance, one chance for each sample, or a list of chances.
Given = Any

DIRECT = "direct"


def read_parameters(text: str) -> dict[str, str]:
    """The parameters in ``p=1:2/12,2:10/12,direct=0``, each still as text.

    >>> read_parameters("p=1:2/12,2:10/12,direct=0")
    {'p': '1:2/12,2:10/12', 'direct': '0'}
    """
    parameters: dict[str, str] = {}
    name = ""
    for piece in text.split(","):
        before, equals, value = piece.partition("=")
        if equals:
            name = before.strip()
            if not name or name in parameters:
                wrong = f"names {name!r} twice" if name else f"holds {piece.strip()!r}, a value without a name"
                raise InvalidInput(f"The list of parameters {wrong}. Write them like p=2/3 or truth=2/3,yes=1/6.")
            parameters[name] = value.strip()
        elif name and piece.strip():
            parameters[name] += f",{piece.strip()}"
        elif piece.strip():
            raise InvalidInput(
                f"The parameter {piece.strip()!r} has no name. Write parameters like p=2/3 or truth=2/3,yes=1/6."
            )
    return parameters


def by_sample(value: Given) -> dict[str, Given] | None:
    """The value of each sample (``1:2/12,2:10/12``, or a mapping); None if one value is given for all samples."""
    if isinstance(value, Mapping):
        return {str(sample): chance for sample, chance in value.items()}
    if not isinstance(value, str) or ":" not in value:
        return None
    chances: dict[str, Given] = {}
    for piece in value.split(","):
        sample, colon, chance = piece.rpartition(":")
        if not colon or not sample.strip() or sample.strip() in chances:
            raise InvalidInput(
                f"{value!r} should give each sample its own chance, like 1:2/12,2:10/12; {piece.strip()!r} does not."
            )
        chances[sample.strip()] = chance.strip()
    return chances


def exact_chance(name: str, value: Given) -> Fraction:
    """A chance given as a number, a fraction such as ``2/3`` or a percentage such as ``25%``.

    >>> exact_chance("p", "2/3"), exact_chance("p", "25%"), exact_chance("p", 0.25)
    (Fraction(2, 3), Fraction(1, 4), Fraction(1, 4))
    """
    chance = exact_number(value)
    if chance is None:
        raise InvalidInput(f"{name} is {value!r}; it must be a chance: a number such as .25, 25% or 1/4.")
    if not 0 <= chance <= 1:
        raise InvalidInput(f"{name} is {value!r}; a chance lies between 0 and 1.{_hint(value, chance)}")
    return chance


def _hint(value: Given, above: Fraction) -> str:
    """What may have been meant by a number above one: percent, or a fraction upside down."""
    if not 1 < above <= 100:
        return ""
    is_fraction = isinstance(value, str) and "/" in value
    return f" Did you mean {1 / above}?" if is_fraction else f" Did you mean {float(above):g}%?"


def exact_number(value: Given) -> Fraction | None:
    """A number, a fraction such as ``2/3`` or a percentage such as ``25%``; None for anything else."""
    if isinstance(value, str):
        text = value.strip()
        scale = 100 if text.endswith("%") else 1
        try:
            return Fraction(text.removesuffix("%").strip().replace(" ", "")) / scale
        except (ValueError, ZeroDivisionError):
            return None
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        return None
    # A float is meant as the decimal number it is printed as: .1 is a tenth.
    return value if isinstance(value, Fraction) else Fraction(str(float(value)))


def exact_chances(name: str, value: Given) -> list[Fraction]:
    """A list of chances: ``.2,.3,.5`` or a Python sequence."""
    items: Sequence[Given] = value.split(",") if isinstance(value, str) else list(value)
    return [exact_chance(name, item) for item in items if not (isinstance(item, str) and not item.strip())]


def chance_rows(value: Given, n_truths: int) -> list[list[float]]:
    """The rows of a matrix: ``.9,.2;.1,.8``, or all its chances row by row, or Python lists."""
    if isinstance(value, str):
        rows = [exact_chances("rows", row) for row in value.split(";") if row.strip()]
    else:
        rows = [exact_chances("rows", row) for row in value]
    flat = [chance for row in rows for chance in row]
    if len(rows) == 1 and len(flat) % n_truths == 0 and len(flat) > n_truths:
        rows = [flat[start : start + n_truths] for start in range(0, len(flat), n_truths)]
    return [[float(chance) for chance in row] for row in rows]


def whole_number(name: str, value: Given) -> int:
    number = exact_number(value)
    if number is None or number.denominator != 1 or not 1 <= number <= 1000:
        raise InvalidInput(f"{name} is {value!r}; it must be a whole number from 1 to 1000.")
    return int(number)


def same_value(value: Any) -> str:
    """The text by which two values are compared: 1, 1.0 and "1" are one value, letters compare without their case.

    >>> same_value(1.0) == same_value("1") and same_value("Yes") == same_value("yes ")
    True
    """
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return text.casefold()
    return f"{number:.12g}" if math.isfinite(number) else text.casefold()
