"""What the researcher sees of a survey: estimates with their errors, checks, models. All of it from disguised reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tacit.errors import InvalidInput
from tacit.reports import Reports
from tacit.survey.alarms import Arrivals
from tacit.survey.answer_tables import FEWEST_IN_CELL, FEWEST_REPORTS, AnswerTables, EstimateTable
from tacit.survey.changes import Course, courses
from tacit.survey.comparing import Compared, compared_arms, control_items
from tacit.survey.definition import Definition, surest
from tacit.survey.fake_reports import FitTest, fit_of
from tacit.survey.group_differences import GroupTable, group_tables
from tacit.survey.kept_counts import FRESH_UP_TO, KEPT, Kept
from tacit.survey.mined_models import MinedModel, mine_model
from tacit.survey.questionnaire import Margins
from tacit.survey.quotas import MET_NOT_GUARANTEED, QuotaCount, quota_counts
from tacit.survey.second_round import SecondRound, second_round
from tacit.survey.store.surveys import Counts, Store, StoredSurvey
from tacit.survey.weighting import WeightedShare, Weighting

_PROMISED: dict[str, Promises] = {}

FAKES = 10


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
class DashboardView:
    """What somebody wants to see: tables by a question, models of another, so many fakes, margins to weight by."""

    by: str | None = None
    target: str | None = None
    fakes: int = FAKES
    population: Margins | None = None

    @property
    def population_text(self) -> str:
        """The margins as they can be given again."""
        import yaml

        return yaml.safe_dump(self.population, allow_unicode=True, sort_keys=False) if self.population else ""


@dataclass(frozen=True)
class Dashboard:
    """Everything on the page of one survey."""

    counts: Counts
    at: datetime
    attributes: list[tuple[str, str]]
    warnings: list[str]
    asked: DashboardView
    promises: Promises
    tables: list[EstimateTable] = field(default_factory=list)
    crossed: list[EstimateTable] = field(default_factory=list)
    groups: list[GroupTable] = field(default_factory=list)
    weighted: dict[str, list[WeightedShare]] = field(default_factory=dict)
    weighting: Weighting | None = None
    fits: list[FitTest] = field(default_factory=list)
    arms: list[Compared] = field(default_factory=list)
    controls: list[Compared] = field(default_factory=list)
    models: list[MinedModel] = field(default_factory=list)
    second: SecondRound | None = None
    quotas: list[QuotaCount] = field(default_factory=list)
    courses: list[Course] = field(default_factory=list)
    has_second_round: bool = False
    quota_note = MET_NOT_GUARANTEED

    @property
    def may_offer(self) -> bool:
        return self.has_second_round and self.second is None and any(model.document for model in self.models)

    fewest_in_cell = FEWEST_IN_CELL

    @property
    def is_kept(self) -> bool:
        """Whether what is shown may be older than the newest report."""
        return self.counts.reports > FRESH_UP_TO

    @property
    def is_shown(self) -> bool:
        """Whether there are enough reports to show anything about them."""
        return self.counts.reports >= FEWEST_REPORTS


def dashboard(
    store: Store,
    survey: StoredSurvey,
    by: str | None = None,
    target: str | None = None,
    *,
    fakes: int = FAKES,
    population: Margins | None = None,
    arrivals: Arrivals | None = None,
) -> Dashboard:
    """The page's content: tables by a question, models of `target`, weights to the margins of a population.

    Names that the survey does not have are left out; margins of its own definition count where no others are given.
    """
    names = [name for name in survey.definition.scheme.schema.names if not survey.definition.is_long(name)]
    asked = DashboardView(
        by if by in names else None,
        target if target in names else None,
        fakes,
        population if population is not None else survey.definition.population,
    )
    kept_counts = KEPT.of(store, survey)
    attributes = [(name, survey.definition.label(name)) for name in names]
    attrition = [f"Panel: {row}." for row in store.attrition(survey)]
    warnings = [*_warnings(kept_counts.counts), *attrition, *_alarms(kept_counts, survey, arrivals)]
    quotas = quota_counts(store, survey)
    empty = Dashboard(
        kept_counts.counts, kept_counts.at, attributes, warnings, asked, promises(survey.definition), quotas=quotas
    )
    return _fill_dashboard(empty, store, survey, kept_counts) if empty.is_shown else empty


def _fill_dashboard(empty: Dashboard, store: Store, survey: StoredSurvey, kept: Kept) -> Dashboard:
    definition, asked = survey.definition, empty.asked
    names = definition.scheme.schema.names
    few = [name for name in names if not definition.is_long(name)]
    weighting, problem = _weighting(kept, definition, asked.population)
    margins = weighting.names if weighting is not None else ()
    counted = kept.counted(_tables(definition, asked.by, margins))
    tables = AnswerTables(definition, counted, asked.fakes)
    # Sets are compared report by report, while they are held; all else is counted already.
    fits = [
        fit_of(kept.reports if isinstance(kept.reports, Reports) else counted, group) for group in definition.groups
    ]
    weighted = {
        name: weighting.estimate(counted, name)
        for name in few
        if weighting is not None and name not in margins and not _tells_few(kept, definition, name, margins)
    }
    by = asked.by
    return Dashboard(
        counts=empty.counts,
        at=empty.at,
        attributes=empty.attributes,
        warnings=[*empty.warnings, *_strange(fits, definition), *problem],
        asked=asked,
        promises=empty.promises,
        tables=[tables.question(name) for name in names],
        crossed=[tables.cross_tables(name, by) for name in few if name != by] if by else [],
        groups=group_tables(tables, few, by, weighting) if by else [],
        weighted=weighted,
        weighting=weighting,
        fits=fits,
        arms=compared_arms(counted, definition),
        controls=control_items(counted, definition),
        models=mine_model(kept.reports, asked.target, definition) if asked.target else [],
        second=second_round(store, survey),
        quotas=empty.quotas,
        courses=courses(store, survey),
        has_second_round=bool(definition.document["second_round"]),
    )


def _tells_few(kept: Kept, definition: Definition, name: str, margins: Sequence[str]) -> bool:
    """Whether weights, which anybody may choose, would single out a few people's answers to a public question."""
    tables = AnswerTables(definition, kept.reports, 0)
    return tables.is_public(name) and any(tables.shows_few(margin, name) for margin in margins)


def _weighting(kept: Kept, definition: Definition, population: Margins | None) -> tuple[Weighting | None, list[str]]:
    """The weights, or why there are none."""
    if population is None:
        return None, []
    try:
        return Weighting.of(kept.reports, definition.scheme, population), []
    except InvalidInput as error:
        return None, [f"Not weighted: {error}"]


def _tables(definition: Definition, by: str | None, margins: Sequence[str] = ()) -> list[list[str]]:
    """Everything that the page estimates: each question, each with the one they are crossed with, each group.

    What is weighted is counted with the answers that the weights depend on.
    """
    scheme = definition.scheme
    few = [name for name in scheme.schema.names if not definition.is_long(name)]
    crossed = [[by, name] for name in few if name != by] if by else []
    plain = [[name] for name in scheme.schema.names] + crossed
    once = [[name] for name in few] + crossed
    weighted = [[*(name for name in margins if name not in names), *names] for names in once] if margins else []
    return plain + weighted + [list(group.names) for group in definition.groups]


def promises(definition: Definition) -> Promises:
    """Worked out once for each survey: a definition never changes."""
    if definition.hash not in _PROMISED:
        answers = definition.whole.answers()
        promises = tuple(
            Promise(definition.label(answer.attribute), surest(answer), answer.gamma) for answer in answers
        )
        _PROMISED[definition.hash] = Promises(promises, definition.whole.gamma)
    return _PROMISED[definition.hash]


def _warnings(counts: Counts) -> list[str]:
    warnings = []
    if counts.reports == 0:
        warnings.append("No reports yet.")
    elif counts.reports < FEWEST_REPORTS:
        warnings.append(f"Only {counts.reports} reports: estimates are shown from {FEWEST_REPORTS} on.")
    if counts.withdrawn:
        gone = counts.withdrawn / (counts.reports + counts.withdrawn)
        warnings.append(
            f"{counts.withdrawn} reports were withdrawn. The estimates are of those who stayed; if who withdrew is different, "
            f"a share among all who answered may differ by up to {gone:.1%} more."
        )
    return warnings


def _alarms(kept: Kept, survey: StoredSurvey, arrivals: Arrivals | None) -> list[str]:
    burst = arrivals.burst(survey.fingerprint) if arrivals is not None else None
    copied = kept.copies if kept.counts.reports >= FEWEST_REPORTS else None
    return [str(alarm) for alarm in (burst, copied) if alarm is not None]


def _strange(fits: list[FitTest], definition: Definition) -> list[str]:
    strange = [" + ".join(map(definition.label, fit.names)) for fit in fits if fit.verdict.startswith("suspicious")]
    if not strange:
        return []
    return [f"These reports do not look like the page's: {'; '.join(strange)}. Broken or malicious clients?"]


def results_document(
    store: Store,
    survey: StoredSurvey,
    by: str | None = None,
    *,
    fakes: int = FAKES,
    population: Margins | None = None,
) -> dict[str, Any]:
    """The dashboard's numbers as plain data."""
    view = dashboard(store, survey, by, fakes=fakes, population=population)
    return {
        "survey": survey.definition.name,
        "fingerprint": survey.fingerprint,
        "n_reports": view.counts.reports,
        "warnings": view.warnings,
        "answers": [answer.to_document() for answer in survey.definition.whole.answers()],
        "gamma": view.promises.gamma if math.isfinite(view.promises.gamma) else None,
        "questions": [table.to_document() for table in view.tables],
        "by": view.asked.by,
        "fakes": view.asked.fakes,
        "crossed": [table.to_document() for table in view.crossed],
        "groups": [table.to_document() for table in view.groups],
        "weighted": _weighted_document(view, survey.definition),
        "quotas": [quota.to_document() for quota in view.quotas],
        "attrition": [row.to_document() for row in store.attrition(survey)],
        "second_round": None if view.second is None else view.second.to_document(),
        "arms": [arm.to_document() | _in_words(survey.definition, arm) for arm in view.arms],
        "controls": [control.to_document() | _in_words(survey.definition, control) for control in view.controls],
        "fit": [{"attributes": list(fit.names), "p_value": fit.p_value, "verdict": fit.verdict} for fit in view.fits],
    }


def _in_words(definition: Definition, one: Compared) -> dict[str, str]:
    return {
        "label": definition.label(one.attribute),
        "answer_label": definition.answer_text(one.attribute, one.answer),
    }


def _weighted_document(view: Dashboard, definition: Definition) -> dict[str, Any] | None:
    if view.weighting is None:
        return None
    return {
        "margins": list(view.weighting.names),
        "effective_reports": view.weighting.effective,
        "notes": view.weighting.notes,
        "questions": [
            {
                "attribute": name,
                "label": definition.label(name),
                "cells": [
                    {**share.to_document(), "label": definition.answer_text(name, share.answer)} for share in shares
                ],
            }
            for name, shares in view.weighted.items()
        ],
    }
