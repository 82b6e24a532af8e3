"""The ways of disguising that the itemset study compares, all under one amplification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tacit.channel import Recipe, cut_and_paste
from tacit.channel.base import Channel
from tacit.channel.scheme import Scheme
from tacit.design.recommend import best_recipe
from tacit.design.split import split_questionnaire
from tacit.design.targets import itemset_targets
from tacit.schema import Schema


@dataclass(frozen=True, eq=False)
class Contestant:
    """One way of disguising."""

    name: str
    scheme: Scheme
    is_published: bool


def contestants(schema: Schema, gamma: float, counts: Mapping[int, float]) -> tuple[Contestant, ...]:
    """FRAPP's four mechanisms with its parameters, then what does better under the same gamma."""

    def joint(recipe: Recipe) -> Scheme:
        return Scheme.from_groups(schema, [(schema.names, recipe)])

    def best(kind: str) -> Scheme:
        recipe = best_recipe(kind, schema.shape(), gamma, len(schema))
        assert recipe is not None, "the study's gamma of 19 is wide enough for every kind"
        return joint(recipe)

    by_counts = itemset_targets(schema, schema.names, len(schema), counts)
    evenly = itemset_targets(schema, schema.names, len(schema))
    return (
        Contestant("DET-GD", best("gamma-diagonal"), True),
        Contestant("RAN-GD", best("randomized-gamma-diagonal"), True),
        Contestant("MASK", best("mask"), True),
        Contestant("C&P", joint(cut_and_paste(3, 0.494)), True),
        Contestant("C&P, best K", best("cut-and-paste"), False),
        Contestant("subset selection", best("subset"), False),
        Contestant("split, by itemset counts", split_questionnaire(schema, by_counts, gamma).scheme, False),
        Contestant("split, lengths alike", split_questionnaire(schema, evenly, gamma).scheme, False),
    )


def condition_numbers(channel: Channel) -> list[float]:
    """How much inverting may magnify the relative error of itemsets, by length; none where that is not defined."""
    numbers = [channel.itemset_condition(length) for length in range(1, len(channel.shape) + 1)]
    return [number for number in numbers if number is not None]
