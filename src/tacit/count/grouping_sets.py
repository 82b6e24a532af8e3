"""Many tallies from few scans of a remote database: GROUP BY GROUPING SETS over blocks of columns.

Columns are cut into blocks of few cells, each block becomes one whole number that the database computes (the joint code
of its columns), and one query counts many unions of blocks. So all pairs of 200 questions are some hundred small groupings
in two scans, and what comes back are counts, not rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.count.answer_expressions import by_answer
from tacit.count.backend import answer
from tacit.count.planner import Cover, margins, planned
from tacit.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.count.table import TableEngine

# Cells that one grouping may have: what comes back is small, and the database keeps all groupings of a scan in memory.
GROUPED_CELLS = 1 << 10
# Groupings of one scan, while all fit into so few scans; beyond, as many as that takes. What a level of a tree or of itemsets
# asks for is one batch; with what else it may ask, the number of rows for one, a level stays within three scans.
SETS_A_SCAN, MOST_SCANS = 32, 2
# Branches of the expression that gives a column its codes.
MOST_ANSWERS = 64
# What stands in a key where a grouping leaves it out, and where a row shows no answer.
LEFT_OUT, NO_ANSWER = -2, -1


def can_group(schema: Schema, column_sets: Sequence[Sequence[str]]) -> bool:
    """Whether the columns show one answer of few each, so that a database computes their codes."""
    names = {name for columns in column_sets for name in columns}
    return all(schema[name].shows == "one" and schema[name].size <= MOST_ANSWERS for name in names)


def grouped_tallies(engine: TableEngine, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]] | None:
    """Tallies by grouping sets; None where a column shows something that is no answer, which another way explains."""
    plan = planned(column_sets, engine.schema, merge=True, cells=GROUPED_CELLS)
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
    result = answer(_query(engine, plan, blocks))
    numbers = np.stack([_numbers(result.column(f"k{place}")) for place in range(len(blocks))])
    times = _numbers(result.column("n"))
    if (numbers == NO_ANSWER).any():
        return None
    # A column that a grouping leaves out is null in its rows, and in no others.
    shown = numbers != LEFT_OUT
    counts = []
    for cover in plan:
        own = np.array([set(block) <= set(cover.columns) for block in blocks])
        rows = (shown == own[:, None]).all(axis=0)
        mine = [block for block, is_mine in zip(blocks, own, strict=True) if is_mine]
        counts.append(_dense(engine.schema, cover, mine, numbers[own][:, rows], times[rows]))
    return counts


def _blocks(plan: Sequence[Cover]) -> list[tuple[str, ...]]:
    """Columns that are in the same covers: each such block is one key."""
    covers_of: dict[str, list[int]] = {}
    for place, cover in enumerate(plan):
        for name in cover.columns:
            covers_of.setdefault(name, []).append(place)
    blocks: dict[tuple[int, ...], list[str]] = {}
    for name, places in covers_of.items():
        blocks.setdefault(tuple(places), []).append(name)
    return [tuple(names) for names in blocks.values()]


def _query(engine: TableEngine, plan: Sequence[Cover], blocks: Sequence[tuple[str, ...]]) -> Any:
    """The counts of all covers as an expression; ibis has no grouping sets, so this one is written as SQL."""
    import ibis

    codes = engine.table.select(**{f"k{place}": _joint_code(engine, block) for place, block in enumerate(blocks)})
    connection = engine.table.get_backend()
    keys = [f"k{place}" for place in range(len(blocks))]
    sets = []
    for cover in plan:
        own = [key for key, block in zip(keys, blocks, strict=True) if set(block) <= set(cover.columns)]
        sets.append(f"({', '.join(own)})")
    query = (
        f"SELECT {', '.join(keys)}, COUNT(*) AS n FROM ({connection.compile(codes)}) AS coded "
        f"GROUP BY GROUPING SETS ({', '.join(sets)})"
    )
    return connection.sql(query, schema=ibis.schema(dict.fromkeys([*keys, "n"], "int64")))


def _joint_code(engine: TableEngine, block: Sequence[str]) -> Any:
    """One number for the answers of several columns, the last one fastest; -1 where one of them shows no answer."""
    joint: Any = None
    for name in block:
        attribute = engine.schema[name]
        code = by_answer(engine.table[name], attribute, list(range(attribute.size))).cast("int64")
        joint = code if joint is None else joint * attribute.size + code
    return joint.fill_null(NO_ANSWER)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(column.cast(pa.int64()), LEFT_OUT).to_numpy(), np.int64)


def _dense(
    schema: Schema,
    cover: Cover,
    blocks: Sequence[tuple[str, ...]],
    numbers: NDArray[np.int64],
    times: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The tally of a cover, its axes in the cover's order."""
    names = [name for block in blocks for name in block]
    counts = np.zeros(schema.shape(names), dtype=np.int64)
    sizes = [math.prod(schema.shape(block)) for block in blocks]
    flat = counts.reshape(-1)
    cells = np.zeros(len(times), dtype=np.int64)
    for number, size in zip(numbers, sizes, strict=True):
        cells = cells * size + number
    np.add.at(flat, cells, times)
    return counts.transpose([names.index(name) for name in cover.columns])
