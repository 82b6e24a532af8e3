"""What a release is still good for: queries, tables of two attributes, a classifier, and the groups that suppression loses."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.errors import UnknownName
from tacit.publish.recoding import Recoding

if TYPE_CHECKING:
    from tacit.publish.release import Release

TRAINING_SHARE = 2 / 3
QUERIES = 400
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def query_error(recoding: Recoding, queries: int = QUERIES, seed: int = 0) -> float:
    """Median relative error of random queries for the rows with answers within a range of each of two attributes.

    The reader of a release spreads each label evenly over the answers it stands for. The ranges are drawn evenly among
    those that are not the whole domain; queries that no row answers are drawn again.
    """
    rng = np.random.default_rng(seed)
    codes, counts, kept = recoding.combinations.codes, recoding.counts, recoding.classes >= 0
    even = [np.cumsum(members / members.sum(axis=1, keepdims=True), axis=1) for members in recoding.members]
    usable = [j for j, size in enumerate(recoding.tally.sizes) if size > 1]
    errors: list[float] = []
    for _ in range(20 * queries):
        if len(errors) == queries:
            break
        truth, shown = counts.astype(np.float64), np.where(kept, counts, 0).astype(np.float64)
        for j in rng.choice(usable, min(2, len(usable)), replace=False):
            low, high = _random_range(int(recoding.tally.sizes[j]), rng)
            truth = truth * ((codes[:, j] >= low) & (codes[:, j] <= high))
            inside = even[j][:, high] - (even[j][:, low - 1] if low else 0)
            shown = shown * inside[recoding.labels[:, j]]
        if truth.sum():
            share = truth.sum() / counts.sum()
            errors.append(abs(shown.sum() / counts[kept].sum() - share) / share)
    return float(np.median(errors))


def _random_range(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """A range of codes, each that is not the whole domain equally likely."""
    while True:
        low, high = sorted(rng.integers(0, size, 2).tolist())
        # A range of two different ends is drawn in two orders, one of a single answer in one: half of the former go.
        if (low, high) != (0, size - 1) and (low == high or rng.random() < 0.5):
            return low, high


def labels_overlap(recoding: Recoding) -> bool:
    """Whether an answer stands behind two released labels, so that rows cannot be grouped by label without spreading."""
    shown = recoding.labels[recoding.classes >= 0]
    return any((members[np.unique(shown[:, j])].sum(axis=0) > 1).any() for j, members in enumerate(recoding.members))


@dataclass(frozen=True)
class LostGroup:
    """People with an answer that no released row holds any more."""

    attribute: str
    answer: str
    rows: int


def largest_lost_group(recoding: Recoding) -> LostGroup | None:
    """The most frequent answer whose rows were all suppressed; None where every answer is still there."""
    codes, kept = recoding.combinations.codes, recoding.classes >= 0
    lost = []
    for j, attribute in enumerate(recoding.tally.attributes):
        before = np.bincount(codes[:, j], recoding.counts, attribute.size)
        after = np.bincount(codes[kept, j], recoding.counts[kept], attribute.size)
        gone = np.where(after == 0, before, 0)
        lost.append(LostGroup(attribute.name, attribute.answers[int(gone.argmax())], int(gone.max())))
    worst = max(lost, key=lambda group: group.rows)
    return worst if worst.rows else None


def table_error(recoding: Recoding) -> float:
    """Mean total variation between the tables of two quasi-identifiers and what the release shows of them.

    Each label is spread evenly over its answers; 0 is perfect, 1 is nothing left.
    """
    sizes = recoding.tally.sizes
    even = [members / members.sum(axis=1, keepdims=True) for members in recoding.members]
    codes = recoding.combinations.codes
    kept = recoding.classes >= 0
    errors = []
    for a, b in itertools.combinations(range(len(sizes)), 2):
        cells = codes[:, a] * sizes[b] + codes[:, b]
        truth = np.bincount(cells, recoding.counts, sizes[a] * sizes[b]) / recoding.counts.sum()
        pairs = recoding.labels[kept, a] * len(even[b]) + recoding.labels[kept, b]
        labelled = np.bincount(pairs, recoding.counts[kept], len(even[a]) * len(even[b]))
        shown = even[a].T @ labelled.reshape(len(even[a]), len(even[b])) @ even[b]
        errors.append(np.abs(truth - shown.ravel() / recoding.counts[kept].sum()).sum() / 2)
    return float(np.mean(errors)) if errors else 0.0


@dataclass(frozen=True)
class ClassifierSurvival:
    """Accuracy of naive Bayes on unseen rows, trained and asked in the original and in the published form."""

    target: str
    before: float
    after: float
    majority_share: float


def classifier_survival(release: Release, target: str, seed: int = 0) -> ClassifierSurvival:
    """How well `target`, a published attribute, is predicted from the other quasi-identifiers, before and after."""
    if target not in (*release.recoding.tally.names, *release.others):
        raise UnknownName("Published attribute", target, (*release.recoding.tally.names, *release.others))
    recoding = release.recoding
    names = recoding.tally.names
    counted = release.input.sparse_tally([*names, *(() if target in names else (target,))])
    codes = counted.codes[:, : len(names)]
    place = recoding.combinations.places(list(codes.T))
    inputs = [j for j, name in enumerate(names) if name != target]
    truth, kept = counted.codes[:, counted.columns.index(target)], recoding.classes[place] >= 0
    # Every row goes to training by the toss of a coin; rows that show the same are tossed together.
    training = np.random.default_rng(seed).binomial(counted.counts, TRAINING_SHARE)
    test = counted.counts - training
    return ClassifierSurvival(
        target,
        _accuracy(codes[:, inputs], truth, training, test),
        _accuracy(recoding.labels[place][:, inputs], truth, training * kept, test * kept),
        float(np.bincount(truth, counted.counts).max() / counted.counts.sum()),
    )


def _accuracy(codes: Codes, truth: Codes, training: Codes, test: Codes) -> float:
    """Share of `test` rows that naive Bayes of the `training` rows gets right; both count combinations."""
    from sklearn.naive_bayes import CategoricalNB

    seen = training > 0
    model = CategoricalNB(min_categories=codes.max(axis=0) + 1)
    model.fit(codes[seen], truth[seen], sample_weight=training[seen])
    return float(np.average(model.predict(codes) == truth, weights=test))
