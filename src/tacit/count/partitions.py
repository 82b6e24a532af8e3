"""Counting where the rows lie: a question goes to every partition of a Spark table, and only sums come back.

Each partition is one pass by the same loops that count in memory, and answers with one small row; nothing is shuffled, and
the sums of all partitions are added here. Tacit must be installed on the cluster's machines. Where it is not, or a row shows
no answer, that is what comes back, and the caller asks in SQL instead: it needs no Tacit there, and says what is wrong.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import pyarrow as arrow
import pyarrow as pa
from numpy.typing import NDArray

from tacit.count.backend import asking
from tacit.count.columns import coded_table
from tacit.count.many import ManyTallies
from tacit.count.memory import compiled_tally, numpy_tally
from tacit.count.pairs import CommonCounts
from tacit.count.protocol import Product, checked_cells
from tacit.count.totals import NUMPY_LOOPS, RowTotals, compiled_loops
from tacit.errors import InvalidInput, TacitError
from tacit.schema import Attribute, Schema
from tacit.table import Table

# Rows that are counted at a time; Spark hands them over in batches of ten thousand.
COUNTED_ROWS = 1 << 17
# Codes of such a part from which on compiled loops earn their import on a machine.
COMPILED_CODES = 1 << 20
# Sums that one partition may send back; larger tables are grouped by the cluster, which sends what occurs.
MOST_SUMS = 1 << 21
COUNTED, NOT_INSTALLED, NO_ANSWER = "counted", "not installed", "no answer"
# What Spark complains of where its machines have no Python, another one, or not the packages that hand over batches.
WITHOUT_PYTHON = ("ModuleNotFoundError", "ImportError", "Cannot run program", "PYTHON_VERSION_MISMATCH")


class Counter(Protocol):
    """What adds up rows part by part, and what others have added up."""

    def add(self, table: Table) -> None:
        """Count the rows of a table."""

    def sums(self) -> list[NDArray[Any]]:
        """All that was added up; those of several counters of one question are added element by element."""

    def add_sums(self, sums: Sequence[NDArray[Any]]) -> None:
        """Count what another counter has counted."""


Kind = TypeVar("Kind", bound=Counter, covariant=True)


class Question(Protocol[Kind]):
    """Makes counters, here and on every machine."""

    def counter(self, *, compiled: bool) -> Kind: ...


@dataclass(frozen=True, eq=False)
class TalliesQuestion:
    """How many rows show each combination of each of some sets of columns."""

    schema: Schema
    column_sets: Sequence[Sequence[str]]

    @property
    def is_small(self) -> bool:
        """Whether the answer is short enough to be sent by every partition."""
        return sum(int(np.prod(checked_cells(self.schema, columns))) for columns in self.column_sets) <= MOST_SUMS

    def counter(self, *, compiled: bool) -> ManyTallies:
        counted = compiled_tally if compiled else numpy_tally
        return ManyTallies(self.schema, self.column_sets, counted, merge=True, compiled=compiled)


@dataclass(frozen=True, eq=False)
class CommonQuestion:
    """How many rows show every answer of each of some combinations; see `CommonCounts`."""

    answers: Sequence[tuple[str, int]]
    combinations: NDArray[np.int64]

    def counter(self, *, compiled: bool) -> CommonCounts:
        return CommonCounts(self.answers, self.combinations, compiled=compiled)


@dataclass(frozen=True, eq=False)
class TotalsQuestion:
    """The sums, and the sums of squares, of products of weights."""

    products: Sequence[Product]

    def counter(self, *, compiled: bool) -> RowTotals:
        return RowTotals(self.products, compiled_loops() if compiled else NUMPY_LOOPS)


@dataclass(frozen=True, eq=False)
class Parcel:
    """What a machine needs to count a partition: the question, and how a batch becomes coded rows."""

    question: Question[Any]
    coded: tuple[Attribute, ...]  # whose codes Spark computes
    plain: tuple[Attribute, ...]

    def count_batches(self, batches: Iterable[pa.RecordBatch]) -> tuple[int, list[NDArray[Any]]] | None:
        """The number of rows of a partition and their sums; None if some row shows no answer."""
        counter: Counter | None = None
        rows = 0
        for batch in _gather_batches(batches):
            if counter is None:
                compiled = batch.num_rows * batch.num_columns >= COMPILED_CODES
                counter = self.question.counter(compiled=compiled)
            try:
                table = coded_table(batch, self.coded, self.plain)
            except TacitError:
                return None
            counter.add(table)
            rows += table.n_rows
        return (0, []) if counter is None else (rows, counter.sums())


class Cluster:
    """A Spark application, asked partition by partition as long as its machines can answer."""

    without_tacit: ClassVar[set[str]] = set()  # by their ids: not asked again

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._id = str(frame.sparkSession.sparkContext.applicationId)

    def answers(self, parcel: Parcel) -> list[Any] | None:
        """What every partition answers; None where the question must be asked in another way."""
        from tacit import __version__

        if self._id in self.without_tacit:
            return None
        partition = _partition(pickle.dumps(parcel), __version__)
        try:
            with asking("The query"):
                answers = self._frame.mapInArrow(partition, "state string, rows bigint, sums binary").collect()
        except InvalidInput as error:
            if not any(word in str(error.__cause__) for word in WITHOUT_PYTHON):
                raise
            answers = None
        if answers is None or any(answer.state == NOT_INSTALLED for answer in answers):
            self.without_tacit.add(self._id)
            return None
        return answers if all(answer.state == COUNTED for answer in answers) else None


def ask_partitions(frame: Any, question: Question[Kind], nobody: Table, parcel: Parcel) -> tuple[int, Kind] | None:
    """The number of rows of a Spark data frame, and a counter of all of them; `nobody` are its columns without rows."""
    answers = Cluster(frame).answers(parcel)
    if answers is None:
        return None
    counter = question.counter(compiled=False)
    counter.add(nobody)
    for answer in answers:
        if answer.rows:
            counter.add_sums(_unpack_sums(bytes(answer.sums)))
    return sum(answer.rows for answer in answers), counter


def _partition(parcel: bytes, version: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Sent to the cluster as it stands here, so that it can say that Tacit is not installed there.

        try:
            import tacit
            from tacit.count.partitions import partition_answer
        except ImportError:
            state, rows, sums = "not installed", 0, b""
        else:
            is_same = tacit.__version__ == version
            state, rows, sums = partition_answer(parcel, batches) if is_same else ("not installed", 0, b"")
        columns = [arrow.array([state]), arrow.array([rows], arrow.int64()), arrow.array([sums], arrow.binary())]
        yield arrow.RecordBatch.from_arrays(columns, ["state", "rows", "sums"])

    return partition


def partition_answer(parcel: bytes, batches: Iterable[pa.RecordBatch]) -> tuple[str, int, bytes]:
    """What a machine answers of its partition: how it went, how many rows there are, and their sums."""
    opened: Parcel = pickle.loads(parcel)  # from whoever asks, as all code that the cluster runs
    counted = opened.count_batches(batches)
    if counted is None:
        return NO_ANSWER, 0, b""
    return COUNTED, counted[0], _pack_sums(counted[1])


def _gather_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join the small batches that Spark hands over into tables of at least `COUNTED_ROWS` rows."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(gathered.num_rows for gathered in held) >= COUNTED_ROWS:
            yield pa.Table.from_batches(held).combine_chunks()
            held = []
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


def _pack_sums(sums: Sequence[NDArray[Any]]) -> bytes:
    """Whole numbers in as few bytes as the largest takes."""
    small = [
        array.astype(np.min_scalar_type(array.max(initial=0))) if array.dtype.kind == "i" else array for array in sums
    ]
    return zlib.compress(pickle.dumps(small), level=1)


def _unpack_sums(packed: bytes) -> list[NDArray[Any]]:
    unpacked: list[NDArray[Any]] = pickle.loads(zlib.decompress(packed))
    return unpacked
