"""What a release is still good for: queries, tables of two attributes, a classifier, and the groups that suppression loses."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import UnknownName
from tacit.publish.combinations import sums_by_code
from tacit.publish.pair_tables import PairTables, label_places
from tacit.publish.recoding import Recoding

if TYPE_CHECKING:
    from tacit.publish.publication import Publication
    from tacit.publish.release import Release

TRAINING_SHARE = 2 / 3
QUERIES = 400
ROWS_AT_ONCE = 1 << 18
MOST_CELLS = 20_000_000  # of running sums that are kept: 320 megabytes
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def query_error(recoding: Recoding, queries: int = QUERIES, seed: int = 0) -> float:
    """Median relative error of random queries for the rows with answers within a range of each of two attributes.

    The reader of a release spreads each label evenly over the answers it stands for. The ranges are drawn evenly among
    those that are not the whole domain; queries that no row answers are drawn again.
    """
    rng, sums = np.random.default_rng(seed), _Sums(PairTables(recoding))
    usable = [j for j, size in enumerate(recoding.tally.sizes) if size > 1]
    if not usable:
        return 0.0
    errors: list[float] = []
    for _ in range(20 * queries):
        if len(errors) == queries:
            break
        asked = rng.choice(usable, min(2, len(usable)), replace=False).tolist()
        ranges = {j: _random_range(int(recoding.tally.sizes[j]), rng) for j in asked}
        truth, estimate = sums.of(ranges)
        if truth:
            errors.append(abs(estimate - truth) / truth)
    return float(np.median(errors))


class _Sums:
    """Shares of rows within ranges of two attributes (or of one), before and after, from tables of running sums."""

    def __init__(self, tables: PairTables) -> None:
        self._tables = tables
        self._known: dict[tuple[int, int], tuple[Floats, Floats]] = {}
        self._cells = 0

    def of(self, ranges: Mapping[int, tuple[int, int]]) -> tuple[float, float]:
        a, b = min(ranges), max(ranges)
        low, high = ranges[a]
        first, last = ranges[b] if a != b else (0, 0)
        before, after = (
            sums[high + 1, last + 1] - sums[low, last + 1] - sums[high + 1, first] + sums[low, first]
            for sums in self._running(a, b)
        )
        return float(before) / self._tables.total, float(after) / self._tables.released

    def _running(self, a: int, b: int) -> tuple[Floats, Floats]:
        pair = self._known.get((a, b))
        if pair is None:
            pair = _running_sums(self._tables.truth(a, b)), _running_sums(self._tables.spread(a, b))
            self._cells += pair[0].size
            if self._cells > MOST_CELLS:  # of wide tables only a few are kept
                self._known, self._cells = {}, pair[0].size
            self._known[a, b] = pair
        return pair


def _running_sums(table: Floats) -> Floats:
    return np.pad(np.cumsum(np.cumsum(table, axis=0), axis=1), ((1, 0), (1, 0)))


def _random_range(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """A range of codes, each that is not the whole domain equally likely."""
    while True:
        low, high = sorted(rng.integers(0, size, 2).tolist())
        # A range of two different ends is drawn in two orders, one of a single answer in one: half of the former go.
        if (low, high) != (0, size - 1) and (low == high or rng.random() < 0.5):
            return low, high


def labels_overlap(recoding: Recoding) -> bool:
    """Whether an answer stands behind two released labels, so that rows cannot be grouped by label without spreading."""
    labels, _ = recoding.by_class
    return any((members[np.unique(labels[:, j])].sum(axis=0) > 1).any() for j, members in enumerate(recoding.members))


@dataclass(frozen=True)
class LostGroup:
    """People with an answer that no released row holds any more."""

    attribute: str
    answer: str
    rows: int


def largest_lost_group(recoding: Recoding) -> LostGroup | None:
    """The most frequent answer whose rows were all suppressed; None where every answer is still there."""
    codes, published = recoding.combinations.codes, recoding.classes >= 0
    lost = []
    for j, attribute in enumerate(recoding.tally.attributes):
        before = sums_by_code(codes[:, j], recoding.counts, attribute.size)
        after = sums_by_code(codes[published, j], recoding.counts[published], attribute.size)
        gone = np.where(after == 0, before, 0)
        lost.append(LostGroup(attribute.name, attribute.answers[int(gone.argmax())], int(gone.max())))
    worst = max(lost, key=lambda group: group.rows)
    return worst if worst.rows else None


def table_error(recoding: Recoding) -> float:
    """Mean total variation between the tables of two quasi-identifiers and what the release shows of them.

    Each label is spread evenly over its answers; 0 is perfect, 1 is nothing left.
    """
    tables = PairTables(recoding)
    errors = [
        np.abs(tables.truth(a, b) / tables.total - tables.spread(a, b) / tables.released).sum() / 2
        for a, b in itertools.combinations(tables.attributes, 2)
    ]
    return float(np.mean(errors)) if errors else 0.0


@dataclass(frozen=True)
class LinearSurvival:
    """How far correlations, and coefficients of regressions of each attribute on all others, are from the original."""

    correlation_error: float  # mean absolute difference over pairs of attributes
    coefficient_error: float  # of standardized coefficients, over all of them


def linear_survival(recoding: Recoding) -> LinearSurvival:
    """Pairwise and regression coefficients before and after; answers count as their places in their order.

    The reader spreads each label evenly over its answers: labels stand for their means, and what is within a label adds to
    the variance of its attribute alone.
    """
    codes, (labels, rows) = recoding.combinations.codes, recoding.by_class
    before = _correlations(codes, recoding.counts, [np.arange(size) for size in recoding.tally.sizes], None)
    places = [label_places(members) for members in recoding.members]
    after = _correlations(labels, rows, [mean for mean, _ in places], [spread for _, spread in places])
    pairs = np.triu_indices(len(before), 1)
    if not len(pairs[0]):
        return LinearSurvival(0.0, 0.0)
    return LinearSurvival(
        float(np.abs(before - after)[pairs].mean()), float(np.abs(_coefficients(before) - _coefficients(after)).mean())
    )


def _correlations(
    codes: NDArray[Any], counts: Codes, values: Sequence[NDArray[Any]], within: Sequence[Floats] | None
) -> Floats:
    """The correlation matrix of rows whose codes stand for `values`, each with a variance of its own `within`.

    Constants correlate with nothing. In parts, because as many numbers as a large table has would fill the memory.
    """
    total, size = counts.sum(), codes.shape[1]
    shares = [sums_by_code(codes[:, j], counts, len(numbers)) / total for j, numbers in enumerate(values)]
    means = np.array([share @ numbers for share, numbers in zip(shares, values, strict=True)])
    covariance = np.diag(
        [share @ numbers for share, numbers in zip(shares, within or [np.zeros(len(s)) for s in shares], strict=True)]
    )
    for start in range(0, len(codes), ROWS_AT_ONCE):
        chunk = slice(start, start + ROWS_AT_ONCE)
        centred = np.stack([values[j][codes[chunk, j]] - means[j] for j in range(size)], axis=1)
        covariance += (centred * counts[chunk, None]).T @ centred / total
    deviations = np.sqrt(np.diag(covariance))
    scale = np.where(deviations > 1e-12, deviations, np.inf)
    return covariance / np.outer(scale, scale) + np.diag((deviations <= 1e-12).astype(np.float64))


def _coefficients(correlations: Floats) -> Floats:
    """Standardized coefficients of every attribute on all others, by rows; attributes that say the same share them."""
    rows = []
    for j in range(len(correlations)):
        others = [i for i in range(len(correlations)) if i != j]
        rows.append(np.linalg.pinv(correlations[np.ix_(others, others)], rcond=1e-9) @ correlations[others, j])
    return np.stack(rows)


CLASSIFIERS = ("naive Bayes", "decision tree", "logistic regression")


@dataclass(frozen=True)
class ClassifierSurvival:
    """Accuracy of classifiers on unseen rows, trained and asked in the original and in the published form."""

    target: str
    before: float  # of naive Bayes
    after: float
    majority_share: float
    models: dict[str, tuple[float, float]]  # of each classifier: before, after


def classifier_survival(release: Release, target: str, seed: int = 0) -> ClassifierSurvival:
    """How well `target`, a published attribute, is predicted from the other quasi-identifiers, before and after."""
    return survival_in(release.publication, release.recoding, target, seed)


def survival_in(publication: Publication, recoding: Recoding, target: str, seed: int = 0) -> ClassifierSurvival:
    """The same for any recoding of a publication."""
    names = recoding.tally.names
    others = publication.settings.protection.others
    if target not in (*names, *others):
        raise UnknownName("Published attribute", target, (*names, *others))
    counted = publication.input.sparse_tally([*names, *(() if target in names else (target,))])
    codes = counted.codes[:, : len(names)].astype(np.int64)
    place = recoding.combinations.places(list(codes.T))
    inputs = [j for j, name in enumerate(names) if name != target]
    truth, published = counted.codes[:, counted.columns.index(target)].astype(np.int64), recoding.classes[place] >= 0
    # Every row goes to training by the toss of a coin; rows that show the same are tossed together.
    training = np.random.default_rng(seed).binomial(counted.counts, TRAINING_SHARE)
    test = counted.counts - training
    labels = recoding.shown[recoding.classes[place]][:, inputs]
    middles = np.stack(
        [label_places(recoding.members[j])[0][label] for j, label in zip(inputs, labels.T, strict=True)], axis=1
    )
    models = {}
    for model in CLASSIFIERS:
        before = _accuracy(model, codes[:, inputs], codes[:, inputs].astype(np.float64), truth, training, test)
        after = _accuracy(model, labels, middles, truth, training * published, test * published)
        models[model] = (before, after)
    majority = float(np.bincount(truth, counted.counts).max() / counted.counts.sum())
    return ClassifierSurvival(target, *models["naive Bayes"], majority, models)


def _accuracy(model: str, codes: NDArray[Any], places: Floats, truth: Codes, training: Codes, test: Codes) -> float:
    """Share of `test` rows that a classifier of the `training` rows gets right; both count combinations.

    Naive Bayes sees labels as names, the others see the places of the answers in their order.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    seen = training > 0
    if model == "naive Bayes":
        bayes = CategoricalNB(min_categories=codes.max(axis=0) + 1)
        bayes.fit(codes[seen], truth[seen], sample_weight=training[seen])
        return float(np.average(bayes.predict(codes) == truth, weights=test))
    if model == "decision tree":
        fitted = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)
        fitted.fit(places[seen], truth[seen], sample_weight=training[seen])
    elif len(np.unique(truth[seen])) < 2:
        return float(np.average(truth[seen][0] == truth, weights=test))
    else:
        fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
        fitted.fit(places[seen], truth[seen], logisticregression__sample_weight=training[seen])
    return float(np.average(fitted.predict(places) == truth, weights=test))
