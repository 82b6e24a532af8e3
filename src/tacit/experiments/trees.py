"""Decision trees from multi-group randomized response (Zhan and Du) run again, beside trees with guarded splits.

Adult (its first 10,000 rows), Breast Cancer and House Votes with two answers per attribute. Every fifth row is kept for
testing, the others are disguised: attributes and class are dealt at random into groups, each reversed as a whole with
chance 1 - theta. The publication's rule inverts and always splits; ours is the classifier's default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.bundled import binary_adult, binary_breast_cancer, binary_votes
from tacit.channel import flip
from tacit.channel.base import Array
from tacit.channel.scheme import Scheme
from tacit.dataset import Dataset
from tacit.disguising import disguise_table
from tacit.experiments.registry import Progress, PublishedComparison, StudyPlot, StudyResult, StudyTable
from tacit.experiments.tree_plots import accuracy_plot, surface_plot
from tacit.mine.tree_classifier import TreeClassifier
from tacit.randomness import SeededRandomness
from tacit.reports import Reports
from tacit.table import Table

TITLE = "Decision trees from multi-group randomized response (Zhan and Du)"
THETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0)
GROUPS = (1, 2, 3)
SURFACE_GROUPS = (5,)  # beside those above, and one group per attribute
FOLDS = 5
# Multiples of the folds: every fold is tested on as often, so accuracies may be held against those of clear data and majority.
REPEATS, QUICK_REPEATS = 50, 5
SURFACE_REPEATS, QUICK_SURFACE_REPEATS = 10, 5
PUBLISHED, OURS = "published", "guarded"
MOST_ORBITS = 6  # flipped groups up to which the likelihood is found in a moment


@dataclass(frozen=True, eq=False)
class TreeMaterial:
    """One of the data sets, cut into folds: rows ``index % 5 == fold`` are for testing."""

    name: str
    target: str
    truth: Dataset

    def fold(self, number: int) -> tuple[Table, Table]:
        """The rows to learn from, and those to test on."""
        testing = np.arange(self.truth.n_rows) % FOLDS == number
        return self.truth.table.rows(~testing), self.truth.table.rows(testing)

    @cached_property
    def majority(self) -> float:
        """Accuracy of always answering the more frequent class of the rows learned from."""
        rights = []
        for learning, testing in map(self.fold, range(FOLDS)):
            answer = np.bincount(learning[self.target]).argmax()
            rights.append(float((testing[self.target] == answer).mean()))
        return float(np.mean(rights))

    @cached_property
    def clear(self) -> float:
        """Accuracy of the tree grown from the rows as they are."""
        folds = map(self.fold, range(FOLDS))
        return float(
            np.mean([published_tree(self.target, Reports.from_truth(rows)).score(test) for rows, test in folds])
        )


@dataclass(frozen=True, eq=False)
class Accuracies:
    """Accuracies of all repeats, by number of groups and theta."""

    material: TreeMaterial
    rule: str
    repeats: dict[tuple[int, float], tuple[float, ...]]

    def mean(self, groups: int, theta: float) -> float:
        return float(np.mean(self.repeats[groups, theta]))

    def means(self, groups: int) -> Array:
        return np.array([self.mean(groups, theta) for theta in THETAS])

    def deviations(self, groups: int) -> Array:
        return np.array([np.std(self.repeats[groups, theta]) for theta in THETAS])


def materials() -> tuple[TreeMaterial, ...]:
    return (
        TreeMaterial("Adult", "income", binary_adult()),
        TreeMaterial("Breast Cancer", "Class", binary_breast_cancer()),
        TreeMaterial("House Votes", "Class", binary_votes()),
    )


def run(quick: bool, seed: int, progress: Progress) -> StudyResult:
    """All thetas, groups and repeats of the three data sets, and the surface over theta and number of groups."""
    repeats = QUICK_REPEATS if quick else REPEATS
    few = QUICK_SURFACE_REPEATS if quick else SURFACE_REPEATS
    made: list[tuple[Accuracies, Accuracies]] = []
    surfaces: list[Accuracies] = []
    sets = materials()
    for number, material in enumerate(sets):
        steps = Steps(progress, number / len(sets), 1 / len(sets), 3 * len(THETAS))
        rng = np.random.SeedSequence([seed, number])
        made.append(_both_rules(material, repeats, rng, steps))
        surfaces.append(_surface(made[-1][1], few, rng, steps))
    progress(1.0)
    comparisons = [row for both in made for row in comparisons_of(*both)]
    tables = [_table(*both) for both in made] + [_surface_table(surface) for surface in surfaces]
    plots = [_plot(*both) for both in made] + [_surface_plot(surface) for surface in surfaces]
    return StudyResult(
        "trees", TITLE, tuple(comparisons), tuple(tables), tuple(plots), _settings(sets, repeats, few, seed)
    )


def _settings(sets: Sequence[TreeMaterial], repeats: int, few: int, seed: int) -> str:
    rows = ", ".join(f"{material.name} {material.truth.n_rows:,}" for material in sets)
    return (
        f"Records: {rows}; every fifth is tested on. {repeats} repeats at each theta, with groups dealt and records disguised "
        f"anew ({few} with more than {GROUPS[-1]} groups; {FOLDS} at theta 0 and 1, where nothing is drawn), seed {seed}. "
        f"Guarded splits are the classifier's default; with more than {MOST_ORBITS} groups they learn from inverted estimates."
    )


class Steps:
    """Tells the progress of one part of the work, step by step."""

    def __init__(self, progress: Callable[[float], None], start: float, width: float, count: int) -> None:
        self._progress, self._start, self._width, self._count = progress, start, width, count
        self._done = 0

    def advance(self) -> None:
        self._done = min(self._done + 1, self._count)
        self._progress(self._start + self._width * self._done / self._count)


def published_tree(target: str, reports: Reports) -> TreeClassifier:
    """A tree by the published rule: inverted estimates, and a split wherever anything seems to be gained."""
    return TreeClassifier(target=target, splits="multiway", significance=0, method="inversion").fit(reports)


def guarded_tree(target: str, reports: Reports) -> TreeClassifier:
    """The classifier as it is by default; by inversion where it would fit a model of whole records for every tree."""
    few = len(reports.scheme.groups) <= MOST_ORBITS
    return TreeClassifier(target=target, method="auto" if few else "inversion").fit(reports)


def _both_rules(
    material: TreeMaterial, repeats: int, seeds: np.random.SeedSequence, steps: Steps
) -> tuple[Accuracies, Accuracies]:
    """The two rules on the same disguised rows."""
    published: dict[tuple[int, float], tuple[float, ...]] = {}
    ours: dict[tuple[int, float], tuple[float, ...]] = {}
    for theta in THETAS:
        for groups in GROUPS:
            pairs = [
                tuple(grow(material.target, reports).score(test) for grow in (published_tree, guarded_tree))
                for reports, test in _draws(material, theta, groups, repeats, seeds)
            ]
            published[groups, theta], ours[groups, theta] = zip(*pairs, strict=True)
        steps.advance()
        steps.advance()
    return Accuracies(material, PUBLISHED, published), Accuracies(material, OURS, ours)


def _surface(few_groups: Accuracies, repeats: int, seeds: np.random.SeedSequence, steps: Steps) -> Accuracies:
    """What is known of few groups, and more of them."""
    material, repeated = few_groups.material, dict(few_groups.repeats)
    for theta in THETAS:
        for groups in (*SURFACE_GROUPS, len(material.truth.schema)):
            drawn = _draws(material, theta, groups, repeats, seeds)
            repeated[groups, theta] = tuple(
                guarded_tree(material.target, reports).score(test) for reports, test in drawn
            )
        steps.advance()
    return Accuracies(material, OURS, repeated)


def _draws(
    material: TreeMaterial, theta: float, groups: int, repeats: int, seeds: np.random.SeedSequence
) -> Iterator[tuple[Reports, Table]]:
    """Disguised rows to learn from and true rows to test on, repeat by repeat."""
    # At theta 0 and 1 every record is told or every one is reversed: only the fold can make a difference.
    drawn = min(repeats, FOLDS) if theta in (0.0, 1.0) else repeats
    for repeat, seed in enumerate(seeds.spawn(drawn)):
        learning, test = material.fold(repeat % FOLDS)
        scheme = dealt_scheme(material.truth, theta, groups, np.random.default_rng(seed))
        yield disguise_table(learning, scheme, SeededRandomness(seed)), test


def dealt_scheme(truth: Dataset, theta: float, groups: int, rng: np.random.Generator) -> Scheme:
    """Attributes and class dealt at random into groups of nearly equal size, each flipped as a whole."""
    names = [str(name) for name in rng.permutation(truth.schema.names)]
    return Scheme.from_groups(truth.schema, [(names[start::groups], flip(theta)) for start in range(groups)])


def comparisons_of(published: Accuracies, ours: Accuracies) -> Iterator[PublishedComparison]:
    """What the publication says of this data set, and what is demanded of the guarded rule."""
    material, name = published.material, published.material.name
    ends = [rule.mean(groups, theta) for rule in (published, ours) for groups in GROUPS for theta in (0.0, 1.0)]
    yield PublishedComparison(
        f"{name}: theta 0 and 1",
        "the tree is that of the original data",
        f"accuracy {min(ends):.4f} to {max(ends):.4f}, clear data {material.clear:.4f}",
        bool(np.allclose(ends, material.clear, atol=1e-12)),
    )
    near, far = _mean_over(published, (0.45, 0.51, 0.55)), _mean_over(published, (0.1, 0.2, 0.8, 0.9))
    yield PublishedComparison(
        f"{name}: towards theta 1/2",
        "accuracy falls, and its variance grows",
        f"published rule {far:.3f} far from it, {near:.3f} close to it",
        near < far,
    )
    by_groups = [float(published.means(groups).mean()) for groups in GROUPS]
    yield PublishedComparison(
        f"{name}: more groups",
        "more privacy, less accuracy",
        "published rule, mean over theta: " + ", ".join(f"{value:.3f}" for value in by_groups),
        by_groups[0] > by_groups[-1],
    )
    for groups in GROUPS:
        gain = float((ours.means(groups) - published.means(groups)).mean())
        yield PublishedComparison(
            f"{name}: guarded splits, {groups} group{'s' if groups > 1 else ''}",
            None,
            f"mean over theta {ours.means(groups).mean():.3f}, {gain:+.3f} against the published rule",
            None,
        )
    lowest = min(float((rule.means(groups) - material.majority).min()) for rule in (ours,) for groups in GROUPS)
    below = min(float((published.means(groups) - material.majority).min()) for groups in GROUPS)
    yield PublishedComparison(
        f"{name}: against always answering the majority",
        None,
        f"at worst {below:+.3f} by the published rule, {lowest:+.3f} with guarded splits",
        None,
    )


def _mean_over(accuracies: Accuracies, thetas: Sequence[float]) -> float:
    return float(np.mean([accuracies.mean(groups, theta) for groups in GROUPS for theta in thetas]))


def _table(published: Accuracies, ours: Accuracies) -> StudyTable:
    rows = []
    for groups in GROUPS:
        for theta in THETAS:
            rows.append((groups, f"{theta:g}", *_figures(published, groups, theta), *_figures(ours, groups, theta)))
    material = published.material
    title = f"{material.name}: accuracy (clear data {material.clear:.4f}, majority {material.majority:.4f})"
    columns = ("groups", "theta", "published rule", "variance", "guarded splits", "variance")
    return StudyTable(title, columns, tuple(rows))


def _figures(accuracies: Accuracies, groups: int, theta: float) -> tuple[str, str]:
    values = accuracies.repeats[groups, theta]
    return f"{np.mean(values):.4f}", f"{np.var(values):.5f}"


def _surface_table(accuracies: Accuracies) -> StudyTable:
    numbers = sorted({groups for groups, _ in accuracies.repeats})
    rows = tuple((f"{theta:g}", *(f"{accuracies.mean(groups, theta):.3f}" for groups in numbers)) for theta in THETAS)
    columns = ("theta", *(f"{groups} group{'s' if groups > 1 else ''}" for groups in numbers))
    return StudyTable(f"{accuracies.material.name}: guarded splits over theta and number of groups", columns, rows)


def _plot(published: Accuracies, ours: Accuracies) -> StudyPlot:
    material = published.material
    curves = {
        groups: {
            "published rule": (published.means(groups), published.deviations(groups)),
            "guarded splits": (ours.means(groups), ours.deviations(groups)),
        }
        for groups in GROUPS
    }
    lines = {"clear data": material.clear, "majority class": material.majority}
    figure = accuracy_plot(THETAS, curves, lines, f"{material.name}: trees from disguised records")
    repeats = len(ours.repeats[1, THETAS[1]])
    words = (
        f"{material.name}, {material.truth.n_rows:,} records: mean accuracy by theta over {repeats} repeats; "
        "bars are one standard deviation of the repeats each way."
    )
    return StudyPlot(material.name.lower().replace(" ", "-"), words, figure)


def _surface_plot(accuracies: Accuracies) -> StudyPlot:
    numbers = sorted({groups for groups, _ in accuracies.repeats})
    heights = np.array([accuracies.means(groups) for groups in numbers])
    name = accuracies.material.name
    figure = surface_plot(
        THETAS, numbers, heights, f"{name}: accuracy with guarded splits", accuracies.material.majority
    )
    words = (
        f"{name}: mean accuracy over theta and number of groups; the last row has one group per attribute, and its trees learn "
        "from inverted estimates alone."
    )
    return StudyPlot(f"{name.lower().replace(' ', '-')}-surface", words, figure)
