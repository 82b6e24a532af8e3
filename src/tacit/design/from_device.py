"""A scheme whose sensitive answers are asked by a device of the literature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.channel.device_parameters import same_value
from tacit.channel.devices import design
from tacit.channel.scheme import Scheme
from tacit.design.scheme import SchemeDesign, checked_groups
from tacit.errors import InvalidInput
from tacit.measures.prior import with_prior
from tacit.measures.scheme import measure
from tacit.schema import Attribute, Schema


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
    recipes = [((name,), design(device, parameters, _checked(schema[name])).recipe) for (name,) in parts]
    scheme = with_prior(Scheme.of(schema, recipes), prior)
    demand = f"asked by the device {device!r} with {parameters}"
    return SchemeDesign(scheme, demand, measure(scheme, prior, respondents))


def _checked(attribute: Attribute) -> tuple[str, ...]:
    """The answers; a device counts the second of two as the yes, so "yes, no" would be read the wrong way round."""
    if [same_value(answer) for answer in attribute.answers] in (["yes", "no"], ["1", "0"], ["true", "false"]):
        raise InvalidInput(
            f"{attribute.name!r} lists its answers as {', '.join(attribute.answers)}; devices take the second answer as "
            f"the sensitive one. List them as {', '.join(reversed(attribute.answers))}."
        )
    return attribute.answers
