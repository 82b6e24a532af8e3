"""The errors that are foreseen are those of the estimator that is used, at the prior that is stated."""

from __future__ import annotations

import itertools
import math
import os

import numpy as np
import pytest

import tacit
from tacit import Scheme, channels
from tacit.design.plan import plan
from tacit.design.predict import predicted_errors
from tacit.design.split import split_questionnaire
from tacit.design.targets import itemset_targets
from tacit.measures.cost import expected_error, report_variance
from tacit.measures.prior import Prior
from tests.estimation.simulation import SCHEMA, SCHEMES, TRUTH, marginal, simulated

SURVEYS = 4000 if os.environ.get("TACIT_SOAK") else 400
PEOPLE = 1200
WITHIN = 0.05  # of the error; that of `SURVEYS` surveys is itself known to about 1.5%
PRIOR = {"+".join(SCHEMA.names): TRUTH.ravel()}  # far from even: from .0005 to .13

# One questionnaire knows the rare answers well, the other does not: weights at an even truth are far from the best here.
UNEQUAL = Scheme.dealt(
    SCHEMA,
    [("clear", 0.15, []), ("disguised", 0.85, [(["smokes", "age"], channels.gamma_diagonal(4))])],
)
SPLIT = split_questionnaire(SCHEMA, itemset_targets(SCHEMA, SCHEMA.names, 2), 9).scheme
TEN = {
    **{
        name: SCHEMES[name] for name in ("warner", "gamma", "unrelated", "flip", "tall-part", "mask", "subset", "dealt")
    },
    "split": SPLIT,
    "unequal": UNEQUAL,
}


def spread(scheme: Scheme, names: tuple[str, ...], people: int) -> np.ndarray:
    """Root mean square error of each cell over many surveys with the real estimator."""
    truth, squares = marginal(names), np.zeros(marginal(names).shape)
    for seed in range(SURVEYS):
        squares += (tacit.estimate(simulated(scheme, people, seed), names).probabilities - truth) ** 2
    return np.sqrt(squares / SURVEYS)


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("name", list(TEN))
def test_errors_are_foreseen_within_five_in_a_hundred(name: str) -> None:
    names = ("age", "smokes")
    foreseen = expected_error(TEN[name], Prior.of(SCHEMA, PRIOR), names, PEOPLE).standard_errors
    found = spread(TEN[name], names, PEOPLE)
    assert np.sqrt((found**2).sum() / (foreseen**2).sum()) == pytest.approx(1, abs=WITHIN)
    assert found == pytest.approx(foreseen, rel=0.2)  # each cell, as the chance of so many surveys allows


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("name", ["split", "unequal", "dealt"])
def test_so_many_respondents_as_planned_give_the_margin(name: str) -> None:
    needed = plan(TEN[name], 0.06, PRIOR)
    attribute = max(needed.per_attribute, key=lambda one: needed.per_attribute[one])
    found = 1.959964 * spread(TEN[name], (attribute,), needed.respondents).max()
    assert found == pytest.approx(0.06, rel=WITHIN)


def test_clear_and_disguised_reports_are_pooled_as_they_will_be() -> None:
    """Pooling weighs by an even truth, so it is not the best at this prior; the best is not what is foreseen."""
    prior = Prior.of(SCHEMA, {"age": [0.005, 0.005, 0.99]})
    variance = report_variance(UNEQUAL, prior, ["age"])
    alone = [
        report_variance(Scheme.of(SCHEMA, groups), prior, ["age"])
        for groups in ([], [(["smokes", "age"], channels.gamma_diagonal(4))])
    ]
    best = 1 / (0.15 / alone[0] + 0.85 / alone[1])
    assert (variance > 2 * best).all()


def test_lengths_are_predicted_at_the_prior_without_pooling_a_table() -> None:
    """The closed form for symmetric questionnaires, against every table pooled."""
    predicted = predicted_errors(SPLIT, 1000, 2, PRIOR)
    prior = Prior.of(SCHEMA, PRIOR)
    for length in (1, 2):
        tables = list(itertools.combinations(SCHEMA.names, length))
        total = sum(float(report_variance(SPLIT, prior, table).sum()) for table in tables)
        cells = sum(math.prod(SCHEMA.shape(table)) for table in tables)
        assert predicted.at(length) == pytest.approx(math.sqrt(total / cells / 1000), rel=1e-6)
    even = predicted_errors(SPLIT, 1000, 2)
    assert predicted.at(1) < 0.995 * even.at(1)


def test_pairs_and_lengths_on_one_screen_agree() -> None:
    prior = Prior.of(SCHEMA)
    pairs = [expected_error(SPLIT, prior, pair, 1000) for pair in itertools.combinations(SCHEMA.names, 2)]
    squares = [error.standard_errors**2 for error in pairs if error.standard_errors is not None]
    root = math.sqrt(sum(float(square.sum()) for square in squares) / sum(square.size for square in squares))
    assert predicted_errors(SPLIT, 1000, 2).at(2) == pytest.approx(root, rel=1e-6)
