"""The answer to a design question: channels from little privacy and little error to much of both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.dense import amplification, map_privacy, worst_posterior
from tacit.design.problem import DesignProblem, numbered_answers
from tacit.design.wanted import WantedNumbers, wanted_from_document
from tacit.display import Told, new_figure
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Matrix = NDArray[np.float64]

INFINITE_GAMMA = (
    "Some channels contain zeros, so their amplification is infinite (null): a report can rule answers out, and the "
    "bound on posteriors holds only where the prior is right. For a promise that needs no prior, bound gamma."
)

COLUMNS = "privacy        MSE   lower bound   excess      gap   worst posterior     gamma   reports"
SAME_PRIVACY = 10  # decimals
SAME = 1e-6  # relative difference below which two posteriors or likelihoods read as equal


@dataclass(frozen=True, eq=False, repr=False)
class FrontPoint(Told):
    """One channel with its measures, all recomputable from its matrix and the front's prior."""

    privacy: float  # how often the best guesser is wrong
    mse: float
    worst_posterior: float
    gamma: float  # infinite where the matrix holds a zero beside a positive chance
    matrix: Matrix  # [report, truth]
    reports: tuple[str, ...]
    lower_bound: float | None  # no channel of this privacy has a smaller mse; None where no bound is certified

    @property
    def excess(self) -> float | None:
        """How many times the least possible error this channel's is."""
        return None if self.lower_bound is None else self.mse / self.lower_bound

    @property
    def gap(self) -> float | None:
        """How far its error may be above the least possible, as a share of that; below 1e-6 is proved to be the least."""
        return None if self.excess is None else max(self.excess - 1, 0.0)

    def __str__(self) -> str:
        return f"{COLUMNS}\n{_row(self)}"

    def __repr__(self) -> str:
        return f"<FrontPoint: privacy {self.privacy:.4f}, MSE {self.mse:.3e}>"

    def to_document(self) -> dict[str, Any]:
        return {
            "privacy": self.privacy,
            "mse": self.mse,
            "worst_posterior": self.worst_posterior,
            "gamma": self.gamma if math.isfinite(self.gamma) else None,
            "matrix": self.matrix.tolist(),
            "reports": list(self.reports),
            "lower_bound": self.lower_bound,
            "gap": self.gap,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Front(Told):
    """Channels none of which is better than another in both privacy and error.

    They stand in order of their privacy, or in the order in which an exact front was asked for them.

    Parameters
    ----------
    method : str
        How the channels were found.
    prior : array
        The distribution they were designed for.
    records : int
        Number of respondents of the errors.
    delta : float or None
        Bound on every posterior.
    seconds : float
        How long it took.
    points : tuple of FrontPoint
        The channels with their measures.
    answers : tuple of str
        Names of the answers.
    warnings : tuple of str
        What to know before using them.
    purpose : WantedNumbers, optional
        What the errors are of, where not of the shares of all answers.

    Examples
    --------
    >>> from tacit.design import exact_front
    >>> front = exact_front([0.5, 0.3, 0.2], records=1000, delta=0.8, points=3)
    >>> [f"{point.privacy:.3f}" for point in front.points]
    ['0.200', '0.345', '0.490']
    """

    method: str
    prior: Matrix
    records: int
    delta: float | None
    seconds: float
    points: tuple[FrontPoint, ...]
    answers: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    purpose: WantedNumbers | None = None  # None for the shares of all answers

    def problem(self, prior: Matrix | None = None) -> DesignProblem:
        """What the front answers; under another prior where one is given."""
        prior = self.prior if prior is None else prior
        return DesignProblem.of(prior, self.records, answers=self.answers, purpose=self.purpose)

    @property
    def privacies(self) -> Matrix:
        return np.array([point.privacy for point in self.points])

    @property
    def errors(self) -> Matrix:
        return np.array([point.mse for point in self.points])

    def to_document(self) -> dict[str, Any]:
        """The JSON document of a front; what is infinite is null, with a sentence in ``warnings``."""
        return {
            "method": self.method,
            "prior": self.prior.tolist(),
            "records": self.records,
            "delta": self.delta,
            "seconds": self.seconds,
            "answers": list(self.answers),
            "purpose": "shares" if self.purpose is None else self.purpose.to_document(),
            "points": [point.to_document() for point in self.points],
            "warnings": list(self.all_warnings),
        }

    @property
    def all_warnings(self) -> tuple[str, ...]:
        infinite = any(not math.isfinite(point.gamma) for point in self.points)
        return (*self.warnings, INFINITE_GAMMA) if infinite else self.warnings

    def table(self, rows: int = 12) -> str:
        """Up to `rows` points spread over the front, as text."""
        chosen = np.unique(np.linspace(0, len(self.points) - 1, min(rows, len(self.points))).round().astype(int))
        return "\n".join([COLUMNS, *(_row(self.points[i]) for i in chosen)])

    def __str__(self) -> str:
        bound = "" if self.delta is None else f", delta {self.delta:g}"
        headline = f"{self.method}: {len(self.points)} channels for {len(self.answers)} answers, {self.records} records"
        aim = "" if self.purpose is None else f" for {self.purpose.text}"
        return f"{headline}{aim}{bound}, {self.seconds:.1f} s\n{self.table()}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Error against privacy, drawn into `ax` or a figure of its own."""
        if ax is None:
            _, ax = new_figure(7, 4.2)
        style = {"exact": {"color": "black", "marker": "o", "markersize": 3, "linewidth": 1}}
        few = len(self.points) < 40
        default = {"marker": ".", "markersize": 6 if few else 2, "linewidth": 1 if few else 0}
        order = np.argsort(self.privacies)
        ax.plot(self.privacies[order], self.errors[order], label=self.method, **style.get(self.method, default))
        ax.set(xlabel="privacy (chance that the best guess is wrong)", ylabel="mean squared error", yscale="log")
        return ax


def front_of(
    problem: DesignProblem, method: str, seconds: float, points: Sequence[FrontPoint], warnings: Sequence[str] = ()
) -> Front:
    """The front of a problem's channels."""
    return Front(
        method, problem.prior, problem.records, problem.delta, seconds, tuple(points), problem.answers, tuple(warnings),
        problem.purpose,
    )  # fmt: skip


def measured_point(
    matrix: Matrix, problem: DesignProblem, reports: Sequence[str] | None = None, lower_bound: float | None = None
) -> FrontPoint:
    """The channel with its measures under the problem's prior; a square channel reports the answers themselves."""
    return FrontPoint(
        privacy=map_privacy(matrix, problem.prior, problem.accuracy),
        mse=problem.mse_of(matrix),
        worst_posterior=worst_posterior(matrix, problem.prior),
        gamma=amplification(matrix),
        matrix=matrix,
        reports=tuple(reports) if reports is not None else problem.answers,
        lower_bound=lower_bound,
    )


def undominated_points(privacy: Matrix, mse: Matrix) -> NDArray[np.intp]:
    """Indices of the points no other beats in privacy and error, by growing privacy."""
    # Privacies that differ by rounding are one: else channels that say next to nothing would all be kept.
    order = np.lexsort((mse, -privacy.round(SAME_PRIVACY)))
    best_so_far = np.minimum.accumulate(np.concatenate([[np.inf], mse[order][:-1]]))
    return order[mse[order] < best_so_far][::-1]


def front_from_document(document: Mapping[str, Any]) -> Front:
    """The front written by `Front.to_document`."""
    try:
        prior = np.array(document["prior"], dtype=np.float64)
        answers = document.get("answers") or numbered_answers(len(prior))
        return Front(
            method=str(document["method"]),
            prior=prior,
            records=int(document["records"]),
            delta=document["delta"],
            seconds=float(document["seconds"]),
            points=tuple(_point_from_document(point) for point in document["points"]),
            answers=tuple(answers),
            warnings=tuple(text for text in document.get("warnings", ()) if text != INFINITE_GAMMA),
            purpose=wanted_from_document(document.get("purpose", "shares")),
        )
    except (KeyError, TypeError, ValueError) as problem:
        message = f"This is not a front: {problem!r}. Make one with: tacit design front ... --out front.json"
        raise InvalidInput(message) from problem


def _point_from_document(point: Mapping[str, Any]) -> FrontPoint:
    return FrontPoint(
        privacy=float(point["privacy"]),
        mse=float(point["mse"]),
        worst_posterior=float(point["worst_posterior"]),
        gamma=math.inf if point["gamma"] is None else float(point["gamma"]),
        matrix=np.array(point["matrix"], dtype=np.float64),
        reports=tuple(point["reports"]),
        lower_bound=point["lower_bound"],
    )


def _row(point: FrontPoint) -> str:
    bound = f"{'-':>13}{'-':>9}{'-':>9}"
    if point.lower_bound and point.gap is not None:
        bound = f"{point.lower_bound:13.4g}{point.excess:9.3f}{_percent(point.gap):>9}"
    gamma = f"{point.gamma:10.4g}" if math.isfinite(point.gamma) else f"{'infinite':>10}"
    return f"{point.privacy:7.4f}{point.mse:11.4g}{bound}{point.worst_posterior:18.4f}{gamma}{len(point.reports):10d}"


def report_labels(matrix: Matrix, prior: Matrix, answers: Sequence[str]) -> tuple[str, ...]:
    """One label for each report, no two alike: the answers it points to, told by the chances of the matrix."""
    labels = [_label(row, prior, answers) for row in matrix]
    repeated = {label for label, times in Counter(labels).items() if times > 1}
    seen: Counter[str] = Counter()
    unique = []
    for label in labels:
        seen[label] += 1
        unique.append(f"{label} ({seen[label]})" if label in repeated else label)
    return tuple(unique)


def _label(chances: Matrix, prior: Matrix, answers: Sequence[str]) -> str:
    if np.ptp(chances) <= SAME * chances.max():
        return "any answer"
    possible = chances > SAME * chances.max()
    joint = chances * prior
    likely = joint >= (1 - SAME) * joint.max()
    if possible.all() and not likely.all():  # nothing is ruled out: the report leans towards its likelier truths
        middle = np.sqrt(chances.min() * chances.max())
        return f"rather {_answer_list(np.flatnonzero(chances > middle), answers)}"
    also = np.flatnonzero(possible & ~likely)
    said = _answer_list(np.flatnonzero(likely), answers)
    return f"{said}, or else {_answer_list(also, answers)}" if len(also) else said


def _answer_list(chosen: NDArray[np.intp], answers: Sequence[str]) -> str:
    names = [answers[i] for i in chosen]
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"


def _percent(gap: float) -> str:
    """A gap as a reader needs it: to a tenth of a percent, or that it is none."""
    return "< 0.01%" if gap < 1e-4 else f"{100 * gap:.2f}%" if gap < 0.1 else f"{100 * gap:.0f}%"
