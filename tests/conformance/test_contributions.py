"""Every form of the one estimator against what each report contributes, written out report by report."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import pytest

import tacit
from tacit import Attribute, Reports, SampleDesign, channels
from tacit.channel.codes import row_products
from tacit.channel.recipe import Recipe
from tacit.count.protocol import Source
from tacit.count.sources import sources
from tacit.disguising import disguise_table
from tacit.estimation.contributions import asked_parts, counted_contributions
from tacit.estimation.mean import Mean, Wanted, estimated_mean
from tacit.estimation.sampled_sources import sampled_mean, sources_with_samples
from tacit.mine.count_sources import counted_subgroup, ordered_sources
from tacit.randomness import SeededRandomness
from tacit.table import Table
from tests.channel.routed_groups import records_of, scheme_of
from tests.estimation.simulation import SCHEMA, SCHEMES, simulated

PAIR = ("smokes", "age")
ALONE = [name for name in SCHEMES if name != "dealt"]
SHOW_ONE = [name for name in ALONE if name not in ("mask", "cut-and-paste", "subset", "local-hashing")]


def written_out(source: Source, names: Sequence[str]) -> np.ndarray:
    """What each report contributes to each cell: rows of the inverses of its groups, multiplied and summed to the table."""
    rows = source.engine.table  # type: ignore[attr-defined]
    parts = asked_parts(source, names)
    whole = row_products([part.channel.inverse([rows[name] for name in part.columns], part.guess) for part in parts])
    covered = [name for part in parts for name in part.covered]
    shaped = whole.reshape(len(whole), *SCHEMA.shape(covered))
    others = tuple(1 + axis for axis, name in enumerate(covered) if name not in names)
    kept = [name for name in covered if name in names]
    return shaped.sum(axis=others).transpose(0, *(1 + kept.index(name) for name in names)).reshape(len(whole), -1)


@functools.cache
def reports_of(scheme: str) -> Reports:
    return simulated(SCHEMES[scheme], 300, 11)


@pytest.mark.parametrize("names", [("age",), PAIR, ("drinks", "age", "sex")])
@pytest.mark.parametrize("scheme", ALONE)
def test_the_estimate_is_the_mean_of_what_each_report_contributes(scheme: str, names: tuple[str, ...]) -> None:
    (source,) = sources(reports_of(scheme))
    added, table = written_out(source, names), counted_contributions(source, names)
    np.testing.assert_allclose(table.mean.reshape(-1), added.mean(axis=0), atol=1e-9)
    if scheme in SHOW_ONE:  # else a tally does not hold whole reports, and squares are those of the law
        np.testing.assert_allclose(table.squares.reshape(-1), (added**2).mean(axis=0), rtol=1e-7)
        np.testing.assert_allclose(
            table.products, added.T @ added / len(added), atol=1e-7 * np.abs(table.products).max()
        )


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_every_mean_is_unbiased_wherever_the_truth_is(scheme: str) -> None:
    """At the reports that a distribution makes one expect, the estimate is that distribution: dealt or not."""
    mean = estimated_mean(sources(reports_of(scheme)), PAIR, (2, 3))
    for seed in range(3):
        truth = np.random.default_rng(seed).dirichlet(np.ones(6)).reshape(2, 3)
        np.testing.assert_allclose(mean.at(truth).probabilities, truth, atol=1e-9)


@pytest.mark.parametrize("recipe", [channels.gamma_diagonal(9), channels.subset(2, 9), channels.hadamard(9)])
def test_the_mean_of_a_routed_block_is_unbiased_on_its_legal_records(recipe: Recipe) -> None:
    records = records_of(1)
    scheme = scheme_of(records, recipe, Attribute("sex", ("f", "m")))
    codes = records.codes
    random = np.random.default_rng(4)
    legal = random.dirichlet(np.ones(len(codes) * 2)).reshape(len(codes), 2)
    truth = np.zeros((2, 3, 2))
    truth[tuple(codes.T)] = legal
    people = random.choice(truth.size, 400, p=truth.reshape(-1))
    columns = np.unravel_index(people, truth.shape)
    table = Table(scheme.schema, {k: v.astype("u1") for k, v in zip(("filter", "f0", "sex"), columns, strict=True)})
    mean = estimated_mean(
        sources(disguise_table(table, scheme, SeededRandomness(3))), ("filter", "f0", "sex"), (2, 3, 2)
    )
    there = mean.at(truth)
    np.testing.assert_allclose(there.probabilities, truth, atol=1e-9)
    expected = mean.covariance("population", truth)
    assert (np.diag(expected)[truth.reshape(-1) == 0] < 1e-12).all()  # what routing rules out has no error


@pytest.mark.parametrize("scheme", SHOW_ONE)
def test_the_law_is_the_covariance_of_every_report_at_its_chance(scheme: str) -> None:
    (source,) = sources(reports_of(scheme))
    parts = asked_parts(source, PAIR)
    truth = np.random.default_rng(5).dirichlet(np.ones(6)).reshape(2, 3)
    mean = estimated_mean([source], PAIR, (2, 3))
    table = mean.at(truth).alone
    assert table is not None
    chances = table.frequencies.reshape(-1)
    left = np.ones((1, 1))
    for part in parts:
        left = np.kron(left, part.estimator.left_inverse(part.guess))
    order = [name for part in parts for name in part.attributes]
    cells = left.reshape(*SCHEMA.shape(order), -1).transpose(*(order.index(name) for name in PAIR), len(order))
    cells = cells.reshape(6, -1)
    assert chances.sum() == pytest.approx(1)
    expected = ((cells * chances) @ cells.T - np.outer(truth, truth)) / 300
    np.testing.assert_allclose(mean.covariance("population", truth), expected, atol=1e-9 * np.abs(expected).max())
    fixed = ((cells * chances) @ cells.T - np.diag(truth.reshape(-1))) / 300
    np.testing.assert_allclose(mean.covariance("respondents", truth), fixed, atol=1e-9 * np.abs(expected).max())


DESIGNS = {
    "weights": {},
    "strata": {"strata": np.arange(300) % 4},
    "clusters": {"clusters": np.arange(300) // 5},
    "both": {"strata": np.arange(300) // 100, "clusters": np.arange(300) // 5},
}


@pytest.mark.parametrize("design", list(DESIGNS))
@pytest.mark.parametrize(
    "scheme", ["public", "warner", "gamma", "flip", "square", "tall-part", "unrelated", "hadamard"]
)
def test_a_design_adds_what_each_weighted_report_contributes(scheme: str, design: str) -> None:
    reports = reports_of(scheme)
    (source,) = sources(reports)
    weights = np.random.default_rng(2).uniform(0.5, 3, 300)
    sample = SampleDesign.of(300, weights=weights, **DESIGNS[design])
    mean = sampled_mean(sources_with_samples(reports, sample), PAIR, (2, 3))
    added = written_out(source, PAIR)
    share = weights / weights.sum()
    np.testing.assert_allclose(mean.probabilities.reshape(-1), share @ added, atol=1e-9)
    scores = share[:, None] * (added - share @ added)
    expected = sample.covariance(scores)
    assert mean.rule == "design"
    np.testing.assert_allclose(mean.covariance(), expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(mean.variances().reshape(-1), np.diag(expected), rtol=1e-7)


@pytest.mark.parametrize("scheme", SHOW_ONE)
def test_products_and_rows_are_the_same_mean(scheme: str) -> None:
    """A condition summed over reports, and a subgroup of product rows, are the cells of the table."""
    reports = reports_of(scheme)
    (source,) = sources(reports)
    added = written_out(source, PAIR).reshape(-1, 2, 3)[:, 1, [0, 2]].sum(axis=1)
    share = tacit.estimate(reports, {"smokes": "yes", "age": ["young", "old"]})
    assert share.probability == pytest.approx(added.mean(), abs=1e-9)
    origins, schema = ordered_sources(reports)
    subgroup = counted_subgroup(origins, schema, "drinks")[0]
    node = subgroup.within(schema["smokes"], (1,)).within(schema["age"], (0, 2)).shares()
    assert node.size == pytest.approx(added.mean(), abs=1e-9)
    if subgroup.error_rule == "counted":
        assert node.size_variance == pytest.approx(added.var() / 300, rel=1e-7)
        assert node.size_disguise == pytest.approx(max((added**2).mean() - added.mean(), 0) / 300, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("scheme", SHOW_ONE)
def test_the_mean_of_numbers_is_a_wanted_number_like_any_other(scheme: str) -> None:
    """Mean and mean square of an attribute whose answers stand for numbers, with the law's covariance."""
    (source,) = sources(reports_of(scheme))
    mean = estimated_mean([source], ("age",), (3,))
    wanted = Wanted.average("age", (20.0, 40.0, 70.0))
    added = written_out(source, ("age",)) @ wanted.values.T
    np.testing.assert_allclose(mean.numbers(wanted), added.mean(axis=0), rtol=1e-9)
    truth = np.array([0.3, 0.5, 0.2])
    there = Mean(mean.names, mean.shape, mean.at(truth).sources)
    np.testing.assert_allclose(there.numbers(wanted), wanted.values @ truth, rtol=1e-9)
    expected = wanted.values @ there.covariance("population", truth) @ wanted.values.T
    assert math.sqrt(expected[0, 0]) > 0
    np.testing.assert_allclose(there.numbers_covariance(wanted), expected, rtol=1e-6)
