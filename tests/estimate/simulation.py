"""Small worlds with a known truth, disguised over and over."""

from __future__ import annotations

import numpy as np

import tacit
from tacit import Attribute, Dataset, Reports, Schema, Scheme, channels
from tacit.disguise import disguised
from tacit.randomness import SeededRandomness
from tacit.table import Table

SCHEMA = Schema(
    (
        Attribute("smokes", ("no", "yes")),
        Attribute("drinks", ("no", "yes")),
        Attribute("age", ("young", "middle", "old"), ordered=True),
        Attribute("sex", ("f", "m")),
    )
)
TRUTH = np.random.default_rng(7).dirichlet(np.ones(24)).reshape(2, 2, 3, 2)

_DENSE = np.random.default_rng(8).dirichlet(np.ones(6) * 0.6, size=4).T
_WIDE = np.random.default_rng(9).dirichlet(np.ones(9) * 0.6, size=6).T

# For every kind of channel a scheme that uses it, alone or beside others.
SCHEMES = {
    "public": Scheme.of(SCHEMA),
    "warner": Scheme.of(SCHEMA, [(["smokes", "age"], channels.warner(0.5)), (["drinks"], channels.warner(0.3))]),
    "warner-below": Scheme.of(SCHEMA, [(["age"], channels.warner(0.1))]),
    "uniform": Scheme.of(SCHEMA, [(["smokes", "drinks", "age"], channels.uniform_perturbation(0.4))]),
    "gamma": Scheme.of(
        SCHEMA, [(["smokes"], channels.gamma_diagonal(5)), (["drinks", "age"], channels.gamma_diagonal(9))]
    ),
    "unrelated": Scheme.of(SCHEMA, [(["smokes", "age"], channels.mixture(0.5, [[0.3, 0.7], [0.2, 0.3, 0.5]]))]),
    "unrelated-joint": Scheme.of(SCHEMA, [(["smokes", "drinks"], channels.mixture(0.5, [0.1, 0.2, 0.3, 0.4]))]),
    "flip": Scheme.of(SCHEMA, [(["smokes", "drinks"], channels.flip(0.8)), (["sex"], channels.flip(0.25))]),
    "square": Scheme.of(SCHEMA, [(["age"], channels.matrix([[0.7, 0.1, 0.2], [0.2, 0.8, 0.1], [0.1, 0.1, 0.7]]))]),
    "tall": Scheme.of(SCHEMA, [(["smokes", "drinks"], channels.matrix(_DENSE, [f"r{i}" for i in range(6)]))]),
    "tall-part": Scheme.of(SCHEMA, [(["smokes", "age"], channels.matrix(_WIDE, [f"r{i}" for i in range(9)]))]),
    "mask": Scheme.of(SCHEMA, [(["smokes", "age"], channels.mask(0.8))]),
    "cut-and-paste": Scheme.of(SCHEMA, [(["smokes", "drinks", "age"], channels.cut_and_paste(3, 0.3))]),
    "randomized": Scheme.of(SCHEMA, [(["smokes", "age"], channels.randomized_gamma_diagonal(9, 0.2))]),
    "subset": Scheme.of(SCHEMA, [(["smokes", "age"], channels.subset(2, 9)), (["drinks"], channels.warner(0.8))]),
    "dealt": Scheme.dealt(
        SCHEMA,
        [
            ("one", 0.4, [(["smokes", "drinks", "age"], channels.subset(3, 19))]),
            ("two", 0.35, [(["smokes", "drinks"], channels.gamma_diagonal(19))]),
            ("three", 0.25, [(["age"], channels.gamma_diagonal(19))]),
        ],
    ),
}


def people(n: int, rng: np.random.Generator) -> Table:
    """A sample from the population."""
    cells = rng.choice(TRUTH.size, size=n, p=TRUTH.ravel())
    columns = np.unravel_index(cells, TRUTH.shape)
    return Table(SCHEMA, {name: column.astype(np.uint8) for name, column in zip(SCHEMA.names, columns, strict=True)})


def simulated(scheme: Scheme, n: int, seed: int, table: Table | None = None) -> Reports:
    """Reports of fresh people, or of the given ones."""
    rng = np.random.default_rng(seed)
    return disguised(people(n, rng) if table is None else table, scheme, SeededRandomness(int(rng.integers(1 << 60))))


def marginal(names: list[str], joint: np.ndarray = TRUTH) -> np.ndarray:
    others = tuple(axis for axis, name in enumerate(SCHEMA.names) if name not in names)
    kept = [name for name in SCHEMA.names if name in names]
    return joint.sum(axis=others).transpose([kept.index(name) for name in names])


def clear_table(rows: dict[str, list[str]]) -> Dataset:
    return tacit.Dataset.from_arrow(rows)
