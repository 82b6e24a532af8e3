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

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tacit import channel as channels
    from tacit.attacks import attack
    from tacit.bundled import load_adult, load_breast_cancer, load_votes
    from tacit.channel import devices
    from tacit.channel.scheme import Group, Questionnaire, Scheme
    from tacit.count.tally import Tally
    from tacit.dataset import Dataset
    from tacit.design import Front, choose_point, exact_front, optimal_front
    from tacit.design.plan import plan
    from tacit.design.scheme import design_scheme
    from tacit.disguising import disguise
    from tacit.errors import TacitError
    from tacit.estimation import estimate, estimate_share, estimate_shares, estimate_tables
    from tacit.estimation.complex_samples import SampleDesign
    from tacit.estimation.prevalence import prevalence
    from tacit.joint import JointModel, fit_joint
    from tacit.measures import measure
    from tacit.mine import (
        FrequentItemsets,
        NaiveBayesClassifier,
        TreeClassifier,
        association_rules,
        disguised_accuracy,
    )
    from tacit.publish import Effort, Preferences, Protection, Release, ReleaseCheck, anonymize, check_release
    from tacit.regression import Regression, regress
    from tacit.reports import Reports
    from tacit.schema import Attribute, Cut, Schema

_HOMES = {
    "Attribute": "tacit.schema",
    "Cut": "tacit.schema",
    "Dataset": "tacit.dataset",
    "design_scheme": "tacit.design.scheme",
    "disguise": "tacit.disguising",
    "disguised_accuracy": "tacit.mine",
    "Front": "tacit.design",
    "FrequentItemsets": "tacit.mine",
    "NaiveBayesClassifier": "tacit.mine",
    "anonymize": "tacit.publish",
    "association_rules": "tacit.mine",
    "attack": "tacit.attacks",
    "check_release": "tacit.publish",
    "choose_point": "tacit.design",
    "estimate": "tacit.estimation",
    "estimate_share": "tacit.estimation",
    "estimate_shares": "tacit.estimation",
    "estimate_tables": "tacit.estimation",
    "fit_joint": "tacit.joint",
    "JointModel": "tacit.joint",
    "Group": "tacit.channel.scheme",
    "Questionnaire": "tacit.channel.scheme",
    "Effort": "tacit.publish",
    "Preferences": "tacit.publish",
    "Protection": "tacit.publish",
    "regress": "tacit.regression",
    "Regression": "tacit.regression",
    "Release": "tacit.publish",
    "ReleaseCheck": "tacit.publish",
    "Reports": "tacit.reports",
    "SampleDesign": "tacit.estimation.complex_samples",
    "Schema": "tacit.schema",
    "Scheme": "tacit.channel.scheme",
    "TacitError": "tacit.errors",
    "Tally": "tacit.count.tally",
    "TreeClassifier": "tacit.mine",
    "exact_front": "tacit.design",
    "load_adult": "tacit.bundled",
    "load_breast_cancer": "tacit.bundled",
    "load_votes": "tacit.bundled",
    "measure": "tacit.measures",
    "optimal_front": "tacit.design",
    "plan": "tacit.design.plan",
    "prevalence": "tacit.estimation.prevalence",
}
_MODULES = {"channels": "tacit.channel", "devices": "tacit.channel.devices"}

__all__ = [
    "Attribute",
    "Cut",
    "Dataset",
    "Effort",
    "FrequentItemsets",
    "Front",
    "Group",
    "JointModel",
    "NaiveBayesClassifier",
    "Preferences",
    "Protection",
    "Questionnaire",
    "Regression",
    "Release",
    "ReleaseCheck",
    "Reports",
    "SampleDesign",
    "Schema",
    "Scheme",
    "TacitError",
    "Tally",
    "TreeClassifier",
    "anonymize",
    "association_rules",
    "attack",
    "channels",
    "check_release",
    "choose_point",
    "design_scheme",
    "devices",
    "disguise",
    "disguised_accuracy",
    "estimate",
    "estimate_share",
    "estimate_shares",
    "estimate_tables",
    "exact_front",
    "fit_joint",
    "load_adult",
    "load_breast_cancer",
    "load_votes",
    "measure",
    "optimal_front",
    "plan",
    "prevalence",
    "regress",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(_imported(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def _imported(module: str) -> Any:
    """The module, or the sentence that says which extra it needs."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        from tacit.extras import missing_extra

        raise missing_extra(problem) or problem from None


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
