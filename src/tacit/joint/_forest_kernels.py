"""Messages along the branches of a forest: likelihood, posteriors and likeliest records of reports.

A report speaks for each attribute by a vector of evidence; a sum of products gives several such vectors, each with a
scale. ``evidence[row, term, slot]`` has one slot for each answer of each attribute; ``tables[component, cell]`` holds for
each attribute its distribution given every answer of its parent, roots as if their parent had one answer. Attributes come
in an order in which parents precede their children.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Float = NDArray[np.float64]
Integers = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _upward(
    evidence: Float, table: Float, parents: Integers, slots: Integers, cells: Integers, inner: Float, message: Float
) -> float:
    """Gather evidence from the leaves to the roots; returns the logarithm of its chance.

    `inner` becomes the evidence of each answer and all below it, `message` what each attribute tells its parent.
    """
    n = parents.shape[0]
    for slot in range(slots[n]):
        inner[slot] = evidence[slot]
    logs = 0.0
    for j in range(n - 1, -1, -1):
        size = slots[j + 1] - slots[j]
        top = 0.0
        for u in range(size):
            top = max(top, inner[slots[j] + u])
        if top <= 0.0:
            return -np.inf
        logs += math.log(top)
        for u in range(size):
            inner[slots[j] + u] /= top
        above = parents[j]
        span = (cells[j + 1] - cells[j]) // size
        for up in range(span):
            told = 0.0
            for u in range(size):
                told += table[cells[j] + up * size + u] * inner[slots[j] + u]
            if above >= 0:
                message[j, up] = told
                inner[slots[above] + up] *= told
            elif told <= 0.0:
                return -np.inf
            else:
                message[j, 0] = told
                logs += math.log(told)
    return logs


@njit(cache=True, nogil=True)
def _downward(
    share: float,
    people: float,
    table: Float,
    parents: Integers,
    slots: Integers,
    cells: Integers,
    inner: Float,
    message: Float,
    belief: Float,
    counts: Float,
    answers: Float,
) -> None:
    """Hand the posterior down to the leaves: its share goes to the answers, and so many people to the counts of pairs."""
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


@njit(cache=True, nogil=True)
def _widest(slots: Integers, cells: Integers) -> int:
    """The most answers that any parent has."""
    widest = 1
    for j in range(slots.shape[0] - 1):
        widest = max(widest, (cells[j + 1] - cells[j]) // (slots[j + 1] - slots[j]))
    return widest


@njit(cache=True, nogil=True)
def _summed(logs: Float, scales: Float) -> tuple[float, float]:
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


@njit(cache=True, nogil=True)
def _best_answer(table: Float, inner: Float) -> tuple[int, float]:
    """The answer for which the product of the two is largest, and that product."""
    best, highest = 0, -1.0
    for u in range(inner.shape[0]):
        if table[u] * inner[u] > highest:
            best, highest = u, table[u] * inner[u]
    return best, highest


@njit(cache=True, nogil=True)
def propagate(
    evidence: Float,
    scales: Float,
    people: Float,
    weights: Float,
    tables: Float,
    parents: Integers,
    slots: Integers,
    cells: Integers,
) -> tuple[Float, Float, Float, Float]:
    """Log-likelihood of each row, people by component and cell, people by component, posterior answers of each row."""
    n_rows, n_terms, n_slots = evidence.shape
    K = weights.shape[0]
    inner, belief = np.empty(n_slots), np.empty(n_slots)
    message = np.empty((parents.shape[0], _widest(slots, cells)))
    logs = np.empty((n_terms, K))
    reached = np.empty(n_rows)
    counts = np.zeros((K, cells[parents.shape[0]]))
    in_components = np.zeros(K)
    answers = np.zeros((n_rows, n_slots))
    for row in range(n_rows):
        for t in range(n_terms):
            for k in range(K):
                log = _upward(evidence[row, t], tables[k], parents, slots, cells, inner, message)
                logs[t, k] = log + math.log(max(weights[k], 1e-300))
        top, whole = _summed(logs, scales[row])
        if whole <= 0.0:
            reached[row] = -np.inf
            continue
        reached[row] = top + math.log(whole)
        for t in range(n_terms):
            for k in range(K):
                share = scales[row, t] * math.exp(logs[t, k] - top) / whole
                if share == 0.0:
                    continue
                if n_terms * K > 1:
                    _upward(evidence[row, t], tables[k], parents, slots, cells, inner, message)
                in_components[k] += people[row] * share
                _downward(
                    share,
                    people[row],
                    tables[k],
                    parents,
                    slots,
                    cells,
                    inner,
                    message,
                    belief,
                    counts[k],
                    answers[row],
                )
    return reached, counts, in_components, answers


@njit(cache=True, nogil=True)
def likeliest(evidence: Float, table: Float, parents: Integers, slots: Integers, cells: Integers) -> NDArray[np.int64]:
    """The likeliest record of each row for one term and one component (max-product)."""
    n_rows, n_slots = evidence.shape
    n = parents.shape[0]
    best = np.zeros((n_rows, n), dtype=np.int64)
    inner = np.empty(n_slots)
    choice = np.zeros((n, _widest(slots, cells)), dtype=np.int64)
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
                own = inner[slots[j] : slots[j + 1]]
                choice[j, up], highest = _best_answer(table[start : start + size], own)
                if above >= 0:
                    inner[slots[above] + up] *= highest / top
        for j in range(n):
            best[row, j] = choice[j, best[row, parents[j]] if parents[j] >= 0 else 0]
    return best
