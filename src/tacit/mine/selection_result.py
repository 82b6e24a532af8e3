"""What cross-validation and a choice of models find, and how they show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tacit.display import Shown, with_error
from tacit.estimation.intervals import share_interval
from tacit.mine.accuracy import LARGEST_ERROR
from tacit.mine.classifier import ReportClassifier


@dataclass(frozen=True)
class FoldAccuracy:
    """The accuracy on one part, of the model fitted to the others: unbiased, so it may fall outside of 0 to 1."""

    fold: int
    accuracy: float
    standard_error: float
    n_reports: int


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Shown):
    """How often a model is right, estimated part by part from disguised reports.

    Attributes
    ----------
    name
        The model.
    accuracy, standard_error
        Over all parts; unbiased. The error is of people and disguise together.
    n_reports
        Reports tested on.
    folds
        The parts: each with `accuracy`, `standard_error` and `n_reports`.
    """

    name: str
    accuracy: float
    standard_error: float
    n_reports: int
    folds: tuple[FoldAccuracy, ...]

    plotted = "accuracy"

    @property
    def estimate(self) -> float | None:
        """The accuracy, or None where its standard error exceeds a quarter."""
        return self.accuracy if self.standard_error <= LARGEST_ERROR else None

    def __iter__(self) -> Iterator[FoldAccuracy]:
        return iter(self.folds)

    def __len__(self) -> int:
        return len(self.folds)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends within [0, 1] that hold the true accuracy with the chance `level`."""
        return share_interval(self.accuracy, self.standard_error, self.n_reports, level)

    def headline(self) -> str:
        statement = f"accuracy {with_error(self.accuracy, self.standard_error)} (one standard error)"
        if self.estimate is None:
            statement = f"accuracy unknown: its standard error would be {self.standard_error:.2g}"
        return f"{self.name}: {statement}, from {self.n_reports:,} disguised reports in {len(self.folds)} parts"

    def shown_rows(self) -> list[dict[str, Any]]:
        """One row for each part, and one for all."""
        rows = []
        for fold in self.folds:
            low, high = share_interval(fold.accuracy, fold.standard_error, fold.n_reports)
            rows.append({"part": str(fold.fold), "n_reports": fold.n_reports, "accuracy": fold.accuracy,
                         "standard_error": fold.standard_error, "low": low, "high": high})  # fmt: skip
        low, high = self.interval()
        return [*rows, {"part": "all", "n_reports": self.n_reports, "accuracy": self.accuracy,
                        "standard_error": self.standard_error, "low": low, "high": high}]  # fmt: skip

    def to_document(self) -> dict[str, Any]:
        """The part of the JSON answer about it."""
        unknown = [] if self.estimate is not None else [self.headline()]
        return {"model": self.name, "estimate": self.estimate, "standard_error": self.standard_error,
                "n_reports": self.n_reports, "folds": self.shown_rows()[:-1], "warnings": unknown}  # fmt: skip


@dataclass(frozen=True)
class CandidateScore:
    """How a candidate did.

    `accuracy` is unbiased, with its standard error; `behind` how much lower it is than the chosen one's on the same reports,
    with the error of that difference; `expected` what models of whole records say of it; `judged` what the choice
    goes by. Where a candidate could not be estimated, `problem` says why and the rest is empty.
    """

    name: str
    accuracy: float | None = None
    standard_error: float | None = None
    behind: float | None = None
    behind_error: float | None = None
    expected: float | None = None
    judged: float | None = None
    n_reports: int = 0
    problem: str | None = None

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """95% ends within [0, 1] of the accuracy."""
        if self.accuracy is None or self.standard_error is None:
            return None, None
        return share_interval(self.accuracy, self.standard_error, self.n_reports)

    def to_document(self) -> dict[str, Any]:
        """The part of the JSON answer about it."""
        low, high = self.interval
        return {"name": self.name, "accuracy": self.accuracy, "standard_error": self.standard_error, "low": low,
                "high": high, "behind": self.behind, "behind_error": self.behind_error, "expected": self.expected,
                "judged": self.judged, "problem": self.problem}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ModelChoice(Shown):
    """The chosen model, fitted to all reports, and how every candidate did.

    Attributes
    ----------
    model
        The chosen classifier, fitted.
    chosen
        Its name.
    candidates
        Every candidate with its accuracy, the chosen one first.
    n_reports, n_folds
        Reports, and the parts they were divided into.
    notes
        What else a reader should know.
    """

    model: ReportClassifier
    chosen: str
    candidates: tuple[CandidateScore, ...]
    n_reports: int
    n_folds: int
    notes: tuple[str, ...] = ()

    plotted = "judged"

    @property
    def majority_share(self) -> float:
        """The estimated share of the most frequent class: what answering blindly gets right."""
        return float(self.model.majority_share_)

    @property
    def score(self) -> CandidateScore:
        """How the chosen one did."""
        return self.candidates[0]

    def headline(self) -> str:
        tried = len(self.candidates)
        statement = f"{self.chosen}, chosen among {tried} models on {self.n_reports:,} disguised reports in {self.n_folds} parts"
        return ". ".join([statement, *self.notes])

    def shown_rows(self) -> list[dict[str, Any]]:
        """One row for each candidate."""
        wanted = ("accuracy", "standard_error", "behind", "behind_error", "expected", "judged")
        return [
            {"model": score.name, "note": score.problem or "", **{name: getattr(score, name) for name in wanted}}
            for score in self.candidates
        ]

    def to_document(self) -> dict[str, Any]:
        """The choice for JSON, without the model itself."""
        return {
            "chosen": self.chosen,
            "candidates": [score.to_document() for score in self.candidates],
            "majority_share": self.majority_share,
            "n_reports": self.n_reports,
            "n_folds": self.n_folds,
            "warnings": list(self.notes),
        }
