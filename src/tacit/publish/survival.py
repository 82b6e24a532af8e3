"""What a release is still good for: how pairs of attributes and a classifier survive it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import UnknownName
from tacit.publish.recoding import Recoding, combination_keys
from tacit.publish.release import Release

TRAINING_SHARE = 2 / 3
Codes = NDArray[np.int64]


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
    recoding = release.recoding
    names = recoding.tally.names
    found = release.held.sparse_tally([*names, *(() if target in names else (target,))])
    codes = found.codes[:, : len(names)]
    place = np.searchsorted(recoding.keys, combination_keys(list(codes.T), recoding.tally))
    inputs = [j for j, name in enumerate(names) if name != target]
    truth, kept = found.codes[:, found.columns.index(target)], recoding.classes[place] >= 0
    # Every row goes to training by the toss of a coin; rows that show the same are tossed together.
    training = np.random.default_rng(seed).binomial(found.counts, TRAINING_SHARE)
    test = found.counts - training
    return ClassifierSurvival(
        target,
        _accuracy(codes[:, inputs], truth, training, test),
        _accuracy(recoding.labels[place][:, inputs], truth, training * kept, test * kept),
        float(np.bincount(truth, found.counts).max() / found.counts.sum()),
    )


def _accuracy(codes: Codes, truth: Codes, training: Codes, test: Codes) -> float:
    """Share of `test` rows that naive Bayes of the `training` rows gets right; both count combinations."""
    from sklearn.naive_bayes import CategoricalNB

    seen = training > 0
    model = CategoricalNB(min_categories=codes.max(axis=0) + 1)
    model.fit(codes[seen], truth[seen], sample_weight=training[seen])
    return float(np.average(model.predict(codes) == truth, weights=test))
