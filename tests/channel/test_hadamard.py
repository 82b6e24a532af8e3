"""Hadamard response: its published formula, errors and sampler; the rest is in the conformance suites."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit import Attribute, Dataset, Reports, Schema, Scheme, channels
from tacit.bundled import load_votes
from tacit.channel.base import Channel
from tacit.channel.program import law
from tacit.errors import InvalidInput
from tacit.randomness import SeededRandomness
from tests.channel.playback import assert_samples_exactly
from tests.statistics import assert_drawn_from


def sylvester(size: int) -> np.ndarray:
    matrix = np.array([[1]])
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


@pytest.mark.parametrize(("answers", "numbers"), [(2, 4), (3, 4), (4, 8), (7, 8), (8, 16), (1000, 1024), (1024, 2048)])
def test_there_are_as_many_numbers_as_the_power_of_two_above_the_answers(answers: int, numbers: int) -> None:
    channel = channels.hadamard(3).build((answers,))
    assert channel.n_reports == numbers
    (column,) = channel.report_attributes([Attribute("a", tuple(map(str, range(answers))))])
    assert (column.name, column.answers[0], column.answers[-1]) == ("a", "0", str(numbers - 1))


def test_the_estimate_is_the_published_one() -> None:
    gamma, shares = 3.0, np.random.default_rng(1).dirichlet(np.ones(8))
    channel = channels.hadamard(gamma).build((2, 3))
    halves = sylvester(8)[1:7] > 0  # the numbers of each of six joint answers
    expected = (gamma + 1) / (gamma - 1) * (2 * halves @ shares - 1)
    np.testing.assert_allclose(channel.solve(shares).reshape(-1), expected, rtol=1e-9)


@pytest.mark.parametrize(("epsilon", "variance"), [(1.0, 4.68), (2.0, 1.72)])
def test_a_rare_answer_has_the_published_variance_whatever_the_number_of_answers(
    epsilon: float, variance: float
) -> None:
    for answers in (10, 1000):
        channel = channels.hadamard(math.exp(epsilon)).build((answers,))
        truth = np.eye(1, answers).reshape(-1)
        assert channel.solve_squares(channel.apply(truth))[-1] == pytest.approx(variance, abs=0.005)


def test_a_hundred_thousand_answers_take_a_moment() -> None:
    channel = channels.hadamard(19).build((100, 1000))
    truth = np.random.default_rng(2).dirichlet(np.ones(channel.size)).reshape(channel.shape)
    started = time.process_time()
    np.testing.assert_allclose(channel.solve(channel.apply(truth)), truth, atol=1e-12)
    np.testing.assert_allclose(channel.margin([0]).solve(channel.apply(truth)), truth.sum(axis=1), atol=1e-11)
    figures = channel.figures(truth)
    assert time.process_time() - started < 20
    assert 0 < figures.map_privacy < figures.pse < 1
    assert figures.worst_posterior <= truth.max() * 19 / (truth.max() * 19 + 1 - truth.max()) + 1e-12


def test_every_draw_gives_the_declared_law() -> None:
    assert_samples_exactly(channels.hadamard(3).build((2, 2)), bits=4)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (60,)])
def test_drawn_reports_follow_the_law_and_a_small_error_is_noticed(shape: tuple[int, ...]) -> None:
    channel = channels.hadamard(4).build(shape)
    truth = channel.size - 2
    codes = np.unravel_index(np.full(200_000, truth), shape)
    (drawn,) = channel.sample([code.astype(np.uint16) for code in codes], SeededRandomness(5))
    counts = np.bincount(drawn, minlength=channel.n_reports)
    column = channel.chances(channel.reports())[:, truth]
    assert_drawn_from(counts, column)
    other = channels.hadamard(4.4).build(shape).chances(channel.reports())[:, truth]
    with pytest.raises(AssertionError):
        assert_drawn_from(counts, other)


def test_the_law_of_a_program_is_exactly_gamma() -> None:
    rows = law(channels.hadamard(3).build((2, 3)).program(), (2, 3))
    assert {max(chances) / min(chances) for chances in rows.values() if len(set(chances)) > 1} == {3}


def test_a_gamma_that_is_none_and_too_many_answers_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"at least 1, not 0\.5"):
        channels.hadamard(0.5).build((3,))
    with pytest.raises(InvalidInput, match=r"fewer than 2\*\*32 joint answers.*smaller groups"):
        channels.hadamard(3).build((1 << 16, 1 << 16))


def votes() -> Dataset:
    """Sixteen groups are too many to see much in 435 people: four votes and the party, of many such congresses."""
    data = load_votes().select(["Class", "V4", "V12", "V14"])
    rows = np.random.default_rng(3).integers(0, data.n_rows, 20_000)
    return Dataset(data.table.rows(rows))


SCHEME_GROUPS = [
    (["Class", "V4"], channels.hadamard(39)),
    (["V12", "V14"], channels.hadamard(39)),
]


@pytest.fixture(scope="module")
def surveyed() -> tuple[Dataset, Scheme, Reports]:
    truth = votes()
    scheme = Scheme.of(truth.schema, SCHEME_GROUPS)
    return truth, scheme, tacit.disguise(truth, scheme, seed=7)


def share(data: Dataset, **answers: str) -> float:
    held = np.ones(data.n_rows, dtype=bool)
    for name, answer in answers.items():
        held &= data.table[name] == data.schema[name].encode(answer)
    return float(held.mean())


def test_reports_are_written_read_estimated_and_pooled(surveyed: tuple, tmp_path: Path) -> None:
    truth, scheme, reports = surveyed
    path = tmp_path / "reports.csv"
    reports.write(path)
    assert path.read_text().splitlines()[0].replace('"', "").split(",")[0] == "Class+V4"
    again = Reports.read(path, scheme)
    table = tacit.estimate(again, ["Class", "V14"])
    cell = share(truth, Class="democrat", V14="y")
    at = tuple(truth.schema[name].encode(answer) for name, answer in (("Class", "democrat"), ("V14", "y")))
    error = float(np.asarray(table.standard_errors)[at])
    assert abs(float(np.asarray(table.probabilities)[at]) - cell) < 5 * error
    other = Scheme.of(truth.schema, [(["Class"], channels.hadamard(9)), (["V14"], channels.warner(0.9))])
    pooled = tacit.estimate([again, tacit.disguise(truth, other, seed=8)], ["Class", "V14"])
    assert float(np.asarray(pooled.standard_errors)[at]) < error
    assert abs(float(np.asarray(pooled.probabilities)[at]) - cell) < 5 * error


def test_it_is_planned_and_measured(surveyed: tuple) -> None:
    truth, scheme, _ = surveyed
    measured = tacit.measure(scheme, truth)
    assert measured.gamma == pytest.approx(39**2, rel=1e-6)
    for group, own in zip(scheme.groups, measured.groups, strict=True):
        chances, shares = group.channel.chances(group.channel.reports()), group_shares(truth, group.names)
        ratios = chances.max(axis=1) / chances.min(axis=1)
        assert own.gamma == pytest.approx(ratios.max(), rel=1e-9)
        assert ratios.max() <= 39
        assert own.map_privacy == pytest.approx(1 - (chances * shares).max(axis=1).sum(), abs=1e-9)


def group_shares(data: Dataset, names: tuple[str, ...]) -> np.ndarray:
    """How often each joint answer of a group occurs."""
    shape = data.schema.shape(names)
    codes = np.ravel_multi_index([data.table[name].astype(np.int64) for name in names], shape)
    return np.bincount(codes, minlength=math.prod(shape)) / data.n_rows


def test_so_many_people_as_planned_give_the_margin(surveyed: tuple) -> None:
    """Four thousand surveys of the planned size, drawn from the law and estimated by the published formula."""
    truth, scheme, _ = surveyed
    needed = tacit.plan(scheme, 0.03, truth)
    for group in scheme.groups:
        chances = group.channel.chances(group.channel.reports())
        for axis, name in enumerate(group.names):
            people = needed.per_attribute[name]
            law = chances @ group_shares(truth, group.names)
            drawn = np.random.default_rng(11).multinomial(people, law / law.sum(), size=4000) / people
            halves = sylvester(group.channel.n_reports)[1 : group.channel.size + 1] > 0
            joint = (40 / 38 * (2 * drawn @ halves.T - 1)).reshape(4000, *group.channel.shape)
            shares = joint.sum(axis=2 - axis)
            assert 1.959964 * shares.std(axis=0).max() == pytest.approx(0.03, rel=0.05), name


def test_it_is_mined_by_tree_bayes_and_rules_and_its_accuracy_is_tested(surveyed: tuple) -> None:
    truth, scheme, reports = surveyed
    test = tacit.disguise(truth, scheme, seed=9)
    for model in (tacit.TreeClassifier(target="Class"), tacit.NaiveBayesClassifier(target="Class")):
        accuracy = tacit.disguised_accuracy(model.fit(reports), test)
        assert abs(accuracy.estimate - 0.95) < 5 * accuracy.standard_error + 0.05
        assert accuracy.standard_error < 0.08
    itemsets = tacit.FrequentItemsets(0.2).fit(reports).itemsets_
    assert itemsets


def test_it_is_attacked(surveyed: tuple) -> None:
    truth, scheme, _ = surveyed
    few = Dataset(truth.table.rows(slice(0, 1500)))
    told = tacit.attack(tacit.disguise(few, scheme, seed=7))
    assert told.answers.with_reports > told.answers.without_reports


def test_the_likelihood_uses_the_fast_transform(surveyed: tuple) -> None:
    _, _, reports = surveyed
    fit = tacit.estimate(reports, ["Class", "V4"], method="likelihood")
    probabilities = np.asarray(fit.probabilities)
    assert probabilities.min() >= 0
    assert probabilities.sum() == pytest.approx(1)


def test_a_schema_of_one_attribute_disguises_alone() -> None:
    schema = Schema((Attribute("code", tuple(f"c{n}" for n in range(40))),))
    channel: Channel = Scheme.of(schema, [(["code"], channels.hadamard(5))]).groups[0].channel
    assert channel.tally_shape == (64,)
