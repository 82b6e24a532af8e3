"""Questions that go to every partition of a table: the sums that come back are those of the whole table."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tacit.count import MemoryEngine, partitions
from tacit.count.partitions import (
    Cluster,
    CommonQuestion,
    Parcel,
    Question,
    TalliesQuestion,
    TotalsQuestion,
    ask_partitions,
)
from tacit.count.totals import NUMPY_LOOPS, totals_by_rows
from tacit.errors import InvalidInput, UnknownAnswer
from tacit.schema import Schema
from tacit.table import Table, decode
from tests.count.engines import attribute, random_table, spark_parquet
from tests.count.scans import counted_scans
from tests.spark_session import spark_session

SCHEMA = Schema(
    (
        attribute("a", 3),
        attribute("b", 4),
        attribute("set", 5, "set"),
        attribute("bits", 3, "bits"),
        attribute("hash", 40, "hashed", 4),
    )
)
MANY = Schema(tuple(attribute(f"q{i}", 2 + i % 3) for i in range(14)))


class Frame:
    """As much of a Spark data frame as is asked: partitions of a table, some of them empty."""

    def __init__(self, table: Table, cuts: tuple[int, ...] = (0, 7, 7, 60), application: str = "here") -> None:
        self.sparkSession = SimpleNamespace(sparkContext=SimpleNamespace(applicationId=application))
        self._rows = decode(table)
        self._cuts = (*cuts, table.n_rows)
        self.asked = 0

    def mapInArrow(self, partition: Any, columns: str) -> Frame:  # noqa: N802
        self.asked += 1
        self._partition = partition
        return self

    def collect(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(**row) for cut in itertools.pairwise(self._cuts) for row in self._answers(*cut)]

    def _answers(self, start: int, end: int) -> Iterator[dict[str, Any]]:
        for batch in self._partition(iter(self._rows.slice(start, end - start).to_batches(max_chunksize=9))):
            yield from batch.to_pylist()


def asked(table: Table, question: Question[Any], frame: Frame | None = None) -> tuple[int, Any] | None:
    parcel = Parcel(question, (), table.schema.attributes)
    return ask_partitions(frame or Frame(table), question, table.rows(slice(0, 0)), parcel)


def counted(table: Table, question: Question[Any]) -> Any:
    answer = asked(table, question)
    assert answer is not None
    assert answer[0] == table.n_rows
    return answer[1]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 100])
@pytest.mark.parametrize("compiled_from", [0, 1 << 60])
def test_tallies_of_partitions_add_up(rows: int, compiled_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "COMPILED_CODES", compiled_from)
    monkeypatch.setattr(partitions, "COUNTED_ROWS", 16)
    for schema, column_sets in (
        (SCHEMA, [["a"], ["b", "a"], ["set"], ["bits", "a"], ["hash"], ["set", "b"]]),
        (MANY, list(itertools.combinations(MANY.names, 2))),
    ):
        table = random_table(schema, rows, seed=1)
        ours = counted(table, TalliesQuestion(schema, column_sets)).tallies()
        for one, other in zip(ours, MemoryEngine(table).tallies(column_sets), strict=True):
            np.testing.assert_array_equal(one, other)


def test_common_answers_of_partitions_add_up() -> None:
    table = random_table(SCHEMA, 100, seed=2)
    answers = [("a", 0), ("b", 1), ("bits", 2)]
    common = counted(table, CommonQuestion(answers, np.array([[0, 1], [0, 2], [1, 2]]))).counts()
    shown = [table["a"] == 0, table["b"] == 1, table["bits"][:, 2]]
    assert common.tolist() == [int((shown[i] & shown[j]).sum()) for i, j in ((0, 1), (0, 2), (1, 2))]


def test_totals_of_partitions_add_up() -> None:
    table = random_table(SCHEMA, 100, seed=3)
    rng = np.random.default_rng(1)
    products = [[((name,), rng.normal(size=SCHEMA[name].tally_size)) for name in SCHEMA.names] for _ in range(3)]
    ours, theirs = counted(table, TotalsQuestion(products)).totals(), totals_by_rows(table, products, NUMPY_LOOPS)
    np.testing.assert_allclose(ours.sums, theirs.sums, rtol=1e-12)
    np.testing.assert_allclose(ours.squares, theirs.squares, rtol=1e-12)


def test_machines_without_tacit_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "without_tacit", set())
    table = random_table(SCHEMA, 100, seed=4)
    sent = Frame(table)
    question = TalliesQuestion(SCHEMA, [["a"]])
    real = partitions._partition
    monkeypatch.setattr(partitions, "_partition", lambda parcel, version: real(parcel, "0.0.0"))
    assert asked(table, question, sent) is None
    assert asked(table, question, sent) is None
    assert sent.asked == 1
    elsewhere = Frame(table, application="another cluster")
    monkeypatch.setattr(partitions, "_partition", real)
    assert asked(table, question, elsewhere) is not None


class Refusing(Frame):
    """A cluster whose tasks fail."""

    def __init__(self, table: Table, complaint: str) -> None:
        super().__init__(table)
        self._complaint = complaint

    def collect(self) -> list[SimpleNamespace]:
        import sqlite3

        raise sqlite3.Error(self._complaint)  # any driver's


def test_a_cluster_without_python_is_asked_in_another_way_and_any_other_failure_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Cluster, "without_tacit", set())
    table = random_table(SCHEMA, 10, seed=5)
    question = TalliesQuestion(SCHEMA, [["a"]])
    with pytest.raises(InvalidInput, match="The query failed: the disk is full"):
        asked(table, question, Refusing(table, "the disk is full"))
    assert not Cluster.without_tacit
    assert (
        asked(table, question, Refusing(table, "Job aborted\nModuleNotFoundError: No module named 'pyarrow'")) is None
    )
    assert Cluster.without_tacit


def test_a_row_without_an_answer_is_left_to_who_can_explain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "without_tacit", set())
    table = random_table(SCHEMA, 100, seed=6)
    fewer = Schema((attribute("a", 2), *SCHEMA.attributes[1:]))
    question = TalliesQuestion(fewer, [["a"]])
    parcel = Parcel(question, (), fewer.attributes)
    nobody = random_table(fewer, 0, seed=1)
    assert ask_partitions(Frame(table), question, nobody, parcel) is None
    assert not Cluster.without_tacit
    coded = pa.table({"tacit_code_0": pa.array([0, None, 1], pa.int16())})
    alone = Parcel(TalliesQuestion(fewer, [["a"]]), fewer.attributes[:1], ())
    assert alone.count_batches(coded.to_batches()) is None


def test_a_tally_that_every_partition_would_send_is_small() -> None:
    large = Schema((attribute("a", 2000), attribute("b", 2000)))
    assert not TalliesQuestion(large, [["a", "b"]]).is_small
    assert TalliesQuestion(large, [["a"], ["b"]]).is_small
    schema = Schema(tuple(attribute(f"q{i}", 2) for i in range(200)))
    many = TalliesQuestion(schema, list(itertools.combinations(schema.names, 2)))
    counter = many.counter(compiled=False)
    counter.add(random_table(schema, 1000, seed=1))
    assert len(partitions._pack_sums(counter.sums())) < 4 * 200 * 201 / 2
    assert pickle.loads(pickle.dumps(Parcel(many, (), many.schema.attributes))).question.schema == many.schema


@pytest.mark.slow
@pytest.mark.spark
def test_all_pairs_of_two_hundred_questions_take_one_scan_of_spark(tmp_path: Path) -> None:
    spark_session()
    table = random_table(Schema(tuple(attribute(f"q{i}", 2) for i in range(200))), 90, seed=7)
    engine = spark_parquet(table, tmp_path)
    wanted = list(itertools.combinations(table.schema.names, 2))
    with counted_scans() as scans:
        counts = engine.tallies(wanted)
        assert engine.n_rows == 90  # known from the same scan
    assert len(scans) == 1
    for ours, theirs in zip(counts, MemoryEngine(table).tallies(wanted), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.spark
def test_what_is_no_answer_in_spark_is_refused_by_name(tmp_path: Path) -> None:
    spark_session()
    table = random_table(Schema((attribute("a", 3), attribute("b", 2))), 40, seed=8)
    engine = spark_parquet(table, tmp_path)
    fewer = Schema((attribute("a", 2), attribute("b", 2)))
    with pytest.raises(UnknownAnswer, match="'a' has no answer 'a2'"):
        type(engine)(engine.table, fewer).tallies([["a", "b"]])
