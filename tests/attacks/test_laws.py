"""Every law against enumeration: the posterior of each component's product under the channel's own matrix."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Attribute, Schema, Scheme, channels
from tacit.attacks.evidence import Evidence, evidence
from tacit.attacks.fit import component_logs
from tacit.attacks.guess import guesses
from tacit.attacks.joint import Joint, log_sum
from tacit.channel.protocol import grid
from tacit.channel.recipe import Recipe
from tacit.table import Table

SHAPES = {
    "flip": (2, 2, 2),
    "mask": (2, 3),
    "cut-and-paste": (2, 3),
}
RECIPES = {
    "flip": channels.flip(0.7),
    "uniform": channels.mixture(0.4, "uniform"),
    "per attribute": channels.mixture(0.3, [[0.5, 0.5], [0.2, 0.3, 0.5]]),
    "joint": channels.mixture(0.3, [0.1, 0.2, 0.1, 0.3, 0.1, 0.2]),
    "warner": channels.warner(0.6),
    "warner below 1/n": channels.warner(0.05),
    "gamma-diagonal": channels.gamma_diagonal(5),
    "matrix": channels.matrix(np.full((6, 6), 0.1) + 0.4 * np.eye(6)),
    "labels": channels.matrix([[0.5, 0.2, 0.1, 0.4, 0.3, 0.6], [0.5, 0.8, 0.9, 0.6, 0.7, 0.4]], ["a", "b"]),
    "subset": channels.subset(2, 4),
    "mask": channels.mask(0.8),
    "cut-and-paste": channels.cut_and_paste(2, 0.3),
}


def joint_of(shape: tuple[int, ...], seed: int = 5) -> Joint:
    rng = np.random.default_rng(seed)
    return Joint(np.array([0.3, 0.7]), tuple(rng.dirichlet(np.ones(size), size=2) for size in shape))


def every_report(recipe: Recipe, shape: tuple[int, ...]) -> tuple[Scheme, Table]:
    attributes = [Attribute(f"a{j}", tuple(map(str, range(size)))) for j, size in enumerate(shape)]
    scheme = Scheme.of(attributes, [([a.name for a in attributes], recipe)])
    (group,) = scheme.groups
    columns = dict(zip((a.name for a in group.report_attributes), group.channel.reports(), strict=True))
    return scheme, Table(scheme.report_schema, columns)


def law_of(scheme: Scheme, table: Table, known: dict[int, np.ndarray] | None = None) -> Evidence:
    return evidence(scheme.questionnaires[0], scheme.schema, table, np.ones(table.n_rows), known)


def dense_posterior(scheme: Scheme, joint: Joint, *, keep: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """For every report: its chance, and the posterior of each record, by the channel's matrix."""
    shape = scheme.schema.shape()
    records = grid(shape)
    prior = np.exp(joint.log_chance(records)) * (1.0 if keep is None else keep)
    together = scheme.groups[0].channel.matrix * prior
    return together.sum(axis=1), together / together.sum(axis=1, keepdims=True)


def shape_of(name: str) -> tuple[int, ...]:
    return SHAPES.get(name, (2, 3))


# The others are known up to a factor of the report, on which no posterior depends.
@pytest.mark.parametrize("name", [name for name in RECIPES if name not in ("mask", "subset")])
def test_likelihoods_are_those_of_the_matrix(name: str) -> None:
    scheme, table = every_report(RECIPES[name], shape_of(name))
    joint = joint_of(shape_of(name))
    found = np.exp(log_sum(component_logs(joint, law_of(scheme, table))))
    expected, _ = dense_posterior(scheme, joint)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("name", RECIPES)
def test_guesses_have_the_posteriors_of_the_matrix(name: str) -> None:
    scheme, table = every_report(RECIPES[name], shape_of(name))
    joint = joint_of(shape_of(name))
    found = guesses(joint, law_of(scheme, table))
    _, posterior = dense_posterior(scheme, joint)
    cube = posterior.reshape(len(posterior), *shape_of(name))
    for j in range(len(shape_of(name))):
        single = cube.sum(axis=tuple(axis for axis in range(1, cube.ndim) if axis != j + 1))
        np.testing.assert_allclose(found.answers_right[j], single.max(axis=1), rtol=1e-9)
    cells = np.ravel_multi_index([found.record[j] for j in range(cube.ndim - 1)], shape_of(name))
    np.testing.assert_allclose(found.record_right, posterior[np.arange(len(cells)), cells], rtol=1e-9)
    # A handful of promising records is tried, not all of them; they must come close to the best.
    assert found.record_right.mean() >= 0.95 * posterior.max(axis=1).mean()


@pytest.mark.parametrize("name", RECIPES)
def test_expected_people_are_those_of_the_matrix(name: str) -> None:
    """One step of expectation maximization with one component equals the dense posterior's margins."""
    shape = shape_of(name)
    scheme, table = every_report(RECIPES[name], shape)
    product = Joint(np.ones(1), tuple(factor[:1] for factor in joint_of(shape).factors))
    people = np.random.default_rng(3).random(table.n_rows)
    _, posterior = dense_posterior(scheme, product)
    expected = (people @ posterior).reshape(shape)
    for law in law_of(scheme, table).laws:
        for j, counts in zip(law.attributes, law.counts(product, people[:, None]), strict=True):
            margin = expected.sum(axis=tuple(axis for axis in range(len(shape)) if axis != j))
            np.testing.assert_allclose(counts[0], margin, rtol=1e-9)


@pytest.mark.parametrize("name", RECIPES)
def test_a_known_answer_rules_out_the_records_that_contradict_it(name: str) -> None:
    shape = shape_of(name)
    scheme, table = every_report(RECIPES[name], shape)
    joint = joint_of(shape)
    known = np.ones(table.n_rows, dtype=np.int64)
    found = guesses(joint, law_of(scheme, table, {0: known}))
    _, posterior = dense_posterior(scheme, joint, keep=(grid(shape)[0] == 1).astype(float))
    cube = posterior.reshape(len(posterior), *shape)
    for j in range(len(shape)):
        single = cube.sum(axis=tuple(axis for axis in range(1, cube.ndim) if axis != j + 1))
        np.testing.assert_allclose(found.answers_right[j], single.max(axis=1), rtol=1e-9)
    assert (found.record[0] == 1).all()


@pytest.mark.parametrize("name", ["flip", "uniform", "warner below 1/n", "matrix", "subset"])
def test_the_coin_is_the_chance_that_the_report_shows_the_record(name: str) -> None:
    shape = shape_of(name)
    scheme, table = every_report(RECIPES[name], shape)
    joint = joint_of(shape)
    (coin,) = guesses(joint, law_of(scheme, table)).coins
    _, posterior = dense_posterior(scheme, joint)
    if name == "subset":
        expected = np.take_along_axis(posterior, table["a0+a1"].astype(np.intp), axis=1).sum(axis=1)
    else:
        expected = np.diagonal(posterior)
    np.testing.assert_allclose(coin.shows, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "recipe", [channels.flip(0.8), channels.warner(0.8), channels.matrix([[0.9, 0.3], [0.1, 0.7]])]
)
def test_attributes_disguised_one_by_one_share_a_law(recipe: Recipe) -> None:
    schema = Schema(tuple(Attribute(f"a{j}", ("no", "yes")) for j in range(3)))
    scheme = Scheme.of(schema, [(["a0"], recipe), (["a1"], recipe)])
    table = Table(scheme.report_schema, dict(zip(("a0", "a1", "a2"), grid((2, 2, 2)), strict=True)))
    joint = joint_of((2, 2, 2))
    part = law_of(scheme, table)
    assert len(part.laws) == 1
    found = guesses(joint, part)
    one = scheme.groups[0].channel.matrix
    whole = np.kron(np.kron(one, one), np.eye(2)) * np.exp(joint.log_chance(grid((2, 2, 2))))
    posterior = whole / whole.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(log_sum(component_logs(joint, part))), whole.sum(axis=1), rtol=1e-9)
    cube = posterior.reshape(8, 2, 2, 2)
    np.testing.assert_allclose(found.answers_right[0], cube.sum(axis=(2, 3)).max(axis=1), rtol=1e-9)
    assert [coin.attributes for coin in found.coins] == [(0,), (1,)]
    told = cube.sum(axis=(2, 3))[np.arange(8), table["a0"]]
    np.testing.assert_allclose(found.coins[0].shows, told, rtol=1e-9)
