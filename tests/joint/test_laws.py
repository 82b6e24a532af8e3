"""The law of a group's reports, as products or as a matrix, against the channel's own matrix."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Scheme, channels, disguise
from tacit.channel.recipe import Recipe
from tacit.errors import InvalidInput
from tacit.joint.products import ProductLaw
from tests.joint.brute import drawn, every_record, reported, rows_of, schema_of

SCHEMA = schema_of(2, 2, 2)
RECIPES = {
    "flip": channels.flip(0.7),
    "mixture": channels.mixture(0.4, "uniform"),
    "negative": channels.warner(0.05),
    "personal": channels.mixture(0.4, [[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]),
    "mask": channels.mask(0.8),
    "cut-and-paste": channels.cut_and_paste(2, 0.3),
    "subset": channels.subset(3, 20),
    "matrix": channels.matrix(0.6 * np.eye(8) + 0.05),
}


def matrix_rows(recipe: Recipe, table: object) -> np.ndarray:
    """The row of the channel's matrix that belongs to each report."""
    group = Scheme.of(SCHEMA, [(list(SCHEMA.names), recipe)]).groups[0]
    columns = [np.asarray(table[column.name]) for column in group.report_attributes]
    listed = np.column_stack([np.asarray(c).reshape(len(c), -1) for c in group.channel.reports()]).astype(int)
    asked = np.column_stack([c.reshape(len(c), -1) for c in columns]).astype(int)
    if group.report_attributes[0].shows == "set":
        listed, asked = np.sort(listed, axis=1), np.sort(asked, axis=1)
    where = {tuple(row): place for place, row in enumerate(listed)}
    return group.channel.matrix[[where[tuple(row)] for row in asked]]


@pytest.mark.parametrize("name", RECIPES)
def test_a_law_is_the_channels(name: str) -> None:
    recipe = RECIPES[name]
    part = reported(SCHEMA, [(list(SCHEMA.names), recipe)])
    (group,) = part.groups
    law = group.by_row()
    matrix = matrix_rows(recipe, part.table)
    rng = np.random.default_rng(3)
    factors = [rng.dirichlet(np.ones(2), 3) for _ in range(3)]
    joint = np.stack([np.einsum("a,b,c->abc", *(factor[k] for factor in factors)).reshape(-1) for k in range(3)])
    expected = matrix @ joint.T
    found = law.component_chances(factors)
    ratio = found / expected  # a law may leave out a factor of the report
    np.testing.assert_allclose(ratio, ratio[:, :1].repeat(3, axis=1), rtol=1e-9)
    records = every_record(SCHEMA)
    for column in (0, 3, 7):
        chance = law.chance([np.full(part.n_rows, codes[column]) for codes in records])
        np.testing.assert_allclose(chance, matrix[:, column] * ratio[:, 0], rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(law.written_out(), matrix * ratio[:, :1], rtol=1e-9)


@pytest.mark.parametrize("name", RECIPES)
def test_expected_people_and_posteriors_add_up_record_by_record(name: str) -> None:
    part = reported(SCHEMA, [(list(SCHEMA.names), RECIPES[name])])
    law = part.groups[0].by_row()
    matrix = law.written_out()
    rng = np.random.default_rng(4)
    factors = [rng.dirichlet(np.ones(2), 2) for _ in range(3)]
    people = rng.random((part.n_rows, 2))
    counts = [np.zeros((2, 2)) for _ in range(3)]
    answers = [np.zeros((part.n_rows, 2)) for _ in range(3)]
    records = every_record(SCHEMA)
    for k in range(2):
        joint = matrix * np.prod([factor[k][codes] for factor, codes in zip(factors, records, strict=True)], axis=0)
        posterior = joint / joint.sum(axis=1, keepdims=True)
        for j, codes in enumerate(records):
            for answer in range(2):
                own = posterior[:, codes == answer].sum(axis=1)
                counts[j][k, answer] = people[:, k] @ own
                answers[j][:, answer] += people[:, k] * own
    for j in range(3):
        np.testing.assert_allclose(law.component_counts(factors, people)[j], counts[j], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(law.answers(factors, people)[j], answers[j], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", RECIPES)
def test_expected_and_spread_are_the_matrix_and_its_transpose(name: str) -> None:
    part = reported(SCHEMA, [(list(SCHEMA.names), RECIPES[name])])
    law = part.groups[0].law
    rng = np.random.default_rng(5)
    truth, weights = rng.random((8, 2)), rng.random((law.n_reports, 2))
    np.testing.assert_allclose(law.report_chances(truth), law.written_out() @ truth)
    np.testing.assert_allclose(law.spread(weights), law.written_out().T @ weights)


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("grouped", [True, False])
def test_the_record_of_a_component_is_the_likeliest_of_its_likeliest_term(name: str, *, grouped: bool) -> None:
    names = list(SCHEMA.names)
    part = reported(SCHEMA, [(names, RECIPES[name])] if grouped else [(names[:1], channels.warner(0.7))])
    law = part.groups[0].by_row()
    rng = np.random.default_rng(6)
    factors = [rng.dirichlet(np.ones(2), 3) for _ in law.shape]
    terms = [ProductLaw(law.shape, [term]) for term in law.terms] if isinstance(law, ProductLaw) else [law]
    chances = np.maximum([term.written_out() for term in terms], 0).max(axis=0)
    chosen = law.component_records(factors)
    for k in range(3):
        joint = np.ones(1)
        for factor in factors:
            joint = np.kron(joint, factor[k])
        place = np.ravel_multi_index([codes[:, k] for codes in chosen], law.shape)
        heights = chances * joint
        np.testing.assert_allclose(heights[np.arange(len(place)), place], heights.max(axis=1), rtol=1e-12)


@pytest.mark.parametrize("name", RECIPES)
def test_a_known_answer_leaves_only_the_records_that_have_it(name: str) -> None:
    part = reported(SCHEMA, [(list(SCHEMA.names), RECIPES[name])])
    law = part.groups[0].by_row()
    known = np.arange(part.n_rows) % 2
    told = law.restrict_answers({1: known}).written_out()
    allowed = every_record(SCHEMA)[1][None, :] == known[:, None]
    np.testing.assert_allclose(told, law.written_out() * allowed)


def test_products_of_very_many_answers_do_not_vanish() -> None:
    schema = schema_of(*[3] * 400)
    part = reported(schema, [(list(schema.names), channels.mixture(0.5, "uniform"))], people=5)
    law = part.groups[0].law
    factors = [np.full((2, 3), 1 / 3) for _ in range(400)]
    logs = np.log(law.component_chances(factors)[:, 0]) + law.offsets(factors)
    np.testing.assert_allclose(logs, -400 * np.log(3), rtol=1e-9)


def test_a_group_too_large_to_weigh_record_by_record_is_refused() -> None:
    schema = schema_of(*[2] * 14)
    scheme = Scheme.of(schema, [(list(schema.names), channels.cut_and_paste(3, 0.4))])
    with pytest.raises(InvalidInput, match="16,384 of them, more than 8,192"):
        rows_of(disguise(drawn(schema, 20, 1), scheme, seed=1), schema)
