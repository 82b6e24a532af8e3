"""What naive Bayes gains from a split questionnaire over one gamma-diagonal group, at the same amplification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.bundled import binary_adult
from tacit.channel import gamma_diagonal
from tacit.channel.base import Array
from tacit.channel.scheme import Scheme
from tacit.dataset import Dataset
from tacit.design.split import split_questionnaire
from tacit.design.targets import class_targets
from tacit.disguising import disguise
from tacit.estimation.closed_supports import supports_from
from tacit.estimation.supports import Supports
from tacit.experiments.registry import PublishedComparison, StudyTable
from tacit.reports import Reports

CLASS = "income"


@dataclass(frozen=True)
class BayesGain:
    """The accuracies beside each other."""

    table: StudyTable
    comparison: PublishedComparison


def bayes_gain(gamma: float, seeds: Sequence[int]) -> BayesGain:
    data = binary_adult("all")
    names = data.schema.names
    schemes = {
        "one gamma-diagonal group": Scheme.from_groups(data.schema, [(names, gamma_diagonal(gamma))]),
        "split questionnaire for pairs with the class": split_questionnaire(
            data.schema, class_targets(data.schema, names, CLASS), gamma
        ).scheme,
    }
    clear = accuracy(data, supports_from(Reports.from_truth(data)))
    majority = float(np.bincount(data.table[CLASS]).max() / data.n_rows)
    rows, means = [], {}
    for name, scheme in schemes.items():
        accuracies = [accuracy(data, supports_from(disguise(data, scheme, seed=seed))) for seed in seeds]
        means[name] = float(np.mean(accuracies))
        rows.append((name, f"{np.mean(accuracies):.4f} (sd {np.std(accuracies):.4f})"))
    rows += [("clear records", f"{clear:.4f}"), ("always the commoner class", f"{majority:.4f}")]
    first, second = means.values()
    said = f"{second:.3f} against {first:.3f} (clear records {clear:.3f}, the commoner class {majority:.3f})"
    table = StudyTable(f"Naive Bayes on Adult, gamma = {gamma:g}", ("disguised by", "accuracy"), tuple(rows))
    what = "naive Bayes on Adult: split questionnaire against one gamma-diagonal group"
    return BayesGain(table, PublishedComparison(what, None, said))


def accuracy(data: Dataset, supports: Supports) -> float:
    """How often naive Bayes from the estimated pair tables is right about the people themselves."""
    scores = np.log(_floored_table(supports, (CLASS,)))[None, :]
    for name in data.schema.names:
        if name != CLASS:
            joint = _floored_table(supports, (name, CLASS))
            scores = scores + np.log(joint / joint.sum(axis=0))[data.table[name]]
    return float((scores.argmax(axis=1) == data.table[CLASS]).mean())


def _floored_table(supports: Supports, names: tuple[str, ...]) -> Array:
    """An estimated table as a distribution: no cell below its standard error."""
    ordered = tuple(sorted(names, key=supports.schema.names.index))
    shape = supports.schema.shape(ordered)
    codes = np.argwhere(np.ones(shape))
    for name in ordered:
        supports.prepare({(name,): np.arange(supports.schema[name].size)[:, None]})
    supports.prepare({ordered: codes})
    estimates, errors = supports.estimates(ordered, codes)
    # On clear records the error is that of sampling, and no cell that occurs lies below it by much.
    table = np.maximum(estimates, np.maximum(errors, 1e-9)).reshape(shape)
    return (table / table.sum()).transpose([ordered.index(name) for name in names])
