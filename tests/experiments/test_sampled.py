"""Sampled tallies have the law of tallies of disguised rows: the same mean, spread and dependence, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tacit import Attribute, Schema
from tacit.channel.scheme import Scheme
from tacit.count import MemoryEngine
from tacit.disguising import disguise_table
from tacit.errors import InvalidInput
from tacit.experiments.sampled import TrueRecords, unrelated_question
from tacit.randomness import SeededRandomness
from tacit.table import Table
from tests.statistics import FALSE_ALARM

NAMES = ("smokes", "drinks", "class")
DRAWS = 3000
CELLS = [(name, answer, label) for name in NAMES[:-1] for answer in (0, 1) for label in (0, 1)]


@pytest.fixture(scope="module")
def truth() -> Table:
    rng = np.random.default_rng(6)
    schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in NAMES))
    label = rng.integers(0, 2, 60)
    columns = {"smokes": label ^ (rng.random(60) < 0.2), "drinks": rng.integers(0, 2, 60), "class": label}
    return Table.from_codes(schema, {name: np.asarray(column, dtype=np.int64) for name, column in columns.items()})


def by_rows(truth: Table, scheme: Scheme, seed: int) -> np.ndarray:
    """``[draw, cell]``: tallies of rows that were disguised one by one."""
    words = SeededRandomness(seed)
    found = np.empty((DRAWS, len(CELLS)))
    for draw in range(DRAWS):
        engine = MemoryEngine(disguise_table(truth, scheme, words).table)
        pairs = {name: engine.tally([name, "class"]) for name in NAMES[:-1]}
        found[draw] = [pairs[name][answer, label] for name, answer, label in CELLS]
    return found


def by_sampling(truth: Table, scheme: Scheme, seed: int) -> np.ndarray:
    records, rng = TrueRecords(truth, "class"), np.random.default_rng(seed)
    found = np.empty((DRAWS, len(CELLS)))
    for draw in range(DRAWS):
        pairs = records.sample_reports(scheme, rng).engine.pairs
        found[draw] = [pairs[name][answer, label] for name, answer, label in CELLS]
    return found


def least_p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Of means and of mean products of every two cells, the least p-value of a difference, corrected for their number."""
    pairs = [(a, b) for a in range(len(CELLS)) for b in range(a, len(CELLS))]
    centre = first.mean(axis=0)
    features = [
        np.concatenate(
            [part, np.stack([(part - centre)[:, a] * (part - centre)[:, b] for a, b in pairs], axis=1)], axis=1
        )
        for part in (first, second)
    ]
    # So many draws that the means of these features are normal far into the tail.
    apart = features[0].mean(axis=0) - features[1].mean(axis=0)
    error = np.sqrt((features[0].var(axis=0) + features[1].var(axis=0)) / DRAWS)
    return float(2 * stats.norm.sf(np.abs(apart / error).max()) * apart.size)


def test_sampled_tallies_have_the_law_of_disguised_rows(truth: Table) -> None:
    scheme = unrelated_question(truth.schema, 0.3)
    assert least_p_value(by_rows(truth, scheme, 1), by_sampling(truth, scheme, 2)) >= FALSE_ALARM


def test_a_chance_that_is_three_points_off_is_noticed(truth: Table) -> None:
    wrong = unrelated_question(truth.schema, 0.33)
    right = unrelated_question(truth.schema, 0.3)
    assert least_p_value(by_rows(truth, right, 1), by_sampling(truth, wrong, 2)) < FALSE_ALARM


def test_every_draw_counts_everybody_once(truth: Table) -> None:
    reports = TrueRecords(truth, "class").sample_reports(
        unrelated_question(truth.schema, 0.3), np.random.default_rng(1)
    )
    for name in NAMES[:-1]:
        assert reports.engine.tally([name, "class"]).sum() == truth.n_rows
        np.testing.assert_array_equal(reports.engine.tally(["class", name]), reports.engine.tally([name, "class"]).T)
        np.testing.assert_array_equal(
            reports.engine.tally([name, "class"]).sum(axis=0), reports.engine.tally(["class"])
        )


def test_sampled_tallies_answer_nothing_else(truth: Table) -> None:
    engine = (
        TrueRecords(truth, "class")
        .sample_reports(unrelated_question(truth.schema, 0.3), np.random.default_rng(1))
        .engine
    )
    with pytest.raises(InvalidInput, match="pairs only"):
        engine.sparse_tally(["smokes"])
    with pytest.raises(InvalidInput, match="pairs only"):
        engine.totals([])
