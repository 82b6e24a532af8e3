"""The exact front: the least error any channel can have for a wanted privacy, with its proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.channel.dense import map_privacy
from tacit.design.certificate import Aim
from tacit.design.column_generation import (
    BARELY_USED,
    MOST_ENUMERATED,
    NEGLIGIBLE,
    Capped,
    CertifiedDesign,
    certified_design,
    certified_gap,
    posteriors_under,
    prune_design,
)
from tacit.design.front import Front, FrontPoint, front_of, measured_point, report_labels
from tacit.design.interior import single_thread
from tacit.design.posteriors import bounded_staircase, staircase
from tacit.design.problem import DesignProblem
from tacit.design.settings import Bounds, FrontPreferences
from tacit.design.wanted import WantedNumbers
from tacit.errors import InvalidInput

Matrix = NDArray[np.float64]
Progress = Callable[[float], None]


def exact_front(
    prior: ArrayLike,
    records: int,
    *,
    delta: float | None = None,
    points: int = 12,
    gamma: float | Sequence[float] | None = None,
    privacy: float | Sequence[float] | None = None,
    answers: Sequence[str] | None = None,
    purpose: str | WantedNumbers | None = None,
    progress: Progress | None = None,
) -> Front:
    """The channels of least error, whatever their number of reports, each with a certified lower bound.

    Under `delta` (and a single `gamma`, if given) one point for every `privacy`, by default `points` of them equally
    spaced from the least attainable privacy to .98 of the largest. With `gamma` alone, one point for each: the least
    error of any channel of that amplification, whose guarantee needs no prior. The points stand in the order in which
    they were asked for. Up to 22 answers the proof is exact (each `gap` below 1e-6); up to 40 it comes from a relaxation,
    and the gap says what it leaves open. `progress` is told the share done.

    Parameters
    ----------
    prior : array
        Expected share of each answer.
    records : int
        Number of respondents.
    delta : float, optional
        How sure any report may make anyone of any answer.
    points : int
        Points of the front.
    gamma, privacy : float or sequence, optional
        Bounds on amplification, and wanted privacies.
    answers : sequence of str, optional
        Names of the answers.
    purpose : str, optional
        What the error is of: ``shares`` (the default), ``mean``, ``cumulative``, ``contrast:much=1,none=-1``, or several such
        as ``2*mean + shares``. A mean needs answers that are numbers, and its error is in units of their range. The proof is
        then to a thousandth where some differences between answers are of no use for the purpose.
    progress : function, optional
        Told the share done.

    Returns
    -------
    Front

    Raises
    ------
    InvalidInput
        Where the bounds leave no channel.

    Examples
    --------
    >>> from tacit import exact_front
    >>> front = exact_front([0.5, 0.3, 0.2], records=1000, delta=0.8, points=3)
    >>> len(front.points)
    3
    >>> scale = exact_front([1 / 7] * 7, records=1, gamma=7 / 3, purpose="mean")
    >>> round(scale.points[0].mse, 3)  # gamma-diagonal: 4.34
    1.503
    """
    problem = DesignProblem.of(prior, records, delta=delta, answers=answers, purpose=purpose)
    bounds = Bounds(delta=delta, gamma=gamma, privacy=privacy)
    return certified_front(problem, bounds, FrontPreferences(points=points).points, progress)


def certified_front(problem: DesignProblem, bounds: Bounds, points: int, progress: Progress | None = None) -> Front:
    """The channels of least error under the bounds; `points` of them where no privacies are asked for."""
    started = time.perf_counter()
    made = []
    demands = _demands(problem, bounds, points)
    with single_thread():
        start = None  # what one point used is a good start for the next
        for done, (vertices, budget) in enumerate(demands):
            full = certified_design(vertices, problem.aim, budget, start)
            start = full.posteriors[full.chances > NEGLIGIBLE] if isinstance(vertices, Capped) else None
            made.append(certified_point(problem, full, budget))
            if progress is not None:
                progress((done + 1) / len(demands))
    seconds = time.perf_counter() - started
    return front_of(problem, "exact", seconds, made, _open_proofs(made, problem))


def _open_proofs(points: Sequence[FrontPoint], problem: DesignProblem) -> tuple[str, ...]:
    widest = max((point.gap or 0.0 for point in points), default=0.0)
    if widest <= certified_gap(problem.aim):
        return ()
    return (
        f"With {problem.n_answers} answers not every report can be tried: the least error is proved up to "
        f"{100 * widest:.2g}%, not exactly. Each point's gap says how far its error may be above the least possible.",
    )


def _demands(problem: DesignProblem, bounds: Bounds, points: int) -> list[tuple[Matrix | Capped, float | None]]:
    """For each point of the front the vertices to use and the chance of a right guess to keep to."""
    gammas, privacies = bounds.gammas, bounds.privacies
    if gammas and problem.delta is None and not privacies:
        return [(staircase(problem.prior, gamma), None) for gamma in gammas]
    if len(gammas) > 1:
        raise InvalidInput(f"Together with delta or privacy there can be one gamma, not {len(gammas)}.")
    vertices: Matrix | Capped
    if gammas:
        vertices = bounded_staircase(problem.prior, problem.posterior_cap, gammas[0])
        least = _least_privacy(vertices, problem.prior)
    else:
        vertices, least = posteriors_under(problem.n_answers, problem.posterior_cap), problem.least_privacy
    levels = _checked_levels(problem, least, privacies) if privacies else _spaced_levels(problem, least, points)
    return [(vertices, 1 - level) for level in levels]


def certified_point(problem: DesignProblem, full: CertifiedDesign, budget: float | None) -> FrontPoint:
    """The design as a channel, with as few reports as keep what is proved of it."""
    allowed = certified_gap(problem.aim)
    if problem.n_answers > MOST_ENUMERATED:  # the proof of so many answers has a gap of its own
        trace = full.trace(problem.aim)
        bound = full.dual.least_trace(problem.prior, 0.0 if budget is None else budget)
        allowed += 1.01 * (problem.mse(trace) / problem.mse(bound) - 1)
    for design in (prune_design(full, problem.aim, budget), full):
        matrix = _channel(design, problem.aim)
        guessed = 1 - map_privacy(matrix, problem.prior)
        lower_bound = problem.mse(full.dual.least_trace(problem.prior, guessed))
        point = measured_point(matrix, problem, report_labels(matrix, problem.prior, problem.answers), lower_bound)
        if point.mse <= lower_bound * (1 + allowed):
            return point
    message = f"The least error at privacy {point.privacy:.4g} could not be certified: {point.mse:.8g} was reached, "
    message += f"{lower_bound:.8g} is proved. Ask for less privacy, or merge rare answers."
    raise InvalidInput(message)


def _channel(design: CertifiedDesign, aim: Aim) -> Matrix:
    """The matrix ``[report, truth]``, surest reports first."""
    used = design.chances > (BARELY_USED if aim.is_singular else NEGLIGIBLE)
    posteriors, chances = design.posteriors[used], design.chances[used]
    # Chances are corrected to give the prior to the last digit; scaling columns instead would bend the posteriors.
    weighted = posteriors.T * chances
    for _ in range(2):
        missing = aim.prior - posteriors.T @ chances
        chances = chances * (1 + posteriors @ np.linalg.lstsq(weighted @ posteriors, missing, rcond=None)[0])
    matrix = chances[:, None] * posteriors / aim.prior
    return matrix[np.lexsort((-chances, -posteriors.max(axis=1)))]


def _least_privacy(vertices: Matrix, prior: Matrix) -> float:
    """The lowest MAP privacy of any mixture of these posteriors whose mean is the prior."""
    from scipy.optimize import linprog

    solution = linprog(-vertices.max(axis=1), A_eq=vertices.T, b_eq=prior, method="highs")
    return 1 + float(solution.fun)


def _spaced_levels(problem: DesignProblem, least: float, points: int) -> list[float]:
    usual = 0.98 * problem.most_privacy
    most = usual if least < usual else (least + problem.most_privacy) / 2
    return [float(level) for level in np.linspace(least, most, points)]


def _checked_levels(problem: DesignProblem, least: float, levels: Sequence[float]) -> list[float]:
    for level in levels:
        if not 0 <= level < problem.most_privacy:
            message = f"privacy is {level:g}; without any report the best guess is wrong with chance "
            message += f"{problem.most_privacy:.4g}, so ask for less than that, "
            raise InvalidInput(message + f"down to {least:.4g}, the least under these bounds.")
    return [max(level, least) for level in levels]
