"""The methods side by side, and which of them to publish.

Global recoding is a special case of local recoding, so the loss alone decides nothing: labels of local recoding overlap, and what
they say of a range of answers must be spread. Errors of random queries, of tables and of coefficients count both.

Local recoding comes first. A first pass of global recoding takes a fraction of a second; the search, which takes as long as
everything else together, follows only where that pass comes near to local recoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tacit.publish.methods import (
    Alternative,
    Answer,
    FoundWay,
    find,
    first_pass_of,
    in_words,
    proven,
    trim,
    what_is_left_out,
)
from tacit.publish.publication import Publication
from tacit.publish.risk import average_risk
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
from tacit.publish.watch import Watch

OF_PAIRS = ("tables of two off by", "coefficients off by")
SHOWN_SUPPRESSION = 0.04  # of the rows: shown beside a release without suppression, never written unasked
# The search follows where the errors of its first pass are below this many times those of local recoding. It improves on the
# pass by a factor of 1.0 to 1.2 with eight or nine attributes, and of 1.9 with four, where it was 5 to 30 times behind.
WITHIN_REACH = 1.5
LEAST_FIGURE = 1e-3  # errors below it are alike
FIGURES = {
    "queries": ("query_error", "the median error of random queries is {:.1%}"),
    "tables": ("table_error", "tables of two are off by {:.1%}"),
    "models": ("coefficient_error", "coefficients are off by {:.3f}"),
    "loss": ("nwp", "the loss is {:.1%}"),
}


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
    lost_columns: tuple[str, ...]  # of which nothing is left
    is_first_pass: bool = False  # of a search that could not win and was not gone on with

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
            average_risk(sizes),
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
            tuple(name for name, loss in zip(recoding.tally.names, recoding.losses(), strict=True) if loss > 1 - 1e-9),
        )

    @property
    def title(self) -> str:
        """The name, with how far the method was followed."""
        return f"the first pass of {self.name}" if self.is_first_pass else self.name

    def figures(self, choose: str) -> list[float]:
        """The errors that decide: one, or those of queries, tables and models together."""
        chosen = ("queries", "tables", "models") if choose == "balanced" else (choose,)
        return [max(LEAST_FIGURE, getattr(self, FIGURES[name][0])) for name in chosen]

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def side_by_side(methods: Sequence[MethodResult]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A table for people, a column for each method: its columns and rows, as they should read."""
    measures = {
        "query error": [f"{result.query_error:.1%}" for result in methods],
        OF_PAIRS[0]: [f"{result.table_error:.1%}" for result in methods],
        OF_PAIRS[1]: [f"{result.coefficient_error:.3f}" for result in methods],
        "loss (NWP)": [f"{result.nwp:.4f}" for result in methods],
        "unevenness (NECD)": [f"{result.necd:.4f}" for result in methods],
        "effective k": [f"{result.effective_k:,}" for result in methods],
        "highest risk": [f"{1 / result.effective_k:.2%}" for result in methods],
        "average risk": [f"{result.average_risk:.2%}" for result in methods],
        "rows suppressed": [f"{result.suppressed:,}" for result in methods],
        "single cells hidden": [f"{result.hidden_cells:,}" for result in methods],
        "labels": ["  ".join(f"{name} {number:,}" for name, number in result.labels.items()) for result in methods],
        "labels overlap": ["yes" if result.labels_overlap else "no" for result in methods],
    }
    if all(len(result.labels) == 1 for result in methods):  # one attribute has no tables of two, and no coefficients
        measures = {name: values for name, values in measures.items() if name not in OF_PAIRS}
    columns = ("", *(f"{result.title} (written)" if result.written else result.title for result in methods))
    return columns, [(name, *values) for name, values in measures.items()]


def left_out(shown: MethodResult) -> str:
    """The rows and cells that a method does not publish, in words."""
    rows = f"{shown.suppressed:,} rows suppressed"
    return f"{rows} and {shown.hidden_cells:,} single cells hidden" if shown.hidden_cells else rows


def lost_groups(methods: Sequence[MethodResult]) -> list[str]:
    """A sentence for each method that suppresses every row of an answer, with the largest such group."""
    lost = [(result.name, result.largest_lost_group) for result in methods]
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
    is_allowed: bool = True  # False for what is only shown


def compare(publication: Publication, watch: Watch | None = None) -> MethodComparison:
    """Run the methods that can serve this publication; Ctrl-C, or the end of the time, leaves those that were run until then."""
    watch = watch or Watch()
    candidates: list[_Candidate] = []
    try:
        for candidate in _contestants(publication, watch):
            candidates.append(candidate)
            if candidate.way.interrupted is not None:
                break
    except KeyboardInterrupt:
        if not candidates:
            raise
    choose = publication.settings.preferences.choose
    chosen = best_of([candidate for candidate in candidates if candidate.is_allowed], choose)
    posed, before = chosen.way.publication, chosen.way.answer()
    answer = before if before.interrupted is not None else proven(posed, before, watch)
    same = answer.recoding is before.recoding
    written = replace(chosen.result, written=True) if same else MethodResult.of(posed, answer, written=True)
    results = tuple(written if candidate is chosen else candidate.result for candidate in candidates)
    fronts = [answer.front if candidate is chosen else candidate.way.front for candidate in candidates]
    front = tuple(entry for entries in fronts for entry in entries)
    ways = tuple(FoundWay.of(posed, answer) if entry is chosen else entry.way for entry in candidates)
    return MethodComparison(posed, answer, results, front, _reason(chosen, candidates, choose), ways)


def best_of(candidates: Sequence[_Candidate], choose: str) -> _Candidate:
    """The candidate to publish; with "balanced", one that keeps every column that another keeps comes first."""
    columns = frozenset.union(*(_kept_columns(candidate.result) for candidate in candidates))
    figures = np.array([candidate.result.figures(choose) for candidate in candidates])
    scores = (figures / figures.min(axis=0)).mean(axis=1)

    def key(number: int) -> tuple[int, float, float]:
        lost = len(columns - _kept_columns(candidates[number].result)) if choose == "balanced" else 0
        return lost, float(scores[number]), candidates[number].result.nwp

    return candidates[min(range(len(candidates)), key=key)]


def _kept_columns(result: MethodResult) -> frozenset[str]:
    return frozenset(result.labels) - frozenset(result.lost_columns)


def _candidate(posed: Publication, answer: Answer, *, is_allowed: bool = True) -> _Candidate:
    """What a method found, and how good it is; its labels go before the next method begins."""
    return _Candidate(FoundWay.of(posed, answer), MethodResult.of(posed, answer, written=False), is_allowed)


def _contestants(publication: Publication, watch: Watch) -> Iterator[_Candidate]:
    """What the methods find: local recoding, with some rows suppressed, and the search where it is within reach."""
    problem, several = publication.problem, len(publication.rows.sets) > 1
    if problem.every is not None:  # local recoding hides all attributes together, which is more than is asked
        yield _candidate(publication, find(publication, "search", watch, with_proof=False))
    posed = publication.with_suppression(0.0) if several else publication
    local = find(posed, "local", watch, with_proof=False)
    mine = _candidate(posed, local)
    yield mine
    if local.interrupted is not None or problem.every is not None or not problem.can_be_searched or local.nwp < 1e-12:
        return
    if not publication.settings.protection.suppress and not several:
        suppressing = publication.with_suppression(SHOWN_SUPPRESSION)
        trimmed = trim(suppressing, local)
        if trimmed is not None:
            yield _candidate(suppressing, trimmed, is_allowed=False)
    passed = first_pass_of(publication)
    if passed is not None:
        result = MethodResult.of(publication, passed.answer, written=False)
        if not _is_within_reach(result, mine.result, publication.settings.preferences.choose):
            way = FoundWay.of(publication, passed.answer)
            yield _Candidate(way, replace(result, is_first_pass=True), passed.is_release)
            return
    yield _candidate(publication, find(publication, "search", watch, with_proof=False))


def _is_within_reach(result: MethodResult, best: MethodResult, choose: str) -> bool:
    """Whether a search that begins with these figures may end with better ones than the best until now."""
    ours, theirs = np.array(result.figures(choose)), np.array(best.figures(choose))
    return float((ours / theirs).mean()) < WITHIN_REACH


def _reason(chosen: _Candidate, candidates: list[_Candidate], choose: str) -> str:
    """Why the chosen one is published, and what else would have served."""
    compared = [entry for entry in candidates if entry.is_allowed or entry.result.is_first_pass]
    others = [candidate.result for candidate in compared if candidate is not chosen]
    best = chosen.result
    names = ("queries", "tables", "models") if choose == "balanced" else (choose,)
    names = names if len(best.labels) > 1 else ("queries",)  # one attribute has no tables of two, and no coefficients
    parts = []
    for name in names:
        figure, words = FIGURES[name]
        against = ", ".join(f"{other.title} {words.split()[-1].format(getattr(other, figure))}" for other in others)
        parts.append(words.format(getattr(best, figure)) + (f" (against {against})" if against else ""))
    text = f"Written: {best.name}; {', '.join(parts)}."
    if not others:
        text = f"Written: {best.name}, the only method for this table; {', '.join(parts)}."
    elif choose == "balanced":
        saved = [name for other in others for name in other.lost_columns if name not in best.lost_columns]
        text += f" It keeps {', '.join(dict.fromkeys(saved))}, of which another method leaves nothing." if saved else ""
    if best.labels_overlap:
        text += " Its labels overlap: spread each evenly over its answers to group rows by them."
    if any(other.is_first_pass for other in others):
        text += " The search was left after its first pass, which is far behind; --method search goes on with it."
    suppressing = next((candidate.result for candidate in candidates if candidate not in compared), None)
    if suppressing is not None and suppressing.query_error < best.query_error - 5e-4:
        text += (
            f" With --suppress {suppressing.suppress:g} the error of queries would be {suppressing.query_error:.1%} "
            f"({left_out(suppressing)})."
        )
    return text
