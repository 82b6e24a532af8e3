"""The methods side by side, and which of them to publish: the one that answers a reader's queries best.

Global recoding is a special case of local recoding, so the loss alone decides nothing: labels of local recoding overlap, and what
they say of a range of answers must be spread. The error of random queries counts both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tacit.publish.methods import Alternative, Answer, FoundWay, find, in_words, proven, what_is_left_out
from tacit.publish.publication import Publication
from tacit.publish.search import Progress
from tacit.publish.usefulness import (
    ClassifierSurvival,
    LostGroup,
    labels_overlap,
    largest_lost_group,
    linear_survival,
    query_error,
    survival_in,
    table_error,
)

OF_PAIRS = ("tables of two off by", "coefficients off by")
SHOWN_SUPPRESSION = 0.04  # of the rows: shown beside a release without suppression, never written unasked


@dataclass(frozen=True)
class MethodResult:
    """One line of the comparison."""

    method: str
    suppress: float  # share of rows that could be suppressed
    nwp: float
    necd: float
    effective_k: int
    average_risk: float  # chance to pick a person's own row, averaged over the people; the highest is 1 / effective_k
    suppressed: int
    query_error: float  # median relative error of random queries
    table_error: float  # mean total variation of the tables of two attributes
    correlation_error: float  # mean absolute difference of correlations
    coefficient_error: float  # of standardized coefficients of regressions of each attribute on all others
    labels: dict[str, int]  # how many different ones each attribute shows
    labels_overlap: bool
    largest_lost_group: LostGroup | None
    written: bool
    name: str  # the method in words, with all that it may leave out
    hidden_cells: int  # single cells that are hidden so that their rows could stay

    @classmethod
    def of(cls, publication: Publication, answer: Answer, *, written: bool) -> MethodResult:
        recoding = answer.recoding
        linear = linear_survival(recoding)
        sizes = publication.class_sizes(recoding)
        return cls(
            f"{answer.method} with {answer.suppress:.0%} suppressed" if answer.suppress else answer.method,
            answer.suppress,
            answer.nwp,
            answer.necd,
            min(int(classes.min()) for classes in sizes),
            max(len(classes) / int(classes.sum()) for classes in sizes),
            recoding.suppressed,
            query_error(recoding),
            table_error(recoding),
            linear.correlation_error,
            linear.coefficient_error,
            {name: len(texts) for name, texts in zip(recoding.tally.names, recoding.names, strict=True)},
            labels_overlap(recoding),
            largest_lost_group(recoding) if recoding.suppressed else None,
            written,
            in_words(answer.method, answer.suppress, what_is_left_out(publication, answer.method)),
            recoding.hidden_cells,
        )

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def side_by_side(methods: Sequence[MethodResult]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A table for people, a column for each method: its columns and rows, as they should read."""
    measures = {
        "query error": [f"{one.query_error:.1%}" for one in methods],
        OF_PAIRS[0]: [f"{one.table_error:.1%}" for one in methods],
        OF_PAIRS[1]: [f"{one.coefficient_error:.3f}" for one in methods],
        "loss (NWP)": [f"{one.nwp:.4f}" for one in methods],
        "unevenness (NECD)": [f"{one.necd:.4f}" for one in methods],
        "effective k": [f"{one.effective_k:,}" for one in methods],
        "highest risk": [f"{1 / one.effective_k:.2%}" for one in methods],
        "average risk": [f"{one.average_risk:.2%}" for one in methods],
        "rows suppressed": [f"{one.suppressed:,}" for one in methods],
        "single cells hidden": [f"{one.hidden_cells:,}" for one in methods],
        "labels": ["  ".join(f"{name} {number:,}" for name, number in one.labels.items()) for one in methods],
        "labels overlap": ["yes" if one.labels_overlap else "no" for one in methods],
    }
    if all(len(one.labels) == 1 for one in methods):  # one attribute has no tables of two, and no coefficients
        measures = {name: values for name, values in measures.items() if name not in OF_PAIRS}
    columns = ("", *(f"{one.name} (written)" if one.written else one.name for one in methods))
    return columns, [(name, *values) for name, values in measures.items()]


def left_out(shown: MethodResult) -> str:
    """The rows and cells that a method does not publish, in words."""
    rows = f"{shown.suppressed:,} rows suppressed"
    return f"{rows} and {shown.hidden_cells:,} single cells hidden" if shown.hidden_cells else rows


def lost_groups(methods: Sequence[MethodResult]) -> list[str]:
    """A sentence for each method that suppresses every row of an answer, with the largest such group."""
    lost = [(one.name, one.largest_lost_group) for one in methods]
    return [
        f"Lost by {method}: all {group.rows:,} rows with {group.attribute} = {group.answer}."
        for method, group in lost
        if group is not None
    ]


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """What was compared, and what is to be published."""

    publication: Publication
    answer: Answer
    methods: tuple[MethodResult, ...]
    front: tuple[Alternative, ...]
    why: str | None
    ways: tuple[FoundWay, ...]  # of each method, in their order

    @classmethod
    def of_one(cls, publication: Publication, answer: Answer) -> MethodComparison:
        """A single method, which is published whatever comes of it."""
        alone = MethodResult.of(publication, answer, written=True)
        return cls(publication, answer, (alone,), answer.front, None, (FoundWay.of(publication, answer),))

    def classifiers(self, target: str) -> dict[str, ClassifierSurvival]:
        """How well classifiers of a published attribute survive every method."""
        return {
            result.method: survival_in(way.publication, way.answer().recoding, target)
            for result, way in zip(self.methods, self.ways, strict=True)
        }


@dataclass(frozen=True, eq=False)
class _Candidate:
    way: FoundWay
    result: MethodResult
    is_allowed: bool  # False for what is only shown


def compare(publication: Publication, progress: Progress | None = None) -> MethodComparison:
    """Run the methods that can serve this publication; Ctrl-C leaves those that were begun until then."""
    candidates: list[_Candidate] = []
    for posed, method, is_allowed in _contestants(publication):
        candidates.append(_candidate(posed, method, progress, is_allowed=is_allowed))
        if candidates[-1].way.interrupted is not None:
            break
    allowed = [candidate for candidate in candidates if candidate.is_allowed]
    chosen = min(allowed, key=lambda candidate: (candidate.result.query_error, candidate.result.nwp))
    posed, before = chosen.way.publication, chosen.way.answer()
    answer = before if before.interrupted is not None else proven(posed, before, progress)
    same = answer.recoding is before.recoding
    written = replace(chosen.result, written=True) if same else MethodResult.of(posed, answer, written=True)
    results = tuple(written if candidate is chosen else candidate.result for candidate in candidates)
    fronts = [answer.front if candidate is chosen else candidate.way.front for candidate in candidates]
    front = tuple(entry for own in fronts for entry in own)
    ways = tuple(FoundWay.of(posed, answer) if own is chosen else own.way for own in candidates)
    return MethodComparison(posed, answer, results, front, _reason(chosen, candidates), ways)


def _candidate(posed: Publication, method: str, progress: Progress | None, *, is_allowed: bool) -> _Candidate:
    """What a method finds, and how good it is; its labels go before the next method begins."""
    answer = find(posed, method, progress, with_proof=False)
    return _Candidate(FoundWay.of(posed, answer), MethodResult.of(posed, answer, written=False), is_allowed)


def _contestants(publication: Publication) -> list[tuple[Publication, str, bool]]:
    """The methods to compare, cheapest first, and whether each may be published."""
    protection = publication.settings.protection
    # With several sets local recoding gives every row its place.
    local = publication.with_suppression(0.0) if len(publication.rows.sets) > 1 else publication
    if not publication.problem.can_be_searched:  # then local recoding alone can serve
        return [(local, "local", True)]
    contestants = [(publication, "search", True), (local, "local", True)]
    if not protection.suppress and len(publication.rows.sets) == 1:
        contestants.insert(1, (publication.with_suppression(SHOWN_SUPPRESSION), "search", False))
    return contestants


def _reason(chosen: _Candidate, candidates: list[_Candidate]) -> str:
    """Why the chosen one is published, and what else would have served."""
    others = [candidate for candidate in candidates if candidate is not chosen]
    best = chosen.result
    if len(candidates) == 1:
        return f"Written: {best.name}, the only method for so many quasi-identifiers and answers."
    text = f"Written: {best.name}, whose median error of {best.query_error:.1%} over random queries is the least"
    against = ", ".join(f"{other.result.name} {other.result.query_error:.1%}" for other in others if other.is_allowed)
    text += f" (against {against})." if against else " of what may be published."
    if best.labels_overlap:
        text += " Its labels overlap: spread each evenly over its answers to group rows by them."
    shown = next((other.result for other in others if not other.is_allowed), None)
    if shown is not None and shown.query_error < best.query_error:
        text += f" With --suppress {shown.suppress:g} the error would be {shown.query_error:.1%} ({left_out(shown)})."
    return text
