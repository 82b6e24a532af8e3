"""Tables and files of Spark by their address: which session reads them, and what they are called there.

``spark:reports`` and ``spark:db.reports`` are tables of the session that is active, or of a new one with the machine's own
settings; ``spark:FILE.parquet``, ``spark:folder/`` and patterns are files that it reads. ``spark://host:port/db.reports`` names
the cluster as well. Settings follow a question mark: ``spark:reports?spark.executor.memory=4g``.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qsl

import pyarrow as arrow
import pyarrow as pa

from tacit.errors import InvalidInput, MissingExtra

PREFIX = "spark:"
NOTED = "tacit."  # begins the names of the properties that Tacit gives a table
PATIENCE_SECONDS = 5.0  # to reach a cluster's master, before Spark tries for minutes
_MASTER = re.compile(r"spark://(?P<host>[^/:]+):(?P<port>\d+)/(?P<name>.+)")
_TABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,2}")


@dataclass(frozen=True)
class SparkAddress:
    """A table or files of Spark, and the session to find them in."""

    name: str
    master: str | None
    settings: dict[str, str]

    @classmethod
    def parse(cls, address: str) -> SparkAddress:
        bare, _, query = address.partition("?")
        settings = dict(parse_qsl(query))
        for key in settings:
            if not key.startswith("spark."):
                raise InvalidInput(
                    f"{key!r} is no setting of Spark: they begin with 'spark.', as spark.executor.memory."
                )
        if bare.startswith("spark://"):
            match = _MASTER.fullmatch(bare)
            if match is None:
                raise InvalidInput(f"{address!r} must name a cluster and a table: spark://host:port/db.table")
            return cls(match["name"], f"spark://{match['host']}:{match['port']}", settings)
        name = bare.removeprefix(PREFIX)
        if not name:
            raise InvalidInput("'spark:' does not name a table or a file. Write spark:NAME or spark:FILE.parquet.")
        return cls(name, None, settings)

    @property
    def is_table(self) -> bool:
        """Whether it is the name of a table and not of files."""
        return bool(_TABLE.fullmatch(self.name)) and self.kind is None

    @property
    def kind(self) -> str | None:
        """How files of this name are written, where the name says it."""
        suffix = PurePosixPath(self.name).suffix.lower()
        return {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}.get(suffix)

    def session(self) -> Any:
        """The active session, or a new one; one that is on another cluster than the address is refused."""
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise MissingExtra("Reading Spark tables", "spark") from None
        if self.master is not None:
            _check_reachable(self.master)
        # Where a new session runs its Python on this machine, it is the one that has Tacit, not the first on the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.appName("tacit")
        for key, value in self.settings.items():
            builder = builder.config(key, value)
        active = SparkSession.getActiveSession()
        if active is not None and self.master is not None and active.sparkContext.master != self.master:
            raise InvalidInput(
                f"A Spark session is active on {active.sparkContext.master!r}, so {self.master!r} cannot be used in the same "
                "process. Stop that session, or leave the cluster out of the address."
            )
        session = (builder if self.master is None else builder.master(self.master)).getOrCreate()
        if active is None:  # a session of ours: what fails is said in a sentence, so traces of warnings are left out
            session.sparkContext.setLogLevel("ERROR")
        return session

    def frame(self, session: Any) -> Any:
        """The data frame of the table or files; CSV stays text."""
        if self.is_table:
            return session.table(self.name)
        if self.kind == "csv":
            return session.read.csv(self.name, header=True, inferSchema=False, escape='"')
        return session.read.parquet(self.name)


def noted_properties(note: Mapping[str, Any]) -> str:
    """What is noted of reports, as Spark keeps it with a table."""
    said = ", ".join(f"'{NOTED}{name}' = '{str(value).lower()}'" for name, value in note.items())
    return f"SET TBLPROPERTIES ({said})"


def table_note(address: str | Path) -> dict[str, Any]:
    """What was noted of the reports in a table of Spark; nothing of files, views and tables of others."""
    if not str(address).startswith(PREFIX):
        return {}
    place = SparkAddress.parse(str(address))
    if not place.is_table:
        return {}
    from pyspark.errors import PySparkException

    try:
        rows = place.session().sql(f"SHOW TBLPROPERTIES {place.name}").collect()
    except PySparkException:  # a view of this session has none
        return {}
    note = {row["key"].removeprefix(NOTED): row["value"] for row in rows if row["key"].startswith(NOTED)}
    return note | ({"simulation": note["simulation"] == "true"} if "simulation" in note else {})


def is_frame(data: Any) -> bool:
    """Whether something is a data frame of Spark."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "createOrReplaceTempView")


def table_of(frame: Any) -> Any:
    """A data frame of Spark as an ibis table: a view that this session alone sees."""
    import ibis

    name = f"tacit_{secrets.token_hex(8)}"
    frame.createOrReplaceTempView(name)
    return ibis.pyspark.connect(frame.sparkSession).table(name)


def frame_of(expression: Any) -> Any:
    """The data frame that an ibis expression over Spark's tables stands for."""
    connection = expression.get_backend()
    return connection.raw_sql(connection.compile(expression))


def lent_view(connection: Any, name: str, table: pa.Table) -> Any:
    """A table in memory as a view that this session alone sees."""
    session = connection.raw_sql("SELECT 1").sparkSession
    session.createDataFrame(table).createOrReplaceTempView(name)
    return connection.table(name)


def frame_batches(frame: Any) -> Iterator[pa.RecordBatch]:
    """The rows of a data frame, one partition after the other, so that only one is held here at a time."""

    def pack_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Sent to the cluster as it stands here, so that Tacit need not be installed there.

        for batch in batches:
            sink = arrow.BufferOutputStream()
            with arrow.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            yield arrow.RecordBatch.from_arrays([arrow.array([sink.getvalue().to_pybytes()])], ["packed"])

    for row in frame.mapInArrow(pack_batches, "packed binary").toLocalIterator():
        with pa.ipc.open_stream(bytes(row.packed)) as stream:
            yield from stream


def _check_reachable(master: str) -> None:
    host, _, port = master.removeprefix("spark://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS).close()
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InvalidInput(
            f"No Spark master answers at {master!r} ({reason}). Is the cluster up, and the port right?"
        ) from None
