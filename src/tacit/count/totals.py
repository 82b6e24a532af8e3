"""Totals of products of weights over a coded table: from tallies where the columns have few cells, else row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.count.hashed import held_weights
from tacit.count.protocol import CountEngine, Product, Totals
from tacit.count.slots import Slots, cross_slots, joint_slots, widest
from tacit.errors import InvalidInput
from tacit.schema import Schema
from tacit.table import Table
from tacit.table.hashed import Hashing

Array = NDArray[np.float64]
# A tally pays while it has this many times fewer cells than there are rows, and stays small in any case.
ROWS_PER_CELL = 4
TALLIED_CELLS = 1 << 20
# Values of one product over a block, and the codes they look up, stay in the first caches.
BLOCK_SLOTS = 1 << 13


def checked_products(schema: Schema, products: Sequence[Product]) -> None:
    """Refuse weights that do not have one entry per slot of their columns."""
    for product in products:
        for columns, weights in product:
            if len(columns) > 1 and any(schema[name].shows != "one" for name in columns):
                raise InvalidInput(
                    f"Weights over {', '.join(columns)} look at a set or bits together with other columns. Give each such "
                    "column weights of its own."
                )
            shape = tuple(schema[name].tally_size for name in columns)
            if weights.shape != shape:
                raise InvalidInput(
                    f"Weights over {', '.join(columns)} need the shape {shape}, one entry per slot, not {weights.shape}."
                )


def columns_of(product: Product) -> tuple[str, ...]:
    """All columns a product looks at, each once."""
    return tuple(dict.fromkeys(name for columns, _ in product for name in columns))


def is_tallied(schema: Schema, product: Product, n_rows: int) -> bool:
    """Whether a tally over all columns of a product is the cheaper way to its total."""
    columns = [schema[name] for name in columns_of(product)]
    # Squares of sums over the members of a set need the pairs of members, which a tally does not count.
    if any(column.shows != "one" for column in columns):
        return False
    return math.prod(column.size for column in columns) <= min(TALLIED_CELLS, n_rows // ROWS_PER_CELL)


def moments_of_tally(counts: NDArray[np.int64], columns: Sequence[str], product: Product) -> tuple[float, float]:
    """Sum and sum of squares of a product over the rows that a tally counts."""
    values: Array = np.ones((1,) * len(columns))
    for names, weights in product:
        axes = [columns.index(name) for name in names]
        spread = [1] * len(columns)
        for axis, size in zip(axes, weights.shape, strict=True):
            spread[axis] = size
        values = values * weights.transpose(np.argsort(axes)).reshape(spread)
    weighted = counts * values
    return float(weighted.sum()), float((weighted * values).sum())


def totals_by_tallies(
    engine: CountEngine, products: Sequence[Product], rest: Callable[[list[Product]], Totals]
) -> Totals:
    """Totals from tallies wherever those are the cheaper way; `rest` answers the other products."""
    tallied = [i for i, product in enumerate(products) if is_tallied(engine.schema, product, engine.n_rows)]
    others = sorted(set(range(len(products))) - set(tallied))
    sums, squares = np.zeros(len(products)), np.zeros(len(products))
    column_sets = list(dict.fromkeys(columns_of(products[i]) for i in tallied))
    counted = dict(zip(column_sets, engine.tallies(column_sets), strict=True))
    for i in tallied:
        columns = columns_of(products[i])
        sums[i], squares[i] = moments_of_tally(counted[columns], columns, products[i])
    if others:
        summed = rest([products[i] for i in others])
        sums[others], squares[others] = summed.sums, summed.squares
    return Totals(sums, squares)


@dataclass(frozen=True)
class Loops:
    """The loops over the rows of a block; numpy's, or compiled ones."""

    cross: Callable[..., Any]
    multiply_looked_up: Callable[[Array, Any, Array], None]
    multiply_summed: Callable[[Array, Any, Any, Array], None]
    add_moments: Callable[[Array, Array], None]


def _multiply_looked_up(products: Array, codes: NDArray[np.uint32], weights: Array) -> None:
    products *= weights[codes]


def _multiply_summed(products: Array, values: NDArray[np.uint32], ends: NDArray[np.int64], weights: Array) -> None:
    # Every row has at least the slot that counts it, so no stretch is empty.
    products *= np.add.reduceat(weights[values], np.concatenate([[0], ends[:-1]]))


def _add_moments(products: Array, moments: Array) -> None:
    """Add a block's sum and sum of squares to ``moments``, whose last two entries keep what rounding drops (Neumaier)."""
    for which, added in enumerate((products.sum(), (products * products).sum())):
        before = moments[which]
        after = before + added
        larger, smaller = (before, added) if abs(before) >= abs(added) else (added, before)
        moments[which + 2] += (larger - after) + smaller
        moments[which] = after


NUMPY_LOOPS = Loops(cross_slots, _multiply_looked_up, _multiply_summed, _add_moments)


def compiled_loops() -> Loops:
    from tacit.count import _memory_kernels as kernels

    return Loops(kernels.cross_slots, kernels.multiply_looked_up, kernels.multiply_summed, kernels.add_moments)


def totals_by_rows(table: Table, products: Sequence[Product], loops: Loops) -> Totals:
    """All products in one pass: block by block, so that they share the codes of the block."""
    column_sets = {columns for product in products for columns, _ in product}
    flat = [
        [(columns, np.ascontiguousarray(weights, dtype=np.float64).reshape(-1)) for columns, weights in product]
        for product in products
    ]
    rows = max(1, BLOCK_SLOTS // max((_width(table, columns) for columns in column_sets), default=1))
    moments = np.zeros((len(products), 4))
    for start in range(0, table.n_rows, rows):
        block = table.rows(slice(start, start + rows))
        slots = {columns: _block_slots(block, columns, loops) for columns in column_sets}
        for position, product in enumerate(flat):
            loops.add_moments(_block_products(block.n_rows, product, slots, loops), moments[position])
    return Totals(moments[:, 0] + moments[:, 2], moments[:, 1] + moments[:, 3])


class RowTotals:
    """Totals of products, added up part by part."""

    def __init__(self, products: Sequence[Product], loops: Loops) -> None:
        self._products, self._loops = products, loops
        self._moments = np.zeros((2, len(products)))

    def add(self, table: Table) -> None:
        """Add the rows of a table."""
        totals = totals_by_rows(table, self._products, self._loops)
        self._moments += np.stack([totals.sums, totals.squares])

    def sums(self) -> list[NDArray[Any]]:
        """All that was added up."""
        return [self._moments]

    def add_sums(self, sums: Sequence[NDArray[Any]]) -> None:
        """Add what was added up elsewhere."""
        self._moments += sums[0]

    def totals(self) -> Totals:
        return Totals(*self._moments)


def row_products(table: Table, product: Product, loops: Loops) -> Array:
    """The product of weights of every row, for tables that are small enough to be one block."""
    flat = [(columns, np.ascontiguousarray(weights, dtype=np.float64).reshape(-1)) for columns, weights in product]
    slots = {columns: _block_slots(table, columns, loops) for columns, _ in flat}
    return _block_products(table.n_rows, flat, slots, loops)


@dataclass(frozen=True, eq=False)
class _Hashed:
    """Rows of a hashed column, whose slots are not listed."""

    digits: NDArray[np.uint32]
    hashing: Hashing


def _block_slots(block: Table, columns: tuple[str, ...], loops: Loops) -> Slots | _Hashed:
    if _is_hashed(block.schema, columns):
        return _Hashed(block[columns[0]], Hashing.of(block.schema[columns[0]]))
    return joint_slots(block, columns, loops.cross)


def _is_hashed(schema: Schema, columns: Sequence[str]) -> bool:
    return len(columns) == 1 and schema[columns[0]].shows == "hashed"


def _width(table: Table, columns: Sequence[str]) -> int:
    return 1 if _is_hashed(table.schema, columns) else widest(table, columns)


def _block_products(
    n_rows: int,
    product: Sequence[tuple[tuple[str, ...], Array]],
    slots: Mapping[tuple[str, ...], Slots | _Hashed],
    loops: Loops,
) -> Array:
    values = np.ones(n_rows)
    for columns, weights in product:
        column_slots = slots[columns]
        if isinstance(column_slots, _Hashed):
            values *= held_weights(column_slots.digits, column_slots.hashing, weights)
        elif column_slots.ends is None:
            loops.multiply_looked_up(values, column_slots.values, weights)
        else:
            loops.multiply_summed(values, column_slots.values, column_slots.ends, weights)
    return values
