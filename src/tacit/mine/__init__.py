"""Mining: trees, classifiers and rules from disguised reports.

Estimators follow scikit-learn's conventions; importing them imports scikit-learn, so names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit.extras import require

if TYPE_CHECKING:
    from tacit.mine.accuracy import AccuracyEstimate as AccuracyEstimate
    from tacit.mine.accuracy import disguised_accuracy as disguised_accuracy
    from tacit.mine.accuracy import told_accuracy as told_accuracy
    from tacit.mine.itemsets import FrequentItemsets as FrequentItemsets
    from tacit.mine.naive_bayes import NaiveBayesClassifier as NaiveBayesClassifier
    from tacit.mine.rules import association_rules as association_rules
    from tacit.mine.tree_classifier import TreeClassifier as TreeClassifier

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

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit.mine' has no attribute {name!r}")
