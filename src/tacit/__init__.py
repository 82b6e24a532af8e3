"""Tacit learns what a crowd knows without any of its members telling.

Answers are disguised before they leave people's hands, and the truth about the crowd is estimated from the disguised
reports. The way through the package is the way of the data::

    Schema, Attribute          what is asked
    Dataset                    a table of truths (only where it is already held)
    channels, Scheme           how answers are disguised
    disguise, Reports          the disguising, and what comes of it
    estimate                   distributions and joint tables of the truth, with their errors
    measure, plan              what a scheme protects and what it costs

Names are imported when they are first used, so that ``import tacit`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit.extras import imported_late, listed_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tacit import channel as _channel
    from tacit.attacks import attack as attack
    from tacit.bundled import load_adult as load_adult
    from tacit.bundled import load_breast_cancer as load_breast_cancer
    from tacit.bundled import load_nursery as load_nursery
    from tacit.bundled import load_votes as load_votes
    from tacit.channel import devices as devices
    from tacit.channel.scheme import Scheme as Scheme
    from tacit.count.tally import Tally as Tally
    from tacit.dataset import Dataset as Dataset
    from tacit.design import choose_point as choose_point
    from tacit.design import design_front as design_front
    from tacit.design import exact_front as exact_front
    from tacit.design import optimal_front as optimal_front
    from tacit.design.plan import plan as plan
    from tacit.design.scheme import design_scheme as design_scheme
    from tacit.disguising import disguise as disguise
    from tacit.errors import TacitError as TacitError
    from tacit.estimation import estimate as estimate
    from tacit.estimation.change import change as change
    from tacit.estimation.complex_samples import SampleDesign as SampleDesign
    from tacit.estimation.correlations import correlations as correlations
    from tacit.estimation.prevalence import prevalence as prevalence
    from tacit.joint import fit_joint as fit_joint
    from tacit.measures import measure as measure
    from tacit.mine import FrequentItemsets as FrequentItemsets
    from tacit.mine import JointClassifier as JointClassifier
    from tacit.mine import LogisticClassifier as LogisticClassifier
    from tacit.mine import NaiveBayesClassifier as NaiveBayesClassifier
    from tacit.mine import OpenQuestion as OpenQuestion
    from tacit.mine import TreeClassifier as TreeClassifier
    from tacit.mine import association_rules as association_rules
    from tacit.mine import choose_model as choose_model
    from tacit.mine import cross_validate as cross_validate
    from tacit.mine import disguised_accuracy as disguised_accuracy
    from tacit.publish import anonymize as anonymize
    from tacit.publish import check_release as check_release
    from tacit.regression import regress as regress
    from tacit.reports import Reports as Reports
    from tacit.schema import Attribute as Attribute
    from tacit.schema import Cut as Cut
    from tacit.schema import Schema as Schema
    from tacit.spark_disguising import disguise_on_spark as disguise_on_spark

    channels = _channel

_HOMES = {
    "tacit.attacks": ("attack",),
    "tacit.bundled": (
        "load_adult",
        "load_breast_cancer",
        "load_nursery",
        "load_votes",
    ),
    "tacit.channel.scheme": ("Scheme",),
    "tacit.count.tally": ("Tally",),
    "tacit.dataset": ("Dataset",),
    "tacit.design": (
        "choose_point",
        "design_front",
        "exact_front",
        "optimal_front",
    ),
    "tacit.design.plan": ("plan",),
    "tacit.design.scheme": ("design_scheme",),
    "tacit.disguising": ("disguise",),
    "tacit.errors": ("TacitError",),
    "tacit.estimation": ("estimate",),
    "tacit.estimation.change": ("change",),
    "tacit.estimation.complex_samples": ("SampleDesign",),
    "tacit.estimation.correlations": ("correlations",),
    "tacit.estimation.prevalence": ("prevalence",),
    "tacit.joint": ("fit_joint",),
    "tacit.measures": ("measure",),
    "tacit.mine": (
        "FrequentItemsets",
        "JointClassifier",
        "LogisticClassifier",
        "NaiveBayesClassifier",
        "OpenQuestion",
        "TreeClassifier",
        "association_rules",
        "choose_model",
        "cross_validate",
        "disguised_accuracy",
    ),
    "tacit.publish": (
        "anonymize",
        "check_release",
    ),
    "tacit.regression": ("regress",),
    "tacit.reports": ("Reports",),
    "tacit.schema": (
        "Attribute",
        "Cut",
        "Schema",
    ),
    "tacit.spark_disguising": ("disguise_on_spark",),
}
# What was here in 0.1: settings and results have the name of their package in front, and `estimate` took over three functions.
_MOVED = {
    "tacit.channel.scheme": (
        "Group",
        "Questionnaire",
    ),
    "tacit.design": (
        "Bounds",
        "Front",
        "FrontPreferences",
        "SearchEffort",
    ),
    "tacit.joint": ("JointModel",),
    "tacit.mine": ("HeavyHitter",),
    "tacit.publish": (
        "Effort",
        "Preferences",
        "Protection",
        "Release",
        "ReleaseCheck",
    ),
    "tacit.regression": ("Regression",),
}
_TAKEN_OVER = {"tacit.estimation.old_names": ("estimate_share", "estimate_shares", "estimate_tables")}
_MODULES = {"channels": "tacit.channel", "devices": "tacit.channel.devices"}

__all__ = sorted([*listed_names(_HOMES), *_MODULES])
_imported = imported_late(__name__, _HOMES | _TAKEN_OVER, _MOVED)

if not TYPE_CHECKING:  # a type checker would take every name for one of these

    def __getattr__(name: str) -> Any:
        return importlib.import_module(_MODULES[name]) if name in _MODULES else _imported(name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
