"""What does better than flipping a whole group, at the same usefulness.

A flip of a group leaves two records possible, and real records betray which one it was. An unrelated question on the same
group that keeps the record with chance ``|2 theta - 1|`` gives every single answer the same law up to a known reversal, so
the same standard error, and nearly the same for tables within the group; but every record stays possible. Flipping every
answer by its own coin has the same errors for single answers again and hides most, at larger errors for tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.channel import flip, mixture
from tacit.channel.kinds.flip import FlipChannel
from tacit.channel.scheme import Group, GroupRecipe, Scheme
from tacit.measures.document import finite
from tacit.measures.scheme import SchemeMeasures, measure

Parts = list[GroupRecipe]


@dataclass(frozen=True, eq=False)
class Alternative:
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
    known = [
        error.worst for error in measures.errors if len(error.attributes) == attributes and error.worst is not None
    ]
    return max(known, default=None)


def better_than_flips(scheme: Scheme, prior: Any = None, respondents: int | None = None) -> tuple[Alternative, ...]:
    """What to take instead of a scheme that flips whole groups; nothing where it does not."""
    if scheme.is_dealt or not any(is_whole_flip(group) for group in scheme.groups):
        return ()
    ways = (
        ("an unrelated question on the same groups", [part for group in scheme.groups for part in _unrelated(group)]),
        ("a coin of its own for every answer", [part for group in scheme.groups for part in _one_by_one(group)]),
    )
    return tuple(_alternative(what, scheme, parts, prior, respondents) for what, parts in ways)


def is_whole_flip(group: Group) -> bool:
    return isinstance(group.channel, FlipChannel) and len(group.names) > 1


def _alternative(what: str, scheme: Scheme, parts: Parts, prior: Any, respondents: int | None) -> Alternative:
    made = Scheme.of(scheme.schema, parts)
    return Alternative(what, made, measure(made, prior, respondents))


def _unrelated(group: Group) -> Iterator[GroupRecipe]:
    if isinstance(group.channel, FlipChannel) and is_whole_flip(group):
        yield GroupRecipe(group.names, mixture(abs(2 * group.channel.theta - 1), "uniform"))
    else:
        yield group.recipe


def _one_by_one(group: Group) -> Iterator[GroupRecipe]:
    if isinstance(group.channel, FlipChannel) and is_whole_flip(group):
        yield from (GroupRecipe((name,), flip(group.channel.theta)) for name in group.names)
    else:
        yield group.recipe


def offer(alternatives: Sequence[Alternative], chosen: SchemeMeasures) -> tuple[str, ...]:
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
