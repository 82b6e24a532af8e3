"""Groups on their legal records: disguised, estimated, measured and mined like any other."""

import math

import numpy as np
import pytest

from tacit import Attribute, Dataset, Reports, Scheme, TreeClassifier, channels, disguise, estimate, measure
from tacit.channel.recipe import Recipe
from tacit.design.blocks import block_ways
from tacit.errors import InvalidInput, NotEstimable
from tacit.reports import joint_scheme
from tacit.table import Table
from tests.channel.routed_groups import block_of, records_of, scheme_of

DOCUMENT = {
    "format": "tacit-scheme/1",
    "attributes": [
        {"name": "filter", "answers": ["no", "yes"], "ordered": False},
        {"name": "f", "answers": ["no", "yes", "not asked"], "ordered": False, "missing": "not asked"},
    ],
    "groups": [
        {
            "attributes": ["filter", "f"],
            "records": [["no", None], ["yes", "no"], ["yes", "yes"]],
            "channel": {"kind": "gamma-diagonal", "gamma": 4},
        }
    ],
}
RECIPES = [
    channels.gamma_diagonal(4),
    channels.subset(2, 5),
    channels.mask(0.8),
    channels.matrix([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.1, 0.1, 0.5], [0.1, 0.1, 0.1]], reports=list("abcd")),
]


def truths(records, rows, seed=0):
    drawn = np.random.default_rng(seed).choice(len(records), rows, p=records.even())
    return {one.name: records.codes[drawn, place] for place, one in enumerate(records.attributes)}


def test_the_document_says_which_records_are_legal_and_survives():
    scheme = Scheme.from_document(DOCUMENT)
    (group,) = scheme.groups
    assert len(group.records) == 3
    assert group.law.shape == (3, 3)
    again = Scheme.from_document(scheme.to_document())
    assert again.hash == scheme.hash
    assert again.groups[0].to_document() == DOCUMENT["groups"][0]


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_expected_of_reports_is_turned_back_exactly(recipe):
    (group,) = scheme_of(records_of(1), recipe).groups
    truth = np.random.default_rng(3).dirichlet(np.ones(3))
    table = group.records.table(truth)
    expected = group.channel.apply(table)
    for axes in ((0,), (1,), (0, 1)):
        margin = group.channel.margin(axes)
        others = tuple(axis for axis in (0, 1) if axis not in axes)
        assert margin.solve(expected) == pytest.approx(table.sum(axis=others), abs=1e-9)
        weights = np.random.default_rng(4).normal(size=margin.shape)
        found = (margin.solve_adjoint(weights) * expected).sum()
        assert found == pytest.approx((weights * table.sum(axis=others)).sum(), abs=1e-9)
        pairs = margin.solve_pairs(expected)
        assert margin.solve_squares(expected).reshape(-1) == pytest.approx(np.diag(pairs))


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_expected_squares_are_those_of_the_enumerated_reports(recipe):
    (group,) = scheme_of(records_of(1), recipe).groups
    truth = np.random.default_rng(5).dirichlet(np.ones(3))
    margin = group.channel.margin([1])
    shares = group.law @ truth
    squares = np.zeros(3)
    for answer in range(3):
        weights = margin.solve_adjoint(np.eye(3)[answer])
        added = group.channel._slots @ weights.reshape(-1)
        squares[answer] = shares @ added**2
    assert margin.solve_squares(group.channel.apply(group.records.table(truth))) == pytest.approx(squares, rel=1e-6)


@pytest.mark.parametrize("method", ["inversion", "likelihood"])
def test_estimates_hold_not_asked_and_are_near_the_truth(method):
    records = records_of(2)
    scheme = scheme_of(records, channels.gamma_diagonal(30))
    truth = Table(scheme.schema, truths(records, 20_000))
    found = estimate(disguise(Dataset(truth), scheme, seed=1), ["f1"], method=method)
    counted = np.bincount(truth["f1"], minlength=3) / truth.n_rows
    assert (np.abs(found.probabilities - counted) < 5 * found.standard_errors).all()
    assert found.attributes[0].answers == ("no", "yes", "not asked")


def test_a_dealt_block_tells_each_follow_up_and_not_two_together():
    block = block_of(3)
    way = next(one for one in block_ways(block, 7 / 3) if one.name == "dealt")
    scheme = scheme_of(block.records, Recipe.from_document(way.channel))
    reports = disguise(Dataset(Table(scheme.schema, truths(block.records, 3000))), scheme, seed=2)
    assert estimate(reports, ["filter", "f2"]).probabilities.sum() == pytest.approx(1)
    with pytest.raises(NotEstimable, match="'f0', 'f1' are never reported together"):
        estimate(reports, ["f0", "f1"])


def test_a_record_that_routing_does_not_allow_is_refused():
    scheme = Scheme.from_document(DOCUMENT)
    with pytest.raises(InvalidInput, match="Row 2 holds filter = no, f = yes, which the routing"):
        disguise(Dataset.from_arrow({"filter": ["no", "no"], "f": [None, "yes"]}, scheme.schema), scheme, seed=1)


def test_empty_cells_of_a_file_are_read_as_not_asked(tmp_path):
    scheme = Scheme.from_document(DOCUMENT)
    dataset = Dataset.from_arrow({"filter": ["no", "yes", "yes"] * 50, "f": [None, "no", "yes"] * 50}, scheme.schema)
    reports = disguise(dataset, scheme, seed=1)
    assert reports.table.schema["filter+f"].answers == ("no+not asked", "yes+no", "yes+yes")
    reports.write(tmp_path / "reports.parquet")
    again = Reports.read(tmp_path / "reports.parquet", scheme)
    assert estimate(again, ["f"]).probabilities == pytest.approx(estimate(reports, ["f"]).probabilities)


def test_a_tree_grows_from_routed_reports():
    records = records_of(1)
    scheme = scheme_of(records, channels.gamma_diagonal(50), Attribute("age", ("young", "old")))
    codes = truths(records, 5000)
    table = Table(scheme.schema, {**codes, "age": codes["filter"]})
    tree = TreeClassifier(target="filter").fit(disguise(Dataset(table), scheme, seed=1))
    assert tree.predict({"age": ["young", "old"], "f0": ["not asked", "yes"]}).tolist() == ["no", "yes"]


def test_joined_tables_keep_the_legal_records():
    left, right = Scheme.from_document(DOCUMENT), Scheme.of([Attribute("age", ("young", "old"))])
    assert joint_scheme(left, right).groups[0].records is not None


def test_measures_speak_of_legal_records():
    measures = measure(Scheme.from_document(DOCUMENT), respondents=1000)
    assert measures.gamma == pytest.approx(4, rel=1e-6)
    told = {answer.attribute: answer for answer in measures.answers}
    # The filter is even beforehand: no weighs as much as both ways of yes.
    assert told["filter"].worst_posterior == pytest.approx(4 / 5, rel=1e-6)
    assert told["f"].gamma == pytest.approx(4, rel=1e-6)
    shares = measure(Scheme.from_document(DOCUMENT), {"filter": [0.9, 0.1]}).answers
    assert shares[0].worst_posterior == pytest.approx(0.9 * 4 / (0.9 * 4 + 0.1), rel=1e-6)


def test_a_prior_may_list_the_legal_records():
    stated = Scheme.from_document({**DOCUMENT, "prior": {"filter+f": [0.5, 0.3, 0.2]}})
    assert stated.prior["filter+f"] == pytest.approx((0, 0, 0.5, 0.3, 0.2, 0))
    given = measure(Scheme.from_document(DOCUMENT), {"filter+f": [0.5, 0.3, 0.2]})
    assert measure(stated).answers == given.answers
    with pytest.raises(InvalidInput, match="entries; 6 are needed"):
        measure(Scheme.from_document(DOCUMENT), {"filter+f": [0.5, 0.5]})


def test_part_of_a_routed_group_has_no_prior_of_its_own():
    scheme = scheme_of(records_of(2), channels.gamma_diagonal(4))
    with pytest.raises(InvalidInput, match="routed together"):
        measure(scheme, {"f0+f1": [1 / 9] * 9})


def test_expected_errors_are_those_of_the_estimator():
    records = records_of(1)
    scheme = scheme_of(records, channels.gamma_diagonal(4))
    error = measure(scheme, respondents=100).errors[1].standard_errors
    keep = scheme.groups[0].channel.inner.matrix[0, 0] - scheme.groups[0].channel.inner.matrix[0, 1]
    shown = keep * 0.25 + (1 - keep) / 3
    assert error[0] == pytest.approx(math.sqrt(shown * (1 - shown) / 100) / keep, rel=1e-6)


def test_a_tree_grows_from_a_dealt_block_as_far_as_its_reports_go():
    block = block_of(2)
    way = next(one for one in block_ways(block, 9) if one.name == "dealt")
    scheme = scheme_of(block.records, Recipe.from_document(way.channel))
    reports = disguise(Dataset(Table(scheme.schema, truths(block.records, 6000))), scheme, seed=4)
    tree = TreeClassifier(target="filter").fit(reports)
    assert len(tree.needed_names_) == 1  # f0 and f1 are never reported together
    asked = {"f0": ["not asked", "no", "yes"], "f1": ["not asked", "no", "yes"]}
    assert tree.predict(asked).tolist() == ["no", "yes", "yes"]
    with pytest.raises(InvalidInput, match="Likelihood needs reports of a single scheme"):
        TreeClassifier(target="filter", method="likelihood").fit(reports)
