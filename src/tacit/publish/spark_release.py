"""Releases that a Spark cluster writes: a new table with its manifest, or a new folder of Parquet files.

The input was tallied there and searched here; the labels go to the cluster, which joins, sorts and writes. What was
written is counted there, under a name of its own, and takes its final name once it keeps what was promised.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from tacit.count.backend import asking
from tacit.count.spark import SparkAddress, frame_of
from tacit.errors import InvalidInput
from tacit.publish.anonymous_table import AnonymousTable
from tacit.publish.database_input import DatabaseInput
from tacit.publish.promises import judged_table


class ReleasePlace(Protocol):
    """Where a release goes: nothing is seen there before `keep`."""

    def refuse_taken(self) -> None:
        """Refuse a place that holds something already."""

    def write(self, frame: Any) -> Any:
        """Write the rows under a name of their own; returns them as an ibis table."""

    def keep(self, manifest: Mapping[str, Any]) -> None:
        """Give the rows their final name, and write the manifest beside them."""

    def discard(self) -> None:
        """Remove whatever was written."""


def write_on_spark(release: AnonymousTable, address: str) -> dict[str, Any]:
    """Write a release of a Spark table to Spark; returns what was counted from it."""
    source = release.input
    if not isinstance(source, DatabaseInput) or source.table.get_backend().name != "pyspark":
        raise InvalidInput(
            f"{address!r}: only what Spark holds can be published into Spark. Give the name of a file instead."
        )
    place = SparkAddress.parse(address)
    if place.kind == "csv":
        raise InvalidInput(
            f"{address!r}: Spark writes a release as a table or as Parquet. Write spark:NAME or spark:FOLDER."
        )
    connection = source.table.get_backend()
    with asking(f"Publishing to {address!r}"):
        target: ReleasePlace = (SparkTable if place.is_table else SparkFolder)(connection, place.session(), place.name)
        target.refuse_taken()
        with source.release(release.recoding, release.others) as rows:
            try:
                manifest, verified = judged_table(release, target.write(frame_of(rows)))
                target.keep(manifest | {"verified": verified})
            except BaseException:
                target.discard()
                raise
    return verified


@dataclass(frozen=True)
class SparkTable:
    """A table of the catalogue, and a table of one row that holds its manifest."""

    connection: Any
    session: Any
    name: str

    @cached_property
    def _part(self) -> str:
        return self._beside(f"tacit_{secrets.token_hex(8)}")

    @property
    def _manifest(self) -> str:
        return f"{self.name}_manifest"

    def _beside(self, name: str) -> str:
        database, dot, _ = self.name.rpartition(".")
        return f"{database}{dot}{name}"

    def refuse_taken(self) -> None:
        for name in (self.name, self._manifest):
            if self.session.catalog.tableExists(name):
                raise InvalidInput(f"Spark has a table {name!r} already. Drop it first, or give another name.")

    def write(self, frame: Any) -> Any:
        frame.write.mode("error").saveAsTable(self._part)
        *database, name = self._part.rsplit(".", 1)
        return self.connection.table(name, database=database[0] if database else None)

    def keep(self, manifest: Mapping[str, Any]) -> None:
        document = self.session.createDataFrame([(json.dumps(manifest, indent=1),)], "manifest string")
        document.write.mode("error").saveAsTable(self._manifest)
        self.session.sql(f"ALTER TABLE {_quoted_name(self._part)} RENAME TO {_quoted_name(self.name)}")

    def discard(self) -> None:
        for name in (self._part, self._manifest):
            self.session.sql(f"DROP TABLE IF EXISTS {_quoted_name(name)}")


def _quoted_name(name: str) -> str:
    return ".".join(f"`{piece}`" for piece in name.split("."))


@dataclass(frozen=True)
class SparkFolder:
    """A folder of Parquet files in the cluster's file system, and ``FOLDER.manifest.json`` beside it."""

    connection: Any
    session: Any
    name: str

    @cached_property
    def _part(self) -> str:
        folder, slash, _ = self.name.rstrip("/").rpartition("/")
        return f"{folder}{slash}tacit_{secrets.token_hex(8)}.part"

    @property
    def _manifest(self) -> str:
        return f"{self.name.rstrip('/')}.manifest.json"

    def _path(self, name: str) -> Any:
        return self.session.sparkContext._jvm.org.apache.hadoop.fs.Path(name)

    @cached_property
    def _files(self) -> Any:
        """The file system of the cluster: Hadoop's, for whatever kind of address the folder has."""
        return self._path(self.name).getFileSystem(self.session.sparkContext._jsc.hadoopConfiguration())

    def refuse_taken(self) -> None:
        for name in (self.name, self._manifest):
            if self._files.exists(self._path(name)):
                raise InvalidInput(f"{name!r} is there already. Remove it first, or give another name.")

    def write(self, frame: Any) -> Any:
        frame.write.mode("error").parquet(self._part)
        return self.connection.read_parquet(self._part)

    def keep(self, manifest: Mapping[str, Any]) -> None:
        stream = self._files.create(self._path(self._manifest), False)
        stream.write(bytearray(f"{json.dumps(manifest, indent=1)}\n", "utf-8"))
        stream.close()
        if not self._files.rename(self._path(self._part), self._path(self.name)):
            raise InvalidInput(f"The release could not take the name {self.name!r}. Is its folder there and writable?")

    def discard(self) -> None:
        for name in (self._part, self._manifest):
            self._files.delete(self._path(name), True)
