"""What does better than a chosen scheme, at the same usefulness.

A channel says itself what to take in its place: a flip of a whole group, for one, leaves only two records possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.channel.scheme import Group, GroupRecipe, Scheme
from tacit.measures.meaning import finite
from tacit.measures.scheme import SchemeMeasures, measure


@dataclass(frozen=True, eq=False)
class SchemeAlternative:
    """A scheme that may be had instead, with what it protects and what it costs."""

    what: str
    scheme: Scheme
    measures: SchemeMeasures

    @property
    def single_error(self) -> float | None:
        """The largest standard error of a single answer."""
        return worst_error(self.measures, 1)

    @property
    def pair_error(self) -> float | None:
        """The largest standard error of a cell of two attributes."""
        return worst_error(self.measures, 2)

    def to_document(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "gamma": finite(self.measures.gamma),
            "standard_error": self.single_error,
            "pair_standard_error": self.pair_error,
            "scheme": self.scheme.to_document(),
        }


def worst_error(measures: SchemeMeasures, attributes: int) -> float | None:
    errors = [
        error.worst for error in measures.errors if len(error.attributes) == attributes and error.worst is not None
    ]
    return max(errors, default=None)


def better_alternatives(
    scheme: Scheme, prior: Any = None, respondents: int | None = None
) -> tuple[SchemeAlternative, ...]:
    """What to take instead of a scheme; nothing where no channel of it knows better."""
    if scheme.is_dealt:
        return ()
    ways = dict.fromkeys(what for group in scheme.groups for what in group.channel.better_instead())
    made = {
        what: Scheme.from_groups(scheme.schema, [recipe for group in scheme.groups for recipe in _parts(group, what)])
        for what in ways
    }
    return tuple(SchemeAlternative(what, other, measure(other, prior, respondents)) for what, other in made.items())


def _parts(group: Group, what: str) -> list[GroupRecipe]:
    """What becomes of a group: the better recipe on it or on each of its attributes, or the same as before."""
    better = group.channel.better_instead().get(what)
    if better is None:
        return [group.recipe]
    recipe, alone = better
    return [GroupRecipe((name,), recipe) for name in group.names] if alone else [GroupRecipe(group.names, recipe)]


def offer(alternatives: Sequence[SchemeAlternative], chosen: SchemeMeasures) -> tuple[str, ...]:
    """A sentence for each alternative."""
    sentences = []
    for other in alternatives:
        errors = f"{_number(other.single_error)} (here {_number(worst_error(chosen, 1))}) for single answers"
        pairs = f"{_number(other.pair_error)} (here {_number(worst_error(chosen, 2))}) for two at once"
        sentences.append(
            f"Better at the same usefulness: {other.what}, with an amplification of {other.measures.gamma:.3g} instead of "
            f"infinity and standard errors of {errors} and {pairs}."
        )
    return tuple(sentences)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
