"""What a publisher asks for, checked once at the door."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.publish.achievement import Preference
from tacit.publish.problem import Diversity
from tacit.publish.search import SearchSettings
from tacit.schema import Schema

METHODS = ("search", "exact", "local")
ORDERS = ("schema", "data")


def checked_method(method: str) -> str:
    if method not in METHODS:
        raise UnknownName("Method", method, METHODS)
    return method


def checked_order(order: str) -> str:
    if order not in ORDERS:
        raise UnknownName("Order", order, ORDERS)
    return order


def checked_others(names: tuple[str, ...], schema: Schema) -> tuple[str, ...]:
    """The attributes that are published as they are."""
    for name in names:
        schema[name]  # an unknown name is refused with the nearest known one
    return names


def quasi_identifier_sets(
    attributes: Sequence[str] | Sequence[Sequence[str]] | None, schema: Schema, others: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """The sets of attributes somebody may know together; by default all that are not published as they are."""
    if attributes is None:
        attributes = [name for name in schema.names if name not in others]
    if isinstance(attributes, str):
        attributes = [attributes]
    flat = all(isinstance(entry, str) for entry in attributes)
    sets: tuple[tuple[str, ...], ...] = (tuple(attributes),) if flat else tuple(map(tuple, attributes))  # type: ignore[arg-type]
    if not sets or not all(sets):
        raise InvalidInput("Name at least one quasi-identifier: an attribute that somebody may know of a person.")
    for name in (name for members in sets for name in members):
        schema[name]  # an unknown name is refused with the nearest known one
        if name in others:
            raise InvalidInput(
                f"{name!r} is a quasi-identifier and cannot also be sensitive or kept as it is. Name it on one side only."
            )
    return sets


def checked_k(k: int, rows: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InvalidInput(f"k must be a whole number of at least 1, not {k!r}.")
    if k > rows:
        raise InvalidInput(f"k = {k} is more than the {rows:,} rows there are. Ask for at most {rows:,}.")
    return int(k)


def checked_share(what: str, value: float, *, below_one: bool = False) -> float:
    upper = "below 1" if below_one else "at most 1"
    if not (isinstance(value, int | float) and 0 <= value <= 1) or (below_one and value == 1):
        raise InvalidInput(f"{what} must be a number from 0, {upper}, not {value!r}.")
    return float(value)


def checked_weights(weights: Mapping[str, float] | None, names: Sequence[str]) -> NDArray[np.float64]:
    """One weight per quasi-identifier; equal ones by default."""
    if weights is None:
        return np.full(len(names), 1 / len(names))
    for name in weights:
        if name not in names:
            raise UnknownName("Quasi-identifier", name, names)
    missing = [name for name in names if name not in weights]
    if missing:
        raise InvalidInput(f"There is no weight for {missing[0]!r}. Give every quasi-identifier one (0 is allowed).")
    values = np.array([float(weights[name]) for name in names])
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InvalidInput(f"Weights must be numbers of at least 0, not {dict(weights)}.")
    if abs(values.sum() - 1) > 1e-6:
        scaled = ",".join(f"{name}={value / values.sum():.4g}" for name, value in zip(names, values, strict=True))
        raise InvalidInput(f"The weights sum to {values.sum():.6g}, not to 1. In proportion they would be {scaled}.")
    return values / values.sum()


def checked_diversity(l: float | None, t: float | None, entropy: bool, sensitive: Sequence[str]) -> Diversity:  # noqa: E741
    if (l is not None or t is not None) and not sensitive:
        raise InvalidInput("l and t say how sensitive attributes are spread. Name these too (sensitive=...).")
    if l is not None and not (isinstance(l, int | float) and math.isfinite(l) and l >= 1):
        raise InvalidInput(f"l must be at least 1, not {l!r}.")
    if t is not None:
        checked_share("t", t)
    return Diversity(l, t, entropy)


def checked_preference(loss: float, bias: float) -> Preference:
    return Preference(checked_share("prefer_loss", loss), checked_share("prefer_bias", bias))


def checked_settings(evaluations: int, population: int, *, polish: bool) -> SearchSettings:
    for what, value, least in (("evaluations", evaluations, 10), ("population", population, 4)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InvalidInput(f"{what} must be a whole number of at least {least}, not {value!r}.")
    if population > evaluations:
        raise InvalidInput(f"A population of {population} cannot be evaluated with {evaluations} evaluations.")
    return SearchSettings(evaluations, population, polish=polish)


def refuse_combinations(method: str, suppress: float, sets: Sequence[Any], hierarchies: Mapping[str, Any]) -> None:
    """What does not go together, each with a way on."""
    if len(sets) > 1 and suppress > 0:
        raise InvalidInput(
            "Suppression with several sets of quasi-identifiers is not offered: leaving a row out for one set may break "
            "another. Set suppress=0, or publish for the union of the sets."
        )
    if method == "local":
        for wanted, what in (
            (suppress > 0, "suppression: every row has its place in a class"),
            (hierarchies, "hierarchies: its classes are boxes of neighbouring answers"),
        ):
            if wanted:
                raise InvalidInput(f"Local recoding does not go with {what}. Leave it away, or use method 'search'.")
