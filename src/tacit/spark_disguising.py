"""Disguise on a cluster: every partition of a Spark table of truths becomes reports where it lies.

The reports are written once and read from there. A data frame that disguises when it is asked would draw anew each time
it is asked, and several disguises of the same answers tell more than one; so none is handed out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.channel.scheme import Scheme
from tacit.count.backend import asking
from tacit.count.spark import SparkAddress, noted_properties
from tacit.disguising import disguise_table
from tacit.errors import InvalidInput
from tacit.randomness import Randomness, SeededRandomness, SystemRandomness
from tacit.table import Missing, Table, encode
from tacit.table.columns import checked_columns


def disguise_on_spark(
    source: str | Any,
    scheme: Scheme,
    out: str,
    *,
    seed: int | None = None,
    missing: Missing | None = None,
    drop_others: bool = False,
) -> int:
    """Disguise a table of a Spark cluster into another one there; returns the number of reports.

    Each partition draws from its machine's own cryptographic generator. A `seed` makes a simulation: partitions then draw
    from different streams, and the same table in the same partitions gives the same reports.

    Parameters
    ----------
    source : str or Spark data frame
        Truths: an address (``spark:db.truths``, ``spark:folder/*.parquet``, ``spark://host:port/db.truths``), or a data frame.
    scheme : Scheme
        How they are disguised.
    out : str
        Address of the reports: a table that does not exist yet, or a folder for Parquet files.
    seed : int, optional
        Makes a repeatable simulation.
    missing : Missing, optional
        What means missing, and what becomes of such rows.
    drop_others : bool
        Leave out columns that the scheme does not name; they are refused otherwise.

    Returns
    -------
    int

    Raises
    ------
    InvalidInput
        Where the truths cannot be read, are not those of the scheme, or the reports have a place already.

    Examples
    --------
    The cluster is named in the address; the reports stay there:

    >>> from tacit import Scheme, disguise_on_spark
    >>> scheme = Scheme.read("scheme.json")  # doctest: +SKIP
    >>> disguise_on_spark("spark:survey.truths", scheme, "spark:survey.reports")  # doctest: +SKIP
    10000000
    """
    target = SparkAddress.parse(out)
    if target.kind == "csv":
        raise InvalidInput(
            f"{out!r}: Spark writes reports as a table or as Parquet. Write spark:NAME or spark:FOLDER.parquet."
        )
    with asking(f"Disguising {source if isinstance(source, str) else 'a Spark data frame'!r}"):
        frame = _frame(source)
        session = frame.sparkSession
        if target.is_table and session.catalog.tableExists(target.name):
            raise InvalidInput(f"Spark has a table {target.name!r} already. Name another one, or drop it first.")
        checked_columns(frame.columns, scheme.schema.names, drop_others=drop_others)
        reports = frame.select(*(f"`{name}`" for name in scheme.schema.names)).mapInArrow(
            _disguising(scheme, seed, missing or Missing()), _columns(scheme)
        )
        writer = reports.write.mode("error")
        _ = writer.saveAsTable(target.name) if target.is_table else writer.parquet(target.name)
        _note(session, target, scheme, is_simulation=seed is not None)
        return int(target.frame(session).count())


def _frame(source: str | Any) -> Any:
    if not isinstance(source, str):
        return source
    place = SparkAddress.parse(source)
    return place.frame(place.session())


def _disguising(
    scheme: Scheme, seed: int | None, missing: Missing
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What every partition does with its batches. Only plain texts and numbers travel to the machines."""
    document = scheme.to_document()

    def partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        plan = Scheme.from_document(document)
        task = TaskContext.get()
        randomness = _randomness(seed, 0 if task is None else task.partitionId())
        read = 0
        for batch in batches:
            truths = encode(pa.Table.from_batches([batch]), plan.schema, missing=missing, first_row=read)
            read += batch.num_rows
            yield from _plain(disguise_table(truths, plan, randomness).to_arrow()).to_batches()

    return partition


def _randomness(seed: int | None, partition: int) -> Randomness:
    if seed is None:
        return SystemRandomness()
    return SeededRandomness(int.from_bytes(hashlib.sha256(f"{seed}:{partition}".encode()).digest()[:16]))


def _plain(table: pa.Table) -> pa.Table:
    """Without dictionaries, which Spark does not take."""
    kinds = [field.with_type(_spark_kind(field.type)) for field in table.schema]
    return table.cast(pa.schema(kinds))


def _spark_kind(kind: pa.DataType) -> pa.DataType:

    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(_spark_kind(kind.value_type))
    if pa.types.is_unsigned_integer(kind):  # Spark has signed ones only
        return pa.int64()
    return kind


def _columns(scheme: Scheme) -> Any:
    """The columns of the reports, as Spark declares them."""
    from pyspark.sql.pandas.types import from_arrow_schema

    nobody = Table(scheme.schema, {attribute.name: np.zeros(0, np.uint8) for attribute in scheme.schema})
    return from_arrow_schema(_plain(disguise_table(nobody, scheme, SystemRandomness()).to_arrow()).schema)


def _note(session: Any, target: SparkAddress, scheme: Scheme, *, is_simulation: bool) -> None:
    """A table says under which scheme its reports were disguised."""
    if target.is_table:
        note = {"scheme": scheme.hash, "simulation": is_simulation}
        session.sql(f"ALTER TABLE {target.name} {noted_properties(note)}")
