from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

from tacit.count import MemoryEngine, memory
from tacit.count.planner import COVER_CELLS
from tacit.count.totals import BLOCK_SLOTS, NUMPY_LOOPS, Loops, compiled_loops
from tacit.schema import Schema
from tacit.table import Table
from tests.count.engines import NEVER, attribute, random_table

SCHEMA = Schema(tuple(attribute(f"c{i}", size) for i, size in enumerate((20, 7, 16, 41, 2))))


def both(table: Table) -> tuple[MemoryEngine, MemoryEngine]:
    return MemoryEngine(table, compiled_from=0), MemoryEngine(table, compiled_from=NEVER)


def test_compiled_and_numpy_counts_agree_over_several_blocks() -> None:
    compiled, plain = both(random_table(SCHEMA, 2 * memory.BLOCK_ROWS + 5, seed=1))
    sets = list(itertools.combinations(SCHEMA.names, 3))
    for ours, theirs in zip(compiled.tallies(sets), plain.tallies(sets), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_counters_are_emptied_before_they_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "FLUSH_ROWS", memory.BLOCK_ROWS)
    compiled, plain = both(random_table(SCHEMA, 3 * memory.BLOCK_ROWS, seed=2))
    np.testing.assert_array_equal(compiled.tally(["c0", "c3"]), plain.tally(["c0", "c3"]))


def test_a_counter_near_its_limit_is_emptied_before_it_is_raised() -> None:
    assert memory.FLUSH_ROWS < 1 << 32
    counters = memory._Counters(2)
    counters.add(np.zeros(4, dtype=np.uint32))
    # As after four thousand million rows that all showed the first cell.
    counters._fast[:, 0] = (1 << 32) - 2
    counters._pending = memory.FLUSH_ROWS
    before = int(counters._fast.sum(dtype=np.int64))
    counters.add(np.zeros(16, dtype=np.uint32))
    assert counters.counts().tolist() == [before + 16, 0]


def test_counters_never_hold_more_rows_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "FLUSH_ROWS", 16)
    counters = memory._Counters(3)
    codes = np.arange(10, dtype=np.uint32) % 3
    for _ in range(5):
        counters.add(codes)
        assert counters._fast.sum() <= 16
    assert counters.counts().tolist() == [20, 15, 15]


def test_tables_too_large_for_copies_of_their_counters() -> None:
    compiled, plain = both(random_table(SCHEMA, 2_000, seed=6))
    columns = ["c3", "c0", "c2", "c1"]
    assert np.prod(SCHEMA.shape(columns)) > COVER_CELLS
    np.testing.assert_array_equal(compiled.tally(columns), plain.tally(columns))


@pytest.mark.parametrize("size", [200, 300, 70_000])
def test_codes_of_every_width(size: int) -> None:
    from tacit.table.coded import code_type

    codes = np.random.default_rng(3).integers(0, size, 1000).astype(code_type(size))
    table = Table(
        Schema((attribute("wide", size), attribute("b", 2))), {"wide": codes, "b": (codes % 2).astype(np.uint8)}
    )
    for engine in both(table):
        tally = engine.tally(["b", "wide"])
        np.testing.assert_array_equal(tally.sum(axis=0), np.bincount(codes, minlength=size))
        assert tally[1, ::2].sum() == 0


def test_sums_of_many_rows_lose_nothing_to_rounding() -> None:
    """A large weight and its opposite around many small ones: a plain running sum would drop all the small ones."""
    rows, large = 400_000, 1e22
    assert large + BLOCK_SLOTS == large
    codes = np.full(rows, 1, dtype=np.uint8)
    codes[0], codes[-1] = 0, 2
    # More cells than rows, so that the total is summed row by row.
    others = {f"x{i}": np.zeros(rows, dtype=np.uint8) for i in range(3)}
    table = Table(Schema((attribute("a", 3), *(attribute(name, 200) for name in others))), {"a": codes, **others})
    product = [(("a",), np.array([large, 1.0, -large])), *(((name,), np.ones(200)) for name in others)]
    for engine in both(table):
        # What is beside the large weights in their own two blocks is lost; the other blocks are not.
        assert engine.totals([product]).sums[0] == pytest.approx(rows - 2, abs=2 * BLOCK_SLOTS)


@pytest.mark.parametrize("loops", [NUMPY_LOOPS, compiled_loops()], ids=["numpy", "compiled"])
@pytest.mark.parametrize("large_first", [True, False])
def test_running_sums_and_squares_keep_what_rounding_drops(loops: Loops, large_first: bool) -> None:
    """Beside 2^60 the sums and squares of all small blocks together are below half the spacing of floats."""
    small = [np.full(5, 0.25)] * 64
    for which, large, kept in ((0, 2.0**60, 80), (1, 2.0**30, 20)):
        moments = np.zeros(4)
        blocks = [np.array([large]), *small] if large_first else [*small, np.array([large])]
        for block in blocks:
            loops.add_moments(block, moments)
        assert (moments[which] - 2.0**60) + moments[which + 2] == kept


def test_many_products_share_one_pass() -> None:
    table = random_table(SCHEMA, 500, seed=4)
    generator = np.random.default_rng(5)
    products = [[((name,), generator.normal(size=SCHEMA[name].size)) for name in SCHEMA.names] for _ in range(50)]
    compiled, plain = (engine.totals(products) for engine in both(table))
    np.testing.assert_allclose(compiled.sums, plain.sums, rtol=1e-12)
    np.testing.assert_allclose(compiled.squares, plain.squares, rtol=1e-12)


def test_small_tables_import_neither_numba_nor_ibis() -> None:
    program = (
        "import sys; from tacit import Reports, Dataset; from tacit.count import sources;"
        "reports = Reports.from_truth(Dataset.from_arrow({'a': ['x', 'y', 'x']}));"
        "assert sources(reports)[0].engine.tally(['a']).tolist() == [2, 1];"
        "heavy = {'numba', 'ibis', 'duckdb', 'scipy'} & set(sys.modules); assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
