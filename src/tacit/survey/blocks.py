"""Routed blocks of a questionnaire: questions that routing connects are disguised together, on their legal records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tacit.channel.routing import Asked, Records, Routing
from tacit.errors import InvalidInput
from tacit.schema import Attribute

# More legal records than this are more than a page can explain, whatever disguises them.
MOST_RECORDS = 1 << 12


def is_block(questions: Sequence[Asked]) -> bool:
    """Whether these connected questions cannot be disguised one attribute at a time.

    Two questions that routing connects cannot. Nor can the options of one question that can be declined as a whole:
    each option would tell again that it was declined.
    """
    return len(questions) > 1 or not questions[0].ways.is_product


def legal_records(routing: Routing, questions: Sequence[Asked], attributes: Sequence[Attribute]) -> Records:
    """The legal records of some questions, few enough for a page."""
    records = routing.records(questions, attributes)
    if len(records) > MOST_RECORDS:
        raise InvalidInput(
            f"{', '.join(each.name for each in questions)} have {len(records):,} legal records together, more than a page can "
            f"explain ({MOST_RECORDS:,}). Ask fewer questions after one answer, offer fewer answers "
            "(prefer_not_to_say: false), or ask some of them of everybody."
        )
    never = [attribute.name for place, attribute in enumerate(attributes) if not records.asked_mask[:, place].any()]
    if never:
        raise InvalidInput(f"{never[0]!r} can never be asked: the conditions of its `when` exclude each other.")
    return records


def planned_channel(
    questions: Sequence[Asked], records: Records, gamma: float, together: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """The channel of least error for a block, within an amplification."""
    key = tuple((question.name, question.attributes, question.earlier) for question in questions)
    listed = tuple(tuple(record) for record in records.to_document())
    wanted = tuple(tuple(names) for names in together)
    return _plan_channel(key, listed, records.attributes, gamma, wanted)


@lru_cache(maxsize=64)
def _plan_channel(
    questions: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...],
    listed: tuple[tuple[str | None, ...], ...],
    attributes: tuple[Attribute, ...],
    gamma: float,
    together: tuple[tuple[str, ...], ...],
) -> dict[str, Any]:
    from tacit.design.blocks import LARGEST_LAW, Block, block_ways

    place = {attribute.name: index for index, attribute in enumerate(attributes)}
    earlier = {name: [name for name in before if name in place] for _, names, before in questions for name in names}
    indices = {name: [place[name] for name in names] for name, names, _ in questions}
    wanted: list[tuple[int, ...]] = [(index,) for index in range(len(attributes))]
    for names in together:
        if all(name in indices for name in names):
            wanted.append(tuple(index for name in names for index in indices[name]))
    records = Records.from_document(attributes, [list(record) for record in listed])
    closures = tuple(_closure(attribute.name, earlier, place) for attribute in attributes)
    every = block_ways(Block(records, closures, tuple(wanted)), gamma)
    ways = [way for way in every if way.n_reports * len(records) <= LARGEST_LAW]
    if not ways:
        raise InvalidInput(
            f"{', '.join(indices)} have {len(listed):,} legal records together: no disguise of them is small enough for a page. "
            "Ask fewer questions after one answer, or ask some of them of everybody."
        )
    return ways[0].channel


def _closure(name: str, earlier: dict[str, list[str]], place: dict[str, int]) -> tuple[int, ...]:
    """A question's attribute behind everything in the block that decides whether it is asked."""
    made: list[str] = []
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in made:
            made.append(one)
            waiting.extend(earlier[one])
    return tuple(sorted(place[name] for name in made))
