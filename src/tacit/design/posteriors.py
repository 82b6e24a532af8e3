"""The posteriors an optimal channel is made of: the vertices of what one report may say.

A channel is a distribution over posteriors whose mean is the prior. Where the privacy bounds are linear in a posterior
once its best guess is fixed, only the vertices of those pieces can occur in a channel of least error. Each function
returns them as rows ``[vertex, truth]``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput

Matrix = NDArray[np.float64]

# A posterior whose remainder is smaller than this is a uniform one, blurred by rounding.
ROUNDING = 1e-9
# Pricing reads every vertex, so the proof of optimality ends where they no longer fit in memory.
MOST_VERTICES = 2**21


def uniform_and_capped(n_answers: int, delta: float) -> Matrix:
    """Vertices under a bound on every posterior: uniform on a set, or as many entries `delta` as fit and the rest."""
    n_capped = math.floor(1 / delta + ROUNDING)
    remainder = 1 - n_capped * delta
    n_vertices = 2**n_answers + (math.comb(n_answers, n_capped) * n_answers if remainder > ROUNDING else 0)
    _refuse_too_many(n_answers, n_vertices)
    sets = _all_sets(n_answers)
    sizes = sets.sum(axis=1)
    uniform = sets[sizes * (delta + ROUNDING) >= 1]
    uniform = uniform / uniform.sum(axis=1, keepdims=True)
    if remainder <= ROUNDING or n_capped >= n_answers:
        return uniform
    capped = delta * sets[sizes == n_capped]
    holder, remaining = np.nonzero(capped == 0)
    capped = capped[holder]
    capped[np.arange(len(capped)), remaining] = remainder
    return np.concatenate([uniform, capped])


def staircase(prior: Matrix, gamma: float) -> Matrix:
    """Vertices under amplification alone: every answer makes the report either once or `gamma` times as likely."""
    _refuse_too_many(len(prior), 2 ** len(prior))
    likelihoods = 1 + (gamma - 1) * _all_sets(len(prior))[:-1]  # the full set says the same as no set at all
    everything = np.ones((1, len(prior)))
    joint = np.concatenate([likelihoods, everything]) * prior
    return joint / joint.sum(axis=1, keepdims=True)


def bounded_staircase(prior: Matrix, delta: float, gamma: float) -> Matrix:
    """Vertices under both bounds, for each best guess.

    With the least likelihood fixed at one, that of the best guess takes one of few values at a vertex, and every other
    answer sits at its lower or upper bound. The bound `delta` cuts the edges of these polytopes; the cuts are vertices
    too.
    """
    n = len(prior)
    _refuse_too_many(n, n * (2 * n + 2) * 2 ** (n - 1))
    pieces = [_vertices_with_best_guess(guess, prior, delta, gamma) for guess in range(n)]
    everything = np.concatenate(pieces)
    _, first = np.unique(np.round(everything, 12), axis=0, return_index=True)
    return everything[first]


def _vertices_with_best_guess(guess: int, prior: Matrix, delta: float, gamma: float) -> Matrix:
    """Posteriors at the vertices of the piece where `guess` is the likeliest answer."""
    n = len(prior)
    others = np.delete(np.arange(n), guess)
    ratios = prior[others] / prior[guess]
    # Where the guess's own likelihood meets a bound of its own or the two bounds of another answer meet.
    levels = np.unique(np.concatenate([[1.0, gamma], ratios, gamma * ratios]))
    levels = levels[(levels >= max(1.0, ratios.max(initial=0.0)) - ROUNDING) & (levels <= gamma + ROUNDING)]
    if not len(levels):
        return np.empty((0, n))
    high = _all_sets(n - 1, with_empty=True)[None]
    upper = np.minimum(gamma, levels[:, None] / ratios)[:, None, :]
    likelihoods = np.empty((len(levels), 2 ** (n - 1), n))
    likelihoods[:, :, others] = np.where(high > 0, upper, 1.0)
    likelihoods[:, :, guess] = levels[:, None]
    joint = likelihoods * prior
    room = delta * joint.sum(axis=2) - joint[:, :, guess]  # negative where the posterior exceeds delta
    parts = [joint[room >= -ROUNDING], *_cuts(joint, room)]
    vertices = np.concatenate(parts)
    return vertices / vertices.sum(axis=1, keepdims=True)


def _cuts(joint: Matrix, room: Matrix) -> list[Matrix]:
    """Points where the bound on the posterior cuts an edge between two vertices ``joint[level, set]``."""
    made = [_between(joint[:-1], joint[1:], room[:-1], room[1:])]
    sets = np.arange(joint.shape[1])
    for answer in range(joint.shape[2] - 1):
        without = sets[sets >> answer & 1 == 0]
        with_answer = without | 1 << answer
        made.append(_between(joint[:, without], joint[:, with_answer], room[:, without], room[:, with_answer]))
    return made


def _between(start: Matrix, end: Matrix, room_start: Matrix, room_end: Matrix) -> Matrix:
    crossed = room_start * room_end < 0
    share = (room_start[crossed] / (room_start[crossed] - room_end[crossed]))[:, None]
    return (1 - share) * start[crossed] + share * end[crossed]


def _all_sets(n_answers: int, *, with_empty: bool = False) -> Matrix:
    """Indicators of all sets of answers; row order is the binary code."""
    codes = np.arange(0 if with_empty else 1, 2**n_answers)
    return (codes[:, None] >> np.arange(n_answers) & 1).astype(np.float64)


def _refuse_too_many(n_answers: int, n_vertices: int) -> None:
    if n_vertices > MOST_VERTICES:
        message = (
            f"The exact front of {n_answers} answers under these bounds needs about 10^{math.log10(n_vertices):.1f} vertices; "
            f"its proof can read {MOST_VERTICES:,}. Beyond that there is no certified bound: "
            "merge rare answers, drop one of the bounds, or use the method optrr."
        )
        raise InvalidInput(message)
