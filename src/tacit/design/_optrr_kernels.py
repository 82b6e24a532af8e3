"""OptRR's generations, compiled: SPEA2 on matrices with an optimal set indexed by privacy (Huang and Du 2008)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.design._matrix_kernels import exact_guesses, inverse_trace, repair, right_guesses
from tacit.design.problem import Posed
from tacit.kernels import inner_kernel, kernel

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


@kernel
def measure(matrices: Array, posed: Posed, privacy: Array, trace: Array) -> None:
    """Fill the two objectives of every matrix."""
    prior = posed.prior
    n = prior.shape[0]
    inverse, order = np.empty((n, n)), np.empty(n, dtype=np.intp)
    for i in range(matrices.shape[0]):
        guessed = (
            exact_guesses(matrices[i], prior) if posed.is_exact else right_guesses(matrices[i], prior, posed.accuracy)
        )
        privacy[i] = 1.0 - guessed
        trace[i] = inverse_trace(matrices[i], prior, inverse, order)


@kernel
def first_population(matrices: Array, prior: Array, delta: float, rng: np.random.Generator) -> None:
    """Random matrices between pure chance and the truth, so that the first generation spans the privacies."""
    size, n = matrices.shape[0], matrices.shape[1]
    for i in range(size):
        keep = rng.random()
        for u in range(n):
            total = 0.0
            for v in range(n):
                matrices[i, v, u] = -np.log(1.0 - rng.random())
                total += matrices[i, v, u]
            for v in range(n):
                truth = keep if v == u else 0.0
                matrices[i, v, u] = truth + (1.0 - keep) * matrices[i, v, u] / total
        repair(matrices[i], prior, delta)


@kernel
def cross(first: Array, second: Array, rng: np.random.Generator) -> None:
    """Swap all columns right of a random cut."""
    n = first.shape[0]
    for u in range(1 + int(rng.random() * (n - 1)), n):
        for v in range(n):
            first[v, u], second[v, u] = second[v, u], first[v, u]


@kernel
def mutate(matrix: Array, rng: np.random.Generator) -> None:
    """Move chance within one column: to one entry from the others in proportion, or from it to where there is room."""
    n = matrix.shape[0]
    u = int(rng.random() * n)
    v = int(rng.random() * n)
    value = matrix[v, u]
    # Small steps must be likely or the search stays coarse; large ones must be possible.
    size = rng.random() ** 3
    if rng.random() < 0.5:
        change = size * (1.0 - value)
        others = 1.0 - value
        if others <= 0.0:
            return
        for i in range(n):
            matrix[i, u] -= change * matrix[i, u] / others if i != v else -change
    else:
        change = size * value
        for i in range(n):
            matrix[i, u] += change * (1.0 - matrix[i, u]) / (n - 2.0 + value) if i != v else -change
    total = 0.0
    for i in range(n):
        matrix[i, u] = max(matrix[i, u], 0.0)
        total += matrix[i, u]
    for i in range(n):
        matrix[i, u] /= total


@inner_kernel
def scaled_objectives(privacy: Array, trace: Array) -> Array:
    """Privacy and the logarithm of the error, each brought to [0, 1] over those that are finite."""
    size = privacy.shape[0]
    scaled = np.empty((size, 2))
    low = np.array([np.inf, np.inf])
    high = np.array([-np.inf, -np.inf])
    for i in range(size):
        scaled[i, 0] = -privacy[i]
        scaled[i, 1] = np.log(trace[i])
        if np.isfinite(scaled[i, 1]):
            for k in range(2):
                low[k] = min(low[k], scaled[i, k])
                high[k] = max(high[k], scaled[i, k])
    for k in range(2):
        span = high[k] - low[k] if high[k] > low[k] else 1.0
        for i in range(size):
            scaled[i, k] = (scaled[i, k] - low[k]) / span if np.isfinite(scaled[i, k]) else 2.0
    return scaled


@kernel
def spea2_fitness(scaled: Array) -> Array:
    """Strength of the dominators plus density ``1 / (distance to the nearest + 2)``; below one: not dominated."""
    size = scaled.shape[0]
    strength = np.zeros(size)
    nearest = np.full(size, np.inf)
    for i in range(size):
        for j in range(i):
            a, b = scaled[i, 0] - scaled[j, 0], scaled[i, 1] - scaled[j, 1]
            distance = a * a + b * b
            nearest[i] = min(nearest[i], distance)
            nearest[j] = min(nearest[j], distance)
            if a <= 0.0 and b <= 0.0 and (a < 0.0 or b < 0.0):
                strength[i] += 1
            elif a >= 0.0 and b >= 0.0 and (a > 0.0 or b > 0.0):
                strength[j] += 1
    fitness = np.empty(size)
    for i in range(size):
        fitness[i] = 1.0 / (np.sqrt(nearest[i]) + 2.0)
        for j in range(size):
            a, b = scaled[i, 0] - scaled[j, 0], scaled[i, 1] - scaled[j, 1]
            if a >= 0.0 and b >= 0.0 and (a > 0.0 or b > 0.0):
                fitness[i] += strength[j]
    return fitness


@kernel
def environmental_selection(scaled: Array, fitness: Array, size: int) -> Codes:
    """Indices of the next archive: the undominated, truncated where too many, filled by fitness where too few."""
    order = np.argsort(fitness)
    n_undominated = 0
    while n_undominated < fitness.shape[0] and fitness[order[n_undominated]] < 1.0:
        n_undominated += 1
    if n_undominated <= size:
        return order[:size]
    return truncate(scaled, order[:n_undominated], size)


@inner_kernel
def truncate(scaled: Array, undominated: Codes, size: int) -> Codes:
    """Remove, one at a time, the point nearest to its neighbours until `size` remain.

    Along an undominated front of two objectives distance grows with rank, so the neighbours of a point by distance are
    found by walking outwards from it in the order of the first objective.
    """
    count = undominated.shape[0]
    ranked = undominated[np.argsort(scaled[undominated, 0])]
    before, after = np.arange(-1, count - 1), np.arange(1, count + 1)
    nearest = np.empty(count)  # infinite once removed
    for i in range(count):
        nearest[i] = _nearest(i, before, after, scaled, ranked)
    for _ in range(count - size):
        crowded = 0
        for i in range(1, count):
            closer = nearest[i] < nearest[crowded]
            if closer or (
                nearest[i] == nearest[crowded] < np.inf and _more_crowded(i, crowded, before, after, scaled, ranked)
            ):
                crowded = i
        nearest[crowded] = np.inf
        left, right = before[crowded], after[crowded]
        if left >= 0:
            after[left] = right
            nearest[left] = _nearest(left, before, after, scaled, ranked)
        if right < count:
            before[right] = left
            nearest[right] = _nearest(right, before, after, scaled, ranked)
    return ranked[nearest < np.inf]


@inner_kernel
def _nearest(i: int, before: Codes, after: Codes, scaled: Array, ranked: Codes) -> float:
    return min(_distance(i, before[i], scaled, ranked), _distance(i, after[i], scaled, ranked))


@inner_kernel
def _distance(i: int, j: int, scaled: Array, ranked: Codes) -> float:
    if j < 0 or j >= ranked.shape[0]:
        return np.inf
    a = scaled[ranked[i], 0] - scaled[ranked[j], 0]
    b = scaled[ranked[i], 1] - scaled[ranked[j], 1]
    return a * a + b * b


@inner_kernel
def _more_crowded(i: int, j: int, before: Codes, after: Codes, scaled: Array, ranked: Codes) -> bool:
    """Whether the sorted distances of i to all others come before those of j (SPEA2's truncation order)."""
    left_i, right_i, left_j, right_j = before[i], after[i], before[j], after[j]
    while True:
        near_i, far_i = _distance(i, left_i, scaled, ranked), _distance(i, right_i, scaled, ranked)
        near_j, far_j = _distance(j, left_j, scaled, ranked), _distance(j, right_j, scaled, ranked)
        next_i, next_j = min(near_i, far_i), min(near_j, far_j)
        if next_i != next_j or next_i == np.inf:
            return next_i < next_j
        if near_i <= far_i:
            left_i = before[left_i]
        else:
            right_i = after[right_i]
        if near_j <= far_j:
            left_j = before[left_j]
        else:
            right_j = after[right_j]


@kernel
def meet_optimal_set(
    matrices: Array, privacy: Array, trace: Array, best: Array, best_privacy: Array, best_trace: Array
) -> bool:
    """Every matrix meets its privacy's slot: the lower error replaces the higher, in either direction."""
    slots = best_trace.shape[0]
    changed = False
    for i in range(matrices.shape[0]):
        slot = min(max(int(slots * privacy[i]), 0), slots - 1)
        if trace[i] < best_trace[slot]:
            best[slot] = matrices[i]
            best_privacy[slot], best_trace[slot] = privacy[i], trace[i]
            changed = True
        elif best_trace[slot] < trace[i]:
            matrices[i] = best[slot]
            privacy[i], trace[i] = best_privacy[slot], best_trace[slot]
    return changed


@inner_kernel
def offspring(
    parents: Array,
    fitness: Array,
    children: Array,
    crossover_rate: float,
    mutation_rate: float,
    rng: np.random.Generator,
) -> None:
    """Binary tournaments, column crossover, column mutation."""
    size, count = children.shape[0], parents.shape[0]
    for i in range(size):
        a, b = int(rng.random() * count), int(rng.random() * count)
        children[i] = parents[a if fitness[a] <= fitness[b] else b]
    for i in range(0, size - 1, 2):
        if rng.random() < crossover_rate:
            cross(children[i], children[i + 1], rng)
    for i in range(size):
        if rng.random() < mutation_rate:
            mutate(children[i], rng)


@kernel
def evolve(
    generations: int,
    patience: int,
    idle: int,
    population: tuple[Array, Array, Array],
    archive: tuple[Array, Array, Array],
    optimal: tuple[Array, Array, Array],
    posed: Posed,
    rates: Array,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Run up to `generations`; population, archive and optimal set are (matrices, privacy, trace) and change in place.

    Returns the generations run and how many of the last ones left the optimal set unchanged.
    """
    young, young_privacy, young_trace = population
    old, old_privacy, old_trace = archive
    best, best_privacy, best_trace = optimal
    for generation in range(generations):
        if idle >= patience:
            return generation, idle
        matrices = np.concatenate((young, old))
        privacy = np.concatenate((young_privacy, old_privacy))
        trace = np.concatenate((young_trace, old_trace))
        scaled = scaled_objectives(privacy, trace)
        fitness = spea2_fitness(scaled)
        chosen = environmental_selection(scaled, fitness, old.shape[0])
        for i in range(old.shape[0]):
            old[i] = matrices[chosen[i]]
            old_privacy[i], old_trace[i] = privacy[chosen[i]], trace[chosen[i]]
        offspring(old, fitness[chosen], young, rates[0], rates[1], rng)
        for i in range(young.shape[0]):
            repair(young[i], posed.prior, posed.delta)
        measure(young, posed, young_privacy, young_trace)
        changed = meet_optimal_set(young, young_privacy, young_trace, best, best_privacy, best_trace)
        changed |= meet_optimal_set(old, old_privacy, old_trace, best, best_privacy, best_trace)
        idle = 0 if changed else idle + 1
    return generations, idle
