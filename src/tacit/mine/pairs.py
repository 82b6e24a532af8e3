"""The table of the class, and of each attribute with the class: all tallies in one pass over each source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.errors import NotEstimable
from tacit.estimation.group_parts import columns_of, parts_for
from tacit.estimation.inversion import Inverted, checked_rows, with_guess
from tacit.estimation.pooling import pooled
from tacit.schema import Schema


@dataclass(frozen=True, eq=False)
class PairTable:
    """Estimated shares of all people, with the population's errors; `floors` are the errors of the disguise alone."""

    shares: Array
    errors: Array
    floors: Array
    n_reports: int


def pair_tables(found: Sequence[Source], schema: Schema, target: str) -> tuple[PairTable, dict[str, PairTable | None]]:
    """The class alone, and each attribute with the class; None where they are never asked together."""
    others = [name for name in schema.names if name != target]
    wanted = [[target], *([name, target] for name in others)]
    if len(found) == 1:
        classes, *tables = (_of_one(table) for table in inverted_tables(found[0], wanted))
        return classes, dict(zip(others, tables, strict=True))
    classes = _pooled(found, wanted[0], schema)
    return classes, {name: _pooled_or_none(found, [name, target], schema) for name in others}


def inverted_tables(source: Source, wanted: Sequence[Sequence[str]]) -> list[Inverted]:
    """Several estimates from one pass over a source."""
    checked_rows(source)
    parts = [[with_guess(source, part) for part in parts_for(source.questionnaire, names)] for names in wanted]
    columns = [tuple(columns_of(each)) for each in parts]
    different = list(dict.fromkeys(columns))
    tallies = dict(zip(different, source.engine.tallies(different), strict=True))
    rows = source.engine.n_rows
    return [
        Inverted(tuple(names), tuple(each), tallies[shown] / rows, rows)
        for names, each, shown in zip(wanted, parts, columns, strict=True)
    ]


def _of_one(table: Inverted) -> PairTable:
    errors, floors = (np.sqrt(table.variances(sampling)) for sampling in ("population", "respondents"))
    return PairTable(table.probabilities, errors, floors, table.n_reports)


def _pooled(found: Sequence[Source], names: Sequence[str], schema: Schema) -> PairTable:
    joint = pooled(found, names, schema.shape(names))
    # Who is in which table is chance too, so the error of just these people is not known.
    errors = np.sqrt(joint.variances)
    return PairTable(joint.probabilities, errors, errors, joint.n_reports)


def _pooled_or_none(found: Sequence[Source], names: Sequence[str], schema: Schema) -> PairTable | None:
    try:
        return _pooled(found, names, schema)
    except NotEstimable:
        return None
