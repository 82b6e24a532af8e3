"""What itemset tests share: the supports of all itemsets of a table, and what other software finds in it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd

from tacit.dataset import Dataset
from tacit.mine.itemset_result import Itemsets
from tacit.schema import Attribute, Schema
from tacit.table import Table

Found = dict[frozenset[str], float]


def dataset(sizes: tuple[int, ...], rows: int, seed: int) -> Dataset:
    """Answers that hang together: each attribute leans on the one before."""
    generator = np.random.default_rng(seed)
    schema = Schema(tuple(Attribute(f"q{i}", tuple(f"a{code}" for code in range(d))) for i, d in enumerate(sizes)))
    columns: dict[str, Any] = {}
    before = np.zeros(rows, dtype=np.int64)
    for attribute in schema:
        own = np.minimum(generator.geometric(0.55, rows) - 1, attribute.size - 1)
        before = np.where(generator.random(rows) < 0.4, before % attribute.size, own)
        columns[attribute.name] = before
    return Dataset(Table.from_codes(schema, columns))


def one_hot(data: Dataset) -> pd.DataFrame:
    columns = {}
    for attribute in data.schema:
        for code, answer in enumerate(attribute.answers):
            columns[f"{attribute.name}={answer}"] = data.table[attribute.name] == code
    return pd.DataFrame(columns)


def by_items(itemsets: Itemsets) -> Found:
    return {frozenset(itemset.labels): itemset.support for itemset in itemsets}


def by_mlxtend(data: Dataset, min_support: float) -> Found:
    from mlxtend.frequent_patterns import fpgrowth

    frame = fpgrowth(one_hot(data), min_support=min_support, use_colnames=True)
    return {frozenset(row.itemsets): float(row.support) for row in frame.itertuples()}


def by_pyfim(data: Dataset, min_support: float) -> Found:
    import fim

    columns = [[f"{a.name}={a.answers[code]}" for code in data.table[a.name]] for a in data.schema]
    transactions = list(zip(*columns, strict=True))
    least = math.ceil(min_support * data.n_rows - 1e-9)
    found = fim.apriori(transactions, supp=-least, report="a")  # a negative number counts transactions
    # What everybody says is left out by itself, though not with others: to fim it extends the empty set.
    everywhere = {frozenset([column[0]]): 1.0 for column in columns if len(set(column)) == 1}
    return everywhere | {frozenset(items): count / data.n_rows for items, count in found}


def all_itemsets(data: Dataset, length: int) -> dict[tuple[str, ...], np.ndarray]:
    """The true share of every itemset of a length, as one table for each set of attributes."""
    tables = {}
    for names in itertools.combinations(data.schema.names, length):
        shape = data.schema.shape(names)
        cells = np.ravel_multi_index([data.table[name].astype(np.int64) for name in names], shape)
        tables[names] = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape) / data.n_rows
    return tables
