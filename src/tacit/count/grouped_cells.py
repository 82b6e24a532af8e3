"""Many tallies from few scans of a remote database: every row names a cell of each table, and the cells are counted.

Columns are cut into blocks of few cells, each block becomes one whole number that the database computes (the joint code
of its columns), and a table over some blocks has its cells numbered after those of the table before it. One GROUP BY over
these numbers counts hundreds of tables. So all pairs of 200 questions take two scans, and what comes back are counts, not
rows. (GROUPING SETS say the same with a column for every block: one statement then has room for 64 blocks in Spark, which
took more than twice as long, and in PostgreSQL the answer is twenty times as wide.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.count.answer_expressions import by_answer
from tacit.count.backend import answer
from tacit.count.planner import Cover, margins, plan_covers
from tacit.schema import Schema

if TYPE_CHECKING:
    from tacit.count.table import TableEngine

# Cells that one table may have: what comes back is small, and the database keeps all cells of a scan in memory.
GROUPED_CELLS = 1 << 10
# Tables of one scan, while all fit into so few scans; beyond, as many as that takes. What a level of a tree or of itemsets
# asks for is one batch; with what else it may ask, the number of rows for one, a level stays within three scans.
SETS_A_SCAN, MOST_SCANS = 32, 2
# Branches of the expression that gives a column its codes.
MOST_ANSWERS = 64
# How a database makes several rows of one. PostgreSQL would work out the codes anew for every cell that needs them, were they
# not fenced off.
ROWS_OF = {
    "postgres": "SELECT UNNEST(ARRAY[{cells}]) AS cell FROM ({codes} OFFSET 0) AS coded",
    "pyspark": "SELECT EXPLODE(ARRAY({cells})) AS cell FROM ({codes}) AS coded",
    "duckdb": "SELECT UNNEST([{cells}]) AS cell FROM ({codes}) AS coded",
}


def can_group(schema: Schema, column_sets: Sequence[Sequence[str]]) -> bool:
    """Whether the columns show one answer of few each, so that a database computes their codes."""
    names = {name for columns in column_sets for name in columns}
    return all(schema[name].shows == "one" and schema[name].size <= MOST_ANSWERS for name in names)


def grouped_tallies(engine: TableEngine, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]] | None:
    """Tallies of many tables at once; None where a column shows something that is no answer, which another way explains."""
    plan = plan_covers(column_sets, engine.schema, merge=True, cells=GROUPED_CELLS)
    each = max(SETS_A_SCAN, math.ceil(len(plan) / MOST_SCANS))
    counts: list[NDArray[np.int64]] = []
    for start in range(0, len(plan), each):
        counted = _scan(engine, plan[start : start + each])
        if counted is None:
            return None
        counts += counted
    return margins(plan, counts, column_sets)


def _scan(engine: TableEngine, plan: Sequence[Cover]) -> list[NDArray[np.int64]] | None:
    """The counts of some covers, in one query."""
    blocks = _blocks(plan)
    # One code more for each block: a row that shows no answer there.
    sizes = {block: math.prod(engine.schema.shape(block)) + 1 for block in blocks}
    cover_members = [[block for block in blocks if set(block) <= set(cover.columns)] for cover in plan]
    starts = np.cumsum([0, *(math.prod(sizes[block] for block in members) for members in cover_members)]).tolist()
    result = answer(_query(engine, sizes, cover_members, starts))
    every = np.zeros(starts[-1], np.int64)
    every[result.column("cell").to_numpy()] = result.column("n").to_numpy()
    counts = []
    for cover, members, start, end in zip(plan, cover_members, starts, starts[1:], strict=False):
        table = every[start:end].reshape([sizes[block] for block in members])
        answered = table[(slice(-1),) * len(members)]
        if answered.sum() != table.sum():
            return None
        names = [name for block in members for name in block]
        counts.append(answered.reshape(engine.schema.shape(names)).transpose([names.index(n) for n in cover.columns]))
    return counts


def _blocks(plan: Sequence[Cover]) -> list[tuple[str, ...]]:
    """Columns that are in the same covers: each such block is one number."""
    covers_of: dict[str, list[int]] = {}
    for place, cover in enumerate(plan):
        for name in cover.columns:
            covers_of.setdefault(name, []).append(place)
    blocks: dict[tuple[int, ...], list[str]] = {}
    for name, places in covers_of.items():
        blocks.setdefault(tuple(places), []).append(name)
    return [tuple(names) for names in blocks.values()]


def _query(
    engine: TableEngine,
    sizes: Mapping[tuple[str, ...], int],
    cover_members: Sequence[Sequence[tuple[str, ...]]],
    starts: Sequence[int],
) -> Any:
    """The cells that occur with their numbers of rows; ibis has no list of hundreds of columns, so this is written as SQL."""
    import ibis

    keys = {block: f"k{place}" for place, block in enumerate(sizes)}
    codes = engine.table.select(**{key: _joint_code(engine, block, sizes[block] - 1) for block, key in keys.items()})
    cells = []
    for start, members in zip(starts, cover_members, strict=False):
        stride, terms = 1, []
        for block in reversed(members):
            terms.append(f"{keys[block]} * {stride}")
            stride *= sizes[block]
        cells.append(" + ".join([f"CAST({start} AS BIGINT)", *terms]))
    connection = engine.table.get_backend()
    rows = ROWS_OF[connection.name].format(cells=", ".join(cells), codes=connection.compile(codes))
    query = f"SELECT cell, COUNT(*) AS n FROM ({rows}) AS shown GROUP BY cell"
    return connection.sql(query, schema=ibis.schema({"cell": "int64", "n": "int64"}))


def _joint_code(engine: TableEngine, block: Sequence[str], no_answer: int) -> Any:
    """One number for the answers of several columns, the last one fastest; `no_answer` where one of them shows none."""
    joint: Any = None
    for name in block:
        attribute = engine.schema[name]
        code = by_answer(engine.table[name], attribute, list(range(attribute.size))).cast("int64")
        joint = code if joint is None else joint * attribute.size + code
    return joint.fill_null(no_answer)
