"""What a release is still good for: how pairs of attributes and a classifier survive it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import UnknownName
from tacit.publish.recoding import Recoding, combination_keys
from tacit.publish.release import Release
from tacit.table import Table

TRAINING_SHARE = 2 / 3
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ClassifierSurvival:
    """Accuracy of naive Bayes on unseen rows, trained and asked in the original and in the published form."""

    target: str
    before: float
    after: float
    majority_share: float


def pair_error(release: Release) -> float:
    """Mean total variation between the tables of two quasi-identifiers and what the release shows of them.

    Each label is spread evenly over its answers; 0 is perfect, 1 is nothing left.
    """
    recoding = release.recoding
    sizes = recoding.tally.sizes
    even = [members / members.sum(axis=1, keepdims=True) for members in recoding.members]
    spread = [even[j][recoding.labels[:, j]] for j in range(len(sizes))]
    codes = _codes(recoding)
    kept = np.where(recoding.classes >= 0, recoding.counts, 0)
    errors = []
    for a, b in itertools.combinations(range(len(sizes)), 2):
        cells = codes[:, a] * sizes[b] + codes[:, b]
        truth = np.bincount(cells, recoding.counts, sizes[a] * sizes[b]) / recoding.counts.sum()
        shown = ((spread[a] * kept[:, None]).T @ spread[b]).ravel() / kept.sum()
        errors.append(np.abs(truth - shown).sum() / 2)
    return float(np.mean(errors)) if errors else 0.0


def _codes(recoding: Recoding) -> Codes:
    """The answers of every combination, from its number."""
    left, columns = recoding.keys.astype(np.int64), []
    for size in recoding.tally.sizes[::-1]:
        columns.append(left % size)
        left = left // size
    return np.stack(columns[::-1], axis=1)


def classifier_survival(release: Release, target: str, seed: int = 0) -> ClassifierSurvival:
    """How well `target`, a published attribute, is predicted from the other quasi-identifiers, before and after."""
    if target not in (*release.recoding.tally.names, *release.others):
        raise UnknownName("Published attribute", target, (*release.recoding.tally.names, *release.others))
    table = Table.concatenate(list(release.held.batches()))
    recoding = release.recoding
    inputs = [j for j, name in enumerate(recoding.tally.names) if name != target]
    columns = [table[name] for name in recoding.tally.names]
    place = np.searchsorted(recoding.keys, combination_keys(columns, recoding.tally))
    before, after = np.stack(columns, axis=1).astype(np.int64)[:, inputs], recoding.labels[place][:, inputs]
    truth, kept = table[target].astype(np.int64), recoding.classes[place] >= 0
    training = np.random.default_rng(seed).random(len(truth)) < TRAINING_SHARE
    return ClassifierSurvival(
        target,
        _accuracy(before, truth, training, ~training),
        _accuracy(after, truth, training & kept, ~training & kept),
        float(np.bincount(truth).max() / len(truth)),
    )


def _accuracy(codes: Codes, truth: Codes, training: Mask, test: Mask) -> float:
    from sklearn.naive_bayes import CategoricalNB

    model = CategoricalNB(min_categories=codes.max(axis=0) + 1).fit(codes[training], truth[training])
    return float((model.predict(codes[test]) == truth[test]).mean())
