"""What the researcher sees of a survey: estimates with their errors, checks, models. All of it from disguised reports."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.count.sources import ReportSource
from tacit.errors import NotEstimable
from tacit.reports import Reports
from tacit.survey.comparing import compared_arms, control_items
from tacit.survey.counting import countable
from tacit.survey.definition import Definition, surest
from tacit.survey.fake_reports import FitTest, fit_of, largest_shift
from tacit.survey.mined_models import MinedModel, mined
from tacit.survey.second_round import SecondRound, second_round
from tacit.survey.store.surveys import Counts, Store, StoredSurvey

_PROMISED: dict[str, Promises] = {}

FAKES = 10
FEWEST_REPORTS = 30


@dataclass(frozen=True)
class Row:
    """One answer's estimated share of all respondents."""

    answer: str
    probability: float
    standard_error: float
    low: float
    high: float
    influence: float
    group: str = ""


@dataclass(frozen=True)
class EstimateTable:
    """The estimated shares of a question's answers, or of two questions' together."""

    attribute: str
    title: str
    is_disguised: bool
    rows: list[Row]
    by: str = ""


@dataclass(frozen=True)
class Promise:
    """What a whole report tells of one answer: how sure of it, and how far its odds can change."""

    title: str
    sure: float
    gamma: float


@dataclass(frozen=True)
class Promises:
    """What the whole report of one respondent tells, as it was promised."""

    answers: tuple[Promise, ...]
    gamma: float


@dataclass(frozen=True)
class Dashboard:
    """Everything on the page of one survey."""

    counts: Counts
    attributes: list[tuple[str, str]]
    warnings: list[str]
    tables: list[EstimateTable]
    crossed: list[EstimateTable]
    fits: list[FitTest]
    models: list[MinedModel]
    by: str | None
    target: str | None
    fakes: int
    second: SecondRound | None
    promises: Promises

    @property
    def may_offer(self) -> bool:
        return self.second is None and any(model.document is not None for model in self.models)


def dashboard(
    store: Store, survey: StoredSurvey, by: str | None = None, target: str | None = None, *, fakes: int = FAKES
) -> Dashboard:
    from tacit.estimation import counted_once

    counts = store.counts(survey)
    names = survey.definition.scheme.schema.names
    attributes = [(name, survey.definition.label(name)) for name in names]
    by = by if by in names else None
    target = target if target in names else None
    promised = promises(survey.definition)
    if counts.reports == 0:
        return Dashboard(counts, attributes, ["No reports yet."], [], [], [], [], by, target, fakes, None, promised)
    reports = countable(store, survey, counts.reports)
    counted = counted_once(reports, _tables(survey, by))
    # Sets are compared report by report, while they are held; all else is counted already.
    fits = [
        fit_of(reports if isinstance(reports, Reports) else counted, group)
        for group in (() if survey.definition.scheme.is_dealt else survey.definition.groups)
    ]
    return Dashboard(
        counts=counts,
        attributes=attributes,
        warnings=_warnings(counts, fits),
        tables=[estimate_table(counted, survey, name, fakes) for name in names],
        crossed=[crossed_table(counted, survey, name, by) for name in names if name != by] if by else [],
        fits=fits,
        models=mined(reports, target) if target else [],
        by=by,
        target=target,
        fakes=fakes,
        second=second_round(store, survey),
        promises=promised,
    )


def _tables(survey: StoredSurvey, by: str | None) -> list[list[str]]:
    """Everything that the page estimates: each question, each with the one they are crossed with, each group."""
    scheme = survey.definition.scheme
    crossed = [[by, name] for name in scheme.schema.names if name != by] if by else []
    return (
        [[name] for name in scheme.schema.names]
        + crossed
        + ([] if scheme.is_dealt else [list(group.names) for group in scheme.groups])
    )


def promises(definition: Definition) -> Promises:
    """Worked out once for each survey: a definition never changes."""
    if definition.hash not in _PROMISED:
        answers = definition.whole.answers()
        told = tuple(Promise(definition.label(one.attribute), surest(one), one.gamma) for one in answers)
        _PROMISED[definition.hash] = Promises(told, definition.whole.gamma)
    return _PROMISED[definition.hash]


def _warnings(counts: Counts, fits: list[FitTest]) -> list[str]:
    warnings = []
    if counts.reports < FEWEST_REPORTS:
        warnings.append(f"Only {counts.reports} reports: the intervals are rough, and hardly anything can be said yet.")
    if counts.withdrawn:
        gone = counts.withdrawn / (counts.reports + counts.withdrawn)
        warnings.append(
            f"{counts.withdrawn} reports were withdrawn. The estimates are of those who stayed; if who withdrew is different, "
            f"a share among all who answered may differ by up to {gone:.1%} more."
        )
    strange = [", ".join(fit.names) for fit in fits if fit.verdict.startswith("suspicious")]
    if strange:
        warnings.append(
            f"These reports do not look like the page's: {'; '.join(strange)}. Broken or malicious clients?"
        )
    return warnings


def estimate_table(reports: ReportSource, survey: StoredSurvey, attribute: str, fakes: int) -> EstimateTable:
    """The shares of one question's answers, with how far so many fake respondents could move each."""
    from tacit.estimation import estimate

    estimated = estimate(reports, [attribute])
    group = next((one for one in survey.definition.groups if attribute in one.names), None)
    rows = []
    for code, cell in enumerate(estimated.cells()):
        share = cell["probability"]
        if group is None:
            shift = fakes / (estimated.n_reports + fakes) * max(share, 1 - share)
        else:
            shift = largest_shift(group, attribute, code, share, estimated.n_reports, fakes)
        rows.append(Row(cell["answers"][attribute], share, cell["standard_error"], cell["low"], cell["high"], shift))
    return EstimateTable(attribute, survey.definition.label(attribute), group is not None, rows)


def crossed_table(reports: ReportSource, survey: StoredSurvey, attribute: str, by: str) -> EstimateTable:
    """The joint shares of two questions' answers."""
    from tacit.estimation import estimate

    title, by_title = survey.definition.label(attribute), survey.definition.label(by)
    try:
        cells = list(estimate(reports, [by, attribute]).cells())
    except NotEstimable as error:
        return EstimateTable(attribute, f"{title}: {error}", True, [], by_title)
    rows = [
        Row(
            cell["answers"][attribute], cell["probability"], cell["standard_error"], cell["low"], cell["high"], 0.0,
            cell["answers"][by],
        )
        for cell in cells
    ]  # fmt: skip
    return EstimateTable(attribute, title, True, rows, by_title)


def results_document(
    store: Store, survey: StoredSurvey, by: str | None = None, *, fakes: int = FAKES
) -> dict[str, object]:
    """The dashboard's numbers as plain data, with arms and control items compared."""
    view = dashboard(store, survey, by, fakes=fakes)
    reports = countable(store, survey, view.counts.reports) if view.counts.reports else None
    arms = compared_arms(reports, survey.definition) if reports is not None else []
    controls = control_items(reports, survey.definition) if reports is not None else []
    return {
        "survey": survey.definition.name,
        "fingerprint": survey.fingerprint,
        "n_reports": view.counts.reports,
        "warnings": view.warnings,
        "answers": [answer.to_document() for answer in survey.definition.whole.answers()],
        "gamma": view.promises.gamma if math.isfinite(view.promises.gamma) else None,
        "questions": [_table_document(table) for table in view.tables],
        "by": by,
        "fakes": fakes,
        "crossed": [_table_document(table) for table in view.crossed],
        "second_round": None if view.second is None else view.second.to_document(),
        "arms": [one.to_document() for one in arms],
        "controls": [one.to_document() for one in controls],
        "fit": [{"attributes": list(fit.names), "p_value": fit.p_value, "verdict": fit.verdict} for fit in view.fits],
    }


def _table_document(table: EstimateTable) -> dict[str, object]:
    return {
        "attribute": table.attribute,
        "label": table.title,
        "disguised": table.is_disguised,
        "cells": [
            {
                "answer": row.answer,
                **({"by": row.group} if row.group else {"influence_of_fakes": row.influence}),
                "probability": row.probability,
                "standard_error": row.standard_error,
                "low": row.low,
                "high": row.high,
            }
            for row in table.rows
        ],
    }
