"""One door to every way of designing a channel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from tacit.design.exact import exact_front
from tacit.design.front import Front
from tacit.design.optrr import SearchSettings, optrr_front
from tacit.design.problem import DesignProblem
from tacit.design.sweeps import FAMILIES, sweep_front
from tacit.errors import UnknownName

METHODS = ("optrr", "exact", *FAMILIES)


def optimal_front(
    prior: ArrayLike,
    *,
    records: int = 10_000,
    delta: float | None = None,
    method: str = "optrr",
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
    search (`SearchSettings`); the same seed gives the same front. `progress` is told the share that is done.

    Parameters
    ----------
    prior : array
        Expected share of each answer.
    records : int
        Number of respondents.
    delta : float, optional
        How sure any report may make anyone of any answer.
    method : str
        One of the methods above.
    generations, population, archive, slots, patience, polish, seed
        Of OptRR's search (`SearchSettings`).
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
    if method not in METHODS:
        raise UnknownName("Method", method, METHODS)
    problem = DesignProblem.of(prior, records, delta=delta, answers=answers, accuracy=accuracy)
    if method in FAMILIES:
        return sweep_front(problem, method)
    if method == "exact":
        return exact_front(prior, records, delta=delta, answers=answers, progress=progress)
    settings = SearchSettings(
        generations=generations,
        population=population,
        archive=archive,
        slots=slots,
        patience=patience,
        polish=polish,
        seed=seed,
    )
    return optrr_front(problem, settings, progress)
