"""The channel of one question that takes the fewest respondents for what is wanted, beside what the others would take.

Shares are planned at a share of one half, as `plan` does; a mean at even answers, in units of the range of its numbers
(FORMULAS 16). Both follow from the channel's own linear maps, so no reports are listed and no number of answers is too large.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tacit.channel import Recipe, gamma_diagonal, hadamard, local_hashing, matrix, subset, threshold
from tacit.channel.base import Channel
from tacit.channel.dense import Figures, wanted_variances
from tacit.design.exact import exact_front
from tacit.design.wanted import WantedNumbers
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.intervals import checked_level

Array = NDArray[np.float64]
Purpose = Literal["shares", "mean", "both"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)

MOST_MEMBERS, MOST_BYTES = 64, 200  # of a report that lists answers
MOST_EXACT = 12  # answers up to which the exact design is computed unasked: a tenth of a second
MOST_THRESHOLDS = 200
LONG_SCALE = 7  # steps from which a scale is asked for its mean as well
SAME_NEED = 1.02  # channels whose needs differ by less are alike, and the simpler is taken
# Chances of a computed design are rounded, so that another machine gives a questionnaire the same fingerprint.
DECIMALS = 7
BARELY_SENT = 1e-5  # reports that are sent less often are left out of a computed design


def checked_margin(margin: float) -> float:
    if not 0 < margin < 1:
        raise InvalidInput(f"The margin of error must lie strictly between 0 and 1, not {margin!r}.")
    return margin


def needed_respondents(variance: float, margin: float, level: float = 0.95) -> int | None:
    """Respondents for a margin, from the variance of one contribution; None where that is infinite."""
    precision = checked_level(level) / checked_margin(margin)
    # A number that is whole but for rounding is meant to be whole.
    return max(1, math.ceil(variance * precision**2 - 1e-9)) if math.isfinite(variance) else None


@dataclass(frozen=True, eq=False)
class ChannelChoice:
    """A channel for one question, and the variance of one report's contribution to what may be wanted of it."""

    name: str
    recipe: Recipe
    channel: Channel
    shares: float  # of a share of one half, the largest over the answers; infinite where shares are not identified
    mean: float  # in squared ranges of the numbers, at even answers; infinite where there are no numbers
    is_explained: bool = True  # whether the page can say in a sentence what is sent

    def need(self, purpose: Purpose, margin: float, level: float = 0.95) -> int | None:
        """Respondents for the margin (of a mean: in ranges); None where the channel cannot answer the purpose."""
        variance = {"shares": self.shares, "mean": self.mean, "both": max(self.shares, self.mean)}[purpose]
        return needed_respondents(variance, margin, level)

    @property
    def can_answer(self) -> str:
        shares, mean = math.isfinite(self.shares), math.isfinite(self.mean)
        return " and ".join(["shares"] * shares + ["mean"] * mean) or "neither"

    def figures(self) -> Figures:
        """What a report tells of the answer where all answers are as likely."""
        return self.channel.figures(np.full(self.channel.size, 1 / self.channel.size))


@dataclass(frozen=True, eq=False)
class QuestionChoices:
    """Every channel that was considered for a question, the chosen one first, the others by their need."""

    purpose: Purpose
    gamma: float
    choices: tuple[ChannelChoice, ...]

    @property
    def chosen(self) -> ChannelChoice:
        return self.choices[0]

    def led_by(self, name: str | None) -> QuestionChoices:
        """The same with the named channel in front: by its name here ("subsets") or its kind ("subset")."""
        if name is None:
            return self
        for choice in self.choices:
            if name in (choice.name, choice.name.partition(" of ")[0], choice.recipe.kind):
                others = (other for other in self.choices if other is not choice)
                return replace(self, choices=(choice, *others))
        raise UnknownName("Channel", name, [choice.name for choice in self.choices])

    def rows(self, margin: float, level: float = 0.95) -> list[dict[str, Any]]:
        """For a table: each channel with its respondents, privacy, number of reports and what it can answer."""
        rows = []
        for choice in self.choices:
            figures = choice.figures()
            rows.append(
                {
                    "channel": choice.name,
                    "respondents": choice.need(self.purpose, margin, level),
                    "respondents_shares": choice.need("shares", margin, level),
                    "respondents_mean": choice.need("mean", margin, level),
                    "gamma": choice.channel.amplification,
                    "map_privacy": figures.map_privacy,
                    "worst_posterior": figures.worst_posterior,
                    "n_reports": choice.channel.n_reports,
                    "can_answer": choice.can_answer,
                }
            )
        return rows

    def sentence(self, answers: int, margin: float, level: float = 0.95) -> str:
        """What was chosen, and what the two best others would take: "12 answers: subsets of 5, 7,434 respondents; ..."."""
        chosen, *others = self.choices
        text = f"{answers:,} answers: {chosen.name}, {self._people(chosen, margin, level)}"
        usable = [choice for choice in others if choice.need(self.purpose, margin, level) is not None]
        compared = [f"{choice.name} would take {self._people(choice, margin, level, '')}" for choice in usable[:2]]
        text = "; ".join([text, *compared])
        if self.purpose == "mean":
            shares = chosen.need("shares", margin, level)
            text += "; shares of single answers "
            text += "cannot be estimated from it" if shares is None else f"would take {shares:,}"
        return text

    def _people(self, choice: ChannelChoice, margin: float, level: float, noun: str = " respondents") -> str:
        """How many respondents a channel takes; for both purposes, each by itself."""
        if self.purpose != "both":
            return f"{choice.need(self.purpose, margin, level):,}{noun}"
        shares, mean = (choice.need(purpose, margin, level) for purpose in ("shares", "mean"))
        return f"{shares:,}{noun} for shares and {mean:,} for the mean"


def usual_purpose(answers: int, *, has_numbers: bool) -> Purpose:
    """What is wanted of a question that does not say: the shares of its answers, of a long scale its mean too."""
    return "both" if has_numbers and answers >= LONG_SCALE else "shares"


def choose_channel(
    answers: int,
    gamma: float,
    purpose: Purpose = "shares",
    numbers: Sequence[float] | None = None,
    *,
    explained: bool = True,
) -> QuestionChoices:
    """The channels for one question within an amplification, the best for the purpose first.

    For `both` it is the one with the least larger of need over best need for the two purposes. With `explained` only channels
    that the page explains to respondents are chosen; all others are listed.

    >>> found = choose_channel(12, 7 / 3)
    >>> found.sentence(12, 0.05)
    '12 answers: subsets of 5, 7,434 respondents; Hadamard response would take 9,220; local hashing would take 9,860'
    """
    if purpose not in PURPOSES:
        raise InvalidInput(f"A question is asked for shares, mean or both, not {purpose!r}.")
    if purpose != "shares" and numbers is None:
        raise InvalidInput("A mean needs a number for each answer: answers that are numbers, or `values` for them.")
    values = None if numbers is None else tuple(map(float, numbers))
    choices = list(_choices(answers, float(gamma), purpose, values))
    best = {name: min(getattr(choice, name) for choice in choices) for name in ("shares", "mean")}

    def rank(choice: ChannelChoice) -> float:
        ratios = {name: getattr(choice, name) / best[name] for name in best if math.isfinite(best[name])}
        return max(ratios.values()) if purpose == "both" else ratios[purpose]

    usable = [choice for choice in choices if choice.is_explained or not explained]
    least = min(rank(choice) for choice in usable)
    chosen = next(choice for choice in usable if rank(choice) <= least * SAME_NEED)  # the simplest comes first
    others = sorted((choice for choice in choices if choice is not chosen), key=rank)
    return QuestionChoices(purpose, gamma, (chosen, *others))


def choose_for_numbers(
    answers: int, gamma: float, wanted: WantedNumbers, numbers: Sequence[float] | None = None
) -> QuestionChoices:
    """The exact channel for any wanted numbers at even answers, beside the others, which are ranked by the same error."""
    even = np.full(answers, 1 / answers)
    point = exact_front(even, 1, gamma=gamma, purpose=wanted).points[0]
    recipe = _within(
        gamma, answers, lambda at: matrix(_weakened_channel(point.matrix, at / gamma).tolist(), point.reports)
    )
    values = None if numbers is None else tuple(map(float, numbers))
    exact = _measured_choice("exact", recipe, answers, values, explained=False)
    others = _choices(answers, float(gamma), "shares", values)

    def error(choice: ChannelChoice) -> float:
        if not choice.channel.is_small:
            return math.inf
        return float(wanted.importances @ wanted_variances(choice.channel.matrix, even, wanted.weights))

    return QuestionChoices("shares", gamma, (exact, *sorted(others, key=error)))


def _weakened_channel(chances: Array, share: float) -> Array:
    """The channel mixed with a little of one that says nothing."""
    sent = chances.mean(axis=1, keepdims=True)
    return share * chances + (1 - share) * sent


@lru_cache(maxsize=256)
def _choices(
    answers: int, gamma: float, purpose: Purpose, numbers: tuple[float, ...] | None
) -> tuple[ChannelChoice, ...]:
    return tuple(_offered_channels(answers, gamma, purpose, numbers))


def _offered_channels(
    answers: int, gamma: float, purpose: Purpose, numbers: tuple[float, ...] | None
) -> Iterator[ChannelChoice]:
    """Channels from the simplest to understand to the hardest."""
    yield _measured_choice("gamma-diagonal", gamma_diagonal(gamma), answers, numbers)
    best = _best_subset(answers, gamma)
    if best is not None:
        size, recipe = best
        yield _measured_choice(f"subsets of {size}", recipe, answers, numbers)
    if numbers is not None and 3 <= answers <= MOST_THRESHOLDS and _are_rising(numbers):
        gaps = np.diff(numbers)
        even = np.ptp(gaps) <= 1e-9 * gaps.max()
        recipe = threshold(gamma) if even else threshold(gamma, [float(gap) for gap in gaps])
        yield _measured_choice("thresholds", recipe, answers, numbers)
    if answers > 2:
        yield _measured_choice("Hadamard response", hadamard(gamma), answers, numbers)
        yield _measured_choice("local hashing", local_hashing(gamma), answers, numbers)
    if numbers is not None and answers > 2:
        recipe = _within(gamma, answers, lambda at: matrix(_two_points(numbers, at), ("low", "high")))
        yield _measured_choice("two-point", recipe, answers, numbers, explained=False)
    if purpose != "shares" and numbers is not None and 2 < answers <= MOST_EXACT:
        recipe = _exact_recipe(answers, gamma, purpose, numbers)
        yield _measured_choice("exact", recipe, answers, numbers, explained=purpose == "both")


def _measured_choice(
    name: str, recipe: Recipe, answers: int, numbers: tuple[float, ...] | None, *, explained: bool = True
) -> ChannelChoice:
    channel = recipe.build((answers,))
    mean = math.inf if numbers is None else mean_variance(channel, np.array(numbers))
    return ChannelChoice(name, recipe, channel, share_variance(channel), mean, explained)


def share_variance(channel: Channel) -> float:
    """The largest variance of one contribution to a share of one half, the other answers sharing the rest alike."""
    if not channel.is_invertible():
        return math.inf
    variances = []
    for code in range(1 if channel.treats_answers_alike else channel.size):
        shares = np.full(channel.size, 0.5 / (channel.size - 1))
        shares[code] = 0.5
        variances.append(float(channel.solve_squares(channel.apply(shares), shares)[code]) - 0.25)
    return max(variances)


def mean_variance(channel: Channel, numbers: Sequence[float] | Array) -> float:
    """Variance of one contribution to the mean at even answers, in squared ranges of the numbers."""
    values, n = np.asarray(numbers) / np.ptp(numbers), channel.size
    even = np.full(n, 1 / n)
    if channel.treats_answers_alike:
        # All answers being alike, the covariance of the shares is a multiple of I - 1 1'/n.
        share = float(channel.solve_squares(channel.apply(even), even)[0]) - 1 / n**2
        return share / (1 - 1 / n) * float(((values - values.mean()) ** 2).sum())
    return float(wanted_variances(channel.matrix, even, values[None])[0]) if channel.is_small else math.inf


def _best_subset(answers: int, gamma: float) -> tuple[int, Recipe] | None:
    """The size of a set that takes the fewest respondents, and its recipe; None where a single answer does."""
    digits = len(str(answers - 1)) + 1  # with the comma between two
    most = min(MOST_MEMBERS, MOST_BYTES // digits, answers - 1)
    made = {size: share_variance(subset(size, gamma).build((answers,))) for size in range(1, most + 1)}
    size = min(made, key=made.__getitem__)
    return None if size == 1 else (size, subset(size, gamma))


def _are_rising(numbers: Sequence[float]) -> bool:
    return all(low < high for low, high in itertools.pairwise(numbers))


def _two_points(numbers: Sequence[float], gamma: float) -> list[list[float]]:
    """The chances of "low" and of "high", which rises evenly with the number from ``1/(1 + gamma)`` to ``gamma/(1 + gamma)``."""
    values = np.array(numbers)
    places = (values - values.min()) / np.ptp(values)
    high = (1 + (gamma - 1) * places) / (1 + gamma)
    return [(1 - high).tolist(), high.tolist()]


def _exact_recipe(answers: int, gamma: float, purpose: Purpose, numbers: tuple[float, ...]) -> Recipe:
    """The exact channel at even answers; for both purposes, each counts by its need over the best need."""
    even, names = np.full(answers, 1 / answers), [f"{number!r}" for number in numbers]
    text = "mean"
    if purpose == "both":
        best = {
            kind: exact_front(even, 1, gamma=gamma, answers=names, purpose=kind).points[0].mse
            for kind in ("shares", "mean")
        }
        text = " + ".join(f"{1 / error:.6f}*{kind}" for kind, error in best.items())
    point = exact_front(even, 1, gamma=gamma, answers=names, purpose=text).points[0]
    sent = point.matrix[point.matrix.min(axis=1) > BARELY_SENT]
    above = sent > np.sqrt(sent.min(axis=1) * sent.max(axis=1))[:, None]
    order = np.lexsort(np.vstack([above.T, above.sum(axis=1)]))
    above, weights = above[order], sent.min(axis=1)[order]
    reports = tuple(_favoured_answers(row, numbers) for row in above)
    return _within(gamma, answers, lambda at: matrix(_mix_rows(np.where(above, at, 1.0), weights).tolist(), reports))


def _within(gamma: float, answers: int, make: Callable[[float], Recipe]) -> Recipe:
    """The recipe for the largest amplification that stays within gamma: rounding to whole chances may exceed it a little."""
    reached = gamma
    while (recipe := make(reached)).build((answers,)).amplification > gamma:
        reached = 1 + (reached - 1) * (1 - 1e-7)
    return recipe


def _mix_rows(rows: Array, weights: Array) -> Array:
    """The rows, mixed by nearly these weights so that every column sums to one; rounded where that leaves a choice."""
    mixed = weights.round(DECIMALS)
    for _ in range(2):
        missing = 1 - rows.T @ mixed
        mixed = mixed * (1 + rows @ np.linalg.lstsq((rows.T * mixed) @ rows, missing, rcond=None)[0])
    return mixed[:, None] * rows


def _favoured_answers(row: NDArray[np.bool_], numbers: Sequence[float]) -> str:
    """The favoured answers, runs by their ends: "0 to 2, 6"."""
    places = np.flatnonzero(row)
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    texts = [[f"{numbers[place]:g}" for place in (run[0], run[-1])] for run in runs]
    return ", ".join(low if low == high else f"{low} to {high}" for low, high in texts)
