"""What a release is still good for: how pairs of attributes and a classifier survive it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import UnknownName
from tacit.publish.release import Release
from tacit.table import Table

TRAINING_SHARE = 2 / 3


@dataclass(frozen=True)
class Survival:
    """Accuracy of naive Bayes on unseen rows when trained and asked in the original and in the published form.

    `pair_error` is the mean total variation distance between the tables of two attributes and what the release shows of
    them when each label is spread evenly over its answers: 0 is perfect, 1 is nothing left.
    """

    target: str
    accuracy_before: float
    accuracy_after: float
    majority_share: float
    pair_error: float


def survival(release: Release, target: str, seed: int = 0) -> Survival:
    """How well `target`, a published attribute, can be predicted from the other quasi-identifiers, before and after."""
    table = _whole(release)
    if target not in table.schema:
        raise UnknownName("Attribute", target, table.schema.names)
    tally = release.recoding.tally
    inputs = [j for j, name in enumerate(tally.names) if name != target]
    before, labels = _codes(release, table)
    truth = table[target].astype(np.int64)
    kept = labels[:, 0] >= 0
    training = np.random.default_rng(seed).random(len(truth)) < TRAINING_SHARE
    after = _accuracy(labels[:, inputs], truth, training & kept, ~training & kept)
    return Survival(
        target,
        _accuracy(before[:, inputs], truth, training, ~training),
        after,
        float(np.bincount(truth).max() / len(truth)),
        _pair_error(release, before),
    )


def _whole(release: Release) -> Table:
    return Table.concatenate(list(release.held.batches()))


def _codes(release: Release, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes of the quasi-identifiers, and their labels; -1 where the row is suppressed."""
    from tacit.publish.recoding import combination_keys

    recoding = release.recoding
    columns = [table[name] for name in recoding.tally.names]
    place = np.searchsorted(recoding.keys, combination_keys(columns, recoding.tally))
    labels = np.where((recoding.classes[place] >= 0)[:, None], recoding.labels[place], -1)
    return np.stack(columns, axis=1).astype(np.int64), labels


def _accuracy(
    codes: NDArray[np.int64], truth: NDArray[np.int64], training: NDArray[np.bool_], test: NDArray[np.bool_]
) -> float:
    from sklearn.naive_bayes import CategoricalNB

    model = CategoricalNB(min_categories=codes.max(axis=0) + 1).fit(codes[training], truth[training])
    return float((model.predict(codes[test]) == truth[test]).mean())


def _pair_error(release: Release, codes: NDArray[np.int64]) -> float:
    """Mean total variation over the pairs of quasi-identifiers."""
    recoding = release.recoding
    sizes = recoding.tally.sizes
    even = [members / members.sum(axis=1, keepdims=True) for members in recoding.members]
    spread = [even[j][recoding.labels[:, j]] for j in range(len(sizes))]
    kept = np.where(recoding.classes >= 0, recoding.counts, 0)
    errors = []
    for a, b in itertools.combinations(range(len(sizes)), 2):
        truth = np.bincount(codes[:, a] * sizes[b] + codes[:, b], minlength=sizes[a] * sizes[b]) / len(codes)
        shown = ((spread[a] * kept[:, None]).T @ spread[b]).ravel() / kept.sum()
        errors.append(np.abs(truth - shown).sum() / 2)
    return float(np.mean(errors)) if errors else 0.0
