"""How models are tried, told apart and judged, on numbers small enough to work out beside them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import Dataset, Scheme, channels, disguise, fit_joint
from tacit.channel.routing import NOT_ASKED
from tacit.joint import _class_kernels, _forest_kernels, selection, worst_pair
from tacit.joint.classes import log_sum, random_classes
from tacit.joint.forest import Forest, forest_step, gathered_evidence, plant_forest
from tacit.joint.pairs import information
from tacit.joint.selection import ModelCandidate, _rank_candidates, mean_log
from tests.channel.routed_groups import records_of, scheme_of
from tests.joint.brute import chance_matrix, drawn, every_record, reported, rows_of, schema_of

SCHEMA = schema_of(2, 3, 2)


@pytest.mark.parametrize("public", [False, True])
def test_the_worst_pair_is_the_cell_most_errors_away(*, public: bool) -> None:
    truth = drawn(SCHEMA, 900, 4)
    scheme = Scheme.of(SCHEMA, [] if public else [([name], channels.warner(0.8)) for name in SCHEMA.names])
    reports = disguise(truth, scheme, seed=2)
    shares = [np.full(size, 1 / size) for size in SCHEMA.shape()]
    model = random_classes(shares, 2, np.random.default_rng(3))
    worst, cells, where = 0.0, 0, {}
    for one, other in itertools.combinations(range(3), 2):
        names = [SCHEMA.names[one], SCHEMA.names[other]]
        table = tacit.estimate(reports, names)
        cells += table.probabilities.size
        away = (model.marginal([one, other]) - table.probabilities) / table.standard_errors
        place = np.unravel_index(int(np.abs(away).argmax()), away.shape)
        if abs(away[place]) > abs(worst):
            worst, where = away[place], dict(zip(names, map(str, place), strict=True))
    misfit = worst_pair(model, [rows_of(reports, SCHEMA)], SCHEMA)
    assert misfit is not None
    assert misfit.cells == cells == 16
    assert misfit.z == pytest.approx(worst)
    assert misfit.answers == where
    assert misfit.p == pytest.approx(min(1, cells * math.erfc(abs(worst) / math.sqrt(2))))


def test_a_cell_that_routing_rules_out_is_not_the_worst() -> None:
    """Nobody can be in it, whatever a model without routes says; the others are compared all the same."""
    scheme = scheme_of(records_of(1), channels.gamma_diagonal(9))
    rows = {"filter": ["no"] * 60 + ["yes"] * 90, "f0": [NOT_ASKED] * 60 + ["no"] * 50 + ["yes"] * 40}
    truth = Dataset.from_arrow(rows, schema=scheme.schema)
    part = rows_of(disguise(truth, scheme, seed=2), scheme.schema)
    model = random_classes([np.full(size, 1 / size) for size in scheme.schema.shape()], 2, np.random.default_rng(3))
    misfit = worst_pair(model, [part], scheme.schema)
    assert misfit is not None
    assert (misfit.answers["filter"] == "no") == (misfit.answers["f0"] == NOT_ASKED)
    assert misfit.standard_error > 0


def test_information_is_that_of_the_pair_less_what_errors_show() -> None:
    same = np.diag([0.5, 0.5])
    assert information(same, np.zeros((2, 2))) == pytest.approx(math.log(2))
    assert information(same, np.full((2, 2), 0.1)) == pytest.approx(math.log(2) - 0.5 * 4 * 0.01 / 0.25)
    assert information(np.outer([0.2, 0.8], [0.5, 0.25, 0.25]), np.zeros((2, 3))) == pytest.approx(0)


def test_products_below_the_smallest_number_are_added_up_as_logarithms() -> None:
    chances = np.array([[1e-200, 1e-199], [1e-200, 2e-200], [0.5, 0.25]])
    cells = np.array([[0, 1], [2, 2], [1, 0]], dtype=np.int32)
    weights, counts = np.array([0.25, 0.75]), np.array([3.0, 2.0, 0.0])
    log, people = _class_kernels.expectation(cells, chances, weights, counts)
    tiny, plain = np.array([0.25, 0.75 * 20]), np.array([0.25 * 0.25, 0.75 * 0.0625])
    assert log == pytest.approx(3 * (math.log(tiny.sum()) - 400 * math.log(10)) + 2 * math.log(plain.sum()))
    first, second = 3 * tiny / tiny.sum(), 2 * plain / plain.sum()
    np.testing.assert_allclose(people, [first, first, 2 * second])


def test_the_likeliest_record_of_very_many_answers_does_not_vanish() -> None:
    """A root whose 500 children are all unlikely, and a little less so if it answers the second."""
    children = 500
    parents = np.array([-1] + [0] * children)
    slots = np.arange(0, 2 * (children + 2), 2)
    cells = np.concatenate([[0], 2 + 4 * np.arange(children + 1)])
    table = np.concatenate([[0.5, 0.5], np.tile([0.5, 0.5, 0.4, 0.6], children)])
    evidence = np.full((1, slots[-1]), 1e-3)
    branches = _forest_kernels.Branches(parents, slots, cells)
    assert (_forest_kernels.likeliest(evidence, table, branches) == 1).sum() == children + 1


def test_a_forest_says_how_many_trees_it_has() -> None:
    tables = (np.full((2, 1, 2), 0.5), np.full((2, 1, 3), 1 / 3), np.full((2, 2, 2), 0.5))
    assert Forest(np.full(2, 0.5), (-1, -1, 0), tables).describe() == "a mixture of 2 trees"
    assert Forest(np.ones(1), (-1, -1, 0), tuple(table[:1] for table in tables)).describe() == "one tree"


def test_a_forest_refuses_a_law_of_too_many_products() -> None:
    schema = schema_of(*[2] * 8)
    part = reported(schema, [(list(schema.names), channels.subset(100, 5))], people=3)
    tree = Forest(np.ones(1), (-1,) * 8, tuple(np.full((1, 1, 2), 0.5) for _ in range(8)))
    with pytest.raises(ValueError, match="too many terms"):
        tree.report_logs(part)


def test_one_class_is_independent_answers() -> None:
    shares = [np.full(size, 1 / size) for size in SCHEMA.shape()]
    told = [random_classes(shares, number, np.random.default_rng(1)).describe() for number in (1, 2)]
    assert told == ["independent answers", "2 latent classes"]


def test_logarithms_are_added_up_over_the_last_axis() -> None:
    chances = np.random.default_rng(2).random((2, 3, 4))
    chances[0, 1] = 0
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log_sum(np.log(chances)), np.log(chances.sum(axis=2)))


def test_a_planted_tree_has_the_conditionals_of_its_pairs() -> None:
    """A fiftieth of independence is mixed in, so that nothing is impossible by an estimate."""
    shares = [np.array([0.4, 0.6]), np.array([0.2, 0.3, 0.5])]
    pair = np.array([[0.2, 0.2, 0.0], [0.0, 0.1, 0.5]])
    tree = plant_forest([-1, 0], [[np.empty(0), pair], [pair.T, np.empty(0)]], shares)
    mixed = pair + 0.02 * np.outer(*shares)
    np.testing.assert_allclose(tree.tables[0][0, 0], shares[0])
    np.testing.assert_allclose(tree.tables[1][0], mixed / mixed.sum(axis=1, keepdims=True))


def test_a_step_of_few_people_is_that_over_every_record() -> None:
    part = reported(SCHEMA, [(["a0", "a1"], channels.gamma_diagonal(5)), (["a2"], channels.warner(0.7))], people=2)
    rng = np.random.default_rng(5)
    tables = (rng.dirichlet(np.ones(2), (1, 1)), rng.dirichlet(np.ones(3), (1, 2)), rng.dirichlet(np.ones(2), (1, 3)))
    tree = Forest(np.ones(1), (-1, 0, 1), tables)
    records = every_record(SCHEMA)
    together = chance_matrix(part, SCHEMA) * np.exp(tree.log_chance(records))
    people = (together / together.sum(axis=1, keepdims=True)).sum(axis=0).reshape(SCHEMA.shape())
    after, height = forest_step(tree, list(gathered_evidence(tree, part)), 0.0)
    assert height == pytest.approx(np.log(together.sum(axis=1)).mean())
    np.testing.assert_allclose(after.tables[0][0, 0], people.sum(axis=(1, 2)) / 2)
    for j, pair in ((1, people.sum(axis=2)), (2, people.sum(axis=0))):
        np.testing.assert_allclose(after.tables[j][0], pair / pair.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Stub:
    """A model that says what it is told to say of each row."""

    logs: tuple[float, ...]
    n_parameters: int = 1

    def report_logs(self, part: Any) -> np.ndarray:
        return np.array(self.logs)


def test_candidates_are_ranked_by_the_reports_that_were_held_out() -> None:
    part = reported(SCHEMA, [(["a0"], channels.warner(0.8))], people=4).with_counts(np.array([3.0, 1.0, 0.0, 2.0]))
    best, near, far = Stub((-1.0, -2.0, -math.inf, -1.0), 9), Stub((-2.0, -1.0, -9.0, -1.0), 3), Stub((-4.0,) * 4, 1)
    assert mean_log(best, [part]) == pytest.approx((-3 - 2 - 2) / 6)  # type: ignore[arg-type]
    tried = [ModelCandidate(model, mean_log(model, [part])) for model in (far, near, best)]  # type: ignore[arg-type]
    ranked = _rank_candidates(tried, [part])
    assert [candidate.model for candidate in ranked] == [best, near, far]
    assert [candidate.behind for candidate in ranked] == pytest.approx([0, 2 / 6, 17 / 6])
    # Of the differences 1, -1 and 0 of three, one and two people.
    spread = (3 * (1 - 1 / 3) ** 2 + (-1 - 1 / 3) ** 2 + 2 * (1 / 3) ** 2) / 6
    assert ranked[1].behind_error == pytest.approx(math.sqrt(spread / 6))


def test_of_models_as_good_as_each_other_the_smaller_is_chosen() -> None:
    part = reported(SCHEMA, [(["a0"], channels.warner(0.8))], people=4)
    large, small = Stub((-1.0, -1.0, -1.0, -1.0), 9), Stub((-0.9, -1.1, -1.0004, -1.0004), 3)
    tried = [ModelCandidate(model, mean_log(model, [part])) for model in (large, small)]  # type: ignore[arg-type]
    assert _rank_candidates(tried, [part])[0].model is small
    clearly = Stub((-1.01,) * 4, 3)
    tried = [ModelCandidate(model, mean_log(model, [part])) for model in (large, clearly)]  # type: ignore[arg-type]
    assert _rank_candidates(tried, [part])[0].model is large


@pytest.mark.parametrize(("promising", "mixtures"), [(math.inf, 1), (-math.inf, 0)])
def test_mixtures_of_trees_are_tried_where_a_tree_is_promising(
    monkeypatch: pytest.MonkeyPatch, promising: float, mixtures: int
) -> None:
    monkeypatch.setattr(selection, "PROMISING", promising)
    monkeypatch.setattr(selection, "TREE_STEPS", 2)
    scheme = Scheme.of(SCHEMA, [([name], channels.warner(0.9)) for name in SCHEMA.names])
    joint = fit_joint(disguise(drawn(SCHEMA, 400, 4), scheme, seed=2), models=["tree"], classes=1, starts=1)
    assert sum("mixture" in candidate.what for candidate in joint.candidates) == mixtures
    assert any(candidate.what == "one tree" for candidate in joint.candidates)
