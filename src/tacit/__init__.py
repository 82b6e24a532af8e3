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

from tacit.extras import imported_late

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tacit import channel as _channel
    from tacit.attacks import attack as attack
    from tacit.bundled import load_adult as load_adult
    from tacit.bundled import load_breast_cancer as load_breast_cancer
    from tacit.bundled import load_nursery as load_nursery
    from tacit.bundled import load_votes as load_votes
    from tacit.channel import devices as devices
    from tacit.channel.scheme import Group as Group
    from tacit.channel.scheme import Questionnaire as Questionnaire
    from tacit.channel.scheme import Scheme as Scheme
    from tacit.count.tally import Tally as Tally
    from tacit.dataset import Dataset as Dataset
    from tacit.design import Bounds as Bounds
    from tacit.design import Front as Front
    from tacit.design import FrontPreferences as FrontPreferences
    from tacit.design import SearchEffort as SearchEffort
    from tacit.design import choose_point as choose_point
    from tacit.design import design_front as design_front
    from tacit.design import exact_front as exact_front
    from tacit.design import optimal_front as optimal_front
    from tacit.design.plan import plan as plan
    from tacit.design.scheme import design_scheme as design_scheme
    from tacit.disguising import disguise as disguise
    from tacit.errors import TacitError as TacitError
    from tacit.estimation import estimate as estimate
    from tacit.estimation import estimate_share as estimate_share
    from tacit.estimation import estimate_shares as estimate_shares
    from tacit.estimation import estimate_tables as estimate_tables
    from tacit.estimation.change import change as change
    from tacit.estimation.complex_samples import SampleDesign as SampleDesign
    from tacit.estimation.correlations import correlations as correlations
    from tacit.estimation.prevalence import prevalence as prevalence
    from tacit.joint import JointModel as JointModel
    from tacit.joint import fit_joint as fit_joint
    from tacit.measures import measure as measure
    from tacit.mine import FrequentItemsets as FrequentItemsets
    from tacit.mine import HeavyHitter as HeavyHitter
    from tacit.mine import JointClassifier as JointClassifier
    from tacit.mine import LogisticClassifier as LogisticClassifier
    from tacit.mine import NaiveBayesClassifier as NaiveBayesClassifier
    from tacit.mine import OpenQuestion as OpenQuestion
    from tacit.mine import TreeClassifier as TreeClassifier
    from tacit.mine import association_rules as association_rules
    from tacit.mine import choose_model as choose_model
    from tacit.mine import cross_validate as cross_validate
    from tacit.mine import disguised_accuracy as disguised_accuracy
    from tacit.publish import Effort as Effort
    from tacit.publish import Preferences as Preferences
    from tacit.publish import Protection as Protection
    from tacit.publish import Release as Release
    from tacit.publish import ReleaseCheck as ReleaseCheck
    from tacit.publish import anonymize as anonymize
    from tacit.publish import check_release as check_release
    from tacit.regression import Regression as Regression
    from tacit.regression import regress as regress
    from tacit.reports import Reports as Reports
    from tacit.schema import Attribute as Attribute
    from tacit.schema import Cut as Cut
    from tacit.schema import Schema as Schema
    from tacit.spark_disguising import disguise_on_spark as disguise_on_spark

    channels = _channel

_HOMES = {
    "Attribute": "tacit.schema",
    "Cut": "tacit.schema",
    "Dataset": "tacit.dataset",
    "Bounds": "tacit.design",
    "design_front": "tacit.design",
    "design_scheme": "tacit.design.scheme",
    "disguise": "tacit.disguising",
    "disguise_on_spark": "tacit.spark_disguising",
    "choose_model": "tacit.mine",
    "cross_validate": "tacit.mine",
    "disguised_accuracy": "tacit.mine",
    "Front": "tacit.design",
    "FrontPreferences": "tacit.design",
    "FrequentItemsets": "tacit.mine",
    "HeavyHitter": "tacit.mine",
    "OpenQuestion": "tacit.mine",
    "JointClassifier": "tacit.mine",
    "LogisticClassifier": "tacit.mine",
    "NaiveBayesClassifier": "tacit.mine",
    "anonymize": "tacit.publish",
    "association_rules": "tacit.mine",
    "attack": "tacit.attacks",
    "change": "tacit.estimation.change",
    "check_release": "tacit.publish",
    "choose_point": "tacit.design",
    "correlations": "tacit.estimation.correlations",
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
    "SearchEffort": "tacit.design",
    "SampleDesign": "tacit.estimation.complex_samples",
    "Schema": "tacit.schema",
    "Scheme": "tacit.channel.scheme",
    "TacitError": "tacit.errors",
    "Tally": "tacit.count.tally",
    "TreeClassifier": "tacit.mine",
    "exact_front": "tacit.design",
    "load_adult": "tacit.bundled",
    "load_breast_cancer": "tacit.bundled",
    "load_nursery": "tacit.bundled",
    "load_votes": "tacit.bundled",
    "measure": "tacit.measures",
    "optimal_front": "tacit.design",
    "plan": "tacit.design.plan",
    "prevalence": "tacit.estimation.prevalence",
}
_MODULES = {"channels": "tacit.channel", "devices": "tacit.channel.devices"}

__all__ = sorted([*_HOMES, *_MODULES])
_imported = imported_late(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    return importlib.import_module(_MODULES[name]) if name in _MODULES else _imported(name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
