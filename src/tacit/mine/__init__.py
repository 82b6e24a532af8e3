"""Mining: trees, classifiers and rules from disguised reports.

Estimators follow scikit-learn's conventions; importing them imports scikit-learn, so names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.extras import imported_late, listed_names, require

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
    "tacit.mine.accuracy": (
        "AccuracyEstimate",
        "disguised_accuracy",
        "told_accuracy",
    ),
    "tacit.mine.baselines": (
        "AsIfTrueClassifier",
        "MajorityClassifier",
    ),
    "tacit.mine.heavy_hitters": (
        "HeavyHitter",
        "OpenQuestion",
    ),
    "tacit.mine.itemsets": ("FrequentItemsets",),
    "tacit.mine.joint_classifier": ("JointClassifier",),
    "tacit.mine.logistic": ("LogisticClassifier",),
    "tacit.mine.model_selection": (
        "choose_model",
        "cross_validate",
    ),
    "tacit.mine.naive_bayes": ("NaiveBayesClassifier",),
    "tacit.mine.rules": ("association_rules",),
    "tacit.mine.selection_result": (
        "CrossValidation",
        "ModelChoice",
    ),
    "tacit.mine.tree_classifier": ("TreeClassifier",),
}

__all__ = listed_names(_HOMES)
if not TYPE_CHECKING:  # a type checker would take every name for one of these
    __getattr__ = imported_late(__name__, _HOMES)
