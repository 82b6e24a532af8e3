"""One door to every way of designing a channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from tacit.design.exact import certified_front
from tacit.design.front import Front
from tacit.design.optrr import optrr_front
from tacit.design.problem import DesignProblem
from tacit.design.safe import safe_point
from tacit.design.settings import Bounds, DesignMethod, FrontPreferences, FrontSettings, SearchEffort
from tacit.design.sweeps import sweep_front
from tacit.errors import InvalidInput


def design_front(
    prior: ArrayLike,
    records: int = 10_000,
    *,
    method: DesignMethod | None = None,
    delta: float | None = None,
    bounds: Bounds | None = None,
    preferences: FrontPreferences | None = None,
    effort: SearchEffort | None = None,
    answers: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Front:
    """The privacy/error front of one question, by any method and under any bounds.

    Parameters
    ----------
    prior : array
        Expected share of each answer.
    records : int
        Number of respondents.
    method : {"exact", "optrr", "warner", "uniform-perturbation", "gamma-diagonal"}, optional
        The least error of any channel, with its proof (the default); the published search over square matrices; or a classic
        family. Short for ``preferences=FrontPreferences(method=...)``.
    delta : float, optional
        How sure any report may make anyone of any answer. Short for ``bounds=Bounds(delta=...)``.
    bounds : Bounds, optional
        What to protect: posteriors, amplification, privacies, other priors.
    preferences : FrontPreferences, optional
        What to prefer: the method, how many points, what a guess is worth.
    effort : SearchEffort, optional
        How long to search, and from which seed.
    answers : sequence of str, optional
        Names of the answers.
    progress : function, optional
        Told the share done.

    Returns
    -------
    Front

    Raises
    ------
    InvalidInput
        Where the method cannot keep the bounds, or they leave no channel.

    Examples
    --------
    >>> from tacit.design import FrontPreferences, design_front
    >>> front = design_front([0.5, 0.3, 0.2], 1000, delta=0.8, preferences=FrontPreferences(points=3))
    >>> front.method, len(front.points)
    ('exact', 3)
    >>> design_front([0.5, 0.3, 0.2], 1000, delta=0.8, method="warner").method
    'warner'
    """
    if (bounds and delta is not None) or (preferences and method is not None):
        raise InvalidInput("Give delta or bounds, and method or preferences: one of them says it already.")
    bounds = bounds or Bounds(delta=delta)
    preferences = preferences or FrontPreferences(method=method or "exact")
    settings = FrontSettings(bounds, preferences, effort or SearchEffort())
    problem = DesignProblem.of(
        prior, records, delta=bounds.delta, answers=answers, accuracy=preferences.accuracy, purpose=preferences.purpose
    )
    if preferences.method == "exact":
        if bounds.is_for_several_priors:
            return safe_point(problem, bounds)
        return certified_front(problem, bounds, preferences.points, progress)
    if preferences.method == "optrr":
        return optrr_front(problem, settings.effort, progress)
    return sweep_front(problem, preferences.method)


def optimal_front(
    prior: ArrayLike,
    *,
    records: int = 10_000,
    delta: float | None = None,
    method: DesignMethod = "optrr",
    generations: int = 20_000,
    population: int = 100,
    archive: int = 100,
    slots: int = 1000,
    patience: int | None = None,
    polish: bool = True,
    seed: int | None = None,
    accuracy: ArrayLike | None = None,
    answers: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Front:
    """The privacy/error front of a method: "optrr", "exact", "warner", "uniform-perturbation" or "gamma-diagonal".

    `delta` bounds how sure any report may make anyone of any answer. `accuracy[guess, truth]` says how good a guess is,
    where not only the exact one counts (`closeness` for ordered answers). The other parameters are those of OptRR's
    search (`SearchEffort`); the same seed gives the same front. `progress` is told the share that is done.
    `design_front` takes the same in groups, and more bounds.

    Parameters
    ----------
    prior : array
        Expected share of each answer.
    records : int
        Number of respondents.
    delta : float, optional
        How sure any report may make anyone of any answer.
    method : {"optrr", "exact", "warner", "uniform-perturbation", "gamma-diagonal"}
        The way to design.
    generations, population, archive, slots, patience, polish, seed
        Of OptRR's search (`SearchEffort`).
    accuracy : array, optional
        What each guess is worth.
    answers : sequence of str, optional
        Names of the answers.
    progress : function, optional
        Told the share done.

    Returns
    -------
    Front

    Raises
    ------
    InvalidInput
        Where the method does not exist or the bounds leave no channel.

    Examples
    --------
    >>> from tacit.design import optimal_front
    >>> front = optimal_front([0.5, 0.3, 0.2], records=1000, delta=0.8, method="warner")
    >>> bool(front.privacies.min() >= 0.2) and all(point.excess >= 1 for point in front.points)
    True
    """
    effort = SearchEffort(
        generations=generations, population=population, archive=archive, slots=slots, patience=patience, polish=polish,
        seed=seed,
    )  # fmt: skip
    preferences = FrontPreferences(method=method, accuracy=accuracy)
    return design_front(
        prior, records, bounds=Bounds(delta=delta), preferences=preferences, effort=effort, answers=answers,
        progress=progress,
    )  # fmt: skip
