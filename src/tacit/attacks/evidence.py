"""Reports as the guesser holds them: distinct rows, how often each occurs, and what each group's report speaks for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.attacks.cells import CellReports
from tacit.attacks.laws import Known, Law, SaysNothing
from tacit.attacks.records import FlipReports, MixtureReports
from tacit.attacks.singles import Single, SingleAnswers
from tacit.channel.kinds.bits import CutAndPasteChannel, MaskChannel
from tacit.channel.kinds.flip import FlipChannel
from tacit.channel.kinds.matrix import MatrixChannel
from tacit.channel.kinds.mixture import MixtureChannel
from tacit.channel.kinds.subset import SubsetChannel
from tacit.channel.protocol import Array, Channel, Codes, grid, joint_codes
from tacit.channel.scheme import Group, Questionnaire
from tacit.errors import InvalidInput
from tacit.randomness import ONE
from tacit.schema import Schema
from tacit.table import Table

# Joint answers of one group that are weighed one by one, where there is no closed form.
MOST_CELLS = 1 << 13


@dataclass(frozen=True, eq=False)
class Evidence:
    """Distinct reports of one questionnaire, each with the number of people who sent it."""

    laws: tuple[Law, ...]
    counts: Array


def evidence(
    questionnaire: Questionnaire, schema: Schema, table: Table, counts: Array, known: Known | None = None
) -> Evidence:
    """What these rows of reports say about every attribute of the schema."""
    given = known or {}
    position = {name: j for j, name in enumerate(schema.names)}
    singles = _singles(questionnaire, position, table)
    # Where the answer is known, the report of this one attribute has nothing more to say to the law of many.
    told = [single for single in singles if single.attribute in given]
    laws: list[Law] = [single.as_cells(given) for single in told]
    laws.append(SingleAnswers([single for single in singles if single.attribute not in given], len(counts)))
    alone = {single.attribute for single in singles}
    for group in questionnaire.groups:
        if position[group.names[0]] not in alone:
            laws += _group_laws(group, position, table, given)
    asked = {j for law in laws for j in law.attributes}
    laws += [SaysNothing(j, len(counts), given) for j in range(len(schema)) if j not in asked]
    return Evidence(tuple(law for law in laws if law.attributes), counts)


def _singles(questionnaire: Questionnaire, position: Mapping[str, int], table: Table) -> list[Single]:
    """Attributes that are public, or a group of their own whose report is one answer or label."""
    singles = [
        Single(position[attribute.name], table[attribute.name], np.eye(attribute.size), has_coin=False)
        for attribute in questionnaire.public
    ]
    for group in questionnaire.groups:
        column = group.report_attributes[0]
        if len(group.names) == 1 and column.shows == "one":
            has_coin = column.answers == group.attributes[0].answers
            singles.append(
                Single(position[group.names[0]], table[column.name], group.channel.matrix, has_coin=has_coin)
            )
    return singles


def blind_evidence(schema: Schema, counts: Array, known: Known | None = None) -> Evidence:
    """The same for someone who has not seen the reports."""
    laws = tuple(SaysNothing(j, len(counts), known or {}) for j in range(len(schema)))
    return Evidence(laws, counts)


def cells_per_row(questionnaire: Questionnaire) -> int:
    """Numbers held for one report; what is weighed cell by cell needs most."""
    total = sum(attribute.size for attribute in questionnaire.public)
    for group in questionnaire.groups:
        sizes = group.channel.shape
        total += math.prod(sizes) if _needs_cells(group.channel) else 2 * sum(sizes)
    return max(total, 1)


def _needs_cells(channel: Channel) -> bool:
    return isinstance(channel, MatrixChannel | SubsetChannel | CutAndPasteChannel)


def _group_laws(group: Group, position: Mapping[str, int], table: Table, known: Known) -> Iterator[Law]:
    channel, attributes = group.channel, tuple(position[name] for name in group.names)
    columns = [table[column.name] for column in group.report_attributes]
    if isinstance(channel, FlipChannel):
        yield FlipReports(attributes, columns, channel.chance, known)
    elif isinstance(channel, MixtureChannel):
        yield MixtureReports(attributes, channel.shape, columns, channel.keep, _noise(channel, columns), known)
    elif isinstance(channel, MaskChannel):
        for j, bits, size in zip(attributes, columns, channel.shape, strict=True):
            yield CellReports((j,), (size,), _mask_likelihood(channel, bits), known)
    else:
        _checked_cells(group)
        likelihood, shows = _cell_likelihood(channel, columns)
        yield CellReports(attributes, channel.shape, likelihood, known, shows)


def _checked_cells(group: Group) -> None:
    size = math.prod(group.channel.shape)
    if size > MOST_CELLS:
        raise InvalidInput(
            f"The attack weighs every joint answer of a {group.channel.kind} group; {', '.join(group.names)} have {size:,} "
            f"of them, more than {MOST_CELLS:,}. Attack a scheme with smaller groups."
        )


def _noise(channel: MixtureChannel, columns: Sequence[Codes]) -> Array:
    """Chance of each report as a draw that says nothing of the truth."""
    if channel.personal is None:
        chances = np.full(len(columns[0]), 1 / channel.size)
    elif len(channel.personal) == len(channel.shape):
        chances = np.prod([w[codes] / ONE for w, codes in zip(channel.personal, columns, strict=True)], axis=0)
    else:
        chances = channel.personal[0].reshape(-1)[joint_codes(columns, channel.shape)] / ONE
    return (1 - channel.keep) * chances


def _mask_likelihood(channel: MaskChannel, bits: Codes) -> Array:
    """Up to a factor of the row: two truths differ in two bits, each kept or reversed."""
    return np.where(bits, channel.chance**2, (1 - channel.chance) ** 2)


def _cell_likelihood(channel: Channel, columns: Sequence[Codes]) -> tuple[Array, NDArray[np.bool_] | None]:
    if isinstance(channel, MatrixChannel):
        rows = joint_codes(columns, channel.tally_shape)
        shows = None if channel.labels is not None else rows[:, None] == np.arange(channel.size)
        return channel.matrix[rows], shows
    if isinstance(channel, SubsetChannel):
        members = np.zeros((len(columns[0]), channel.size), dtype=np.bool_)
        np.put_along_axis(members, columns[0].astype(np.intp), True, axis=1)
        inside, outside = channel.holds * (channel.size - channel.members), (1 - channel.holds) * channel.members
        return np.where(members, inside, outside), members
    if isinstance(channel, CutAndPasteChannel):
        return _cut_and_paste_likelihood(channel, columns), None
    raise InvalidInput(f"The attack does not know the channel {channel.kind!r}.")


def _cut_and_paste_likelihood(channel: CutAndPasteChannel, columns: Sequence[Codes]) -> Array:
    """The record's law depends on how many of its items are shown, and how many foreign ones."""
    shared = sum(bits.astype(np.int64)[:, codes] for bits, codes in zip(columns, grid(channel.shape), strict=True))
    foreign = sum(bits.sum(axis=1, dtype=np.int64) for bits in columns)[:, None] - shared
    own = np.array([channel.own_items(count) for count in range(len(channel.shape) + 1)])
    rho, others = channel.background, sum(channel.shape) - len(channel.shape)
    return own[shared] * rho**foreign * (1 - rho) ** (others - foreign)
