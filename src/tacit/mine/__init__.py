"""Mining: trees, classifiers and rules from disguised reports.

Estimators follow scikit-learn's conventions; importing them imports scikit-learn, so names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.mine.itemsets import FrequentItemsets
    from tacit.mine.rules import association_rules
    from tacit.mine.tree_classifier import TreeClassifier

_HOMES = {
    "FrequentItemsets": "tacit.mine.itemsets",
    "TreeClassifier": "tacit.mine.tree_classifier",
    "association_rules": "tacit.mine.rules",
}

__all__ = ["FrequentItemsets", "TreeClassifier", "association_rules"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit.mine' has no attribute {name!r}")
