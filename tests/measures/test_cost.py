"""Expected errors against the variance of one respondent's contribution, all reports and truths listed."""

import itertools
import math

import numpy as np
import pytest

from tacit import Attribute, Dataset, Scheme, channels
from tacit.channel.dense import expected_mse
from tacit.disguising import disguise
from tacit.errors import NotEstimable
from tacit.estimation import estimate
from tacit.measures.cost import expected_error, expected_errors, report_variance
from tacit.measures.prior import Prior
from tacit.schema import Schema
from tacit.table import Table

A, B, C, D = (Attribute(name, tuple("xyz"[:size])) for name, size in zip("abcd", (2, 3, 2, 2), strict=True))
SCHEMA = Schema((A, B, C, D))
RNG = np.random.default_rng(1923)
WIDE = RNG.dirichlet(np.ones(9), size=6).T  # nine reports of six truths

RECIPES = {
    "warner": channels.warner(0.6),
    "unrelated question": channels.mixture(0.4, [[0.3, 0.7], [0.2, 0.3, 0.5]]),
    "mask": channels.mask(0.7),
    "cut and paste": channels.cut_and_paste(3, 0.4),
    "square matrix": channels.matrix(0.4 * RNG.dirichlet(np.ones(6), size=6).T + 0.6 * np.eye(6)),
    "more reports": channels.matrix(WIDE, [f"r{row}" for row in range(9)]),
    "subset": channels.subset(2, 9.0),
    "randomized": channels.randomized_gamma_diagonal(5.0, 0.1),
}


def data_table(rows=500):
    """Truths in which everything depends on everything."""
    rng = np.random.default_rng(7)
    joint = rng.dirichlet(np.full(24, 0.7))
    codes = np.unravel_index(rng.choice(24, size=rows, p=joint), (2, 3, 2, 2))
    return Table.from_codes(SCHEMA, dict(zip("abcd", codes, strict=True)))


def contributions(channel, axes, guess):
    """What each possible report adds to the estimate of each cell: ``[cell, report]``, from the whole joint."""
    estimator = channel.marginal(axes) if channel.has_marginals else channel.margin(axes)
    cells = np.eye(math.prod(estimator.shape)).reshape(*estimator.shape, -1)
    weights = estimator.solve_adjoint(cells, guess).reshape(-1, cells.shape[-1])
    attributes = [Attribute(str(axis), tuple(map(str, range(size)))) for axis, size in enumerate(channel.shape)]
    shown = channel.report_attributes(attributes)
    columns = channel.reports()
    if channel.has_marginals:
        shown, columns = [shown[axis] for axis in axes], [columns[axis] for axis in axes]
    tally = np.ones((len(columns[0]), 1))
    for attribute, codes in zip(shown, columns, strict=True):
        slots = one_report(attribute, codes)
        tally = (tally[:, :, None] * slots[:, None, :]).reshape(len(codes), -1)
    return (tally @ weights).T


def one_report(attribute, codes):
    rows = np.arange(len(codes))
    slots = np.zeros((len(codes), attribute.tally_size))
    if attribute.shows == "one":
        slots[rows, codes] = 1
        return slots
    slots[:, -1] = 1
    if attribute.shows == "bits":
        slots[:, :-1] = codes
    else:
        np.put_along_axis(slots, codes.astype(np.intp), 1, axis=1)
    return slots


@pytest.mark.parametrize("kind", RECIPES)
def test_variances_are_those_of_the_listed_contributions(kind):
    scheme = Scheme.of(SCHEMA, [(["a", "b"], RECIPES[kind]), (["c"], channels.warner(0.8))])
    prior = Prior.of(SCHEMA, data_table())
    truth = prior.joint("abcd")
    first, second = (group.channel for group in scheme.groups)
    guess = prior.joint("ab")
    laws = [first.matrix.reshape(-1, 2, 3), second.matrix]
    for names in [("a",), ("b",), ("a", "b"), ("b", "c"), ("a", "d"), ("c", "d")]:
        # mean over truths and reports of the squared product of the groups' contributions
        parts = []
        for position, (members, channel) in enumerate([("ab", first), ("c", second)]):
            axes = [members.index(name) for name in names if name in members]
            phi = np.ones((1, len(laws[position])))
            if axes:
                phi = contributions(channel, axes, guess if position == 0 else None)
            parts.append(np.tensordot(phi**2, laws[position], axes=1))  # [cell, truth axes of the group]
        squares = np.einsum("iab,jc,abcd->ijd", *parts, truth)
        if "d" not in names:
            squares = squares.sum(axis=2)
        share = prior.joint(names)
        expected = squares.reshape(share.shape) - share**2
        assert report_variance(scheme, prior, names) == pytest.approx(expected, rel=1e-9), (kind, names)


def test_direct_questions_have_the_binomial_error():
    error = expected_error(Scheme.of(SCHEMA), Prior.of(SCHEMA, {"a": [0.2, 0.8]}), ["a"], 100)
    assert error.standard_errors == pytest.approx([0.04, 0.04])
    assert error.worst == error.worst_direct == pytest.approx(0.04)


def test_a_single_attribute_agrees_with_optrrs_theorem_6():
    law = 0.5 * np.eye(3) + 0.5 * RNG.dirichlet(np.ones(3), size=3).T
    scheme = Scheme.of(SCHEMA, [(["b"], channels.matrix(law))])
    shares = [0.5, 0.3, 0.2]
    prior = Prior.of(SCHEMA, {"b": shares})
    mse = expected_mse(scheme.groups[0].channel.matrix, np.array(shares), 400)
    assert (expected_error(scheme, prior, ["b"], 400).standard_errors ** 2).mean() == pytest.approx(mse)


def test_the_published_error_of_frapp_is_foreseen():
    # CENSUS: 2000 cells, gamma = 19; standard errors of .216 (one attribute) and .134 (two) at 48,842 respondents.
    sizes = (4, 5, 5, 5, 2, 2)
    schema = Schema(tuple(Attribute(str(size) + str(i), tuple(map(str, range(size)))) for i, size in enumerate(sizes)))
    scheme = Scheme.of(schema, [(schema.names, channels.gamma_diagonal(19))])
    errors = expected_errors(scheme, Prior.of(schema), 48_842)
    singles = [error.worst for error in errors if len(error.attributes) == 1]
    assert 0.19 < np.mean(singles) < 0.25
    pairs = [error.worst for error in errors if len(error.attributes) == 2]
    assert 0.10 < np.mean(pairs) < 0.20
    assert len(errors) == 6 + 15


def test_dealt_questionnaires_add_their_information():
    dealt = [
        ("first", 0.5, [(["a", "b"], channels.gamma_diagonal(19))]),
        ("second", 0.25, [(["a"], channels.warner(0.9)), (["c"], channels.warner(0.9))]),
        ("third", 0.25, [(["c"], channels.warner(0.8))]),
    ]
    scheme = Scheme.dealt(SCHEMA, dealt)
    prior = Prior.of(SCHEMA, {"a": [0.7, 0.3]})
    alone = [
        report_variance(Scheme.of(SCHEMA, groups), prior, ["a"])
        for groups in ([(["a", "b"], channels.gamma_diagonal(19))], [(["a"], channels.warner(0.9))])
    ]
    # They are weighed for an even truth, so all but as well as the best for this one.
    best = 1 / (0.5 / alone[0] + 0.25 / alone[1])
    assert (report_variance(scheme, prior, ["a"]) > best).all()
    assert report_variance(scheme, prior, ["a"]) == pytest.approx(best, rel=1e-3)
    assert report_variance(scheme, prior, ["a", "b"]).shape == (2, 3)
    with pytest.raises(NotEstimable, match="No questionnaire asks b and c together"):
        report_variance(scheme, prior, ["b", "c"])


def test_an_answer_that_nobody_gives_needs_no_information():
    scheme = Scheme.dealt(
        SCHEMA, [("x", 0.5, [(["b"], channels.warner(0.9))]), ("y", 0.5, [(["c"], channels.flip(1))])]
    )
    prior = Prior.of(SCHEMA, {"c": [1.0, 0.0]})
    assert expected_error(scheme, prior, ["c"], 10).standard_errors.tolist() == [0, 0]
    assert expected_error(scheme, prior, ["d"], 10).worst == pytest.approx(math.sqrt(0.25 / 10))


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        (channels.flip(0.5), "theta = 1/2"),
        (channels.mixture(0), "kept with chance 0"),
        (channels.mask(0.5), "fair coins"),
    ],
)
def test_what_cannot_be_estimated_says_why(recipe, reason):
    scheme = Scheme.of(SCHEMA, [(["a"], recipe)])
    error = expected_error(scheme, Prior.of(SCHEMA), ["a", "c"], 100)
    assert error.standard_errors is None
    assert error.worst is None
    assert reason in error.reason
    assert error.worst_direct == pytest.approx(math.sqrt(0.25 * 0.75 / 100))


def test_cut_and_paste_knows_singles_but_not_pairs_at_k_1():
    scheme = Scheme.of(SCHEMA, [(["a", "b"], channels.cut_and_paste(1, 0.3))])
    errors = {error.attributes: error for error in expected_errors(scheme, Prior.of(SCHEMA), 100)}
    assert errors["a",].worst > 0
    assert errors["a", "b"].worst is None
    assert "no information about 2 attributes" in errors["a", "b"].reason


def test_errors_of_simulated_estimates_match():
    """The spread of 2,000 estimates from 400 simulated respondents each, within its own error (false alarm 1e-6)."""
    from scipy.stats import chi2

    from tacit.randomness import randomness_from

    runs, people = 2000, 400
    scheme = Scheme.of(SCHEMA, [(["b"], channels.gamma_diagonal(5.0))])
    prior = Prior.of(SCHEMA, {"b": [0.6, 0.3, 0.1]})
    channel = scheme.groups[0].channel
    truths = np.random.default_rng(3).choice(3, size=runs * people, p=[0.6, 0.3, 0.1]).astype(np.uint8)
    (reports,) = channel.sample([truths], randomness_from(11))
    shares = np.stack([(reports.reshape(runs, people) == code).mean(axis=1) for code in range(3)])
    spread = channel.solve(shares).var(axis=1, ddof=1)
    expected = expected_error(scheme, prior, ["b"], people).standard_errors ** 2
    low, high = chi2.ppf([0.5e-6 / 3, 1 - 0.5e-6 / 3], runs - 1) / (runs - 1)
    assert (low * expected < spread).all()
    assert (spread < high * expected).all()
    # A fifth more or less would be noticed.
    assert low > 0.8
    assert high < 1.2


@pytest.mark.parametrize("kind", RECIPES)
def test_estimates_come_with_the_errors_that_were_foreseen(kind):
    truth = Dataset(data_table(rows=20_000))
    scheme = Scheme.of(SCHEMA, [(["a", "b"], RECIPES[kind]), (["c"], channels.warner(0.8))])
    reports = disguise(truth, scheme, seed=1965)
    prior = Prior.of(SCHEMA, truth)
    for names in (["b"], ["a", "b"], ["b", "c"]):
        found = estimate(reports, names).standard_errors
        # Errors of 20,000 reports are themselves estimated to a few percent.
        assert found == pytest.approx(expected_error(scheme, prior, names, 20_000).standard_errors, rel=0.05), names


def test_a_joint_table_too_large_to_list_is_left_out():
    big = Schema(tuple(Attribute(name, tuple(map(str, range(3000)))) for name in ("u", "v")))
    error = expected_error(Scheme.of(big), Prior.of(big), ["u", "v"], 10)
    assert error.standard_errors is None
    assert "9,000,000 combinations" in error.reason


def test_every_attribute_and_pair_is_listed():
    errors = expected_errors(Scheme.of(SCHEMA), Prior.of(SCHEMA), 10)
    assert [error.attributes for error in errors] == [
        *((name,) for name in "abcd"),
        *itertools.combinations("abcd", 2),
    ]
