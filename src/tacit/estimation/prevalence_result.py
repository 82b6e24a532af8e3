"""What a study with a device says: shares with their errors, what the device leaves open, groups and differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.display import Shown, told_errors
from tacit.errors import UnknownName
from tacit.estimation.moment_estimates import DesignEffect
from tacit.estimation.result import ONE_ERROR
from tacit.estimation.study_record import StudyRecord


@dataclass(frozen=True)
class AnswerShare:
    """One answer's estimated share; `share` is unbiased and may leave [0, 1], `constrained` does not."""

    answer: str
    share: float
    constrained: float
    standard_error: float
    low: float
    high: float

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class OpenParameter:
    """What a device leaves open: the honesty of carriers, the cheaters, the unrelated share, inattention."""

    estimate: float | None
    standard_error: float | None
    constrained: float | None
    low: float | None = None
    high: float | None = None

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Difference:
    """The difference between two estimated shares, with its test against none."""

    answers: Mapping[str, str]
    against: Mapping[str, str]
    answer: str
    difference: float
    standard_error: float
    low: float
    high: float
    p: float | None  # None where the reports are impossible

    def to_document(self) -> dict[str, Any]:
        return {**vars(self), "answers": dict(self.answers), "against": dict(self.against)}


@dataclass(frozen=True)
class OverallTest:
    """The test that all groups have one share: chi-square, or with a design F on two degrees of freedom."""

    statistic: float | None
    degrees_of_freedom: int
    design_degrees_of_freedom: int | None
    p: float | None

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class ShareTest:
    """The test of a share against another one, two-sided."""

    against: float
    p: float
    method: str

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class GroupPrevalence:
    """The shares among the people of one group."""

    answers: Mapping[str, str]
    n_reports: int
    shares: tuple[AnswerShare, ...]
    parameters: Mapping[str, OpenParameter]

    def to_document(self) -> dict[str, Any]:
        return {
            "answers": dict(self.answers),
            "n_reports": self.n_reports,
            "shares": [share.to_document() for share in self.shares],
            "parameters": {name: value.to_document() for name, value in self.parameters.items()},
        }


@dataclass(frozen=True, repr=False)
class Prevalence(Shown):
    """How many carry a trait, from reports collected with a device.

    Attributes
    ----------
    item, device : str
        The column and the name of the device.
    n_reports : int
        Reports that were used; those without an answer are counted in `n_missing`.
    shares : tuple of AnswerShare
        For each answer its share, standard error and interval.
    parameters : mapping of str to OpenParameter
        What the device leaves open: ``t`` (honesty), ``cheaters``, ``y``, ``inattentive``.
    groups : tuple of GroupPrevalence
        The same within each value of `by`.
    differences : tuple of Difference
        Between the groups; and between the device and direct questioning, where there is a direct sample.
    compliance : Difference or None
        Where two samples ask for the same share (extended crosswise), their difference: none if all follow the device.
    readings : tuple of str
        How the values of the columns were understood.
    """

    item: str
    device: str
    n_reports: int
    n_missing: int
    shares: tuple[AnswerShare, ...]
    parameters: Mapping[str, OpenParameter]
    groups: tuple[GroupPrevalence, ...]
    differences: tuple[Difference, ...]
    direct: GroupPrevalence | None
    compliance: Difference | None  # between two samples that ask for the same share
    level: float
    errors: str  # where the standard errors come from, in words
    readings: tuple[str, ...]
    warnings: tuple[str, ...] = field(default=())
    overall: OverallTest | None = None  # that all groups have one share
    test: ShareTest | None = None  # against the share that was given
    study: StudyRecord = field(default_factory=StudyRecord)
    design_effect: DesignEffect | None = None  # of a list experiment: whether the list changed the other answers

    plotted = "share"

    def headline(self) -> str:
        return f"{self.item}: {self.n_reports:,} reports by {self.device}; errors {self.errors}"

    def shown_rows(self) -> list[dict[str, Any]]:
        """The shares of all, then of every group, then what the device leaves open."""
        parts = [("all", self.shares, self.parameters)]
        others = [*self.groups, *([] if self.direct is None else [self.direct])]
        parts += [(" ".join(group.answers.values()), group.shares, group.parameters) for group in others]
        rows: list[dict[str, Any]] = []
        for group, shares, parameters in parts:
            rows += [{"group": group, **share.to_document()} for share in shares]
            opened = {name: value.to_document() for name, value in parameters.items()}
            rows += [
                {"group": group, "answer": name, "share": value.pop("estimate")}
                | {key: value[key] for key in ("constrained", "standard_error", "low", "high")}
                for name, value in opened.items()
            ]
        return rows

    def methods_text(self) -> str:
        """The paragraph for a methods section, from what was really used."""
        by_law = not self.design_effect and "mean" not in [share.answer for share in self.shares]
        estimator = (
            "Shares are unbiased estimates with weights of least variance; constrained shares are the most likely ones"
            if by_law
            else "Estimates are means of what each report adds to them"
        )
        counts = self.n_reports, self.n_missing
        return self.study.methods(estimator, self.errors, "score" if by_law else "Wald", self.level, counts)

    def __getitem__(self, answer: str) -> AnswerShare:

        for share in self.shares:
            if share.answer == answer:
                return share
        raise UnknownName("Answer", answer, [share.answer for share in self.shares])

    def to_document(self) -> dict[str, Any]:
        """The JSON answer of ``tacit prevalence``."""
        return {
            "item": self.item,
            "device": self.device,
            "n_reports": self.n_reports,
            "n_missing": self.n_missing,
            "level": self.level,
            "shares": [share.to_document() for share in self.shares],
            "parameters": {name: value.to_document() for name, value in self.parameters.items()},
            "groups": [group.to_document() for group in self.groups],
            "differences": [difference.to_document() for difference in self.differences],
            "direct": None if self.direct is None else self.direct.to_document(),
            "compliance": None if self.compliance is None else self.compliance.to_document(),
            "errors": self.errors,
            "overall": None if self.overall is None else self.overall.to_document(),
            "test": None if self.test is None else self.test.to_document(),
            "design_effect": None if self.design_effect is None else self.design_effect.to_document(),
            "study": self.study.to_document(),
            "readings": list(self.readings),
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        rows = [(share.answer, share.share, share.standard_error) for share in self.shares]
        rows += [
            (name, value.estimate, value.standard_error)
            for name, value in self.parameters.items()
            if value.estimate is not None and value.standard_error is not None
        ]
        return "\n".join([*told_errors(rows), ONE_ERROR])

    def __repr__(self) -> str:
        return f"<Prevalence: {self.item} by {self.device}, {self.n_reports:,} reports>"
