"""The compiled steps of OptRR against plain readings of the publication."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.channel.dense import expected_mse, map_privacy, worst_posterior
from tacit.design import _lagrangian_kernels as lagrangian
from tacit.design import _matrix_kernels as matrices
from tacit.design import _optrr_kernels as steps
from tacit.design import _polish_kernels as polishing
from tacit.design.priors import named_prior
from tacit.design.problem import Posed, closeness

PRIOR = named_prior("normal", 6)
N = len(PRIOR)
POSED = Posed(PRIOR, np.eye(N), True, 0.7)


def random_matrices(count: int, seed: int) -> np.ndarray:
    drawn = np.empty((count, N, N))
    steps.first_population(drawn, PRIOR, 1.0, np.random.default_rng(seed))
    return drawn


def test_measures_agree_with_the_measures_of_a_channel() -> None:
    measured = random_matrices(30, seed=1)
    privacy, trace = np.empty(30), np.empty(30)
    for accuracy, exact in ((np.eye(N), True), (np.eye(N), False), (closeness(N), False)):
        steps.measure(measured, Posed(PRIOR, accuracy, exact, 1.0), privacy, trace)
        for matrix, p, t in zip(measured, privacy, trace, strict=True):
            assert p == pytest.approx(map_privacy(matrix, PRIOR, accuracy))
            assert (t - PRIOR @ PRIOR) / (N * 100) == pytest.approx(expected_mse(matrix, PRIOR, 100), rel=1e-8)


def test_a_singular_matrix_has_infinite_error() -> None:
    room = np.empty((N, N)), np.empty(N, dtype=np.intp)
    assert matrices.inverse_trace(np.full((N, N), 1 / N), PRIOR, *room) == np.inf


def test_the_inverse_is_the_inverse() -> None:
    inverse, order = np.empty((N, N)), np.empty(N, dtype=np.intp)
    for matrix in np.random.default_rng(2).normal(size=(50, N, N)):
        matrix[0, 0] = 0.0  # the first pivot must be found in another row
        assert matrices.invert(matrix, inverse, order)
        np.testing.assert_allclose(inverse @ matrix, np.eye(N), atol=1e-9)


@pytest.mark.parametrize("delta", [0.35, 0.5, 0.8])
def test_repair_meets_the_bound_and_keeps_columns_distributions(delta: float) -> None:
    broken = random_matrices(200, seed=2)
    assert max(worst_posterior(matrix, PRIOR) for matrix in broken) > delta
    for matrix in broken:
        matrices.repair(matrix, PRIOR, delta)
        assert worst_posterior(matrix, PRIOR) <= delta + 1e-9
        assert matrix.min() >= 0
        np.testing.assert_allclose(matrix.sum(axis=0), 1, atol=1e-9)


def test_a_matrix_that_keeps_the_bound_is_not_touched() -> None:
    matrix = np.full((N, N), 0.9 / N) + 0.1 * np.eye(N)
    kept = matrix.copy()
    matrices.repair(matrix, PRIOR, 0.8)
    np.testing.assert_array_equal(matrix, kept)


def test_crossover_swaps_the_columns_right_of_a_cut() -> None:
    rng = np.random.default_rng(3)
    first, second = random_matrices(2, seed=3)
    a, b = first.copy(), second.copy()
    steps.cross(a, b, rng)
    swapped = [bool((a[:, u] == second[:, u]).all()) for u in range(N)]
    assert swapped == sorted(swapped)
    assert 1 <= sum(swapped) <= N - 1
    np.testing.assert_array_equal(a + b, first + second)


def test_mutation_changes_one_column_and_keeps_it_a_distribution() -> None:
    rng = np.random.default_rng(4)
    for matrix in random_matrices(300, seed=4):
        before = matrix.copy()
        steps.mutate(matrix, rng)
        assert (np.abs(matrix - before).max(axis=0) > 0).sum() <= 1
        assert matrix.min() >= 0
        np.testing.assert_allclose(matrix.sum(axis=0), 1, atol=1e-12)


def plain_fitness(scaled: np.ndarray) -> np.ndarray:
    """SPEA2's fitness read off its definition."""
    dominates = (scaled[:, None] <= scaled).all(axis=2) & (scaled[:, None] < scaled).any(axis=2)
    strength = dominates.sum(axis=1)
    raw = (dominates * strength[:, None]).sum(axis=0)
    distance = np.linalg.norm(scaled[:, None] - scaled, axis=2)
    np.fill_diagonal(distance, np.inf)
    return raw + 1 / (distance.min(axis=1) + 2)


def test_fitness_is_strength_of_dominators_plus_density() -> None:
    scaled = np.random.default_rng(5).random((60, 2)).round(2)  # rounded: ties and equal points occur
    np.testing.assert_allclose(steps.spea2_fitness(scaled), plain_fitness(scaled))


def plain_truncation(points: np.ndarray, size: int) -> set[int]:
    """SPEA2's truncation read off its definition: remove the point whose sorted distances come first."""
    alive = list(range(len(points)))
    while len(alive) > size:
        distances = {i: sorted(((points[i] - points[j]) ** 2).sum() for j in alive if j != i) for i in alive}
        alive.remove(min(alive, key=lambda i: distances[i]))
    return set(alive)


def test_truncation_removes_the_most_crowded_one_by_one() -> None:
    rng = np.random.default_rng(6)
    privacy = np.sort(rng.random(50))
    front = np.stack([privacy, np.sort(rng.random(50))[::-1]], axis=1)
    chosen = steps.environmental_selection(front, steps.spea2_fitness(front), 20)
    assert set(chosen.tolist()) == plain_truncation(front, 20)


def test_too_few_undominated_are_filled_up_by_fitness() -> None:
    scaled = np.random.default_rng(7).random((40, 2))
    fitness = steps.spea2_fitness(scaled)
    chosen = steps.environmental_selection(scaled, fitness, 30)
    assert set(chosen.tolist()) == set(np.argsort(fitness)[:30].tolist())


def test_the_lower_error_replaces_the_other_in_either_direction() -> None:
    best, best_privacy, best_trace = np.zeros((10, N, N)), np.zeros(10), np.full(10, np.inf)
    young = random_matrices(2, seed=8)
    originals = young.copy()
    privacy, trace = np.array([0.55, 0.58]), np.array([3.0, 2.0])
    changed = steps.meet_optimal_set(young, privacy, trace, best, best_privacy, best_trace)
    assert changed
    np.testing.assert_array_equal(best[5], originals[1])
    again = originals.copy()
    privacy, trace = np.array([0.55, 0.58]), np.array([3.0, 2.0])
    assert not steps.meet_optimal_set(again, privacy, trace, best, best_privacy, best_trace)
    np.testing.assert_array_equal(again[0], originals[1])
    assert trace[0] == 2.0


@pytest.mark.parametrize("accuracy", [np.eye(N), closeness(N)], ids=["exact", "closeness"])
def test_the_polish_has_the_right_gradient(accuracy: np.ndarray) -> None:
    rng = np.random.default_rng(9)
    matrix = random_matrices(1, seed=9)[0]
    exact = bool((accuracy == np.eye(N)).all())
    guesses, multipliers = rng.integers(0, N, N), rng.random((3, N, N))
    multipliers[0, np.arange(N), guesses] = 0.0  # a guess does not compete with itself
    work, order = np.empty((lagrangian.USED_MATRICES, N, N)), np.empty(N, dtype=np.intp)

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        at, gradient = flat.reshape(N, N).copy(), np.empty((N, N))
        total = lagrangian.log_trace(at, PRIOR, gradient, work, order)
        bounds = lagrangian.Lagrangian(guesses, 0.3, multipliers, 7.0)
        total += lagrangian.add_bounds(at, Posed(PRIOR, accuracy, exact, 0.6), bounds, gradient, work)
        return total, gradient.ravel()

    _, gradient = value(matrix.ravel())
    steps_ = 1e-6 * np.eye(N * N)
    numeric = [(value(matrix.ravel() + e)[0] - value(matrix.ravel() - e)[0]) / 2e-6 for e in steps_]
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


def test_projection_finds_the_nearest_distribution() -> None:
    rng = np.random.default_rng(10)
    for _ in range(50):
        values = rng.normal(size=N)
        shift = polishing.simplex_shift(values)
        nearest = np.maximum(values - shift, 0)
        assert nearest.sum() == pytest.approx(1)
        for other in rng.dirichlet(np.ones(N), 20):
            assert (values - nearest) @ (other - nearest) <= 1e-12


def test_projection_stands_values_of_any_size() -> None:
    values = np.array([1e17, 1e17, 3.0, -1e17, 0.0, 2.0])
    shift = polishing.simplex_shift(values)
    assert np.isfinite(shift)
    assert (np.maximum(values - shift, 0)[2:] == 0).all()


def test_a_guess_that_wants_to_gain_less_gives_way() -> None:
    """Multipliers of the other guesses above the budget's price: the fixed guess is the wrong one."""
    guesses, multipliers = np.zeros(N, dtype=np.intp), np.zeros((3, N, N))
    multipliers[2, 0, 0] = 1.0
    multipliers[0, 0, 2], multipliers[0, 0, 3] = 0.5, 0.6
    multipliers[0, 1, 4] = 0.9
    assert lagrangian.change_guesses(guesses, multipliers) == 1
    assert guesses.tolist() == [3, 0, 0, 0, 0, 0]
    assert multipliers[0, 0, 3] == 0.0


def test_a_descent_from_anywhere_ends_within_the_bounds() -> None:
    for matrix in random_matrices(10, seed=12):
        worst = polishing.polish(matrix, POSED, polishing.Aim(0.5, 2.0, 600.0, np.inf), 40, 300)
        assert worst <= 1e-5
        assert map_privacy(matrix, PRIOR) >= 0.5 - 1e-4
        assert worst_posterior(matrix, PRIOR) <= 0.7 + 1e-2
        np.testing.assert_allclose(matrix.sum(axis=0), 1, atol=1e-9)


def test_a_hopeless_descent_is_given_up() -> None:
    start = random_matrices(1, seed=13)[0]
    finished, given_up = start.copy(), start.copy()
    for matrix, hopeless in ((finished, np.inf), (given_up, 0.0)):
        polishing.polish(matrix, POSED, polishing.Aim(0.5, 2.0, 600.0, hopeless), 40, 300)
    assert np.abs(finished - given_up).max() > 1e-6
