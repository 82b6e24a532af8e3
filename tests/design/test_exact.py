"""The exact front: certified, attained, and what is known of it in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.channel.dense import (
    amplification,
    even_mixture,
    expected_mse,
    gamma_diagonal_keep,
    map_privacy,
    worst_posterior,
)
from tacit.design import choose_point, exact_front, named_prior
from tacit.design.certificate import Aim, Dual
from tacit.design.column_generation import certified_design, relative_gap
from tacit.design.front import front_from_document
from tacit.design.posteriors import uniform_and_capped
from tacit.design.settings import FrontPreferences
from tacit.errors import InvalidInput

NORMAL = named_prior("normal")
SKEWED = np.array([0.4, 0.3, 0.2, 0.1])
SHARES = Aim.of_shares(SKEWED)


@pytest.mark.parametrize("delta", [0.6, 0.75, 0.9, None])
def test_twelve_points_are_certified_and_need_few_reports(delta: float | None) -> None:
    front = exact_front(NORMAL, 10_000, delta=delta)
    assert len(front.points) == 12
    least = 1 - (delta or 1.0)
    np.testing.assert_allclose(front.privacies, np.linspace(least, 0.98 * (1 - NORMAL.max()), 12), atol=1e-6)
    for point in front.points:
        assert 1 - 1e-12 <= point.excess <= 1 + 1e-6
        assert len(point.reports) == len(set(point.reports)) == len(point.matrix) <= 56
        np.testing.assert_allclose(point.matrix.sum(axis=0), 1, atol=1e-12)
        assert point.mse == expected_mse(point.matrix, NORMAL, 10_000)
        assert point.privacy == map_privacy(point.matrix, NORMAL)
        assert worst_posterior(point.matrix, NORMAL) <= (delta or 1.0) + 1e-12
    assert (np.diff(front.errors) > 0).all()


def clarabel_trace(vertices: np.ndarray, prior: np.ndarray, budget: float) -> float:
    """The same least trace by a general solver: minimise trace Z with [[J, I], [I, Z]] positive semidefinite."""
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    n, k = len(prior), len(vertices)
    likelihoods = vertices / prior
    rows, columns = np.triu_indices(n)
    n_z = len(rows)
    size = 2 * n
    position = {(i, j): c for c, (j, i) in enumerate((j, i) for j in range(size) for i in range(j + 1))}
    cone = np.zeros((size * (size + 1) // 2, k + n_z))
    constant = np.zeros(len(cone))
    for (i, j), at in position.items():
        scale = 1.0 if i == j else math.sqrt(2)
        if j < n:
            cone[at, :k] = -scale * likelihoods[:, i] * likelihoods[:, j]
        elif i >= n:
            which = int(np.flatnonzero((rows == i - n) & (columns == j - n))[0])
            cone[at, k + which] = -scale
        elif i == j - n:
            constant[at] = scale
    trace = np.concatenate([np.zeros(k), (rows == columns).astype(float)])
    equal = np.hstack([vertices.T, np.zeros((n, n_z))])
    guessed = np.concatenate([vertices.max(axis=1), np.zeros(n_z)])[None]
    positive = np.hstack([-np.eye(k), np.zeros((k, n_z))])
    matrix = sparse.csc_matrix(np.vstack([equal, guessed, positive, cone]))
    right = np.concatenate([prior, [budget], np.zeros(k), constant])
    cones = [clarabel.ZeroConeT(n), clarabel.NonnegativeConeT(1 + k), clarabel.PSDTriangleConeT(size)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    quadratic = sparse.csc_matrix((k + n_z, k + n_z))
    return clarabel.DefaultSolver(quadratic, trace, matrix, right, cones, settings).solve().obj_val


@pytest.mark.parametrize("privacy", [0.3, 0.45, 0.58])
def test_a_general_semidefinite_solver_finds_the_same_value(privacy: float) -> None:
    vertices = uniform_and_capped(4, 0.7)
    design = certified_design(vertices, SHARES, 1 - privacy)
    assert design.trace(SHARES) == pytest.approx(clarabel_trace(vertices, SKEWED, 1 - privacy), rel=1e-6)


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.25] * 4, [0.4, 0.4, 0.2]])
@pytest.mark.parametrize("share", [0.5, 0.98, 0.999])
def test_a_general_solver_agrees_on_tied_priors_up_to_almost_full_privacy(prior: list[float], share: float) -> None:
    tied, delta = np.array(prior), 0.8
    budget = delta + share * (tied.max() - delta)
    vertices = uniform_and_capped(len(tied), delta)
    aim = Aim.of_shares(tied)
    design = certified_design(vertices, aim, budget)
    assert relative_gap(design, aim, budget) <= 1e-6
    # At budgets near the prior's maximum the general solver itself is good to a few digits only.
    assert design.trace(aim) == pytest.approx(clarabel_trace(vertices, tied, budget), rel=1e-4)


def two_answers_mse(prior: np.ndarray, delta: float, privacy: float, records: int) -> float:
    """Least error of two answers: reports say "delta for one", "delta for the other" or "even", and no others can."""
    posteriors = np.array([[delta, 1 - delta], [1 - delta, delta], [0.5, 0.5]])
    demands = np.vstack([posteriors.T, posteriors.max(axis=1)])
    chances = np.linalg.solve(demands, np.append(prior, 1 - privacy))
    likelihoods = posteriors / prior
    inverse = np.linalg.inv((likelihoods.T * chances) @ likelihoods)
    return float(np.trace(inverse) - prior @ prior) / (2 * records)


@pytest.mark.parametrize("largest", [0.5, 0.5 + 1e-9, 0.501, 0.6, 0.9])
@pytest.mark.parametrize("above", [0.01, 0.3, 0.6, 0.9])
def test_two_answers_are_certified_and_agree_with_the_closed_form(largest: float, above: float) -> None:
    prior = np.array([largest, 1 - largest])
    delta = largest + above * (1 - largest)
    front = exact_front(prior, 1000, delta=delta, points=12)
    expected = [two_answers_mse(prior, delta, privacy, 1000) for privacy in front.privacies]
    np.testing.assert_allclose(front.errors, expected, rtol=1e-6)
    assert all(point.excess <= 1 + 1e-6 for point in front.points)


@pytest.mark.parametrize("n", range(2, 8))
def test_equal_shares_are_certified_under_either_bound(n: int) -> None:
    prior = np.full(n, 1 / n)
    for delta in (1.01 / n, 0.8, 0.9, 0.95):
        assert all(point.gap <= 1e-6 for point in exact_front(prior, 1000, delta=delta, points=5).points)
    assert all(point.gap <= 1e-6 for point in exact_front(prior, 1000, gamma=[2.0, 5.0, 19.0]).points)


def test_no_channel_beats_the_dual_bound_of_any_privacy() -> None:
    vertices = uniform_and_capped(4, 0.8)
    duals = [certified_design(vertices, SHARES, 1 - privacy).dual for privacy in (0.25, 0.4, 0.55)]
    rng = np.random.default_rng(7)
    tried = 0
    for _ in range(3000):
        matrix = rng.dirichlet(np.full(6, 0.3), size=4).T
        if worst_posterior(matrix, SKEWED) > 0.8:
            continue
        trace = expected_mse(matrix, SKEWED, 1) * 4 + SKEWED @ SKEWED
        guessed = 1 - map_privacy(matrix, SKEWED)
        assert all(dual.least_trace(SKEWED, guessed) <= trace * (1 + 1e-12) for dual in duals)
        tried += 1
    assert tried > 100


def test_a_dual_that_is_wrong_is_repaired_into_a_bound_that_holds() -> None:
    vertices = uniform_and_capped(4, 0.8)
    right = certified_design(vertices, SHARES, 0.6)
    wrong = Dual(right.dual.root * 1.3, right.dual.value * 1.3, right.dual.price, right.dual.budget_price)
    assert wrong.violations(vertices).max() > 0.01
    assert wrong.least_trace(SKEWED, 0.6) > right.trace(SHARES)  # as it stands it would claim too much
    repaired = wrong.repair(vertices)
    assert repaired.violations(vertices).max() <= 0
    assert repaired.least_trace(SKEWED, 0.6) <= right.trace(SHARES)


def subset_selection_mse(n: int, gamma: float, records: int) -> float:
    """Least error of subset selection over its sizes, uniform prior (each p_hat from its own inclusion rate)."""
    errors = []
    for k in range(1, n):
        a = gamma * k / (gamma * k + n - k)
        b = k * (gamma * (k - 1) + n - k) / ((n - 1) * (gamma * k + n - k))
        chance = a / n + b * (n - 1) / n
        errors.append(chance * (1 - chance) / (a - b) ** 2 / records)
    return min(errors)


@pytest.mark.parametrize("gamma", [1.5, 3.0, 8.0, 40.0])
def test_a_uniform_prior_under_amplification_agrees_with_subset_selection(gamma: float) -> None:
    point = exact_front(np.full(8, 1 / 8), 1000, gamma=gamma).points[0]
    assert point.mse == pytest.approx(subset_selection_mse(8, gamma, 1000), rel=1e-6)
    assert amplification(point.matrix) == pytest.approx(gamma, rel=1e-6)


def test_each_demanded_gamma_gets_its_point_in_the_order_of_the_demands() -> None:
    points = exact_front(SKEWED, 1000, gamma=[5.0, 2.0, 19.0]).points
    assert [point.gamma for point in points] == pytest.approx([5.0, 2.0, 19.0])


def test_each_demanded_privacy_gets_its_point_in_the_order_of_the_demands() -> None:
    points = exact_front(SKEWED, 1000, delta=0.8, privacy=[0.45, 0.3, 0.4]).points
    assert [point.privacy for point in points] == pytest.approx([0.45, 0.3, 0.4])


def test_gamma_diagonal_is_found_where_it_is_optimal() -> None:
    point = exact_front(np.full(5, 0.2), 1000, gamma=50.0).points[0]
    assert point.mse == pytest.approx(
        expected_mse(even_mixture(5, gamma_diagonal_keep(5, 50.0)), np.full(5, 0.2), 1000), rel=1e-6
    )
    assert len(point.reports) == 5
    assert set(point.reports) == {f"rather {answer}" for answer in "12345"}


def test_both_bounds_hold_together_and_cost_more_than_either() -> None:
    both = exact_front(SKEWED, 1000, delta=0.6, gamma=6.0, privacy=0.5).points[0]
    only_delta = exact_front(SKEWED, 1000, delta=0.6, privacy=0.5).points[0]
    assert both.gamma <= 6.0 * (1 + 1e-6)
    assert both.worst_posterior <= 0.6 + 1e-12
    assert both.privacy >= 0.5 - 1e-6
    assert both.mse > only_delta.mse
    assert both.excess <= 1 + 1e-6


@pytest.mark.slow
def test_eighteen_answers_are_certified_by_generating_vertices() -> None:
    prior = np.random.default_rng(1).dirichlet(np.full(18, 3.0))
    for point in exact_front(prior, 1000, delta=0.75, privacy=[0.5, 0.8]).points:
        assert point.gap <= 1e-6
        assert len(point.reports) <= 18 * 19 // 2 + 1
        assert point.to_document()["gap"] == point.gap


@pytest.mark.slow
def test_twenty_six_answers_have_a_certified_gap_of_at_most_five_percent() -> None:
    prior = np.random.default_rng(2).dirichlet(np.full(26, 2.0))
    front = exact_front(prior, 1000, delta=0.75, privacy=0.6)
    (point,) = front.points
    assert 0 <= point.gap <= 0.05
    assert worst_posterior(point.matrix, prior) <= 0.75 + 1e-9
    assert point.mse == pytest.approx(expected_mse(point.matrix, prior, 1000), rel=1e-9)
    assert len(point.reports) <= 26 * 27 // 2 + 1
    assert "not every report can be tried" in front.warnings[0]


def test_more_than_forty_answers_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most 40 answers, not 41; beyond that there is no certified bound"):
        exact_front(np.full(41, 1 / 41), 1000, delta=0.75)


@pytest.mark.slow
def test_generated_vertices_give_the_listed_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = exact_front(SKEWED, 1000, delta=0.7, privacy=0.45).points[0]
    monkeypatch.setattr("tacit.design.column_generation.FEW_VERTICES", 8)
    monkeypatch.setattr("tacit.design.column_generation.ADDED_PER_ROUND", 3)
    generated = exact_front(SKEWED, 1000, delta=0.7, privacy=0.45).points[0]
    assert generated.mse == pytest.approx(listed.mse, rel=1e-6)


def test_simulated_reports_show_the_promised_error_and_privacy() -> None:
    point = exact_front(SKEWED, 500, delta=0.7, privacy=0.45).points[0]
    rng = np.random.default_rng(1965)
    surveys = 4000
    from tacit.channel.dense import best_inverse

    inverse = best_inverse(point.matrix, SKEWED)
    counts = rng.multinomial(500, point.matrix @ SKEWED, size=surveys)
    squared = ((counts / 500 @ inverse.T - SKEWED) ** 2).mean(axis=1)
    # Five standard errors of the mean: false alarm below 1e-6 for a mean of 4000.
    assert abs(squared.mean() - point.mse) <= 5 * squared.std() / math.sqrt(surveys)
    assert abs(squared.mean() - 1.15 * point.mse) > 5 * squared.std() / math.sqrt(surveys)
    truths = rng.choice(4, size=200_000, p=SKEWED)
    cumulative = point.matrix.cumsum(axis=0)
    reports = (rng.random(len(truths)) > cumulative[:, truths]).sum(axis=0)
    guesses = (point.matrix * SKEWED).argmax(axis=1)[np.minimum(reports, len(point.matrix) - 1)]
    wrong = (guesses != truths).mean()
    assert abs(wrong - point.privacy) <= 5 * math.sqrt(0.25 / len(truths))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0.3}, "theorem 5"),
        ({"delta": 1.5}, "at most 1"),
        ({"privacy": 0.7}, "ask for less than that"),
        ({"privacy": -0.1}, "ask for less than that"),
        ({"gamma": 1.0}, "above 1"),
        ({"gamma": [2.0, 3.0], "delta": 0.7}, "one gamma"),
        ({"points": 0, "delta": 0.7}, "at least 1"),
        ({"answers": ["a"]}, "give one each"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        exact_front(SKEWED, 1000, **options)


@pytest.mark.parametrize(
    ("prior", "records", "message"),
    [
        ([0.5, 0.6], 10, "sums to 1.1"),
        ([0.5, 0.5, 0.0], 10, "number 3 is 0"),
        ([0.5, float("nan"), 0.5], 10, "number 2 is nan"),
        ([1.0], 10, "at least two"),
        ([0.5, 0.5], 0, "at least 1"),
    ],
)
def test_a_prior_that_is_none_is_refused(prior: list[float], records: int, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        exact_front(prior, records)


def test_a_negative_price_of_the_budget_is_never_used() -> None:
    vertices = uniform_and_capped(4, 0.8)
    right = certified_design(vertices, SHARES, 0.6)
    unlawful = Dual(right.dual.root, right.dual.value, right.dual.price + 1.0, -0.5)
    repaired = unlawful.repair(vertices)
    assert repaired.budget_price == 0
    assert repaired.least_trace(SKEWED, 0.6) <= right.trace(SHARES)


@pytest.mark.parametrize(
    ("gamma", "purpose", "least"),
    [
        (7 / 3, "shares", 3.862),
        (7 / 3, "cumulative", 4.537),
        (7 / 3, "mean", 1.503),
        (4.0, "shares", 1.361),
        (4.0, "cumulative", 1.607),
        (4.0, "mean", 0.589),
    ],
)
def test_the_least_error_for_a_purpose_is_the_known_one_and_is_proved(gamma: float, purpose: str, least: float) -> None:
    point = exact_front(np.full(7, 1 / 7), 1, gamma=gamma, purpose=purpose).points[0]
    assert point.mse == pytest.approx(least, abs=1e-3)
    assert point.excess <= 1 + 1e-3
    assert amplification(point.matrix) <= gamma * (1 + 1e-9)


def random_staircase(n: int, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """A channel of this amplification: rows of ones and gammas, mixed at random so that columns sum to one."""
    rows = [np.where(rng.permutation(n) < size, gamma, 1.0) for size in rng.integers(1, n, 3)]
    cycles = [np.stack([np.roll(row, step) for step in range(n)]) / row.sum() for row in rows]
    shares = rng.dirichlet(np.full(3, 0.5))
    return np.vstack([share * cycle for share, cycle in zip(shares, cycles, strict=True)])


@pytest.mark.parametrize("purpose", ["mean", "cumulative", "3*mean + shares", "contrast:1=1,4=-1"])
def test_no_channel_beats_the_bound_of_a_purpose(purpose: str) -> None:
    prior, rng = np.array([0.4, 0.3, 0.2, 0.1]), np.random.default_rng(11)
    for bounds in ({"gamma": 3.0}, {"delta": 0.75, "points": 3}):
        front = exact_front(prior, 1, purpose=purpose, **bounds)
        problem = front.problem()
        for point in front.points:
            assert -1e-9 <= point.excess - 1 <= 1e-3
            assert point.mse == pytest.approx(problem.mse_of(point.matrix), rel=1e-12)
        if "gamma" in bounds:
            others = [problem.mse_of(random_staircase(4, 3.0, rng)) for _ in range(300)]
            assert sum(map(math.isfinite, others)) > 100
            assert min(others) >= front.points[0].lower_bound


def test_the_best_channel_for_a_mean_is_found_by_a_general_solver_too() -> None:
    """The same problem handed to scipy: weights of all staircases, the variance of the mean as it is written in FORMULAS 16."""
    from scipy.optimize import minimize

    prior, gamma, numbers = np.array([0.1, 0.2, 0.3, 0.4]), 3.0, np.arange(4) / 3
    codes = np.arange(1, 2**4 - 1)
    rows = 1 + (gamma - 1) * (codes[:, None] >> np.arange(4) & 1)
    seen = rows / np.sqrt(rows @ prior)[:, None]

    def variance(weights: np.ndarray) -> float:
        information = (seen.T * weights) @ seen + 1e-12 * np.eye(4)
        return float(numbers @ np.linalg.solve(information, numbers) - (numbers @ prior) ** 2)

    start = np.full(len(rows), 1 / rows.sum(axis=0)[0])
    equal = {"type": "eq", "fun": lambda weights: rows.T @ weights - 1}
    general = minimize(variance, start, bounds=[(0, None)] * len(rows), constraints=[equal], options={"maxiter": 500})
    point = exact_front(prior, 1, gamma=gamma, purpose="mean").points[0]
    assert point.mse == pytest.approx(general.fun, rel=2e-3)
    assert point.mse <= general.fun * (1 + 1e-5)


def test_beyond_what_can_be_listed_the_gap_of_a_mean_is_stated() -> None:
    front = exact_front(np.full(23, 1 / 23), 1000, delta=0.3, privacy=0.8, purpose="mean")
    assert 1e-3 < front.points[0].gap < 0.5
    assert "is proved up to" in front.warnings[0]


def test_a_front_for_a_mean_is_written_and_read_again() -> None:
    front = exact_front([0.2, 0.3, 0.5], 100, gamma=3, purpose="mean", answers=("0", "1", "5"))
    again = front_from_document(front.to_document())
    assert again.purpose is not None
    assert again.purpose.text == "mean"
    assert again.problem().mse_of(again.points[0].matrix) == pytest.approx(front.points[0].mse)
    assert choose_point(again, respondents=1000, margin=0.2).mse == front.points[0].mse
    assert "for mean" in str(again)


@pytest.mark.parametrize(
    ("purpose", "message"),
    [
        ("average", "A purpose is shares:a, mean:a"),
        ("0*mean", "The importance in '0\\*mean'"),
        ("x*mean", "The importance in 'x\\*mean'"),
        ("mean:a + shares:b", "Attribute 'b'"),
        ("contrast:1", "gives weights to answers"),
        ("contrast:9=1", "Answer '9'"),
        ("contrast:1=one", "is a number, not 'one'"),
        ("contrast:1=1,2=1,3=1", "the same weight"),
    ],
)
def test_a_purpose_that_cannot_be_read_is_refused(purpose: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        exact_front([0.2, 0.3, 0.5], 100, gamma=3, purpose=purpose)


def test_a_mean_needs_answers_with_numbers_that_differ() -> None:
    with pytest.raises(InvalidInput, match="are no numbers"):
        exact_front([0.5, 0.5], 100, gamma=3, purpose="mean", answers=("no", "yes"))
    with pytest.raises(InvalidInput, match="their mean is known"):
        exact_front([0.5, 0.5], 100, gamma=3, purpose="mean", answers=("1", "1.0"))
    with pytest.raises(InvalidInput, match="a purpose is not for it"):
        FrontPreferences(method="optrr", purpose="mean")
