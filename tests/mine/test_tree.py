"""Decision trees from reports: the clear-data tree where nothing is hidden, sound numbers where something is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import tacit
from tacit import Attribute, Reports, Schema, Scheme, TreeClassifier, channels
from tacit.bundled import binary_adult, binary_breast_cancer, binary_votes, load_nursery
from tacit.channel.codes import outer
from tacit.count.sources import sources
from tacit.disguising import disguise
from tacit.errors import InvalidInput, NotEstimable, UnknownName
from tacit.estimation.conjunctions import weights_for
from tacit.estimation.group_parts import parts_for
from tacit.estimation.mean import estimated_mean
from tacit.estimation.row_subgroups import RowSubgroup
from tacit.estimation.subgroups import ClassShares, Subgroup
from tacit.mine import _tree_kernels as kernels
from tacit.mine import disguised_accuracy
from tacit.mine.count_sources import Method, counted_subgroup, ordered_sources
from tacit.mine.growth import Grower, Guard, SplitRules, class_figures
from tacit.mine.held_out import tree_logs
from tacit.mine.tree import Node
from tacit.table import Table
from tests.estimation.simulation import SCHEMA, SCHEMES, TRUTH, people, simulated
from tests.mine.id3 import PlainNode, id3
from tests.statistics import assert_standard_scores


def assert_same_tree(node: Node, other: Node) -> None:
    """Node by node: the same splits, labels, sizes and shares."""
    assert (node.attribute, node.label) == (other.attribute, other.label)
    assert node.size == pytest.approx(other.size, abs=1e-12)
    np.testing.assert_allclose(node.class_shares, other.class_shares, atol=1e-9)
    assert len(node.branches) == len(other.branches)
    for branch, twin in zip(node.branches, other.branches, strict=True):
        assert branch.answers == twin.answers
        assert_same_tree(branch.node, twin.node)


def assert_is_id3(node: Node, plain: PlainNode) -> None:
    assert (node.attribute, node.label) == (plain.attribute, plain.label)
    assert node.size == pytest.approx(float(plain.size), abs=1e-12)
    for branch, (code, twin) in zip(node.branches, plain.branches, strict=True):
        assert branch.answers == (code,)
        assert_is_id3(branch.node, twin)


@pytest.mark.parametrize("significance", [0, 2.5])
def test_clear_data_give_the_tree_of_id3(significance: float) -> None:
    data = binary_votes().table
    tree = TreeClassifier("Class", significance=significance).fit(Reports.from_truth(data)).tree_
    assert tree.n_leaves > 5
    assert_is_id3(tree, id3(data, "Class"))


def test_clear_answers_of_any_number_give_the_tree_of_id3() -> None:
    data = people(400, np.random.default_rng(3))
    tree = TreeClassifier("drinks", splits="multiway").fit(Reports.from_truth(data)).tree_
    assert_is_id3(tree, id3(data, "drinks"))


def people_behind(reports: Reports, target: str, method: Method = "inversion") -> Subgroup:
    return counted_subgroup(*ordered_sources(reports), target, method)[0]


def dealt_into_groups(names: list[str], groups: int, seed: int) -> list[list[str]]:
    order = np.random.default_rng(seed).permutation(names)
    return [[str(name) for name in part] for part in np.array_split(order, groups)]


@pytest.mark.parametrize("theta", [0, 1])
@pytest.mark.parametrize("groups", [1, 2, 3, 10])
@pytest.mark.parametrize("criterion", ["gain", "ratio", "gini"])
def test_a_flip_that_hides_nothing_gives_the_clear_tree(theta: float, groups: int, criterion: str) -> None:
    data = binary_breast_cancer()
    parts = dealt_into_groups(list(data.schema.names), groups, 4)
    scheme = Scheme.of(data.schema, [(part, channels.flip(theta)) for part in parts])
    tree = TreeClassifier("Class", criterion=criterion).fit(disguise(data, scheme, seed=1))
    clear = TreeClassifier("Class", criterion=criterion).fit(Reports.from_truth(data))
    assert_same_tree(tree.tree_, clear.tree_)


@pytest.mark.parametrize("splits", ["multiway", "binary"])
@pytest.mark.parametrize(
    "groups",
    [
        [(["smokes", "age", "drinks"], channels.uniform_perturbation(1))],
        [(["smokes"], channels.warner(1)), (["age", "drinks"], channels.mixture(1, [[0.1, 0.2, 0.7], [0.5, 0.5]]))],
        [(["age"], channels.matrix(np.eye(3)[::-1])), (["drinks"], channels.matrix(np.eye(2)))],
        [(["age", "smokes"], channels.matrix(np.eye(6)))],
    ],
)
def test_any_channel_that_hides_nothing_gives_the_clear_tree(groups: list, splits: str) -> None:
    data = tacit.Dataset(people(600, np.random.default_rng(3)))
    tree = TreeClassifier("drinks", splits=splits).fit(disguise(data, Scheme.of(SCHEMA, groups), seed=1))
    clear = TreeClassifier("drinks", splits=splits).fit(Reports.from_truth(data))
    assert clear.tree_.n_leaves > 4
    assert_same_tree(tree.tree_, clear.tree_)


def path_share(reports: Reports, path: dict[str, frozenset[int]], **more: str) -> tacit.estimate.ShareEstimate:  # type: ignore[name-defined]
    where = {name: [SCHEMA[name].answers[code] for code in codes] for name, codes in path.items()}
    return tacit.estimate(reports, {**where, **{name: [answer] for name, answer in more.items()}})


def size_error(reports: Reports, path: dict[str, frozenset[int]]) -> float:
    """Of the share of people within a path: from the spread of the reports' contributions, each worked out by itself.

    Where nodes are summed from estimated tables their errors are those of the channels' law at the estimate instead.
    """
    (source,) = sources(reports)
    masks = {name: np.isin(np.arange(SCHEMA[name].size), list(codes)) for name, codes in path.items()}
    if isinstance(people_behind(reports, "drinks"), RowSubgroup):
        totals = source.engine.totals([weights_for(parts_for(source.questionnaire, list(path)), masks)])
        n = source.engine.n_rows
        return float(np.sqrt((totals.squares[0] / n - (totals.sums[0] / n) ** 2) / n))
    table = estimated_mean([source], list(path), SCHEMA.shape(list(path)))
    within = outer([masks[name].astype(np.float64) for name in table.names]).reshape(-1)
    return float(np.sqrt(within @ table.covariance("population") @ within))


@pytest.mark.parametrize("splits", ["multiway", "binary"])
@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name not in ("dealt", "tall", "tall-part")])
def test_nodes_know_their_estimated_size_with_its_error(scheme: str, splits: str) -> None:
    reports = simulated(SCHEMES[scheme], 4000, 4)
    tree = TreeClassifier("drinks", splits=splits, significance=0, max_depth=2).fit(reports).tree_
    for path, leaf in tree.leaves():
        if path:
            share = path_share(reports, path)
            assert leaf.size == pytest.approx(share.probability, abs=1e-10)
            assert leaf.size_error == pytest.approx(size_error(reports, path), rel=1e-9)
            if leaf.size > 0:
                both = [path_share(reports, path, drinks=answer).probability for answer in ("no", "yes")]
                clipped = np.maximum(both, 0)
                np.testing.assert_allclose(leaf.class_shares, clipped / clipped.sum(), atol=1e-9)


@pytest.mark.parametrize("scheme", ["public", "flip", "gamma", "uniform", "mask", "subset", "warner"])
def test_class_shares_have_true_errors(scheme: str) -> None:
    joint = TRUTH.sum(axis=(1, 3))  # smokers, by age
    truth = joint[1, 0] / joint[:, 0].sum()
    scores = []
    for repeat in range(150):
        everybody = people_behind(simulated(SCHEMES[scheme], 3000, 300 + repeat), "smokes")
        people_of_age = everybody.within(SCHEMA["age"], (0,))
        node = Grower(SplitRules(max_depth=0), np.ones(2)).grow(people_of_age)
        scores.append((node.class_shares[1] - truth) / node.class_errors[1])
    assert_standard_scores(scores)


def test_ties_are_broken_alike_however_attributes_are_grouped() -> None:
    twins = tacit.Dataset.from_arrow({"b": ["n", "y"] * 50, "a": ["n", "y"] * 50, "class": ["no", "yes"] * 50})
    for order in (["a", "b", "class"], ["class", "b", "a"]):
        scheme = Scheme.of(twins.schema, [([name], channels.flip(1)) for name in order])
        assert TreeClassifier("class").fit(disguise(twins, scheme, seed=1)).tree_.attribute == "b"


def test_a_tree_grown_without_rows_in_memory_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = simulated(SCHEMES["gamma"], 20_000, 5)
    tree = TreeClassifier("drinks").fit(reports).tree_
    monkeypatch.setattr("tacit.estimation.product_rows.MOST_ROWS", 1)
    monkeypatch.setattr("tacit.estimation.product_rows.TALLIED_CELLS", 1)
    again = TreeClassifier("drinks").fit(reports).tree_
    assert tree.n_leaves > 1
    assert_same_tree(again, tree)


def test_reports_stored_outside_memory_give_the_same_tree(tmp_path: Path) -> None:
    from tacit.count import StoredReports

    reports = simulated(SCHEMES["gamma"], 20_000, 5)
    reports.write(tmp_path / "reports.parquet")
    stored = StoredReports.open(tmp_path / "reports.parquet", reports.scheme)
    tree, again = TreeClassifier("drinks").fit(reports), TreeClassifier("drinks").fit(stored)
    assert_same_tree(again.tree_, tree.tree_)
    here, there = disguised_accuracy(tree, reports), disguised_accuracy(tree, stored)
    assert there.accuracy == pytest.approx(here.accuracy)
    assert there.standard_error == pytest.approx(here.standard_error)


def test_paths_end_where_reports_tell_no_more() -> None:
    """Cut-and-paste with K = 2 tells of two attributes together, the class and one more."""
    scheme = Scheme.of(SCHEMA, [(["smokes", "drinks", "age"], channels.cut_and_paste(2, 0.1))])
    tree = TreeClassifier("drinks", significance=0).fit(simulated(scheme, 5000, 5)).tree_
    assert all(len({"smokes", "age"} & set(path)) <= 1 for path, _ in tree.leaves())
    assert any("sex" in path for path, _ in tree.leaves())


def test_dealt_questionnaires_give_a_tree_of_what_is_asked_together() -> None:
    model = TreeClassifier("drinks").fit(simulated(SCHEMES["dealt"], 60_000, 5))
    assert model.tree_.n_leaves > 1
    truth = people(20_000, np.random.default_rng(6))
    assert model.score(truth) > np.bincount(truth["drinks"]).max() / truth.n_rows


def test_likelihood_keeps_every_share_within_bounds() -> None:
    reports = simulated(SCHEMES["uniform"], 200, 5)
    likely, inverted = (people_behind(reports, "drinks", method) for method in ("likelihood", "inversion"))
    for name in ("smokes", "age"):
        likely, inverted = (each.within(SCHEMA[name], (1,)) for each in (likely, inverted))
    assert min(table.shares.min() for table in likely.by_answer()) >= 0
    assert min(table.shares.min() for table in inverted.by_answer()) < 0
    tree = TreeClassifier("drinks", method="likelihood", significance=0).fit(reports).tree_
    assert all(node.size >= 0 for node in tree.walk())
    assert tree.n_leaves > 1


def flipped_cancer(theta: float, groups: int, seed: int) -> Reports:
    data = binary_breast_cancer()
    parts = dealt_into_groups(list(data.schema.names), groups, seed)
    return disguise(data, Scheme.of(data.schema, [(part, channels.flip(theta)) for part in parts]), seed=seed)


@pytest.mark.parametrize(("theta", "groups", "method"), [(0.9, 2, "inversion"), (0.4, 2, "likelihood")])
def test_likelihood_is_taken_where_inversion_is_mostly_noise(theta: float, groups: int, method: str) -> None:
    reports = flipped_cancer(theta, groups, 1)
    tree = TreeClassifier("Class").fit(reports)
    assert tree.method_ == method
    assert_same_tree(tree.tree_, TreeClassifier("Class", method=method).fit(reports).tree_)


def test_likelihood_is_not_taken_where_it_is_slow() -> None:
    assert TreeClassifier("Class").fit(flipped_cancer(0.4, 10, 1)).method_ == "inversion"
    assert TreeClassifier("drinks").fit(simulated(SCHEMES["warner"], 50, 1)).method_ == "inversion"
    assert TreeClassifier("drinks").fit(simulated(SCHEMES["dealt"], 500, 1)).method_ == "inversion"


@pytest.mark.slow
def test_near_one_half_likelihood_finds_what_inversion_cannot() -> None:
    """At theta = .51 the inverted shares say nothing, but the whole joint table still does. Without guards, to see it."""
    truth = binary_breast_cancer()
    reports = [flipped_cancer(0.51, 1, seed) for seed in range(5)]
    likely, inverted = (
        np.mean([TreeClassifier("Class", method=method, significance=0).fit(each).score(truth) for each in reports])
        for method in ("likelihood", "inversion")
    )
    assert likely > inverted + 0.1


def test_a_known_class_distribution_is_kept() -> None:
    reports = simulated(SCHEMES["uniform"], 5000, 5)
    tree = TreeClassifier("drinks", class_shares=[0.9, 0.1]).fit(reports).tree_
    np.testing.assert_allclose(tree.class_shares, [0.9, 0.1], atol=1e-9)
    named = TreeClassifier("drinks", class_shares={"yes": 0.1, "no": 0.9}).fit(reports).tree_
    assert_same_tree(named, tree)


def test_bounds_on_depth_and_size_are_kept() -> None:
    reports = Reports.from_truth(binary_votes())
    assert TreeClassifier("Class", max_depth=2).fit(reports).tree_.depth == 2
    small = TreeClassifier("Class", min_share=0.2).fit(reports).tree_
    assert all(node.is_leaf for node in small.walk() if node.size <= 0.2)


def test_binary_splits_cut_ordered_answers_in_two() -> None:
    tree = (
        TreeClassifier("drinks", splits="binary").fit(Reports.from_truth(people(3000, np.random.default_rng(3)))).tree_
    )
    assert all(len(node.branches) in (0, 2) for node in tree.walk())
    ages = [branch.answers for node in tree.walk() if node.attribute == "age" for branch in node.branches]
    assert all(codes in ((0,), (1,), (2,), (0, 1), (1, 2)) for codes in ages)


def test_a_node_answers_otherwise_only_where_a_class_is_ahead_by_enough_standard_errors() -> None:
    reports = simulated(SCHEMES["warner"], 600, 8)
    tree = TreeClassifier("smokes", significance=1, max_depth=1).fit(reports).tree_
    otherwise = [(path, leaf) for path, leaf in tree.leaves() if leaf.label != tree.label and leaf.size > 0]
    assert otherwise
    for path, leaf in otherwise:
        where = {name: [SCHEMA[name].answers[code] for code in codes] for name, codes in path.items()}
        shares = [
            tacit.estimate(reports, {**where, "smokes": answer}, sampling="respondents") for answer in ("no", "yes")
        ]
        # At least the error of a difference of uncorrelated estimates.
        ahead = shares[leaf.label].probability - shares[tree.label].probability
        assert ahead >= np.hypot(*(share.standard_error for share in shares)) - 1e-9


@pytest.mark.parametrize(("correlation", "label"), [(0.6, 1), (0.0, 0), (-0.6, 0)])
def test_the_answer_above_stands_until_a_class_is_ahead_by_the_error_of_their_difference(
    correlation: float, label: int
) -> None:
    """Two standard errors of the difference are .018, .028 or .036, by the covariance of the two; one is ahead by .025."""
    disguise = 1e-4 * np.array([[1, correlation], [correlation, 1]])
    counted = ClassShares(0.425, 1e-4, 1e-4, np.array([0.2, 0.225]), disguise, disguise)
    grower = Grower(SplitRules(guard=Guard(label=2)), np.ones(2))
    assert grower._node(counted, parent_label=0).label == label
    assert grower._node(counted, parent_label=None).label == 1
    assert Grower(SplitRules(), np.ones(2))._node(counted, parent_label=0).label == 1


def test_of_classes_that_are_equal_but_for_rounding_the_first_is_the_answer() -> None:
    shares, errors, label = class_figures(np.array([0.3, 0.1 + 0.2]), np.eye(2), np.ones(2))
    assert 0.1 + 0.2 > 0.3
    assert label == 0
    np.testing.assert_allclose(shares, 0.5)
    assert class_figures(np.array([0.3, 0.2]), np.eye(2), np.array([1.0, 2.0]))[2] == 1
    # Of 0.3 and 0.3 the share is one half, and its variance that of (one - other) / 2, a quarter of 2, over 0.6 squared.
    np.testing.assert_allclose(errors, np.sqrt(0.5) / 0.6)


def test_the_score_of_a_split_is_that_of_its_greatest_excess() -> None:
    rng = np.random.default_rng(3)
    table, factors, branch_of = rng.random((4, 3)) / 12, np.array([1.0, 0.5, 2.0]), np.array([0, 1, -1, 1])
    root = rng.normal(size=(12, 12)) / 100
    covariance = (root @ root.T).reshape(4, 3, 4, 3)
    weighed = table * factors
    kept = branch_of >= 0
    total, classes = weighed[kept].sum(), weighed[kept].sum(axis=0)
    scores = []
    for branch in (0, 1):
        for of_class in range(3):
            # How the excess of a class in a branch changes with each estimate.
            here, this = branch_of == branch, np.arange(3) == of_class
            weights = np.outer(
                (here - weighed[here].sum() / total) * kept, (this - classes[of_class] / total) * factors
            )
            excess = weighed[here, of_class].sum() - weighed[here].sum() * classes[of_class] / total
            scores.append(excess**2 / np.einsum("ac,acbd,bd", weights, covariance, weights))
    score = kernels.greatest_score(table, covariance, branch_of, factors, np.empty((4, 3)), np.empty((4, 4)))
    assert score == pytest.approx(max(scores))


@pytest.mark.parametrize("path", [(), ("smokes",)])
@pytest.mark.parametrize(
    "groups",
    [
        [(["smokes", "drinks", "sex"], channels.flip(0.7))],
        [(["smokes", "drinks"], channels.flip(0.7)), (["sex"], channels.flip(0.2))],
        [(["smokes"], channels.flip(0.8)), (["drinks", "sex"], channels.flip(0.7))],
        [(["drinks"], channels.warner(0.8)), (["sex"], channels.warner(0.3))],
        [(["drinks", "sex"], channels.uniform_perturbation(0.5))],
    ],
)
def test_the_excess_of_a_branch_has_its_true_error(groups: list, path: tuple[str, ...]) -> None:
    """For just the people who answered: the same people, disguised again and again."""
    table = people(400, np.random.default_rng(5))
    scheme = Scheme.of(SCHEMA, groups)
    contrast = np.array([[[0.6, -0.4], [-0.3, 0.2]]])  # branches of sex, classes of drinks
    truth = _contrast(Reports.from_truth(table), path, contrast)[0]
    scores = []
    for repeat in range(300):
        found, variance = _contrast(simulated(scheme, 400, repeat, table), path, contrast)
        scores.append((found - truth) / np.sqrt(variance))
    assert_standard_scores(scores)


def _contrast(reports: Reports, path: tuple[str, ...], contrast: np.ndarray) -> tuple[float, float]:
    everybody = people_behind(reports, "drinks")
    for name in path:
        everybody = everybody.within(SCHEMA[name], (1,))
    shares = next(table.shares for table in everybody.by_answer() if table.attribute.name == "sex")
    weights = contrast[0].reshape(-1)
    covariance = everybody.covariance(SCHEMA["sex"]).reshape(len(weights), -1)
    return float((shares * contrast[0]).sum()), float(weights @ covariance @ weights)


def score_of(shares: np.ndarray, factors: np.ndarray | None = None) -> float:
    """The greatest score of a split with one answer a branch, for errors of 1 that are independent of each other."""
    covariance = np.eye(shares.size).reshape(*shares.shape, *shares.shape)
    factors = np.ones(shares.shape[1]) if factors is None else factors
    room = np.empty((4, max(shares.shape)))
    return kernels.greatest_score(shares, covariance, np.arange(len(shares)), factors, np.empty(shares.shape), room)


def test_excesses_are_what_a_branch_has_beyond_its_due() -> None:
    shares = np.array([[0.2, 0.1, 0.1], [0.1, 0.3, 0.1], [-0.02, 0.01, 0.0], [0.05, 0.03, 0.02]])
    present = shares[[0, 1, 3]]  # a branch that holds nobody says nothing
    sizes, classes = present.sum(axis=1) / present.sum(), present.sum(axis=0) / present.sum()
    excess = present - np.multiply.outer(sizes, classes) * present.sum()
    # The weights of an excess are a branch's deviation from its due times a class's.
    of_branch = ((np.eye(3) - sizes[:, None]) ** 2).sum(axis=1)
    of_class = ((np.eye(3) - classes[:, None]) ** 2).sum(axis=1)
    assert score_of(shares) == pytest.approx((excess**2 / np.multiply.outer(of_branch, of_class)).max(), rel=1e-12)
    # Classes are multiplied by their factors before they are looked at, and so are their errors.
    doubled = score_of(shares * [0.5, 1, 1], np.array([2.0, 1, 1]))
    weights = (np.eye(3) - classes[:, None]) * [2.0, 1, 1]
    assert doubled == pytest.approx(
        (excess**2 / np.multiply.outer(of_branch, (weights**2).sum(axis=1))).max(), rel=1e-12
    )


def test_a_branch_that_holds_everybody_has_no_excess() -> None:
    assert score_of(np.array([[0.5, 0.5], [0.1, -0.2]])) == 0


def noise(answers: int, seed: int) -> Table:
    """People whose answers say nothing of each other."""
    schema = Schema(tuple(Attribute(f"a{place}", tuple(map(str, range(answers)))) for place in range(6)))
    rng = np.random.default_rng(seed)
    return Table(schema, {name: rng.integers(answers, size=800).astype(np.uint8) for name in schema.names})


NOISY = {
    "one mixture": lambda names: [(names, channels.uniform_perturbation(0.4))],
    "each answer": lambda names: [([name], channels.uniform_perturbation(0.6)) for name in names],
}


@pytest.mark.parametrize("groups", NOISY.values(), ids=NOISY.keys())
def test_noise_is_split_on_no_more_often_than_promised_however_many_splits_there_are(groups: Callable) -> None:
    """Of five answers and five classes a node tries 375 differences: 2.5 errors are nothing special among them."""
    made, unguarded = 0, 0
    for seed in range(60):
        table = noise(5, seed)
        reports = disguise(tacit.Dataset(table), Scheme.of(table.schema, groups(table.schema.names)), seed=seed)
        tree = TreeClassifier("a0", max_depth=1, method="inversion")
        made += not tree.fit(reports).tree_.is_leaf
        unguarded += not tree.set_params(significance=2.5).fit(reports).tree_.is_leaf
    assert binom.sf(made - 1, 60, 0.1) > 1e-6
    assert binom.sf(unguarded - 1, 60, 0.1) < 1e-6, "the test would not notice a guard that counts no candidates"


def test_a_tree_for_a_population_is_not_split_on_what_chance_made_among_the_respondents() -> None:
    made = {"population": 0, "respondents": 0}
    for seed in range(60):
        table = noise(2, 1000 + seed)
        groups = [([name], channels.uniform_perturbation(0.95)) for name in table.schema.names]
        reports = disguise(tacit.Dataset(table), Scheme.of(table.schema, groups), seed=seed)
        for sampling in made:
            tree = TreeClassifier("a0", max_depth=1, method="inversion", sampling=sampling).fit(reports)
            made[sampling] += not tree.tree_.is_leaf
    assert binom.sf(made["population"] - 1, 60, 0.1) > 1e-3
    assert made["respondents"] > 30, "the test would not notice errors of the disguise alone"


def test_a_link_in_the_population_is_found() -> None:
    schema = Schema((Attribute("a", ("0", "1")), Attribute("c", ("0", "1"))))
    rng = np.random.default_rng(3)
    a = rng.integers(2, size=800).astype(np.uint8)
    table = Table(schema, {"a": a, "c": (rng.random(800) < np.where(a, 0.7, 0.3)).astype(np.uint8)})
    for groups in ([], [([name], channels.warner(0.9)) for name in schema.names]):
        reports = disguise(tacit.Dataset(table), Scheme.of(schema, groups), seed=1)
        assert TreeClassifier("c", sampling="population").fit(reports).tree_.attribute == "a"
    with pytest.raises(UnknownName, match="Sampling"):
        TreeClassifier("c", sampling="people").fit(reports)


def test_a_guard_asks_more_of_the_best_of_many() -> None:
    guard = Guard(chance=0.1)
    assert guard.least_score(1) == pytest.approx(1.6449, abs=1e-4)
    assert guard.least_score(100) == pytest.approx(3.2905, abs=1e-4)
    assert Guard(split=2.5).least_score(100) == 2.5


def test_a_tree_of_many_noisy_groups_is_not_worse_than_the_majority() -> None:
    """Fifteen groups at theta = .55: branches hold a quarter of all people, give or take as much; it fell to .29."""
    data = binary_adult(10_000)
    scheme = Scheme.of(data.schema, [([name], channels.flip(0.55)) for name in data.schema.names])
    behind = []
    for seed in range(210, 222):
        testing = np.arange(data.n_rows) % 5 == seed % 5
        reports = disguise(tacit.Dataset(data.table.rows(~testing)), scheme, seed=seed)
        truth = data.table.rows(testing)
        majority = np.bincount(truth["income"]).max() / truth.n_rows
        behind.append(majority - TreeClassifier("income").fit(reports).score(truth))
    assert max(behind) < 0.02


def nursery_reports(groups: list, seed: int) -> tuple[Reports, Table]:
    """Disguised rows to learn from, and true ones to test on."""
    table = load_nursery().table
    testing = np.random.default_rng(seed).random(table.n_rows) < 0.3
    scheme = Scheme.of(table.schema, groups)
    return disguise(tacit.Dataset(table.rows(~testing)), scheme, seed=seed), table.rows(testing)


NURSERY = load_nursery().schema.names


@pytest.mark.parametrize(
    ("groups", "least"),
    [
        ([(NURSERY, channels.uniform_perturbation(0.3))], 0.86),
        ([(NURSERY, channels.uniform_perturbation(0.5))], 0.92),
        ([([name], channels.uniform_perturbation(0.8)) for name in NURSERY], 0.88),
    ],
)
def test_answers_and_classes_of_any_number_are_told_apart_within_a_second(groups: list, least: float) -> None:
    reports, truth = nursery_reports(groups, 17)
    TreeClassifier("class", max_depth=1).fit(reports)  # compiles what is not compiled yet
    start = time.process_time()
    tree = TreeClassifier("class").fit(reports)
    assert time.process_time() - start < 1
    assert tree.score(truth) > least


@pytest.mark.soak
@pytest.mark.skipif(not os.environ.get("TACIT_SOAK"), reason="fits eight models of whole records: make soak")
def test_a_model_of_whole_records_is_better_where_it_is_taken() -> None:
    """Each answer at .5: three disguised answers together are told so poorly that estimated trees end after two splits."""
    half = [([name], channels.uniform_perturbation(0.5)) for name in NURSERY]
    gains, methods = [], []
    for seed in range(40, 44):
        reports, truth = nursery_reports(half, seed)
        chosen = TreeClassifier("class").fit(reports)
        gains.append(chosen.score(truth) - TreeClassifier("class", method="inversion").fit(reports).score(truth))
        methods.append(chosen.method_)
    assert methods.count("joint") >= 2
    assert np.mean(gains) > 0.01


def test_a_model_of_whole_records_is_not_tried_where_it_cannot_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.mine.tree_classifier.folds", lambda *arguments: pytest.fail("a model was fitted"))
    for groups in (
        [(NURSERY, channels.uniform_perturbation(0.3))],
        [([n], channels.uniform_perturbation(0.9)) for n in NURSERY],
    ):
        assert TreeClassifier("class", max_depth=1).fit(nursery_reports(groups, 3)[0]).method_ == "inversion"


@pytest.mark.parametrize("better", ["inversion", "joint"])
def test_the_likelier_tree_is_taken(better: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = Scheme.of(SCHEMA, [([name], channels.warner(0.6)) for name in SCHEMA.names])
    reports = simulated(scheme, 3000, 5)
    monkeypatch.setattr("tacit.mine.count_sources.MOST_TOLD", 1.0)
    monkeypatch.setattr("tacit.mine.count_sources.FEWEST_TOLD", 0)
    logs = {"inversion": [-1.0, -2.0], "joint": [-2.0, -1.0]}[better]
    monkeypatch.setattr("tacit.mine.tree_classifier.tree_logs", lambda *arguments: logs)
    tree = TreeClassifier("drinks").fit(reports)
    assert tree.method_ == better
    assert_same_tree(tree.tree_, TreeClassifier("drinks", method=better).fit(reports).tree_)


def test_a_trees_likelihood_is_that_of_the_records_it_tells() -> None:
    """Against every record written out and disguised group by group."""
    scheme = Scheme.of(
        SCHEMA, [(["smokes", "drinks"], channels.uniform_perturbation(0.6)), (["age"], channels.warner(0.5))]
    )
    reports = simulated(scheme, 400, 5)
    joint = tacit.fit_joint(reports, models=["classes"], classes=2)
    tree = TreeClassifier("drinks", method="inversion", significance=0, max_depth=2).fit(reports)
    (source,) = sources(reports)
    (found,) = tree_logs([tree.tree_], joint, "drinks", [source])
    order = [SCHEMA.names.index(name) for name in joint.schema.names]
    assert order == list(range(len(SCHEMA)))
    inputs = [name for name in SCHEMA.names if name != "drinks"]
    law = np.moveaxis(joint.model.marginal(range(len(SCHEMA))), SCHEMA.names.index("drinks"), -1).sum(axis=-1)
    codes = np.indices(law.shape).reshape(len(inputs), -1)
    table = Table.from_codes(SCHEMA.select(inputs), dict(zip(inputs, codes, strict=True)))
    told = 0.99 * tree.predict_proba(table) + 0.01 / 2
    records = np.moveaxis((law.reshape(-1, 1) * told).reshape(*law.shape, 2), -1, SCHEMA.names.index("drinks"))
    used = [SCHEMA.names.index(name) for name in (*tree.needed_names_, "drinks")]
    records = records.sum(axis=tuple(axis for axis in range(len(SCHEMA)) if axis not in used), keepdims=True)
    logs = []
    for row in range(400):
        chance = np.ones(records.shape)
        for group in scheme.groups:
            axes = [SCHEMA.names.index(name) for name in group.names]
            kept = [axis for axis in range(len(axes)) if axes[axis] in used]
            if not kept:
                continue
            channel = group.channel.marginal(kept)
            shown = [source.engine.table[group.names[axis]][row : row + 1] for axis in kept]
            shape = [SCHEMA.shape()[axis] if axis in used and axis in axes else 1 for axis in range(len(SCHEMA))]
            chance = chance * channel.chances(shown).reshape(shape)
        for name in ("sex",):
            axis = SCHEMA.names.index(name)
            if axis in used:
                told_as = np.eye(2)[source.engine.table[name][row]]
                chance = chance * told_as.reshape([2 if at == axis else 1 for at in range(len(SCHEMA))])
        logs.append(np.log((records * chance).sum()))
    assert found == pytest.approx(np.mean(logs), abs=1e-10)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"target": None}, InvalidInput, "target="),
        ({"target": "dinks"}, UnknownName, "Did you mean 'drinks'"),
        ({"criterion": "entropy"}, UnknownName, "Criterion 'entropy'"),
        ({"splits": "three"}, UnknownName, "Way to split"),
        ({"method": "guess"}, UnknownName, "Method"),
        ({"significance": -1}, InvalidInput, "at least 0, not -1"),
        ({"significance": float("nan")}, InvalidInput, "at least 0"),
        ({"class_shares": [0.5, 0.6]}, InvalidInput, r"sum to 1.1"),
        ({"class_shares": [0.5]}, InvalidInput, "2 numbers"),
        ({"class_shares": {"yes": 1.0}}, InvalidInput, "nothing of 'no'"),
        ({"class_shares": {"yes": 1.0, "maybe": 0.0}}, InvalidInput, "has no answer 'maybe'"),
    ],
)
def test_refusals(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TreeClassifier(**{"target": "drinks", **arguments}).fit(simulated(SCHEMES["flip"], 100, 1))


def test_an_even_flip_is_refused_with_the_way_out() -> None:
    scheme = Scheme.of(SCHEMA, [(["smokes", "drinks"], channels.flip(0.5))])
    with pytest.raises(NotEstimable, match="unrelated question"):
        TreeClassifier("drinks").fit(simulated(scheme, 100, 1))


def test_likelihood_of_many_sources_or_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="single scheme"):
        TreeClassifier("drinks", method="likelihood").fit(simulated(SCHEMES["dealt"], 100, 1))
    monkeypatch.setattr("tacit.mine.count_sources.JOINT_CELLS", 1)
    with pytest.raises(InvalidInput, match="too many for its likelihood"):
        TreeClassifier("drinks", method="likelihood").fit(simulated(SCHEMES["flip"], 100, 1))


def test_a_class_alone_is_refused() -> None:
    only = tacit.Dataset.from_arrow({"drinks": ["no", "yes"]})
    with pytest.raises(InvalidInput, match="nothing but the class"):
        TreeClassifier("drinks").fit(Reports.from_truth(only))
    with pytest.raises(InvalidInput, match="1 answer"):
        Attribute("drinks", ("no",))


@pytest.mark.parametrize("method", ["inversion", "joint"])
def test_a_node_of_a_public_answer_has_the_size_that_estimate_has(method: Method) -> None:
    """A model's tree printed a drawn size with a model's error: 19.7% ± 2.8% of all for a public age."""
    private = [([name], channels.gamma_diagonal(9)) for name in ("smokes", "drinks", "sex")]
    reports = simulated(Scheme.of(SCHEMA, private), 3000, 4)
    origins, schema = ordered_sources(reports)
    everybody, taken = counted_subgroup(origins, schema, "smokes", method)
    young = everybody.within(SCHEMA["age"], (0,))
    expected = tacit.estimate(reports, "age")
    assert taken == method
    assert young.shares().size == pytest.approx(expected.probabilities[0], abs=1e-12)
    assert np.sqrt(young.shares().size_variance) == pytest.approx(expected.standard_errors[0], rel=1e-9)
    assert young.shares().size_disguise == pytest.approx(0, abs=1e-12)


def test_a_tree_says_what_it_learned_from_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = simulated(Scheme.of(SCHEMA, [([name], channels.gamma_diagonal(3)) for name in SCHEMA.names]), 6000, 4)
    asked = TreeClassifier("smokes", method="inversion").fit(reports)
    assert asked.learned_from_ == "Learned from unbiased estimates (inversion) of 6,000 reports: as asked."
    monkeypatch.setattr("tacit.mine.held_out.MOST_RECORDS", 0)
    monkeypatch.setattr("tacit.mine.division.fit_joint", lambda *_, **__: pytest.fail("a model was fitted in vain"))
    by_itself = TreeClassifier("smokes").fit(reports)
    assert by_itself.method_ == "inversion"
    assert "could not be compared" in by_itself.learned_from_
