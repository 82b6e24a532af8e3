"""What is assumed of the truth before anyone reports: given, counted in data, assumed by the design, or uniform."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.channel.base import Array, Channel
from tacit.channel.chances import checked_distribution
from tacit.channel.routing import Records
from tacit.channel.scheme import Scheme
from tacit.count import MemoryEngine
from tacit.errors import InvalidInput
from tacit.schema import Schema
from tacit.table import Table, encode

# Rounds in which a routed group is fitted to the shares that are given of several of its answers.
FITTING_ROUNDS = 100
# Beyond this a joint distribution is not written out.
JOINT_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Prior:
    """A distribution of true records: counted in `table`, or a product of the `parts`, uniform where nothing is said."""

    schema: Schema
    source: str  # "uniform", "given", "design" or "data"
    parts: Mapping[tuple[str, ...], Array]
    table: Table | None = None

    @classmethod
    def of(
        cls,
        schema: Schema,
        given: Any = None,
        assumed: Mapping[str, Sequence[float]] | None = None,
        routed: Sequence[Records] = (),
    ) -> Prior:
        """The prior for a schema: `given`, else what the design `assumed`, else uniform.

        `given` maps attributes (or several, as ``a+b``) to distributions, or is a table of truths. On the legal records
        of `routed` groups the even prior goes question by question, and is fitted to what is given of single answers.
        """
        if given is None:
            source = "uniform" if assumed is None else "design"
            return cls(schema, source, _parts(schema, assumed or {}, routed))
        table = getattr(given, "table", given)
        if isinstance(table, Table):
            return cls(schema, "data", {}, _checked_table(schema, table))
        if not isinstance(given, Mapping) and hasattr(given, "__arrow_c_stream__"):
            return cls(schema, "data", {}, encode(given, schema, drop_others=True))
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"A prior maps attributes to distributions, or is a data frame or Dataset of truths, not {type(given).__name__}."
            )
        return cls(schema, "given", _parts(schema, given, routed))

    def marginals(self, names: Sequence[str]) -> dict[str, tuple[float, ...]]:
        """The distribution of each attribute, as a scheme document states them."""
        return {name: tuple(self.joint([name]).tolist()) for name in names}

    def is_joint_small(self, names: Sequence[str]) -> bool:
        return math.prod(self.schema.shape(names)) <= JOINT_CELLS

    def is_uniform(self, names: Sequence[str]) -> bool:
        return self.table is None and not any(name in attributes for attributes in self.parts for name in names)

    def are_independent(self, names: Sequence[str]) -> bool:
        """Whether the joint is the product of its attributes' distributions, by assumption."""
        return self.table is None and not any(
            sum(name in attributes for name in names) > 1 for attributes in self.parts
        )

    def joint(self, names: Sequence[str]) -> Array:
        """The distribution over the joint answers of these attributes, one axis for each."""
        if self.table is not None:
            return MemoryEngine(self.table).tally(names) / self.table.n_rows
        joint: Array = np.ones(())
        order: list[str] = []
        for attributes, distribution in [*self.parts.items(), *self._even_parts(names)]:
            asked = [name for name in attributes if name in names and name not in order]
            if asked:
                others = tuple(axis for axis, name in enumerate(attributes) if name not in asked)
                joint = np.multiply.outer(joint, distribution.sum(axis=others))
                order += asked
        return joint.transpose([order.index(name) for name in names])

    def _even_parts(self, names: Sequence[str]) -> list[tuple[tuple[str, ...], Array]]:
        sizes = zip(names, self.schema.shape(names), strict=True)
        return [((name,), np.full(size, 1 / size)) for name, size in sizes]


def with_prior(scheme: Scheme, prior: Any) -> Scheme:
    """`scheme`, stating the prior it was designed for, so that whoever plans or measures with it uses the same."""
    if prior is None or scheme.prior is not None:
        return scheme
    full_prior = Prior.of(scheme.schema, by_name(scheme, prior), None, scheme.routed_records)
    if isinstance(prior, Mapping):
        chances = {"+".join(names): tuple(table.reshape(-1).tolist()) for names, table in full_prior.parts.items()}
        return replace(scheme, prior=chances)
    return replace(scheme, prior=full_prior.marginals(scheme.schema.names))


def by_name(scheme: Scheme, prior: Any) -> Any:
    """`prior`, where a bare distribution is that of the only group."""
    if not isinstance(prior, Sequence | np.ndarray):
        return prior
    groups = {group.names for questionnaire in scheme.questionnaires for group in questionnaire.groups}
    if len(groups) != 1:
        raise InvalidInput(
            f"One distribution is not enough for {len(groups)} groups: say which attribute each distribution is of."
        )
    return {"+".join(groups.pop()): prior}


def _parts(schema: Schema, given: Mapping[str, Any], routed: Sequence[Records]) -> dict[tuple[str, ...], Array]:
    parts = {}
    legal = {tuple(attribute.name for attribute in records.attributes): records for records in routed}
    for key, chances in given.items():
        names = (key,) if key in schema else tuple(key.split("+"))
        shape = schema.shape(names)
        distribution = checked_distribution(f"The prior of {key!r}", np.asarray(chances).reshape(-1))
        if names in legal and len(distribution) == len(legal[names]):
            distribution = legal[names].table(distribution)
        if distribution.size != math.prod(shape):
            raise InvalidInput(
                f"The prior of {key!r} has {len(distribution)} entries; {math.prod(shape)} are needed, one for each answer."
            )
        parts[names] = distribution.reshape(shape)
    repeated = [name for name in schema.names if sum(name in attributes for attributes in parts) > 1]
    if repeated:
        raise InvalidInput(f"The prior names {repeated[0]!r} twice. Give each attribute one distribution.")
    for members, records in legal.items():
        if members not in parts:
            parts = _with_routed(parts, members, records)
    return parts


def _with_routed(
    parts: dict[tuple[str, ...], Array], members: tuple[str, ...], records: Records
) -> dict[tuple[str, ...], Array]:
    """The parts, with a joint distribution on the legal records of a routed group in place of its single answers."""
    touching = [attributes for attributes in parts if set(attributes) & set(members)]
    if any(set(attributes) >= set(members) for attributes in touching):
        return parts
    if any(len(attributes) > 1 for attributes in touching):
        raise InvalidInput(
            f"{', '.join(members)} are routed together: give a prior of single answers among them, or of all of them "
            f"({'+'.join(members)!r}, one share for each of the {len(records)} legal records)."
        )
    table = records.table(records.even())
    for _ in range(FITTING_ROUNDS if len(touching) > 1 else 1):
        for attributes in touching:
            axis = members.index(attributes[0])
            others = tuple(other for other in range(table.ndim) if other != axis)
            shares = table.sum(axis=others, keepdims=True)
            wanted = parts[attributes].reshape(shares.shape)
            table = table * np.divide(wanted, shares, out=np.zeros_like(shares), where=shares > 0)
            table /= table.sum()
    return {**{attributes: parts[attributes] for attributes in parts if attributes not in touching}, members: table}


def _checked_table(schema: Schema, table: Table) -> Table:
    if not table.n_rows:
        raise InvalidInput("The table of truths has no rows, so it says nothing of the prior.")
    for attribute in schema:
        if table.schema[attribute.name].answers != attribute.answers:
            raise InvalidInput(
                f"The data and the scheme list the answers of {attribute.name!r} differently. "
                "Read the data with the scheme's schema."
            )
    return table


def accurate_map_privacy(channel: Channel, prior: Array, accuracy: Array) -> float:
    """MAP privacy where `accuracy[guess, truth]` says what a guess is worth (OptRR eq. 4 and 5).

    An ordered attribute may count a near miss as half right, for example.
    """
    n = math.prod(channel.shape)
    worth = np.asarray(accuracy, dtype=np.float64)
    if worth.ndim != 2 or worth.shape[1] != n or not np.isfinite(worth).all():
        raise InvalidInput(
            f"The accuracy must be a table of numbers [guess, truth] with {n} truths, but its shape is {worth.shape}."
        )
    return channel.accurate_map_privacy(prior, worth)
