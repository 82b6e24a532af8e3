"""Schemes of ready channels: devices of the literature, and points picked from fronts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.channel.dense import worst_posterior
from tacit.channel.device_parameters import same_value
from tacit.channel.devices import design
from tacit.channel.scheme import Scheme
from tacit.design.choose import answer_codes, recipe_of
from tacit.design.front import Front, FrontPoint
from tacit.design.scheme import SchemeDesign, checked_groups
from tacit.errors import InvalidInput
from tacit.measures.prior import Prior, with_prior
from tacit.measures.scheme import measure
from tacit.schema import Attribute, Schema

Picked = tuple[Front, FrontPoint]

# Shares that differ by less than this read alike to three digits.
SAME_SHARE = 5e-4


@dataclass(frozen=True, eq=False)
class FrontDesign(SchemeDesign):
    """A scheme made of points of fronts, with what differs from the distributions they were designed for."""

    other_priors: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.other_priors, *super().warnings)


def scheme_from_fronts(
    schema: Schema,
    picked: Mapping[str, Picked],
    public: Sequence[str] = (),
    *,
    data: Any = None,
    respondents: int | None = None,
) -> SchemeDesign:
    """The scheme that disguises every attribute with its own picked channel; the fronts' priors are the scheme's.

    What the whole record reveals is measured on the scheme: the promises for single attributes do not add up to it.
    Where a table of truths is given as `data`, what the scheme reveals is measured under its distribution, and a front
    that was designed for another one is named in the warnings.
    """
    parts = checked_groups(schema, [[name] for name in picked], public)
    groups = [((name,), recipe_of(picked[name][1], picked[name][0], schema[name])) for (name,) in parts]
    prior = {name: _by_name(front, schema[name]).tolist() for name, (front, _) in picked.items()}
    scheme = Scheme.from_groups(schema, groups, prior=prior)
    return FrontDesign(
        scheme,
        _in_words(picked),
        measure(scheme, data, respondents),
        other_priors=() if data is None else tuple(_other_priors(schema, picked, Prior.of(schema, data))),
    )


def _by_name(front: Front, attribute: Attribute) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The front's prior in the attribute's order of answers."""
    return front.prior[answer_codes(front, attribute)]


def _other_priors(schema: Schema, picked: Mapping[str, Picked], counted: Prior) -> list[str]:
    """A sentence for each front whose prior is not the distribution of the data."""
    sentences = []
    for name, (front, point) in picked.items():
        codes = answer_codes(front, schema[name])
        assumed, made = front.prior[codes], counted.joint([name])
        furthest = int(np.abs(assumed - made).argmax())
        if abs(assumed[furthest] - made[furthest]) > SAME_SHARE:
            sentences.append(
                f"The front for {name!r} assumes that {assumed[furthest]:.3f} answer {schema[name].answers[furthest]!r}; in "
                f"the data {made[furthest]:.3f} do. Under the data the worst posterior is "
                f"{worst_posterior(point.matrix[:, codes], made):.3f}, not {point.worst_posterior:.3f}."
            )
    return sentences


def _in_words(picked: Mapping[str, Picked]) -> str:
    points = [
        f"{name} by {front.method} with privacy {point.privacy:.3f}, worst posterior {point.worst_posterior:.3f} and mean "
        f"squared error {point.mse:.3g} at {front.records:,} records"
        for name, (front, point) in picked.items()
    ]
    return "; ".join(points)


def scheme_from_device(
    schema: Schema,
    device: str,
    parameters: str,
    public: Sequence[str] = (),
    *,
    prior: Any = None,
    respondents: int | None = None,
) -> SchemeDesign:
    """Every attribute that is not public, asked by this device on its own.

    >>> from tacit import Attribute, Schema
    >>> made = scheme_from_device(Schema((Attribute("cheated", ("no", "yes")),)), "crosswise", "p=1/4")
    >>> round(made.measures.gamma, 6)
    3.0
    """
    parts = checked_groups(schema, None, public)
    recipes = [((name,), design(device, parameters, _checked_answers(schema[name])).recipe) for (name,) in parts]
    scheme = with_prior(Scheme.from_groups(schema, recipes), prior)
    demand = f"asked by the device {device!r} with {parameters}"
    return SchemeDesign(scheme, demand, measure(scheme, prior, respondents))


def _checked_answers(attribute: Attribute) -> tuple[str, ...]:
    """The answers; a device counts the second of two as the yes, so "yes, no" would be read the wrong way round."""
    if [same_value(answer) for answer in attribute.answers] in (["yes", "no"], ["1", "0"], ["true", "false"]):
        raise InvalidInput(
            f"{attribute.name!r} lists its answers as {', '.join(attribute.answers)}; devices take the second answer as "
            f"the sensitive one. List them as {', '.join(reversed(attribute.answers))}."
        )
    return attribute.answers
