"""Every kind of channel with the parameters that tell most within one privacy demand, by the errors of its itemsets."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.channel import Recipe
from tacit.channel.chances import checked_gamma
from tacit.channel.registry import for_amplification, kind
from tacit.channel.scheme import Scheme
from tacit.design.predict import predicted_errors
from tacit.errors import InvalidInput
from tacit.schema import Attribute, Schema


def checked_demand(gamma: float) -> float:
    if checked_gamma(gamma) == 1:
        raise InvalidInput("With gamma = 1 reports say nothing, so nothing could be estimated. Choose a larger gamma.")
    return float(gamma)


def best_recipe(name: str, shape: Sequence[int], gamma: float, length: int) -> Recipe | None:
    """Of one kind the channel within `gamma` that estimates itemsets up to `length` best; None where there is none.

    >>> best_recipe("gamma-diagonal", (4, 5, 5, 5, 2, 2), 19, 3)
    Recipe(kind='gamma-diagonal', parameters={'gamma': 19.0})
    """
    demand, sizes = checked_demand(gamma), tuple(shape)
    offered = [for_amplification(name, sizes, demand, **chosen) for chosen in kind(name).choices(sizes, demand)]
    recipes = [recipe for recipe in offered if recipe is not None]
    if len(recipes) <= 1:
        return recipes[0] if recipes else None
    schema = Schema(tuple(Attribute(f"attribute {i}", tuple(map(str, range(d)))) for i, d in enumerate(sizes)))

    def rank(recipe: Recipe) -> tuple[int, float]:
        """How many of the lengths have no estimate, then the largest error of the others."""
        errors = predicted_errors(Scheme.of(schema, [(schema.names, recipe)]), 1, length).by_length
        known = [error for error in errors if error is not None]
        return len(errors) - len(known), max(known, default=0.0)

    return min(recipes, key=rank)
