"""Classifiers and rules mined from disguised reports, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tacit.count.sources import ReportSource
from tacit.errors import TacitError

# A tree that a researcher reads on a page, and that a respondent's device applies.
DEEPEST_TREE = 4
LEAST_SUPPORT, LEAST_CONFIDENCE, LONGEST_ITEMSET, MOST_RULES = 0.05, 0.6, 3, 20


@dataclass(frozen=True)
class MinedModel:
    """A model as the dashboard shows it; `document` is what a second round could offer."""

    title: str
    text: str
    document: dict[str, Any] | None = None


def mined(reports: ReportSource, target: str) -> list[MinedModel]:
    """The models that predict `target`; where one cannot be had, the reason stands in its place."""
    models = []
    for title, mine in _MINERS.items():
        try:
            models.append(mine(reports, target))
        except TacitError as error:
            models.append(MinedModel(title, str(error)))
    return models


def _tree(reports: ReportSource, target: str) -> MinedModel:
    from tacit.mine import TreeClassifier
    from tacit.mine.exported import classifier_document

    fitted = TreeClassifier(target=target, max_depth=DEEPEST_TREE, method="inversion").fit(reports)
    return MinedModel("Decision tree", fitted.to_text(), classifier_document(fitted))


def _naive_bayes(reports: ReportSource, target: str) -> MinedModel:
    from tacit.mine import NaiveBayesClassifier
    from tacit.mine.exported import classifier_document

    fitted = NaiveBayesClassifier(target=target).fit(reports)
    return MinedModel("Naive Bayes", fitted.to_text(), classifier_document(fitted))


def _rules(reports: ReportSource, target: str) -> MinedModel:
    from tacit.mine import FrequentItemsets, association_rules
    from tacit.mine.itemset_result import ERRORS

    miner = FrequentItemsets(min_support=LEAST_SUPPORT, max_length=LONGEST_ITEMSET).fit(reports)
    rules = [
        rule
        for rule in association_rules(miner.itemsets_, min_threshold=LEAST_CONFIDENCE)
        if [attribute for attribute, _ in rule.consequents] == [target]
    ]
    text = "\n".join([*(rule.line for rule in rules[:MOST_RULES]), ERRORS]) if rules else ""
    none = f"No rule leads to {target!r} with a confidence of {LEAST_CONFIDENCE:.0%} that is certain at 95%."
    return MinedModel("Rules", "\n".join(filter(None, [text or none, *miner.itemsets_.notes])))


_MINERS: dict[str, Callable[[ReportSource, str], MinedModel]] = {
    "Decision tree": _tree,
    "Naive Bayes": _naive_bayes,
    "Rules": _rules,
}
