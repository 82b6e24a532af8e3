"""Exposure by whole reports that are too many to list: people are drawn from a joint model, and their reports simulated.

The model of the population is fitted to the table of truths that gives the prior. MAP privacy and PSE are averages over
simulated reports; the worst posterior is that of the unluckiest of them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.channel.dense import Figures
from tacit.channel.routing import NOT_ASKED
from tacit.channel.scheme import Questionnaire, Scheme
from tacit.errors import TacitError
from tacit.joint import JointModel, fit_joint
from tacit.randomness import SeededRandomness
from tacit.reports import Reports
from tacit.table import Table

Array = NDArray[np.float64]

FITTED_ROWS = 4000
CLASSES = 8
PEOPLE = 4000
SEED = 20080


def modelled_exposures(questionnaire: Questionnaire, truths: Table) -> dict[str, Figures] | None:
    """The figures of every disguised answer of a questionnaire; None if no model can weigh its reports."""
    try:
        model = _model(truths)
        people = model.sample(PEOPLE, seed=SEED).table
        posteriors = model.posterior(_reports(questionnaire, model, people))
    except TacitError:
        return None
    names = [name for group in questionnaire.groups for name in group.names]
    return {name: _figures(posteriors[name], model.schema[name].answers) for name in names}


@lru_cache(maxsize=2)
def _model(truths: Table) -> JointModel:
    few = min(FITTED_ROWS, truths.n_rows)
    rows = np.random.default_rng(SEED).choice(truths.n_rows, few, replace=False)
    return fit_joint(Reports.from_truth(truths.rows(rows)), models=("classes",), classes=CLASSES, starts=1, seed=SEED)


def _reports(questionnaire: Questionnaire, model: JointModel, people: Table) -> Reports:
    """What these people would send."""
    randomness = SeededRandomness(SEED)
    columns = {attribute.name: people[attribute.name] for attribute in questionnaire.public}
    for group in questionnaire.groups:
        codes = group.channel.sample([people[name] for name in group.names], randomness)
        columns |= dict(zip((attribute.name for attribute in group.report_attributes), codes, strict=True))
    scheme = Scheme(model.schema, (replace(questionnaire, name="", probability=1.0),))
    return Reports(scheme, (Table(questionnaire.report_schema, columns),), is_simulation=True)


def _figures(posterior: Array, answers: tuple[str, ...]) -> Figures:
    answer_chances = posterior[:, [answer != NOT_ASKED for answer in answers]]
    asked = answer_chances.sum(axis=1)
    worst, share = float(answer_chances.max()), float(asked.mean())
    right = float(answer_chances.max(axis=1).mean()) / share
    drawn = float((answer_chances**2 / np.maximum(asked, 1e-300)[:, None]).sum(axis=1).mean()) / share
    return Figures(1 - right, worst, 1 - drawn)
