"""One channel picked from a front by what its user needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist

import numpy as np

from tacit.channel import Recipe, matrix
from tacit.channel.dense import wanted_variances
from tacit.channel.document import read_json
from tacit.design.front import Front, FrontPoint, front_from_document
from tacit.design.problem import numbered_answers
from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Attribute


def choose_point(
    front: Front,
    *,
    privacy: float | None = None,
    mse: float | None = None,
    respondents: int | None = None,
    margin: float | None = None,
    level: float = 0.95,
) -> FrontPoint:
    """The point for one demand: a privacy, an error, or a margin of error with a number of respondents.

    Of the points that meet the demand, the one of least error for a privacy, the most private for the other two.

    Parameters
    ----------
    front : Front
        The channels to choose among.
    privacy : float, optional
        Least privacy wanted.
    mse : float, optional
        Largest mean squared error allowed.
    respondents, margin : int and float, optional
        Together: the margin of error that so many respondents must keep, at the `level`.
    level : float
        Confidence level of the margin.

    Returns
    -------
    FrontPoint

    Raises
    ------
    InvalidInput
        Where no point meets the demand, or not exactly one demand is given.

    Examples
    --------
    >>> from tacit import choose_point, exact_front
    >>> front = exact_front([0.5, 0.3, 0.2], 1000, delta=0.8, points=5)
    >>> choose_point(front, privacy=0.3).privacy >= 0.3 - 1e-6
    True
    """
    if not hasattr(front, "points"):
        raise InvalidInput(
            f"A point is chosen from a front, as tacit.exact_front makes one, not from {type(front).__name__}."
        )
    given = [privacy is not None, mse is not None, respondents is not None or margin is not None]
    if sum(given) != 1:
        raise InvalidInput("Pick a point by one demand: a privacy, an mse, or respondents together with a margin.")
    if not front.points:
        raise InvalidInput("The front has no points. Make it with a larger delta or other answers.")
    if privacy is not None:
        return _least_error(front, privacy)
    if mse is not None:
        return _most_private(front, lambda point: point.mse, mse, "mse")
    if respondents is None or margin is None or respondents < 1 or not margin > 0:
        raise InvalidInput("A margin of error needs both: respondents of at least 1, and a margin above 0.")
    return _most_private(front, lambda point: margin_of_error(point, front, respondents, level), margin, "margin")


def margin_of_error(point: FrontPoint, front: Front, respondents: int, level: float = 0.95) -> float:
    """Half the width of the widest interval over the wanted numbers, if the front's prior is the truth."""
    variances = wanted_variances(point.matrix, front.prior, front.problem().wanted.weights)
    return NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(float(variances.max()) / respondents)


def recipe_of(point: FrontPoint, front: Front, attribute: Attribute) -> Recipe:
    """The point as an ordinary channel for an attribute that has the front's answers, to go into a scheme.

    Answers are matched by their names: a channel for (no, yes) serves an attribute that lists (yes, no).
    """
    codes = answer_codes(front, attribute)
    chances = point.matrix[:, codes]
    if point.reports == front.answers:  # reports look like truths, so they take the attribute's order as well
        return matrix(chances[codes])
    return matrix(chances, point.reports)


def answer_codes(front: Front, attribute: Attribute) -> list[int]:
    """Where each answer of the attribute stands in the front."""
    missing = [answer for answer in attribute.answers if answer not in front.answers]
    foreign = [answer for answer in front.answers if answer not in attribute.answers]
    if missing or foreign:
        raise InvalidInput(
            f"The front was made for the answers {', '.join(front.answers)}, but {attribute.name!r} has "
            f"{', '.join(attribute.answers)}. A channel is attached by the names of the answers: make a front for these "
            f"({_how_to_name(front, attribute)})."
        )
    return [front.answers.index(answer) for answer in attribute.answers]


def _how_to_name(front: Front, attribute: Attribute) -> str:
    if len(front.answers) == attribute.size and front.answers == numbered_answers(attribute.size):
        return f"tacit design front ... --answers '{','.join(attribute.answers)}', in the order of the prior"
    return f"tacit design front --data F --attribute {attribute.name}"


def read_front(path: str | Path, method: str | None = None) -> Front:
    """The front in a file of ``tacit design front --out``; of several methods, the named one or the first."""
    document = read_json(path)
    documents = document.get("methods", [document]) if isinstance(document, dict) else [document]
    fronts = [front_from_document(each) for each in documents]
    if method is None:
        return fronts[0]
    for front in fronts:
        if front.method == method:
            return front
    raise UnknownName("Method", method, [front.method for front in fronts])


def _least_error(front: Front, privacy: float) -> FrontPoint:
    # Points are rounded to what a solver can tell apart; one that misses by that much meets the demand.
    enough = [point for point in front.points if point.privacy >= privacy - 1e-6]
    if not enough:
        highest = float(front.privacies.max())
        message = f"No channel of this front has privacy {privacy:g}; the highest is {highest:.4f}. Ask for less, "
        raise InvalidInput(message + "or make a front that reaches further.")
    return min(enough, key=lambda point: point.mse)


def _most_private(front: Front, cost: Callable[[FrontPoint], float], limit: float, name: str) -> FrontPoint:
    costs = np.array([cost(point) for point in front.points])
    if not (costs <= limit).any():
        message = f"No channel of this front has {name} {limit:g} or less; the least is {costs.min():.4g}. "
        raise InvalidInput(message + "Ask more people, or accept a larger error or less privacy.")
    return front.points[int(np.flatnonzero(costs <= limit)[np.argmax(front.privacies[costs <= limit])])]
