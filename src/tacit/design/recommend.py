"""Which mechanism to use for itemsets, and what error to expect of it, before any data are collected."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.channel import Recipe
from tacit.channel.chances import checked_gamma
from tacit.channel.recipe import for_amplification
from tacit.channel.registry import KINDS, kind
from tacit.channel.scheme import Scheme
from tacit.design.predict import PredictedErrors, predicted_errors
from tacit.design.split import MOST_CELLS, SplitDesign, split_questionnaire
from tacit.design.targets import itemset_targets
from tacit.errors import InvalidInput
from tacit.schema import Attribute, Schema


@dataclass(frozen=True, eq=False)
class Option:
    """One mechanism under the demand, and the errors to expect of itemsets of each length."""

    name: str
    scheme: Scheme
    predicted: PredictedErrors

    @property
    def overall(self) -> float:
        """Root mean square over the wanted lengths; infinite where one of them cannot be estimated."""
        squares = [math.inf if error is None else error**2 for error in self.predicted.by_length]
        return math.sqrt(sum(squares) / len(squares))

    def to_document(self) -> dict[str, Any]:
        return {"name": self.name, "overall": self.overall, "predicted": self.predicted.to_document()}


@dataclass(frozen=True, eq=False)
class Recommendation:
    """Mechanisms with the same promise, best first; `left_out` says what could not be considered, and why."""

    gamma: float
    max_length: int
    respondents: int
    options: tuple[Option, ...]
    left_out: tuple[str, ...]

    @property
    def best(self) -> Option:
        return self.options[0]

    def to_document(self) -> dict[str, Any]:
        return {
            "gamma": self.gamma,
            "max_length": self.max_length,
            "respondents": self.respondents,
            "options": [option.to_document() for option in self.options],
            "warnings": list(self.left_out),
        }

    def __str__(self) -> str:
        width = max(len(option.name) for option in self.options)
        lengths = "".join(f"{length:>10}" for length in range(1, self.max_length + 1))
        lines = [f"{'length':{width}}{lengths}"]
        for option in self.options:
            errors = ("-" if error is None else f"{error:.4g}" for error in option.predicted.by_length)
            lines.append(f"{option.name:{width}}" + "".join(f"{error:>10}" for error in errors))
        return "\n".join(lines)


def recommend(
    schema: Schema,
    gamma: float,
    max_length: int,
    respondents: int,
    counts: Mapping[int, float] | None = None,
    *,
    split: SplitDesign | None = None,
) -> Recommendation:
    """The mechanisms that keep the amplification `gamma` for the whole record, by the error of itemsets up to a length.

    All lengths count alike unless `counts` says how many itemsets of each are of interest. A split questionnaire that was
    designed already may be given as `split`.

    >>> from tacit.bundled import census
    >>> found = recommend(census().schema, gamma=19, max_length=3, respondents=48_842)
    >>> found.best.name
    'split questionnaire'
    """
    checked_demand(gamma)
    left_out: list[str] = []
    options = [
        Option(name, scheme, predicted_errors(scheme, respondents, max_length))
        for name, scheme in _joint_schemes(schema, gamma, max_length, left_out)
    ]
    if split is None:
        split = split_questionnaire(schema, itemset_targets(schema, schema.names, max_length, counts), gamma)
    dealt = split.scheme
    options.append(Option("split questionnaire", dealt, predicted_errors(dealt, respondents, max_length)))
    ranked = sorted(options, key=lambda option: option.overall)
    return Recommendation(gamma, max_length, respondents, tuple(ranked), tuple(left_out))


def _joint_schemes(schema: Schema, gamma: float, length: int, left_out: list[str]) -> Iterator[tuple[str, Scheme]]:
    """Schemes that disguise the whole record at once, one of each kind that is worth it."""
    cells = math.prod(schema.shape())
    for name in KINDS:
        if kind(name).no_better_than is not None or not kind(name).follows_demands:
            continue
        recipe = best_recipe(name, schema.shape(), gamma, length)
        if recipe is None:
            left_out.append(f"{name}: no parameters keep this whole record within an amplification of {gamma:g}.")
        elif cells > MOST_CELLS and not recipe.build(schema.shape()).has_marginals:
            left_out.append(
                f"{name} on the whole record: its joint domain of {cells:,} answers is too large to hold (at most "
                f"{MOST_CELLS:,}). The split questionnaire asks fewer attributes at a time."
            )
        else:
            yield name, Scheme.from_groups(schema, [(schema.names, recipe)])


def checked_demand(gamma: float) -> float:
    if checked_gamma(gamma) == 1:
        raise InvalidInput("With gamma = 1 reports say nothing, so nothing could be estimated. Choose a larger gamma.")
    return float(gamma)


def best_recipe(name: str, shape: Sequence[int], gamma: float, length: int) -> Recipe | None:
    """The channel of one kind that estimates itemsets up to `length` best within `gamma`; None where there is none.

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
        errors = predicted_errors(Scheme.from_groups(schema, [(schema.names, recipe)]), 1, length).by_length
        estimable = [error for error in errors if error is not None]
        return len(errors) - len(estimable), max(estimable, default=0.0)

    return min(recipes, key=rank)
