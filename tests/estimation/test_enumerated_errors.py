"""Errors and their laws, against every report of small channels written out."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

import tacit
from tacit import Attribute, Dataset, Reports, Schema, Scheme, channels
from tacit.count.protocol import Source
from tacit.count.sources import sources
from tacit.errors import NotEstimable
from tacit.estimation import profile, subgroups, uncertainty
from tacit.estimation.complex_samples import SampleDesign
from tacit.estimation.conjunctions import _squares
from tacit.estimation.contributions import _prior, counted_contributions
from tacit.estimation.evidence import gather_evidence
from tacit.estimation.expectation import expectation_step
from tacit.estimation.group_parts import parts_for
from tacit.estimation.mean import Mean, estimated_mean
from tacit.estimation.pooling import AskedTable, pooled_contributions
from tacit.estimation.product_rows import report_rows
from tacit.estimation.row_subgroups import everybody
from tacit.estimation.subgroups import TableSource, TableSubgroup
from tests.estimation.simulation import SCHEMA, SCHEMES, simulated

PAIR = ("smokes", "age")


def pooled(origins: Sequence[Source], names: tuple[str, ...]) -> Mean:
    """The table as if it were pooled, also from one source."""
    asked = [
        AskedTable(source.questionnaire, source.engine.n_rows, partial(counted_contributions, source))
        for source in origins
    ]
    shape = SCHEMA.shape(names)
    return Mean(names, shape, pooled_contributions(asked, names, shape))


def towards(p: np.ndarray, cell: tuple[int, ...], share: float) -> np.ndarray:
    """The distribution in which one cell has this share and all else keeps its proportions."""
    moved = p * (1 - share) / (1 - p[cell])
    moved[cell] = share
    return moved


@pytest.mark.parametrize("scheme", ["dealt", "gamma"])
def test_the_law_of_a_pooled_share_is_its_variance_wherever_the_share_is(scheme: str) -> None:
    """From where nobody is of the cell, along the distributions that keep all else in proportion: moments of every report."""
    origins = sources([simulated(SCHEMES[scheme], 500, 3), simulated(SCHEMES["warner"], 300, 4)])
    table = pooled(origins, PAIR)
    for cell in ((0, 0), (1, 2)):
        nobody = table.at(towards(table.proper.probabilities, cell, 0.0))
        law = nobody.law()
        for share in (0.0, 0.02, 0.3, 0.8):
            there = nobody.at(towards(nobody.probabilities, cell, share)).moment_variances()
            assert law.variance(np.full((2, 3), share))[cell] == pytest.approx(there[cell], rel=1e-6)


@pytest.mark.parametrize(
    "scheme", ["warner", "gamma", "subset", "public", "beside public"]
)  # estimates that sum to one
@pytest.mark.parametrize("names", [("smokes",), PAIR, ("age", "drinks", "smokes")])
def test_the_law_of_one_source_is_the_same_pooled_and_alone(scheme: str, names: tuple[str, ...]) -> None:
    beside_public = Scheme.of(SCHEMA, [(["smokes"], channels.flip(0.57))])
    origins = sources(simulated(SCHEMES.get(scheme, beside_public), 40, 3))
    together, alone = pooled(origins, names).law(), estimated_mean(origins, names, SCHEMA.shape(names)).law()
    for one, other in ((together.constant, alone.constant), (together.slope, alone.slope)):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(together.curvature, alone.curvature, rtol=1e-9)


@pytest.mark.parametrize("recipe", [channels.subset(2, 9), channels.mask(0.8), channels.gamma_diagonal(9)])
@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_mean_squares_of_a_condition_are_those_of_every_report(recipe: channels.Recipe, names: list[str]) -> None:
    schema = Schema((Attribute("a", ("0", "1")), Attribute("b", ("0", "1", "2"))))
    scheme = Scheme.of(schema, [(["a", "b"], recipe)])
    (part,) = parts_for(scheme.questionnaires[0], names)
    masks = {"a": np.array([False, True]), "b": np.array([True, False, True])}
    meeting = np.ones((2, 3), dtype=bool)
    for axis, name in enumerate("ab"):
        if name in names:
            meeting &= masks[name].reshape(-1, 1) if axis == 0 else masks[name]
    channel = scheme.groups[0].channel
    contributed = channel.inverse(channel.reports())[:, meeting.reshape(-1)].sum(axis=1) ** 2
    if channel.has_marginals and len(names) == 1:
        channel = channel.marginal([0])
        contributed, meeting = channel.inverse(channel.reports())[:, 1] ** 2, np.array([False, True])
    given = (contributed @ channel.matrix).reshape(meeting.shape)
    squares = _squares(part, [masks[name] for name in names])
    assert squares.inside == pytest.approx(given[meeting].mean(), rel=1e-9)
    assert (squares.least, squares.most) == pytest.approx((given[~meeting].min(), given[~meeting].max()), rel=1e-9)


def test_squares_given_a_cell_are_those_of_every_report_of_its_people() -> None:
    table = counted_contributions(sources(simulated(SCHEMES["gamma"], 400, 2))[0], PAIR)
    weights = np.random.default_rng(1).normal(size=(2, 6))
    smokes, age = (group.channel for group in SCHEMES["gamma"].groups)
    left = np.kron(smokes.matrix, age.marginal([1]).matrix)
    expected = (weights @ np.linalg.inv(left)) ** 2 @ left
    np.testing.assert_allclose(table.squares_given(weights), expected, rtol=1e-9)
    frequencies = table.frequencies.reshape(-1)
    np.testing.assert_allclose(table.combined_squares(weights), (weights @ np.linalg.inv(left)) ** 2 @ frequencies)


def test_a_stated_prior_of_some_answers_leaves_the_others_even() -> None:
    (source,) = sources(simulated(SCHEMES["tall-part"], 50, 5))
    (part,) = parts_for(source.questionnaire, PAIR)

    def told(prior: dict[str, tuple[float, ...]] | None) -> np.ndarray | None:
        return _prior(dataclasses.replace(source, prior=prior), part)

    assert told(None) is None
    assert told({"sex": (0.2, 0.8)}) is None  # says nothing of this group
    assert told({"age": (0.2, 0.3, 0.5)}) == pytest.approx(np.outer([0.5, 0.5], [0.2, 0.3, 0.5]), abs=1e-3)
    joint = (0.1, 0.1, 0.2, 0.2, 0.3, 0.1)
    assert told({"smokes+age": joint, "age": (1, 0, 0)}) == pytest.approx(np.reshape(joint, (2, 3)), abs=1e-3)


def test_the_likelihood_of_a_step_is_that_of_the_reports() -> None:
    reports = simulated(SCHEMES["square"], 200, 5)
    (evidence,) = gather_evidence(sources(reports), ["age"])[1]
    truth = np.array([0.2, 0.5, 0.3])
    chances = SCHEMES["square"].groups[0].channel.matrix @ truth
    step = expectation_step([evidence])(truth)
    assert step.likelihood == pytest.approx(float(evidence.counts.reshape(-1) @ np.log(chances)) / 200)
    posterior = SCHEMES["square"].groups[0].channel.matrix * truth / chances[:, None]
    np.testing.assert_allclose(step.after, evidence.counts.reshape(-1) @ posterior / 200)


def test_likelihood_is_known_to_gain_where_its_information_is_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside the simplex it is as good as the best unbiased estimate, whose error a pooled one may exceed."""
    reports = [simulated(SCHEMES["square"], 300, 5), simulated(SCHEMES["public"], 300, 6)]
    unbiased = tacit.estimate(reports, "age").standard_errors
    for truths, gains in ((3, True), (2, False)):
        monkeypatch.setattr(profile, "INFORMATION_TRUTHS", truths)
        likely = tacit.estimate(reports, "age", method="likelihood").standard_errors
        assert ((likely / unbiased).min() < 0.996) == gains


def test_cells_that_a_channel_treats_alike_are_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    many = Schema((Attribute("code", tuple(map(str, range(70)))),))
    (part,) = parts_for(Scheme.of(many, [(["code"], channels.subset(7, 9))]).questionnaires[0], ["code"])
    alike = uncertainty._alike(part)
    assert alike is not None
    truth = np.random.default_rng(2).dirichlet(np.ones(70))
    np.testing.assert_allclose(uncertainty._own_squares(part, truth), alike)
    monkeypatch.setattr(uncertainty, "PROBED_CELLS", 71)
    monkeypatch.setattr(uncertainty, "BLOCK_ENTRIES", 70 * 16)
    np.testing.assert_allclose(uncertainty._own_squares(part, truth), alike, rtol=1e-8)
    uneven = channels.matrix(np.random.default_rng(3).dirichlet(np.ones(70), size=70).T)
    (other,) = parts_for(Scheme.of(many, [(["code"], uneven)]).questionnaires[0], ["code"])
    assert uncertainty._alike(other) is None


def test_the_size_of_a_subgroup_varies_as_what_every_report_contributes() -> None:
    scheme = Scheme.of(SCHEMA, [(["smokes", "age"], channels.gamma_diagonal(9)), (["drinks"], channels.warner(0.8))])
    reports = simulated(scheme, 500, 3)
    inside = everybody(sources(reports), SCHEMA, "drinks").within(SCHEMA["age"], (0, 2)).within(SCHEMA["smokes"], (1,))
    (source,) = sources(reports)
    channel = scheme.groups[0].channel
    inverse = channel.inverse([source.engine.table[name] for name in ("smokes", "age")]).reshape(500, 2, 3)
    added = inverse[:, 1, [0, 2]].sum(axis=1)
    shares = inside.shares()
    assert shares.size == pytest.approx(added.mean())
    assert shares.size_variance == pytest.approx(added.var() / 500)
    assert shares.size_disguise == pytest.approx((np.mean(added**2) - added.mean()) / 500)
    # From tables the same, with the errors of the law near the estimate instead of the reports as they came.
    path = {"age": np.array([True, False, True]), "smokes": np.array([False, True])}
    tables = TableSubgroup(TableSource((source,), SCHEMA), "drinks", path).shares()
    assert tables.size == pytest.approx(shares.size)
    assert tables.size_variance == pytest.approx(shares.size_variance, rel=0.1)
    assert tables.size_disguise == pytest.approx(shares.size_disguise, rel=0.1)
    assert tables.size_disguise < 0.9 * tables.size_variance


def test_sums_of_subgroups_are_small_where_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of the largest table: attributes x patterns of it and of the target x products of their terms."""
    rows = report_rows(sources(simulated(Scheme.of(SCHEMA), 50, 3))[0])
    assert rows is not None
    numbers = len(SCHEMA) * (3 + 1) ** 2 * rows.factors.shape[2] ** 4
    for limit, is_small in ((numbers, True), (numbers - 1, False)):
        monkeypatch.setattr("tacit.estimation.product_rows.MOST_SUMS", limit)
        rows.__dict__.pop("is_small", None)
        assert rows.is_small == is_small


def test_tables_of_subgroups_are_pooled_while_they_have_few_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgroups, "MOST_POOLED", 2)
    one, other = simulated(SCHEMES["gamma"], 200, 3), simulated(SCHEMES["warner"], 200, 4)
    several = TableSource(tuple(sources([one, other])), SCHEMA)
    assert several.table([], ["age", "sex"], "drinks") is not None
    assert several.table([], ["age", "sex", "smokes"], "drinks") is None
    alone = TableSource(tuple(sources(one)), SCHEMA)
    assert alone.table([], ["age", "sex", "smokes"], "drinks") is not None


def test_a_pair_that_one_table_does_not_tell_is_refused_with_the_reason() -> None:
    hidden = simulated(Scheme.of(SCHEMA, [(["smokes", "drinks"], channels.flip(0.5))]), 100, 3)
    source = TableSource(tuple(sources(hidden)), SCHEMA)
    for names in (["smokes"], ["smokes", "drinks"]):
        with pytest.raises(NotEstimable, match="theta = 1/2"):
            source.table([], names, "sex")
    assert source.table([], ["smokes", "drinks", "age"], "sex") is None


def test_errors_of_differences_between_clear_groups_are_the_textbooks() -> None:
    rows = {"g": ["a"] * 100 + ["b"] * 300, "x": ["no"] * 70 + ["yes"] * 30 + ["no"] * 150 + ["yes"] * 150}
    (no, yes) = tacit.estimate(Reports.from_truth(rows), ["g", "x"]).compare("g").differences
    expected = math.sqrt(0.3 * 0.7 / 100 + 0.5 * 0.5 / 300)
    assert yes.standard_error == pytest.approx(expected, rel=1e-3)
    assert no.standard_error == pytest.approx(expected, rel=1e-3)
    assert (yes.difference, no.difference) == pytest.approx((-0.2, 0.2))


def test_just_the_respondents_differ_or_they_do_not() -> None:
    same = {"g": ["a", "a", "b", "b"] * 10, "x": ["no", "yes"] * 20}
    table = tacit.estimate(Reports.from_truth(same), ["g", "x"], sampling="respondents")
    assert (table.independence().statistic, table.independence().p) == (0.0, 1.0)
    other = {"g": ["a", "a", "b", "b"] * 10, "x": ["no", "yes", "no", "no"] * 10}
    table = tacit.estimate(Reports.from_truth(other), ["g", "x"], sampling="respondents")
    assert (table.independence().statistic, table.independence().p) == (math.inf, 0.0)


def test_people_who_are_counted_four_times_say_no_more_than_once() -> None:
    people = {"x": ["no"] * 150 + ["yes"] * 50}
    repeated = {"x": [value for value in people["x"] for _ in range(4)]}
    design = SampleDesign.of(800, clusters=np.repeat(np.arange(200), 4))
    clustered = tacit.estimate(Reports.from_truth(repeated), "x", sample=design).interval()
    once = tacit.estimate(Reports.from_truth(people), "x").interval()
    assert clustered.low == pytest.approx(once.low, abs=0.004)
    assert clustered.high == pytest.approx(once.high, abs=0.004)


def test_an_answer_that_nobody_in_a_sample_gives_may_still_be_given() -> None:
    """Clusters that are all alike show no spread, but the interval is none of width 0."""
    schema = Schema((Attribute("x", ("no", "yes")),))
    reports = Reports.from_truth(Dataset.from_arrow({"x": ["no"] * 40}, schema=schema))
    ends = tacit.estimate(reports, "x", sample=SampleDesign.of(40, clusters=np.repeat(np.arange(20), 2))).interval()
    assert ends.low == pytest.approx([1 - ends.high[1], 0])
    assert 0.03 < ends.high[1] < 0.2
    assert ends.high[0] == 1


def test_a_pair_of_clusters_is_redrawn_too() -> None:
    """One of the two, twice: whoever is not drawn counts nothing."""
    design = SampleDesign.of(4, clusters=["a", "a", "b", "b"])
    drawn = {tuple(weights) for weights in design.bootstrap(40, seed=1).tolist()}
    assert drawn == {(2.0, 2.0, 0.0, 0.0), (0.0, 0.0, 2.0, 2.0)}
