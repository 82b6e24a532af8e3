"""Small worlds with a known truth, disguised over and over."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2, norm

import tacit
from tacit import Attribute, Reports, Schema, Scheme, channels
from tacit.disguising import disguise_table
from tacit.estimation.result import Sampling, TableEstimate
from tacit.randomness import SeededRandomness
from tacit.table import Table

FALSE_ALARM = 1e-6  # chance that a correct estimator fails one of these tests under another seed
REPEATS = 1000 if os.environ.get("TACIT_SOAK") else 400
RESPONDENTS = 1500

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
    "hadamard": Scheme.of(SCHEMA, [(["smokes", "age"], channels.hadamard(9)), (["drinks"], channels.hadamard(4))]),
    "local-hashing": Scheme.of(
        SCHEMA, [(["smokes", "age"], channels.local_hashing(9)), (["drinks"], channels.flip(0.8))]
    ),
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
    return disguise_table(
        people(n, rng) if table is None else table, scheme, SeededRandomness(int(rng.integers(1 << 60)))
    )


def marginal(names: Sequence[str], joint: np.ndarray = TRUTH) -> np.ndarray:
    others = tuple(axis for axis, name in enumerate(SCHEMA.names) if name not in names)
    kept = [name for name in SCHEMA.names if name in names]
    return joint.sum(axis=others).transpose([kept.index(name) for name in names])


@functools.cache
def many_reports(scheme: str, *, same_people: bool = False) -> tuple[Reports, ...]:
    """The same survey over and over: of fresh people each time, or always of the same."""
    same = respondents() if same_people else None
    return tuple(simulated(SCHEMES[scheme], RESPONDENTS, seed, same) for seed in range(REPEATS))


@functools.cache
def respondents() -> Table:
    return people(RESPONDENTS, np.random.default_rng(3))


@functools.cache
def repeated(scheme: str, names: tuple[str, ...], sampling: Sampling = "population") -> tuple[np.ndarray, np.ndarray]:
    """Estimates and standard errors of many surveys, ``(survey, cell)``; for respondents always the same people."""
    surveys = many_reports(scheme, same_people=sampling == "respondents")
    return stacked([tacit.estimate(reports, names, sampling=sampling) for reports in surveys])


def stacked(found: Sequence[TableEstimate]) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.array([table.probabilities.ravel() for table in found]),
        np.array([table.standard_errors.ravel() for table in found]),
    )


def assert_true_errors(estimates: np.ndarray, errors: np.ndarray, truth: np.ndarray) -> None:
    """Mean z-score 0 and mean square 1, each at FALSE_ALARM over the cells tested."""
    varying = errors.mean(axis=0) > 1e-12
    assert np.allclose(estimates[:, ~varying], truth[~varying], atol=1e-9)
    # The mean over seeds against its own spread: no use is made of the stated errors.
    cells = varying.sum()
    if not cells:
        return
    spread = estimates[:, varying].std(axis=0, ddof=1)
    z = (estimates[:, varying].mean(axis=0) - truth[varying]) / spread * np.sqrt(len(estimates))
    assert np.abs(z).max() <= norm.isf(FALSE_ALARM / 2 / cells), f"biased: z = {z}"
    # The variance over seeds against the stated one; the stated one varies little at this sample size.
    ratio = estimates[:, varying].var(axis=0, ddof=1) / (errors[:, varying] ** 2).mean(axis=0)
    df = len(estimates) - 1
    low, high = chi2.ppf(FALSE_ALARM / 2 / cells, df) / df, chi2.isf(FALSE_ALARM / 2 / cells, df) / df
    assert (ratio >= low * 0.97).all(), f"stated errors too large: {ratio}"
    assert (ratio <= high * 1.03).all(), f"stated errors too small: {ratio}"
