"""Weights from public answers: reports raked to the known margins of a population, and the errors that are left.

A weight depends on the public answers alone, so a weighted share is a sum over the cells of a table of these answers and
the question. Its error is that of the residuals after regression on the margins (Deville and Sarndal 1992): a question in
the margins is a stratum, and what differs between strata adds nothing to the error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.scheme import Scheme
from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput, UnknownName
from tacit.survey.definition_questions import has_one_answer
from tacit.survey.questionnaire import Margins
from tacit.survey.yaml_lines import Located, parse

if TYPE_CHECKING:
    from tacit.survey.definition import Definition

Array = NDArray[np.float64]

# Cells of all margins together: beyond, most are empty and weights are noise.
MOST_CELLS = 200
MOST_ROUNDS = 1_000
CLOSE_ENOUGH = 1e-10
LARGE_WEIGHT = 10.0
FEWEST_WEIGHTED, FEWEST_EFFECTIVE = 10, 30
LARGEST_RAKED = 1e9


def read_margins(entry: Located, public: Mapping[str, Sequence[str]], sensitive: Sequence[str] = ()) -> Margins:
    """The shares of a population, ``{age: {below 30: 0.2, ...}}``, for questions that are public; or a refusal at its line."""
    margins: dict[str, dict[str, float]] = {}
    for name, shares in entry.entries().items():
        if name in sensitive:
            shares.refuse(
                f"{name!r} is sensitive: what its reports show is no answer, so nobody can be weighted by it. Name public "
                f"questions: {', '.join(public) or 'there is none'}."
            )
        if name not in public:
            shares.refuse(
                f"there is no public question {name!r} with one answer that everybody gives. There are: "
                f"{', '.join(public) or 'none'}."
            )
        margins[name] = _shares(shares, name, public[name])
    if not margins:
        entry.refuse("population names at least one public question, such as {age: {below 30: 0.4, 30 or more: 0.6}}.")
    return margins


def given_margins(definition: Definition, text: str, file: str = "population") -> Margins | None:
    """Margins given as YAML beside a survey; none where the text is empty."""
    if not text.strip():
        return None
    questions = definition.questions
    sensitive = [question["name"] for question in questions if question["mode"] != "public"]
    answered = {
        question["name"]: [answer["name"] for answer in question["answers"]]
        for question in questions
        if question["mode"] == "public"
        and has_one_answer(question)
        and not question["optional"]
        and not question["when"]
    }
    return read_margins(parse(text, file), answered, sensitive)


def _shares(entry: Located, name: str, answers: Sequence[str]) -> dict[str, float]:
    given = {answer: share.number("A share") for answer, share in entry.entries().items()}
    for answer in given:
        if answer not in answers:
            entry.refuse(f"{name!r} has no answer {answer!r}. Its answers: {', '.join(answers)}.")
    missing = [answer for answer in answers if answer not in given]
    total = sum(given.values())
    if missing or any(share < 0 for share in given.values()) or abs(total - 1) > 1e-3:
        lacking = f" It lacks {', '.join(missing)}." if missing else ""
        entry.refuse(
            f"the shares of {name!r} must be 0 or more for each of its answers and sum to 1, not to {total:g}.{lacking}"
        )
    return {answer: given[answer] / total for answer in answers}


@dataclass(frozen=True, eq=False)
class Weighting:
    """Reports raked to margins: the weight of everybody with the same public answers."""

    names: tuple[str, ...]
    shares: Array  # of the reports in each cell of the public answers
    weights: Array  # of each cell; they average 1 over the reports
    n_reports: int

    @classmethod
    def of(cls, reports: ReportSource, scheme: Scheme, margins: Margins) -> Weighting:
        """Weights that give the reports these margins."""
        from tacit.estimation import estimate

        for name in margins:
            if name not in scheme.public_names:
                raise UnknownName("The public question", name, scheme.public_names)
        names = tuple(margins)
        cells = math.prod(scheme.schema.shape(names))
        if cells > MOST_CELLS:
            raise InvalidInput(
                f"The margins of {', '.join(names)} have {cells:,} cells together; at most {MOST_CELLS} can be weighted. "
                "Leave a question out."
            )
        counted = estimate(reports, list(names))
        shares = np.maximum(counted.probabilities, 0.0)
        targets = [np.array([margins[a.name][answer] for answer in a.answers]) for a in counted.attributes]
        for attribute, seen, target in zip(counted.attributes, _margins_of(shares), targets, strict=True):
            empty = np.flatnonzero((seen <= 0) & (target > 0))
            if len(empty):
                raise InvalidInput(
                    f"No report says {attribute.name} = {attribute.answers[empty[0]]!r}, which is {target[empty[0]]:.1%} of the "
                    "population, so nobody's report can be weighted up for them. Leave this question out of the shares."
                )
        weighting = cls(names, shares, rake_weights(shares, targets), counted.n_reports)
        weighting.refuse_few(scheme)
        return weighting

    def refuse_few(self, scheme: Scheme) -> None:
        """Refuse weights that would make a few people the population: they would single out what is not shown of so few."""
        for name, seen in zip(self.names, _margins_of(self.shares), strict=True):
            few = np.flatnonzero((seen > 0) & (seen * self.n_reports < FEWEST_WEIGHTED - 0.5))
            if len(few):
                answer = scheme.schema[name].answers[few[0]]
                raise InvalidInput(
                    f"Fewer than {FEWEST_WEIGHTED} reports say {name} = {answer!r}: too few to stand for a share of the "
                    "population. Leave this question out of the shares."
                )
        if self.effective < FEWEST_EFFECTIVE:
            raise InvalidInput(
                f"With these shares the reports would count as fewer than {FEWEST_EFFECTIVE} of equal weight, too few to show "
                "anything. Correct the shares, or leave a question out of them."
            )

    @cached_property
    def effective(self) -> float:
        """How many reports of equal weight would be as good (Kish 1965)."""
        return self.n_reports / float((self.shares * self.weights**2).sum())

    @cached_property
    def largest(self) -> float:
        return float(self.weights[self.shares > 0].max())

    @property
    def notes(self) -> list[str]:
        said = [
            f"Weighted to the population's {', '.join(self.names)}: {self.n_reports:,} reports count as "
            f"{self.effective:,.0f} of equal weight."
        ]
        if self.largest > LARGE_WEIGHT:
            said.append(
                # Not for how many: the weight would tell how few they are where so few are not shown.
                f"Some reports stand for more than {LARGE_WEIGHT:.0f} each: a few people decide what is said of their group."
            )
        return said

    @cached_property
    def indicators(self) -> Array:
        """Which answers each cell has: ``(cells, answers of all margins)``."""
        codes = np.indices(self.shares.shape).reshape(self.shares.ndim, -1)
        return np.concatenate([np.eye(size)[code] for size, code in zip(self.shares.shape, codes, strict=True)], axis=1)

    def estimate(self, reports: ReportSource, name: str) -> list[WeightedShare]:
        """The weighted shares of a question's answers."""
        from tacit.estimation import estimate
        from tacit.estimation.intervals import share_interval

        table = estimate(reports, [*(one for one in self.names if one != name), name])
        weights, x = self._per_cell(name)
        cells = table.probabilities.reshape(len(weights), -1)
        shares = weights @ cells
        # What regression on the margins does not explain; a pseudo-inverse, because each margin sums to one.
        people = weights * cells.sum(axis=1)
        beta = np.linalg.pinv((x * people[:, None]).T @ x) @ (x.T @ (weights[:, None] * cells))
        answers = cells.shape[1]
        gradient = weights[None, :, None] * (np.eye(answers)[:, None, :] - (x @ beta).T[:, :, None])
        flat = gradient.reshape(answers, -1)
        variances = np.einsum("ac,cd,ad->a", flat, table.covariance, flat)
        errors = np.sqrt(np.maximum(variances, 0.0))
        attribute = table.attributes[-1]
        ends = [share_interval(float(p), float(e), int(self.effective)) for p, e in zip(shares, errors, strict=True)]
        return [
            WeightedShare(answer, float(p), float(e), low, high)
            for answer, p, e, (low, high) in zip(attribute.answers, shares, errors, ends, strict=True)
        ]

    def _per_cell(self, name: str) -> tuple[Array, Array]:
        """Weights and indicators of the cells that stand beside a question's answers."""
        if name not in self.names:
            return self.weights.reshape(-1), self.indicators
        raise InvalidInput(
            f"The reports are weighted to the population's shares of {name!r}, so its weighted shares are those. Choose "
            "another question."
        )


@dataclass(frozen=True)
class WeightedShare:
    """A share of the population, from weighted reports."""

    answer: str
    probability: float
    standard_error: float
    low: float
    high: float

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))


def _margins_of(shares: Array) -> list[Array]:
    axes = range(shares.ndim)
    return [shares.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]


def rake_weights(shares: Array, targets: Sequence[Array]) -> Array:
    """Weights of the cells under which `shares` has these margins: iterative proportional fitting (Deming and Stephan 1940)."""
    weights = np.ones_like(shares)
    for _ in range(MOST_ROUNDS):
        for axis, target in enumerate(targets):
            seen = _margins_of(shares * weights)[axis]
            factor = np.divide(target, seen, out=np.zeros_like(target), where=seen > 0)
            weights = weights * np.expand_dims(factor, tuple(other for other in range(shares.ndim) if other != axis))
        away = max(float(np.abs(a - b).max()) for a, b in zip(_margins_of(shares * weights), targets, strict=True))
        if away < CLOSE_ENOUGH:
            return weights
        if weights.max() > LARGEST_RAKED:  # they run away: a margin cannot be met
            break
    raise InvalidInput(
        f"The reports cannot be weighted to these shares (they miss them by {away:.1%}): too many combinations of public "
        "answers have no report. Leave a question out of the shares."
    )
