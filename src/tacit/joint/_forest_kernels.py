"""Messages along the branches of a forest: likelihood, posteriors and likeliest records of reports.

A report speaks for each attribute by a vector of evidence; a sum of products gives several such vectors, each with a
scale. ``evidence[row, term, slot]`` has one slot for each answer of each attribute; ``tables[component, cell]`` holds for
each attribute its distribution given every answer of its parent, roots as if their parent had one answer. Attributes come
in an order in which parents precede their children.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import unlocked_kernel

Float = NDArray[np.float64]
Integers = NDArray[np.int64]


# Scales are gathered in a product whose logarithm is taken before it could vanish.
SMALLEST = 1e-200
# Posteriors below this are left out; rounding errors are larger.
NEGLIGIBLE = 1e-12


class Branches(NamedTuple):
    """Where things are in a forest's arrays, attributes in an order in which parents come first."""

    parents: Integers  # the place of each attribute's parent; -1 for roots
    slots: Integers  # where the answers of each attribute begin, and where the last end
    cells: Integers  # where each attribute's distributions given its parent begin, and where the last end


@unlocked_kernel
def _upward(evidence: Float, table: Float, branches: Branches, inner: Float, message: Float) -> float:
    """Gather evidence from the leaves to the roots; returns the logarithm of its chance.

    `inner` becomes the evidence of each answer and all below it, `message` what each attribute tells its parent.
    """
    parents, slots, cells = branches
    n = parents.shape[0]
    for slot in range(slots[n]):
        inner[slot] = evidence[slot]
    logs, scale = 0.0, 1.0
    for j in range(n - 1, -1, -1):
        start, size, above = slots[j], slots[j + 1] - slots[j], parents[j]
        for up in range((cells[j + 1] - cells[j]) // size):
            total = 0.0
            for u in range(size):
                total += table[cells[j] + up * size + u] * inner[start + u]
            message[j, up] = total
        scale *= _handed_up(message[j], inner, slots, above)
        if scale <= 0.0:
            return -np.inf
        if scale < SMALLEST:
            logs += math.log(scale)
            scale = 1.0
    return logs + math.log(scale)


@unlocked_kernel
def _handed_up(message: Float, inner: Float, slots: Integers, above: int) -> float:
    """Multiply the parent's evidence by a message, scaled so that its largest entry is one; returns the scale."""
    if above < 0:
        return message[0]
    size = slots[above + 1] - slots[above]
    top = 0.0
    for up in range(size):
        top = max(top, message[up])
    if top > 0.0:
        for up in range(size):
            inner[slots[above] + up] *= message[up] / top
    return top


@unlocked_kernel
def _downward(
    share: float,
    people: float,
    table: Float,
    branches: Branches,
    inner: Float,
    message: Float,
    belief: Float,
    counts: Float,
    answers: Float,
) -> None:
    """Hand the posterior down to the leaves: its share goes to the answers, and so many people to the counts of pairs."""
    parents, slots, cells = branches
    for j in range(parents.shape[0]):
        size = slots[j + 1] - slots[j]
        above = parents[j]
        for u in range(size):
            belief[slots[j] + u] = 0.0
        for up in range((cells[j + 1] - cells[j]) // size):
            if message[j, up] <= 0.0:
                continue
            here = (belief[slots[above] + up] if above >= 0 else 1.0) / message[j, up]
            for u in range(size):
                cell = cells[j] + up * size + u
                pair = here * table[cell] * inner[slots[j] + u]
                belief[slots[j] + u] += pair
                counts[cell] += people * share * pair
        for u in range(size):
            answers[slots[j] + u] += share * belief[slots[j] + u]


@unlocked_kernel
def _widest(branches: Branches) -> int:
    """The most answers that any parent has."""
    slots, cells, widest = branches.slots, branches.cells, 1
    for j in range(slots.shape[0] - 1):
        widest = max(widest, (cells[j + 1] - cells[j]) // (slots[j + 1] - slots[j]))
    return widest


@unlocked_kernel
def _sum_logarithms(logs: Float, scales: Float) -> tuple[float, float]:
    """The largest logarithm of terms that count, and the scaled sum of all terms in its units."""
    top = -np.inf
    for t in range(logs.shape[0]):
        for k in range(logs.shape[1]):
            if scales[t] != 0.0:
                top = max(top, logs[t, k])
    whole = 0.0
    if top > -np.inf:
        for t in range(logs.shape[0]):
            for k in range(logs.shape[1]):
                whole += scales[t] * math.exp(logs[t, k] - top)
    return top, whole


@unlocked_kernel
def _best_answer(table: Float, inner: Float) -> tuple[int, float]:
    """The answer for which the product of the two is largest, and that product."""
    best, highest = 0, -1.0
    for u in range(inner.shape[0]):
        if table[u] * inner[u] > highest:
            best, highest = u, table[u] * inner[u]
    return best, highest


@unlocked_kernel
def propagate(
    evidence: Float,
    scales: Float,
    free: NDArray[np.bool_],
    people: Float,
    weights: Float,
    tables: Float,
    branches: Branches,
) -> tuple[Float, Float, Float, Float]:
    """Log-likelihood of each row, people by component and cell, people by component, posterior answers of each row.

    Terms that are `free` say nothing of any answer: what they leave is the prior, which is handed down once.
    """
    n_rows, n_terms, n_slots = evidence.shape
    n, K = branches.parents.shape[0], weights.shape[0]
    inner, message = np.empty((n_terms, K, n_slots)), np.empty((n_terms, K, n, _widest(branches)))
    belief, logs = np.empty(n_slots), np.empty((n_terms, K))
    reached, answers = np.empty(n_rows), np.zeros((n_rows, n_slots))
    counts, in_components, unasked = np.zeros((K, branches.cells[n])), np.zeros(K), np.zeros(K)
    prior_counts, prior_answers = _priors(tables, branches)
    for row in range(n_rows):
        for t in range(n_terms):
            _gather_evidence(evidence[row, t], free[t], weights, tables, branches, inner[t], message[t], logs[t])
        top, whole = _sum_logarithms(logs, scales[row])
        if whole <= 0.0:
            reached[row] = -np.inf
            continue
        reached[row] = top + math.log(whole)
        for t in range(n_terms):
            for k in range(K):
                share = scales[row, t] * math.exp(logs[t, k] - top) / whole
                if abs(share) < NEGLIGIBLE:
                    continue
                in_components[k] += people[row] * share
                if free[t]:
                    unasked[k] += people[row] * share
                    answers[row] += share * prior_answers[k]
                else:
                    _downward(
                        share,
                        people[row],
                        tables[k],
                        branches,
                        inner[t, k],
                        message[t, k],
                        belief,
                        counts[k],
                        answers[row],
                    )
    for k in range(K):
        counts[k] += unasked[k] * prior_counts[k]
    return reached, counts, in_components, answers


@unlocked_kernel
def _gather_evidence(
    evidence: Float,
    free: bool,
    weights: Float,
    tables: Float,
    branches: Branches,
    inner: Float,
    message: Float,
    logs: Float,
) -> None:
    """Gather the evidence of one term in every component; writes the logarithms of its chances into `logs`."""
    for k in range(weights.shape[0]):
        log = 0.0 if free else _upward(evidence, tables[k], branches, inner[k], message[k])
        logs[k] = log + math.log(max(weights[k], 1e-300))


@unlocked_kernel
def _priors(tables: Float, branches: Branches) -> tuple[Float, Float]:
    """Shares of pairs of a parent's and its child's answers, and of answers, where nothing is known."""
    K, n = tables.shape[0], branches.parents.shape[0]
    n_slots = branches.slots[n]
    counts, answers = np.zeros((K, branches.cells[n])), np.zeros((K, n_slots))
    inner, belief = np.ones(n_slots), np.empty(n_slots)
    message = np.ones((n, _widest(branches)))
    for k in range(K):
        _downward(1.0, 1.0, tables[k], branches, inner, message, belief, counts[k], answers[k])
    return counts, answers


@unlocked_kernel
def likeliest(evidence: Float, table: Float, branches: Branches) -> NDArray[np.int64]:
    """The likeliest record of each row for one term and one component (max-product)."""
    n_rows, n_slots = evidence.shape
    parents, slots, cells = branches
    n = parents.shape[0]
    best = np.zeros((n_rows, n), dtype=np.int64)
    inner = np.empty(n_slots)
    choice = np.zeros((n, _widest(branches)), dtype=np.int64)
    for row in range(n_rows):
        for slot in range(n_slots):
            inner[slot] = evidence[row, slot]
        for j in range(n - 1, -1, -1):
            size = slots[j + 1] - slots[j]
            top = 1e-300
            for u in range(size):
                top = max(top, inner[slots[j] + u])
            above = parents[j]
            for up in range((cells[j + 1] - cells[j]) // size):
                start = cells[j] + up * size
                below = inner[slots[j] : slots[j + 1]]
                choice[j, up], highest = _best_answer(table[start : start + size], below)
                if above >= 0:
                    inner[slots[above] + up] *= highest / top
        for j in range(n):
            best[row, j] = choice[j, best[row, parents[j]] if parents[j] >= 0 else 0]
    return best
