"""Routed groups for tests: a yes/no filter with yes/no follow-ups, and the ways to disguise them."""

from __future__ import annotations

from tacit import Attribute, Scheme
from tacit.channel.recipe import Recipe
from tacit.channel.routing import NOT_ASKED, Asked, Records, Routing, Ways
from tacit.channel.scheme import GroupRecipe
from tacit.design.blocks import Block

YES_NO = Ways((("no", "yes"),))


def follow_ups(count: int) -> Routing:
    after = (("filter", frozenset({"yes"})),)
    return Routing(
        (
            Asked("filter", ("filter",), YES_NO),
            *(Asked(f"f{n}", (f"f{n}",), YES_NO, after) for n in range(count)),
        )
    )


def records_of(count: int) -> Records:
    routing = follow_ups(count)
    (block,) = routing.blocks()
    attributes = [Attribute("filter", ("no", "yes"))]
    attributes += [Attribute(f"f{n}", ("no", "yes", NOT_ASKED), missing=NOT_ASKED) for n in range(count)]
    return routing.records(block, attributes)


def block_of(count: int) -> Block:
    closures = ((0,), *((0, n + 1) for n in range(count)))
    return Block(records_of(count), closures, tuple((n,) for n in range(count + 1)))


def scheme_of(records: Records, channel: Recipe, *public: Attribute) -> Scheme:
    names = [attribute.name for attribute in records.attributes]
    return Scheme.of([*records.attributes, *public], [GroupRecipe(names, channel, records.to_document())])
