"""What a survey is for: tables of attributes, each with a weight."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.errors import InvalidInput
from tacit.schema import Schema


@dataclass(frozen=True)
class Target:
    """A joint table to be estimated; `weight` multiplies the mean variance of its cells."""

    attributes: tuple[str, ...]
    weight: float


def itemset_targets(
    schema: Schema, names: Sequence[str], max_length: int, counts: Mapping[int, float] | None = None
) -> list[Target]:
    """Every table of up to `max_length` attributes; each length weighs as much as the others, or as `counts` says.

    `counts` is the number of itemsets of interest of each length, where somebody knows it.
    """
    if not (isinstance(max_length, int) and 1 <= max_length <= len(names)):
        raise InvalidInput(
            f"The length of itemsets must be a whole number from 1 to {len(names)}, the number of attributes, not "
            f"{max_length!r}."
        )
    ordered = [name for name in schema.names if name in names]
    targets = []
    for length in range(1, max_length + 1):
        tables = math.comb(len(ordered), length)
        weight = (1.0 if counts is None else counts.get(length, 0.0)) / tables
        if weight:
            targets += [Target(table, weight) for table in itertools.combinations(ordered, length)]
    return targets


def class_targets(schema: Schema, names: Sequence[str], target: str) -> list[Target]:
    """Each attribute paired with the class: all that naive Bayes asks for."""
    others = [name for name in schema.names if name in names and name != schema[target].name]
    if target not in names:
        raise InvalidInput(f"The class {target!r} is public, so nothing has to be dealt for it. Leave it private.")
    if not others:
        raise InvalidInput(f"There is no attribute besides the class {target!r}.")
    return [Target((name, target), 1.0) for name in others]


def table_targets(schema: Schema, tables: Sequence[Sequence[str]]) -> list[Target]:
    """Chosen tables, all of the same weight."""
    if not tables or not all(tables):
        raise InvalidInput("Name the tables to be estimated, such as 'a,b;c,d'.")
    for table in tables:
        if len(set(table)) < len(table):
            raise InvalidInput(f"A table names an attribute twice: {', '.join(table)}.")
    return [Target(tuple(schema[name].name for name in table), 1.0) for table in tables]
