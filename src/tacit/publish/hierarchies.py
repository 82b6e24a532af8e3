"""Hierarchies as ARX keeps them: a CSV file per attribute, a line per value, the value first, then ever coarser names.

    Private;Employed;*
    State-gov;Employed;*
    Never-worked;Not employed;*

With a hierarchy an attribute is generalized to one of its levels as a whole instead of being cut anywhere.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.schema import Attribute


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels of an attribute, coarsest first: the block of every answer, and the name of every block."""

    blocks: NDArray[np.int64]  # [fineness, answer]
    names: tuple[tuple[str, ...], ...]

    def to_document(self) -> dict[str, Any]:
        return {"blocks": self.blocks.tolist(), "names": [list(level) for level in self.names]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Hierarchy:
        return cls(np.array(document["blocks"], np.int64), tuple(map(tuple, document["names"])))


def read_hierarchies(folder: str | Path, attributes: tuple[Attribute, ...]) -> dict[str, Hierarchy]:
    """The hierarchies in a folder of files ``NAME.csv``; attributes without a file are cut freely."""
    place = Path(folder)
    if not place.is_dir():
        raise InvalidInput(f"There is no folder {str(folder)!r} of hierarchies. Give one with files like age.csv.")
    named = {}
    for attribute in attributes:
        files = [place / f"{attribute.name}.csv", *sorted(place.glob(f"*_hierarchy_{attribute.name}.csv"))]
        file = next((file for file in files if file.exists()), None)
        if file is not None:
            named[attribute.name] = read_hierarchy(file, attribute)
    if not named:
        names = ", ".join(f"{attribute.name}.csv" for attribute in attributes[:4])
        raise InvalidInput(
            f"The folder {str(folder)!r} holds no hierarchy. Name the files after the attributes: {names}."
        )
    return named


def read_hierarchy(path: str | Path, attribute: Attribute) -> Hierarchy:
    """One attribute's hierarchy; every answer needs a line, and coarser levels may only merge."""
    with Path(path).open(newline="", encoding="utf-8-sig") as lines:
        sample = lines.read(4096)
        lines.seek(0)
        rows = [row for row in csv.reader(lines, delimiter=";" if ";" in sample else ",") if row]
    if len({len(row) for row in rows}) != 1:
        raise InvalidInput(f"{str(path)!r} must have the same number of levels on every line, not {_lengths(rows)}.")
    named = {row[0]: row for row in rows}
    missing = [answer for answer in attribute.answers if answer not in named]
    if missing:
        raise InvalidInput(f"{str(path)!r} has no line for the answer {missing[0]!r} of {attribute.name!r}. Add it.")
    levels = [[named[answer][depth] for answer in attribute.answers] for depth in range(len(rows[0]))]
    if len(set(levels[-1])) > 1:  # without a top level nothing could be published at any k
        levels.append(["*"] * attribute.size)
    return _hierarchy(levels[::-1], str(path))


def _hierarchy(levels: list[list[str]], path: str) -> Hierarchy:
    blocks: list[NDArray[np.int64]] = []
    names: list[tuple[str, ...]] = []
    for level in levels:
        order = list(dict.fromkeys(level))
        numbers = np.array([order.index(name) for name in level])
        if blocks and len(np.unique(np.stack([blocks[-1], numbers]), axis=1).T) > len(order):
            raise InvalidInput(
                f"{path!r} puts a group of a finer level into two of a coarser one. Levels may only merge."
            )
        blocks.append(numbers)
        names.append(tuple(order))
    return Hierarchy(np.array(blocks, np.int64), tuple(names))


def _lengths(rows: list[list[str]]) -> str:
    return " and ".join(map(str, sorted({len(row) for row in rows}))) or "an empty file"
