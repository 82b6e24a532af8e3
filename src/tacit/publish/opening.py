"""From whatever a user hands in to a table that can be tallied and published."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.count.backend import single_row
from tacit.count.connections import is_address, open_table
from tacit.count.database_schema import inferred_schema
from tacit.count.spark import is_frame, table_of
from tacit.dataset import Dataset
from tacit.errors import InvalidInput, UnknownName
from tacit.publish.column_readings import MOST_AS_THEY_ARE, Reading
from tacit.publish.column_types import (
    ColumnType,
    TypedColumn,
    listed_column,
    pseudonym_column,
    stepped_attribute,
    typed_column,
)
from tacit.publish.column_values import ColumnValues, counted_columns, refuse_missing
from tacit.publish.database_input import DatabaseInput
from tacit.publish.release_input import CodedInput, Fingerprint, ReleaseInput
from tacit.publish.tally import QuasiTally
from tacit.schema import Attribute, Schema
from tacit.table import Missing, Table, as_arrow, encode, read_batches, read_table
from tacit.table.files import column_names, data_places, n_cells

if TYPE_CHECKING:
    from tacit.table.discretize import CutRule
    from tacit.table.infer import MissingPolicy

SLICE_ROWS = 1 << 20
MOST_HELD_CELLS = 1 << 22  # of a file that stays in memory from one pass to the next
HASHED_ROWS = 1 << 14  # at a time: what stays in the processor's cache
ENGINES = ("duckdb", "sqlite", "postgres", "pyspark")


@dataclass(frozen=True)
class Wanted:
    """Which columns of a table are read, and as what."""

    columns: tuple[str, ...] | None = None  # None for all
    as_they_are: tuple[str, ...] = ()  # of any number of answers, because they are not generalized
    pseudonyms: tuple[str, ...] = ()
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    granularity: Mapping[str, float | str] = field(default_factory=dict)
    readings: Mapping[str, Reading] = field(default_factory=dict)  # known already, with a schema


def open_input(
    data: Any,
    schema: Schema | None = None,
    *,
    missing: MissingPolicy = "refuse",
    wanted: Wanted | None = None,
) -> ReleaseInput:
    """Anything that can be published: a file, a Dataset, a data frame, the address of a database table, an ibis table.

    A database table stays in its database. Of a large file never all rows are held, so that it is read several times: without a
    schema the values of its wanted columns are counted first. Rows with missing values are dropped under
    ``missing="drop"``, and missing values are an answer of their own under ``missing="answer"``.
    """
    wanted = wanted or Wanted()
    if is_stored(data):
        table = stored_table(data, writable=True)
        refuse_engine(table.get_backend().name)
        answers = schema or _stored_schema(table, missing, wanted)
        return DatabaseInput(table, answers, drop_missing=missing == "drop")
    if isinstance(data, str | Path | OpenedFile):
        return _open_file(data if isinstance(data, OpenedFile) else OpenedFile(data), schema, missing, wanted)
    if not isinstance(data, Dataset | Table):
        table = as_arrow(data)
        answers, readings, behind = _schema_and_readings(
            lambda: _values([table], table.column_names, missing, wanted), schema, missing, wanted
        )
        coded = _encoded_batch(table, answers, readings, missing)
        return replace(_input_in_memory(coded, readings), values_behind=behind)
    if wanted.granularity:
        raise InvalidInput("A Dataset has its answers already. Give its file or data frame to cut numbers in steps.")
    return _input_in_memory(data.table if isinstance(data, Dataset) else data, {})


def _input_in_memory(coded: Table, readings: Mapping[str, Reading]) -> CodedInput:
    if not len(coded):
        raise InvalidInput("The table has no rows: there is nothing to publish.")
    return CodedInput(
        coded.schema, lambda: _slices(coded), Fingerprint(_hash_of_answers(coded), "answers"), dict(readings)
    )


def _schema_and_readings(
    values: Callable[[], Mapping[str, ColumnValues]], schema: Schema | None, missing: MissingPolicy, wanted: Wanted
) -> tuple[Schema, Mapping[str, Reading], dict[str, NDArray[np.int64]]]:
    """The schema, how columns are read, and how many values of the table stand behind each answer of a generalized one."""
    if schema is not None:
        return schema, dict(wanted.readings), {}
    columns = values()
    found, readings = typed_schema(columns, missing, wanted)
    behind = {}
    for attribute in found:
        if attribute.name not in (*wanted.as_they_are, *wanted.pseudonyms):
            alone = pa.table({attribute.name: columns[attribute.name].values})
            alone_reading = {attribute.name: readings[attribute.name]} if attribute.name in readings else {}
            codes = _encoded_batch(alone, Schema((attribute,)), alone_reading, missing)[attribute.name]
            behind[attribute.name] = np.bincount(codes, minlength=attribute.size).astype(np.int64)
    return found, readings, behind


def typed_schema(
    columns: Mapping[str, ColumnValues], missing: MissingPolicy, wanted: Wanted
) -> tuple[Schema, dict[str, Reading]]:
    """The schema that a table without one is published under, and how its columns are read."""
    if missing == "refuse":
        refuse_missing({name: column for name, column in columns.items() if name not in wanted.pseudonyms})
    typed = [_typed_column(name, column, missing, wanted) for name, column in columns.items()]
    readings = {column.attribute.name: column.reading for column in typed if column.reading is not None}
    return Schema(tuple(column.attribute for column in typed)), readings


def _typed_column(name: str, column: ColumnValues, missing: MissingPolicy, wanted: Wanted) -> TypedColumn:
    if name in wanted.pseudonyms:
        return pseudonym_column(name, column)
    if name in wanted.as_they_are:
        return listed_column(name, column, missing)
    return typed_column(name, column, wanted.types.get(name), missing, wanted.granularity.get(name))


def _values(
    batches: Iterable[pa.Table], present: Sequence[str], missing: MissingPolicy, wanted: Wanted
) -> dict[str, ColumnValues]:
    """What the wanted columns hold; what is not there is refused with the nearest name."""
    for name in (*(wanted.columns or ()), *wanted.granularity):
        if name not in present:
            raise UnknownName("Column", name, present)
    return counted_columns(batches, wanted.columns or present, drop=missing == "drop")


def _stored_schema(table: Any, missing: MissingPolicy, wanted: Wanted) -> Schema:
    """The schema of a database table; numbers with many values, or with a granularity, are cut in steps."""
    names = list(table.columns) if wanted.columns is None else list(wanted.columns)
    for name in (*names, *wanted.granularity):
        if name not in table.columns:
            raise UnknownName("Column", name, table.columns)
    steps = {name: _stepped_there(table, name, wanted.granularity.get(name)) for name in names}
    cut = {name: own for name, own in steps.items() if own is not None and name not in wanted.as_they_are}
    rules = {name: _known_cut(own) for name, own in cut.items()}
    schema = inferred_schema(table.select(names), missing=missing, cuts=rules, listed=wanted.as_they_are)
    return Schema(tuple(cut.get(attribute.name, attribute) for attribute in schema))


def _known_cut(attribute: Attribute) -> CutRule:
    cut = attribute.cut
    if cut is None:
        raise InvalidInput(
            f"The schema does not say where the numbers of {attribute.name!r} are cut. Add a cut to the schema, or leave "
            "the schema out."
        )
    return lambda numbers: cut


def _stepped_there(table: Any, name: str, granularity: float | str | None) -> Attribute | None:
    """The steps of a column of numbers in a database; None where its values are answers themselves."""
    column = table[name]
    if isinstance(granularity, str):
        raise InvalidInput(
            f"{name!r} cannot be read in steps of a {granularity} in a database. Write it to a Parquet file."
        )
    if not column.type().is_numeric():
        if granularity is not None:
            raise InvalidInput(f"{name!r} holds values that are not numbers, so it cannot be cut.")
        return None
    ends = single_row(table.agg(low=column.min(), high=column.max(), distinct=column.nunique()))
    if ends["low"] is None or (granularity is None and ends["distinct"] <= MOST_AS_THEY_ARE):
        return None
    whole = 0.0 if column.type().is_integer() else 0.5
    numbers = np.array([float(ends["low"]), float(ends["high"]), float(ends["low"]) // 1 + whole])
    return stepped_attribute(name, numbers.clip(numbers[0], numbers[1]) if not whole else numbers[:2], granularity)


def _hash_of_answers(coded: Table) -> str:
    """A hash of the answers in every row, whatever order the schema gives them."""
    digest = hashlib.sha256()
    for attribute in coded.schema:
        order = sorted(range(attribute.size), key=attribute.answers.__getitem__)
        place = np.empty(attribute.size, "<u4")
        place[order] = np.arange(attribute.size)
        digest.update(json.dumps([attribute.name, *sorted(attribute.answers)]).encode())
        column = coded[attribute.name]
        for start in range(0, len(column), HASHED_ROWS):
            digest.update(place[column[start : start + HASHED_ROWS]].data)
    return digest.hexdigest()


def is_stored(data: Any) -> bool:
    """Whether data are a table of a database: its address, an ibis table, or a data frame of Spark."""
    if isinstance(data, str | Path):
        return is_address(data)
    types = sys.modules.get("ibis.expr.types")  # nobody hands in an ibis table without having imported it
    return is_frame(data) or (types is not None and isinstance(data, types.Table))


def stored_table(data: Any, *, writable: bool = False) -> Any:
    """The ibis table behind an address or a data frame of Spark; an ibis table as it is."""
    if isinstance(data, str | Path):
        return open_table(data, writable=writable)
    return table_of(data) if is_frame(data) else data


def refuse_engine(name: str) -> None:
    """Refuse a database that was never seen to publish what memory publishes."""
    if name not in ENGINES:
        raise InvalidInput(
            f"Tables of {name} are not published where they are, only those of {', '.join(ENGINES)}. Write it to a Parquet "
            "file and publish that."
        )


def _slices(coded: Table) -> Iterator[Table]:
    """Parts of a table in memory, so that its published labels never exist as text all at once."""
    for start in range(0, len(coded), SLICE_ROWS):
        yield coded.rows(slice(start, start + SLICE_ROWS))


class OpenedFile:
    """A file, a folder or a pattern that is read for several purposes: what fits is read once and held."""

    def __init__(self, path: str | Path) -> None:
        self.path, self._places = path, data_places(path)
        self.names = column_names(path)

    @functools.cached_property
    def _rows_in_memory(self) -> pa.Table | None:
        """All rows of all columns, of a small file; values of a CSV file are text."""
        is_small = sum(n_cells(place) for place in self._places) <= MOST_HELD_CELLS
        return read_table(self.path) if is_small else None

    def batches(self, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        """The rows in parts that fit memory, with those of the columns that are there."""
        if self._rows_in_memory is None:
            yield from read_batches(self.path, columns)
        else:
            yield (
                self._rows_in_memory
                if columns is None
                else self._rows_in_memory.select([name for name in columns if name in self.names])
            )

    @functools.cached_property
    def fingerprint(self) -> Fingerprint:
        digest = hashlib.sha256()
        for place in self._places:
            with place.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return Fingerprint(digest.hexdigest(), "file")


def _open_file(file: OpenedFile, schema: Schema | None, missing: MissingPolicy, wanted: Wanted) -> CodedInput:
    answers, readings, behind = _schema_and_readings(
        lambda: _values(file.batches(wanted.columns), file.names, missing, wanted), schema, missing, wanted
    )

    def batches() -> Iterator[Table]:
        for batch in file.batches(answers.names):
            for start in range(0, max(batch.num_rows, 1), SLICE_ROWS):
                yield _encoded_batch(batch.slice(start, SLICE_ROWS), answers, readings, missing)

    return CodedInput(answers, batches, file.fingerprint, dict(readings), behind)


def _encoded_batch(batch: pa.Table, schema: Schema, readings: Mapping[str, Reading], missing: MissingPolicy) -> Table:
    """A batch as codes, columns that are read in a special way first."""
    for name, reading in readings.items():
        if name in batch.column_names:
            place = batch.column_names.index(name)
            batch = batch.set_column(place, name, reading.read(batch.column(name)))
    return encode(batch, schema, missing=Missing(drop=missing == "drop"), drop_others=True)


def tally(source: ReleaseInput, sets: Sequence[Sequence[str]], sensitive: Sequence[str]) -> QuasiTally:
    """The tally of all quasi-identifiers in `sets`, with the sensitive attributes beside them."""
    names = tuple(dict.fromkeys(name for members in sets for name in members))
    counted = source.sparse_tally([*names, *sensitive])
    sizes = [source.schema[name].size for name in sensitive]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if sizes else np.empty(0, np.int64)
    return QuasiTally(
        tuple(source.schema[name] for name in names),
        np.ascontiguousarray(counted.codes[:, : len(names)]),
        counted.counts.astype(np.int64, copy=False),
        tuple(tuple(names.index(name) for name in members) for members in sets),
        tuple(source.schema[name] for name in sensitive),
        np.ascontiguousarray(counted.codes[:, len(names) :] + starts, dtype=np.int64),
    )
