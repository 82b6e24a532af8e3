"""Every model against whole records listed one by one: likelihood, posteriors, margins, draws and steps of the climb."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import channels
from tacit.channel.recipe import Recipe
from tacit.joint import _forest_kernels
from tacit.joint.ascent import climb
from tacit.joint.classes import LatentClasses, class_step, fit_classes, random_classes, split
from tacit.joint.evidence import WholeReports, log_chance_of, thin_counts, whole_reports
from tacit.joint.exact import ExactTable, Tabled, fit_table, table_step
from tacit.joint.forest import Forest, branches, fit_forest, forest_step, gathered_evidence, n_terms, split_forest
from tacit.joint.selection import RecordModel, likeliest_mirror, turns
from tests.joint.brute import chance_matrix, every_record, reported, schema_of
from tests.statistics import assert_drawn_from, power_against

SCHEMA = schema_of(2, 3, 2, 2)
RNG = np.random.default_rng(8)
PARENTS = (-1, 0, 1, -1)


def forest(components: int) -> Forest:
    spans = [1 if parent < 0 else SCHEMA.shape()[parent] for parent in PARENTS]
    tables = [
        RNG.dirichlet(np.ones(size), (components, span)) for size, span in zip(SCHEMA.shape(), spans, strict=True)
    ]
    return Forest(RNG.dirichlet(np.ones(components) * 5), PARENTS, tuple(tables))


def classes(number: int) -> LatentClasses:
    return LatentClasses(
        RNG.dirichlet(np.ones(number) * 5), tuple(RNG.dirichlet(np.ones(size), number) for size in SCHEMA.shape())
    )


MODELS: dict[str, RecordModel] = {
    "classes": classes(3),
    "tree": forest(1),
    "trees": forest(2),
    "table": ExactTable(RNG.dirichlet(np.ones(24)), SCHEMA.shape()),
}
# Groups of yes/no answers and of others, alone, together and public, as sums of products and as matrices.
GROUPS: dict[str, list[tuple[list[str], Recipe]]] = {
    "alone": [([name], channels.warner(0.7)) for name in SCHEMA.names],
    "flips": [(["a0", "a2"], channels.flip(0.7)), (["a3"], channels.flip(0.6))],
    "together": [(["a1", "a0", "a3"], channels.gamma_diagonal(9))],
    "negative": [(["a0", "a2"], channels.warner(0.1)), (["a1"], channels.subset(2, 3))],
    "dense": [(["a0", "a1"], channels.matrix(0.4 * np.eye(6) + 0.1)), (["a2", "a3"], channels.mask(0.8))],
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("groups", GROUPS)
def test_reports_are_as_likely_as_their_records_together(model: str, groups: str) -> None:
    part, own = reported(SCHEMA, GROUPS[groups]), MODELS[model]
    records = every_record(SCHEMA)
    truth = np.exp(own.log_chance(records))
    assert truth.sum() == pytest.approx(1)
    together = chance_matrix(part, SCHEMA) * truth
    np.testing.assert_allclose(own.report_logs(part), np.log(together.sum(axis=1)), rtol=1e-9)
    for j, found in enumerate(own.answers(part)):
        expected = np.stack([together[:, records[j] == answer].sum(axis=1) for answer in range(found.shape[1])], axis=1)
        np.testing.assert_allclose(found, expected / together.sum(axis=1, keepdims=True), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_known_answers_count_like_evidence(model: str) -> None:
    part, own = reported(SCHEMA, GROUPS["together"]), MODELS[model]
    known = {0: np.arange(part.n_rows) % 2, 1: np.arange(part.n_rows) % 3}
    told = part.with_known_answers(known, SCHEMA.shape())
    records = every_record(SCHEMA)
    allowed = np.ones((part.n_rows, 24), dtype=bool)
    for j, codes in known.items():
        allowed &= records[j][None, :] == codes[:, None]
    together = chance_matrix(part, SCHEMA) * np.exp(own.log_chance(records)) * allowed
    expected = np.stack([together[:, records[3] == answer].sum(axis=1) for answer in range(2)], axis=1)
    np.testing.assert_allclose(own.answers(told)[3], expected / together.sum(axis=1, keepdims=True), rtol=1e-7)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("attributes", [(0,), (3, 1), (2, 0, 1), (0, 1, 2, 3)])
def test_a_margin_is_the_sum_of_its_records(model: str, attributes: tuple[int, ...]) -> None:
    table = np.exp(MODELS[model].log_chance(every_record(SCHEMA))).reshape(SCHEMA.shape())
    kept = sorted(attributes)
    summed = table.sum(axis=tuple(j for j in range(4) if j not in attributes))
    np.testing.assert_allclose(
        MODELS[model].marginal(attributes), summed.transpose([kept.index(j) for j in attributes])
    )


@pytest.mark.parametrize("model", MODELS)
def test_records_are_drawn_from_the_model(model: str) -> None:
    columns = MODELS[model].draw(200_000, np.random.default_rng(2))
    cells = np.ravel_multi_index(columns, SCHEMA.shape())
    assert_drawn_from(np.bincount(cells, minlength=24), MODELS[model].marginal(range(4)).reshape(-1))


def test_the_check_of_draws_notices_an_error_of_one_point() -> None:
    law = MODELS["table"].marginal([0])
    assert power_against(law + np.array([0.01, -0.01]), law, 200_000) > 0.999


@pytest.mark.parametrize("model", ["tree", "table"])
def test_the_likeliest_record_is_found_where_there_is_one_term(model: str) -> None:
    part, own = reported(SCHEMA, GROUPS["alone"]), MODELS[model]
    records = every_record(SCHEMA)
    best = (chance_matrix(part, SCHEMA) * np.exp(own.log_chance(records))).argmax(axis=1)
    (found,) = own.candidates(part)
    np.testing.assert_array_equal(np.ravel_multi_index(found, SCHEMA.shape()), best)


def folded(part: WholeReports) -> WholeReports:
    return whole_reports(part.questionnaire, SCHEMA, part.table)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("prior", [0.0, 0.5])
def test_no_step_of_a_climb_loses(groups: str, prior: float) -> None:
    part = folded(reported(SCHEMA, GROUPS[groups], people=500))
    climbs = {
        "classes": (classes(2), lambda model: class_step(model, [part], prior)),
        "trees": (forest(2), lambda model: forest_step(model, list(gathered_evidence(model, part)), prior)),
        "table": (
            ExactTable(np.full(24, 1 / 24), SCHEMA.shape()),
            lambda model: table_step(model, [Tabled(part, SCHEMA.shape())], np.full(24, prior)),
        ),
    }
    for model, step in climbs.values():
        reached = -np.inf
        for _ in range(8):
            model, height = step(model)
            assert height >= reached - 1e-12
            reached = height


def test_the_objective_is_the_likelihood() -> None:
    part = folded(reported(SCHEMA, GROUPS["together"], people=500))
    model = classes(2)
    _, height = class_step(model, [part], 0.0)
    assert height == pytest.approx(float(part.counts @ model.report_logs(part)) / part.people)
    trees = forest(2)
    evidence = list(gathered_evidence(trees, part))
    assert forest_step(trees, evidence, 0.0)[1] == pytest.approx(
        float(part.counts @ trees.report_logs(part)) / part.people
    )


def test_an_exact_table_reaches_the_one_summit_from_anywhere() -> None:
    part = folded(reported(SCHEMA, GROUPS["together"], people=3000))
    heights = [
        fit_table(ExactTable(start, SCHEMA.shape()), [part], np.zeros(24), arrived=1e-10).height
        for start in (np.full(24, 1 / 24), np.random.default_rng(1).dirichlet(np.ones(24)))
    ]
    assert heights[0] == pytest.approx(heights[1], abs=1e-6)
    richest = fit_classes(random_classes([np.full(s, 1 / s) for s in SCHEMA.shape()], 6, RNG), [part], prior=0.0)
    assert heights[0] >= richest.height - 1e-6  # whatever classes can say the table can


def test_splitting_changes_the_whole_only_a_little() -> None:
    records = every_record(SCHEMA)
    for model, pieces in ((MODELS["classes"], split), (MODELS["trees"], split_forest)):
        halves = pieces(model, np.random.default_rng(1), 1e-4)
        np.testing.assert_allclose(halves.log_chance(records), model.log_chance(records), atol=5e-3)


@pytest.mark.parametrize("model", ["classes", "tree", "trees"])
def test_turning_exchanges_answers_and_nothing_else(model: str) -> None:
    own = MODELS[model]
    turn = (np.array([1, 2, 0]), np.array([1, 0]))
    turned = own.exchange_answers((1, 2), turn)
    records = every_record(SCHEMA)
    exchanged = [records[0], turn[0][records[1]], turn[1][records[2]], records[3]]
    np.testing.assert_allclose(turned.log_chance(exchanged), own.log_chance(records))


def test_the_mirror_image_of_flipped_answers_is_found() -> None:
    schema = schema_of(2, 2, 2)
    part = reported(schema, [(list(schema.names), channels.flip(0.7))], people=4000)
    ((attributes, turn),) = turns([part])
    assert attributes == (0, 1, 2)
    assert [exchange.tolist() for exchange in turn] == [[1, 0]] * 3
    start = LatentClasses(np.ones(1), tuple(np.array([[0.7, 0.3]]) for _ in range(3)))
    model = fit_classes(start, [part]).model
    right, _ = likeliest_mirror(model, [part])
    wrong = right.exchange_answers(attributes, turn)
    again, is_turned = likeliest_mirror(wrong, [part])
    assert is_turned
    for one, other in zip(right.factors, again.factors, strict=True):
        np.testing.assert_allclose(one, other)
    assert turns([reported(SCHEMA, GROUPS["together"])]) == []
    assert turns([reported(SCHEMA, GROUPS["alone"])]) == []


def test_branches_follow_the_information_and_leave_strangers_apart() -> None:
    information = np.zeros((4, 4))
    for i, j, bits in ((0, 2, 0.5), (2, 3, 0.4), (0, 3, 0.1)):
        information[i, j] = information[j, i] = bits
    parents = branches(information)
    assert {frozenset((j, parent)) for j, parent in enumerate(parents) if parent >= 0} == {
        frozenset((0, 2)),
        frozenset((2, 3)),
    }
    assert parents[1] == -1


def test_too_many_products_are_no_work_for_a_forest() -> None:
    schema = schema_of(*[2] * 16)
    groups = [([f"a{j}", f"a{j + 1}"], channels.flip(0.7)) for j in range(0, 16, 2)]
    assert n_terms(reported(schema, groups[:6])) == 64
    assert n_terms(reported(schema, groups)) is None


def test_a_climb_that_is_cut_short_says_so() -> None:
    part = folded(reported(SCHEMA, GROUPS["alone"], people=2000))
    start = random_classes([np.full(s, 1 / s) for s in SCHEMA.shape()], 3, RNG)
    assert not climb(start, lambda model: class_step(model, [part], 0.0), arrived=0.0, most_steps=5).converged
    assert fit_forest(forest(1), [part]).converged


def test_candidates_of_classes_are_the_best_records_of_each() -> None:
    schema = schema_of(2, 3, 2)
    part = reported(schema, [(["a0", "a1"], channels.subset(2, 9))])  # the last answer is not asked for
    model = random_classes([np.full(size, 1 / size) for size in schema.shape()], 3, np.random.default_rng(2))
    records, chances = every_record(schema), chance_matrix(part, schema)
    listed = list(model.candidates(part))
    assert len(listed) == model.n_classes
    for k, columns in enumerate(listed):
        heights = chances * np.prod([factor[k][codes] for factor, codes in zip(model.factors, records, strict=True)], 0)
        place = np.ravel_multi_index(columns, schema.shape())
        np.testing.assert_array_equal(place, heights.argmax(axis=1))
        np.testing.assert_allclose(log_chance_of(part, columns), np.log(chances[np.arange(part.n_rows), place]))


def test_a_random_part_of_the_reports_is_drawn_without_replacement() -> None:
    rng = np.random.default_rng(3)
    counts = np.array([5, 0, 40, 1, 54])
    assert thin_counts(counts, 100, rng) is counts
    draws = np.array([thin_counts(counts, 20, rng) for _ in range(4000)])
    assert (draws.sum(axis=1) == 20).all()
    assert (draws <= counts).all()
    share = counts / 100
    error = np.sqrt(20 * share * (1 - share) * 80 / 99 / 4000)
    assert (np.abs(draws.mean(axis=0) - 20 * share) <= 5 * error).all()
    many = np.full(1 << 20, 3)
    assert abs(thin_counts(many, 1 << 20, rng).sum() - (1 << 20)) < 6 * np.sqrt((1 << 20) * 2 / 3)
    assert thin_counts(many, 1 << 20, rng).max() <= 3


def test_what_cannot_be_has_no_chance_and_no_rest() -> None:
    impossible = np.full((2, 3), -np.inf)
    assert _forest_kernels._sum_logarithms(impossible, np.ones(2)) == (-np.inf, 0.0)
    # A term that does not count is not in the way, however large; a negative one is taken off.
    logs = np.array([[900.0], [-3.0], [-4.0]])
    top, whole = _forest_kernels._sum_logarithms(logs[1:], np.array([2.0, -1.0]))
    assert (top, whole) == (-3.0, pytest.approx(2 - np.exp(-1)))
