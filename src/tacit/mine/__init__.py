"""Mining: trees, classifiers and rules from disguised reports.

Estimators follow scikit-learn's conventions; importing them imports scikit-learn, so names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.extras import imported_late, require

if TYPE_CHECKING:
    from tacit.mine.accuracy import AccuracyEstimate as AccuracyEstimate
    from tacit.mine.accuracy import disguised_accuracy as disguised_accuracy
    from tacit.mine.accuracy import told_accuracy as told_accuracy
    from tacit.mine.baselines import AsIfTrueClassifier as AsIfTrueClassifier
    from tacit.mine.baselines import MajorityClassifier as MajorityClassifier
    from tacit.mine.heavy_hitters import HeavyHitter as HeavyHitter
    from tacit.mine.heavy_hitters import OpenQuestion as OpenQuestion
    from tacit.mine.itemsets import FrequentItemsets as FrequentItemsets
    from tacit.mine.joint_classifier import JointClassifier as JointClassifier
    from tacit.mine.logistic import LogisticClassifier as LogisticClassifier
    from tacit.mine.model_selection import choose_model as choose_model
    from tacit.mine.model_selection import cross_validate as cross_validate
    from tacit.mine.naive_bayes import NaiveBayesClassifier as NaiveBayesClassifier
    from tacit.mine.rules import association_rules as association_rules
    from tacit.mine.selection_result import CrossValidation as CrossValidation
    from tacit.mine.selection_result import ModelChoice as ModelChoice
    from tacit.mine.tree_classifier import TreeClassifier as TreeClassifier

require("mine")

_HOMES = {
    "AccuracyEstimate": "tacit.mine.accuracy",
    "AsIfTrueClassifier": "tacit.mine.baselines",
    "FrequentItemsets": "tacit.mine.itemsets",
    "HeavyHitter": "tacit.mine.heavy_hitters",
    "OpenQuestion": "tacit.mine.heavy_hitters",
    "JointClassifier": "tacit.mine.joint_classifier",
    "LogisticClassifier": "tacit.mine.logistic",
    "MajorityClassifier": "tacit.mine.baselines",
    "NaiveBayesClassifier": "tacit.mine.naive_bayes",
    "TreeClassifier": "tacit.mine.tree_classifier",
    "ModelChoice": "tacit.mine.selection_result",
    "CrossValidation": "tacit.mine.selection_result",
    "association_rules": "tacit.mine.rules",
    "choose_model": "tacit.mine.model_selection",
    "cross_validate": "tacit.mine.model_selection",
    "disguised_accuracy": "tacit.mine.accuracy",
    "told_accuracy": "tacit.mine.accuracy",
}

__all__ = sorted(_HOMES)
__getattr__ = imported_late(__name__, _HOMES)
