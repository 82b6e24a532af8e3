"""Mining: trees, classifiers and rules from disguised reports.

Estimators follow scikit-learn's conventions; importing them imports scikit-learn, so names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit.extras import require

if TYPE_CHECKING:
    from tacit.mine.accuracy import AccuracyEstimate, disguised_accuracy, told_accuracy
    from tacit.mine.itemsets import FrequentItemsets
    from tacit.mine.naive_bayes import NaiveBayesClassifier
    from tacit.mine.rules import association_rules
    from tacit.mine.tree_classifier import TreeClassifier

require("mine")

_HOMES = {
    "AccuracyEstimate": "tacit.mine.accuracy",
    "FrequentItemsets": "tacit.mine.itemsets",
    "NaiveBayesClassifier": "tacit.mine.naive_bayes",
    "TreeClassifier": "tacit.mine.tree_classifier",
    "association_rules": "tacit.mine.rules",
    "disguised_accuracy": "tacit.mine.accuracy",
    "told_accuracy": "tacit.mine.accuracy",
}

__all__ = [
    "AccuracyEstimate",
    "FrequentItemsets",
    "NaiveBayesClassifier",
    "TreeClassifier",
    "association_rules",
    "disguised_accuracy",
    "told_accuracy",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit.mine' has no attribute {name!r}")
