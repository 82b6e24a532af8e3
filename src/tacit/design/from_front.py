"""A scheme from fronts: each attribute gets the channel that was picked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.channel.recipe import Recipe
from tacit.channel.scheme import Scheme
from tacit.design.choose import recipe_of
from tacit.design.front import Front, FrontPoint
from tacit.design.scheme import SchemeDesign, checked_groups
from tacit.errors import InvalidInput
from tacit.measures.scheme import measure
from tacit.schema import Schema

Picked = tuple[Front, FrontPoint]


def scheme_from_fronts(
    schema: Schema, picked: Mapping[str, Picked], public: Sequence[str] = (), *, respondents: int | None = None
) -> SchemeDesign:
    """The scheme that disguises every attribute with its own picked channel; the fronts' priors are the scheme's.

    What the whole record reveals is measured on the scheme: the promises for single attributes do not add up to it.
    """
    parts = checked_groups(schema, [[name] for name in picked], public)
    groups: list[tuple[Sequence[str], Recipe]] = []
    for (name,) in parts:
        front, point = picked[name]
        if len(front.prior) != schema[name].size:
            raise InvalidInput(
                f"The front was made for {len(front.prior)} answers, but {name!r} has {schema[name].size}. "
                "Make one for this attribute: tacit design front --data F --attribute A."
            )
        groups.append(([name], recipe_of(point, front)))
    prior = {name: front.prior.tolist() for name, (front, _) in picked.items()}
    scheme = Scheme.of(schema, groups, prior=prior)
    return SchemeDesign(scheme, _in_words(picked), measure(scheme, None, respondents))


def _in_words(picked: Mapping[str, Picked]) -> str:
    points = [
        f"{name} by {front.method} with privacy {point.privacy:.3f}, worst posterior {point.worst_posterior:.3f} and mean "
        f"squared error {point.mse:.3g} at {front.records:,} records"
        for name, (front, point) in picked.items()
    ]
    return "; ".join(points)
