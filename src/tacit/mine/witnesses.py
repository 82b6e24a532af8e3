"""Who else can say how often a classifier is right: models of whole records, under which nothing is disguised.

A witness is steady where the accuracy on disguised tests is mostly noise, and as right as its model is. There are two.
The joint model was fitted to the reports that the classifiers learned from; held-out likelihood keeps it from seeing
what is not there. Naive Bayes was fitted to the reports that were kept back: by chance it does not see what they saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.errors import TacitError
from tacit.mine.classifier import ReportClassifier
from tacit.mine.division import LoadedReports
from tacit.mine.naive_bayes import NaiveBayesClassifier
from tacit.reports import Reports
from tacit.table import Table

Codes = NDArray[np.int64]
Fitted = Callable[[LoadedReports, str], "Witness"]
# Synthetic records that each witness goes through.
RECORDS = 1 << 13


@dataclass(frozen=True, eq=False)
class Witness:
    """Synthetic records, and for each the chances of the classes given its other answers."""

    records: Table
    chances: Array

    def accuracy(self, fitted: ReportClassifier) -> float:
        """How often the classifier would be right, were the witness's model the truth."""
        predictions = fitted.predicted_codes(self.records)
        return float(self.chances[np.arange(len(predictions)), predictions].mean())


def witnesses(learning: LoadedReports, testing: LoadedReports, target: str) -> list[Witness]:
    """The witnesses that can be fitted to these reports."""
    return [*_ask_witnesses(learning, target, _joint), *_ask_witnesses(testing, target, _bayes)]


def _ask_witnesses(reports: LoadedReports, target: str, fitted: Fitted) -> Iterator[Witness]:
    try:
        yield fitted(reports, target)
    except TacitError:
        return


def _joint(learning: LoadedReports, target: str) -> Witness:
    drawn = learning.joint.sample(RECORDS, seed=0).table
    inputs = drawn.select([name for name in drawn.schema.names if name != target])
    chances = learning.joint.posterior(Reports.from_truth(inputs))[target]
    return Witness(drawn, chances / chances.sum(axis=1, keepdims=True))


def _bayes(testing: LoadedReports, target: str) -> Witness:
    """Records drawn class by class, every answer by itself; an attribute that is never asked with the class evenly."""
    model = NaiveBayesClassifier(target).fit(testing)
    rng = np.random.default_rng(0)
    classes: Codes = rng.choice(model.target_.size, RECORDS, p=model.class_shares_)
    tables = {likelihood.attribute.name: likelihood.shares for likelihood in model.likelihoods_}
    columns = {target: classes}
    for attribute in model.inputs_:
        even = np.full((attribute.size, model.target_.size), 1 / attribute.size)
        columns[attribute.name] = _draw_answers(tables.get(attribute.name, even), classes, rng)
    drawn = Table.from_codes(model.schema_, {name: columns[name] for name in model.schema_.names})
    return Witness(drawn, model.predict_proba(drawn))


def _draw_answers(shares: Array, classes: Codes, rng: np.random.Generator) -> Codes:
    """An answer for each record from the column ``shares[:, class]``."""
    upto = np.cumsum(shares, axis=0)[:-1]
    drawn: Codes = (rng.random(len(classes)) >= upto[:, classes]).sum(axis=0)
    return drawn
