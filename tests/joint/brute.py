"""Whole records one by one: what models and laws must agree with, on domains small enough to list."""

from __future__ import annotations

import numpy as np

from tacit import Attribute, Dataset, Reports, Schema, Scheme, disguise
from tacit.channel.recipe import Recipe
from tacit.joint.evidence import WholeReports, laid_out
from tacit.table import Table


def schema_of(*sizes: int) -> Schema:
    return Schema(tuple(Attribute(f"a{j}", tuple(map(str, range(size)))) for j, size in enumerate(sizes)))


def every_record(schema: Schema) -> list[np.ndarray]:
    """Columns of every whole record, in the order of a raveled table."""
    return [codes.reshape(-1) for codes in np.indices(schema.shape())]


def drawn(schema: Schema, people: int, seed: int) -> Dataset:
    """People whose answers hang together: each repeats the first as often as not."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, schema.attributes[0].size, people)
    columns = {}
    for attribute in schema:
        own = rng.choice(attribute.size, people, p=rng.dirichlet(np.ones(attribute.size) * 2))
        columns[attribute.name] = np.where(rng.random(people) < 0.5, first % attribute.size, own)
    return Dataset(Table.from_codes(schema, columns))


def rows_of(reports: Reports, schema: Schema) -> WholeReports:
    """Every report as it comes, unfolded."""
    (questionnaire, table), *_ = reports
    return laid_out(questionnaire, schema, table, np.ones(table.n_rows))


def reported(schema: Schema, groups: list[tuple[list[str], Recipe]], people: int = 60, seed: int = 5) -> WholeReports:
    scheme = Scheme.of(schema, groups)
    return rows_of(disguise(drawn(schema, people, seed), scheme, seed=seed + 1), schema)


def chance_matrix(part: WholeReports, schema: Schema) -> np.ndarray:
    """Chance of every row's report given every whole record, group by group."""
    records = every_record(schema)
    matrix = np.ones((part.n_rows, len(records[0])))
    for group in part.groups:
        law = group.by_row()
        for column in range(matrix.shape[1]):
            record = [np.full(part.n_rows, records[j][column]) for j in group.attributes]
            matrix[:, column] *= law.chance(record)
    return matrix
