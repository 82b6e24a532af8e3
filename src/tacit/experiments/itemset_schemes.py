"""The ways of disguising that the itemset study compares, all under one amplification."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tacit.channel.recipe import Recipe, cut_and_paste, gamma_diagonal, subset
from tacit.channel.scheme import Scheme
from tacit.design.mechanisms import best_cut_and_paste, mask_recipe, published_mechanisms
from tacit.design.split import split_questionnaire
from tacit.design.targets import itemset_targets
from tacit.estimation.set_law import best_members
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
        return Scheme.of(schema, [(schema.names, recipe)])

    cells = math.prod(schema.shape())
    ran_gd = published_mechanisms(schema.shape(), gamma)[1].recipe
    by_counts = itemset_targets(schema, schema.names, len(schema), counts)
    evenly = itemset_targets(schema, schema.names, len(schema))
    return (
        Contestant("DET-GD", joint(gamma_diagonal(gamma)), True),
        Contestant("RAN-GD", joint(ran_gd), True),
        Contestant("MASK", joint(mask_recipe(gamma, len(schema))), True),
        Contestant("C&P", joint(cut_and_paste(3, 0.494)), True),
        Contestant("C&P, best K", joint(best_cut_and_paste(gamma, schema.shape(), len(schema))), False),
        Contestant("subset selection", joint(subset(best_members(gamma, cells), gamma)), False),
        Contestant("split, by itemset counts", split_questionnaire(schema, by_counts, gamma).scheme, False),
        Contestant("split, lengths alike", split_questionnaire(schema, evenly, gamma).scheme, False),
    )
