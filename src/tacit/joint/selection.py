"""Which model of whole records fits best: several kinds, several starts, chosen by reports that were held out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from tacit.channel.codes import Array, Codes
from tacit.errors import InvalidInput, TacitError
from tacit.estimation import estimate, project_on_simplex
from tacit.joint.ascent import Climb
from tacit.joint.classes import LatentClasses, fit_classes, random_classes, split
from tacit.joint.evidence import WholeReports
from tacit.joint.exact import MOST_RECORDS, ExactTable, Tabled, fit_table
from tacit.joint.forest import Forest, branches, fit_forest, n_terms, plant_forest, split_forest
from tacit.joint.pairs import PairSources, information, pair_tables, small_pairs, starting_shares
from tacit.joint.products import ProductLaw, Turn
from tacit.schema import Schema

HELD_OUT = 0.2
# Gain of held-out log-likelihood a report below which more components are not worth it.
WORTHWHILE = 2e-5
# While models are compared they climb less far than the chosen one does at the end.
TRIED_ARRIVED, TRIED_STEPS = 1e-6, 240
FINAL_ARRIVED, FINAL_STEPS = 2e-7, 400
# Steps of trees take longer, and fewer of them do.
TREE_ARRIVED, TREE_STEPS = 1e-5, 40
# People added to every answer of every component, so that nothing becomes impossible by never having been seen.
PRIOR_PEOPLE = 0.5
MOST_TREES = 2
# One tree must come this close to the classes before mixtures of trees are tried.
PROMISING = 0.005
# An exact table of more records than a quarter of the people is tried only where there are few of them.
FEW_RECORDS = 1 << 12
# Models as good as each other, up to this and to the error of the difference, are told apart by their parameters.
TIED = 3e-4


class RecordModel(Protocol):
    """A distribution of whole records."""

    @property
    def name(self) -> str: ...

    @property
    def n_parameters(self) -> int: ...

    def describe(self) -> str: ...

    def log_chance(self, record: Sequence[Codes]) -> Array: ...

    def marginal(self, attributes: Sequence[int]) -> Array: ...

    def draw(self, people: int, rng: np.random.Generator) -> list[Codes]: ...

    def report_logs(self, reports: WholeReports) -> Array: ...

    def answers(self, reports: WholeReports) -> list[Array]: ...

    def candidates(self, reports: WholeReports) -> Iterator[list[Codes]]: ...


@dataclass(frozen=True, eq=False)
class ModelCandidate:
    """A model that was tried, and how likely it makes reports that it was not fitted to."""

    model: RecordModel
    held_out: float  # log-likelihood a report
    behind: float = 0.0  # how far it is behind the best
    behind_error: float = 0.0  # standard error of that difference
    starts: int = 1  # climbs from different starts
    agreeing: int = 1  # how many of them ended as high as the best
    converged: bool = True

    @property
    def what(self) -> str:
        return self.model.describe()


@dataclass(frozen=True)
class ModelSearch:
    """What is tried: kinds of models, classes at most, starts each, and the generator."""

    kinds: tuple[str, ...]
    most_classes: int
    starts: int
    rng: np.random.Generator
    on_share: Callable[[float], None] = lambda share: None


def rank_models(parts: Sequence[WholeReports], schema: Schema, search: ModelSearch) -> list[ModelCandidate]:
    """Every candidate, fitted without the held-out reports, the likeliest first."""
    held = [search.rng.binomial(reports.counts.astype(np.int64), HELD_OUT).astype(np.float64) for reports in parts]
    learning = [reports.with_counts(reports.counts - out) for reports, out in zip(parts, held, strict=True)]
    testing = [reports.with_counts(out) for reports, out in zip(parts, held, strict=True)]
    tried = list(_fit_candidates(learning, testing, schema, search))
    if not tried:
        raise InvalidInput(
            f"No {' and no '.join(search.kinds)} can be fitted to these reports: an exact table needs at most "
            f"{MOST_RECORDS:,} possible records, a tree attributes that are disguised one by one or in small groups. Ask "
            "for 'classes' too."
        )
    return _rank_candidates(tried, testing)


def _fit_candidates(
    learning: Sequence[WholeReports], testing: Sequence[WholeReports], schema: Schema, search: ModelSearch
) -> Iterator[ModelCandidate]:
    counted = PairSources.of(learning)
    shares = starting_shares(counted, schema)
    # An exact table alone needs no more than a start; trees also look at the pairs that classes show.
    start_only = search.kinds == ("table",)
    grown = list(_grown_classes(learning, testing, shares, replace(search, most_classes=1) if start_only else search))
    search.on_share(0.4)
    best = max(grown, key=lambda candidate: candidate.held_out)
    if "classes" in search.kinds:
        yield from grown
    if "table" in search.kinds and _is_tabled(learning, schema, search):
        yield _exact(learning, testing, schema, best.model)
    search.on_share(0.6)
    if "tree" in search.kinds and len(schema) > 1 and all(n_terms(reports) is not None for reports in learning):
        yield from _trees(learning, testing, counted, schema, shares, best, search)


def _is_tabled(parts: Sequence[WholeReports], schema: Schema, search: ModelSearch) -> bool:
    """Whether an exact table is worth trying."""
    if not all(Tabled.is_possible(reports, schema.shape()) for reports in parts):
        return False
    people = sum(reports.people for reports in parts)
    return search.kinds == ("table",) or math.prod(schema.shape()) <= max(FEW_RECORDS, people / 4)


def mean_log(model: RecordModel, parts: Sequence[WholeReports]) -> float:
    """Log-likelihood a report."""
    people = sum(reports.people for reports in parts)
    total = 0.0
    for reports in parts:
        seen = reports.counts > 0
        total += float(reports.counts[seen] @ model.report_logs(reports)[seen])
    return total / max(people, 1.0)


def _rank_candidates(tried: Sequence[ModelCandidate], testing: Sequence[WholeReports]) -> list[ModelCandidate]:
    """The candidates by their held-out likelihood, with how far each is behind the best and how surely."""
    ranked = sorted(tried, key=lambda candidate: -candidate.held_out)
    counts = np.concatenate([reports.counts for reports in testing])
    people = max(float(counts.sum()), 1.0)
    logs = [np.concatenate([candidate.model.report_logs(reports) for reports in testing]) for candidate in ranked]
    result = []
    for candidate, candidate_logs in zip(ranked, logs, strict=True):
        difference = np.subtract(logs[0], candidate_logs, out=np.zeros_like(candidate_logs), where=counts > 0)
        mean = float(counts @ difference) / people
        spread = float(counts @ (difference - mean) ** 2) / people
        result.append(replace(candidate, behind=mean, behind_error=math.sqrt(spread / people)))
    tied = [candidate for candidate in result if candidate.behind <= min(TIED, candidate.behind_error)]
    best = min(tied, key=lambda candidate: candidate.model.n_parameters)
    return [best, *(candidate for candidate in result if candidate is not best)]


def _best_climb(starts: Sequence[LatentClasses], parts: Sequence[WholeReports]) -> tuple[Climb[LatentClasses], int]:
    """The highest of several climbs, and how many of them ended about as high."""
    climbs = [
        fit_classes(start, parts, prior=PRIOR_PEOPLE, arrived=TRIED_ARRIVED, most_steps=TRIED_STEPS) for start in starts
    ]
    best = max(climbs, key=lambda climb: climb.height)
    return best, sum(climb.height > best.height - 1e-4 for climb in climbs)


def _grown_classes(
    learning: Sequence[WholeReports], testing: Sequence[WholeReports], shares: Sequence[Array], search: ModelSearch
) -> Iterator[ModelCandidate]:
    """Independent answers, then twice as many classes each time, while that makes held-out reports likelier."""
    plain = LatentClasses(np.ones(1), tuple(np.asarray(share, dtype=np.float64)[None, :] for share in shares))
    scattered = [random_classes(shares, 1, search.rng) for _ in range(search.starts - 1)]
    mirrors = turns(learning)
    starts = [plain, *scattered] if mirrors else [plain]
    model, reached = None, -math.inf
    while True:
        climb, agreeing = _best_climb(starts, learning)
        climb = _climbed_again(climb, learning)
        candidate = ModelCandidate(
            climb.model,
            mean_log(climb.model, testing),
            starts=len(starts),
            agreeing=agreeing,
            converged=climb.converged,
        )
        yield candidate
        model = climb.model
        if 2 * model.n_classes > search.most_classes or candidate.held_out <= reached + WORTHWHILE:
            return
        reached = candidate.held_out
        starts = [split(model, search.rng)]
        for _ in range(search.starts - 1):
            # Classes scattered anew would each choose a side of a mirror by themselves; halves of a class keep its side.
            anew = split(model, search.rng) if mirrors else random_classes(shares, 2 * model.n_classes, search.rng)
            starts.append(anew)


def _climbed_again(climb: Climb[LatentClasses], parts: Sequence[WholeReports]) -> Climb[LatentClasses]:
    """The climb, or one from its mirror image where that is likelier."""
    model, is_turned = likeliest_mirror(climb.model, parts)
    if not is_turned:
        return climb
    return fit_classes(model, parts, prior=PRIOR_PEOPLE, arrived=TRIED_ARRIVED, most_steps=TRIED_STEPS)


def turns(parts: Sequence[WholeReports]) -> list[tuple[tuple[int, ...], Turn]]:
    """Groups of several attributes whose reports a record and its mirror image explain almost alike."""
    made = {}
    for reports in parts:
        for group in reports.groups:
            if len(group.attributes) > 1 and isinstance(group.law, ProductLaw):
                for number, turn in enumerate(group.law.turns()):
                    made[group.attributes, number] = turn
    return [(attributes, turn) for (attributes, _), turn in sorted(made.items(), key=lambda item: item[0])]


Mirrored = TypeVar("Mirrored", LatentClasses, Forest)


def likeliest_mirror(model: Mirrored, parts: Sequence[WholeReports]) -> tuple[Mirrored, bool]:
    """The likeliest of a model and its mirror images, and whether it is one of them.

    They are compared as they stand: the difference then is that of the coins alone, which near one half is less than
    what a few steps of a climb gain or lose. Only whole groups are turned: single components are too few people to tell.
    """
    reached, is_turned = mean_log(model, parts), False
    for attributes, turn in turns(parts):
        other = model.exchange_answers(attributes, turn)
        height = mean_log(other, parts)
        if height > reached:
            model, reached, is_turned = other, height, True
    return model, is_turned


def table_prior(shares: Sequence[Array], people: float) -> Array:
    """People added to each whole record of an exact table: few in all, spread as if answers were independent."""
    table = np.ones(1)
    for share in shares:
        table = np.outer(table, share).reshape(-1)
    return table * min(0.5 * len(table), math.sqrt(people))


def _exact(
    learning: Sequence[WholeReports], testing: Sequence[WholeReports], schema: Schema, like: RecordModel
) -> ModelCandidate:
    """The exact table, started from inversion's estimate where it is one table, and from a fitted model."""
    people = sum(reports.people for reports in learning)
    shares = [like.marginal([j]) for j in range(len(schema))]
    start = ExactTable(starting_table(learning, schema, like), schema.shape())
    climb = fit_table(start, learning, table_prior(shares, people), arrived=TRIED_ARRIVED, most_steps=TRIED_STEPS)
    return ModelCandidate(climb.model, mean_log(climb.model, testing), converged=climb.converged)


def starting_table(parts: Sequence[WholeReports], schema: Schema, like: RecordModel) -> Array:
    """Half of inversion's estimate, projected, where there is one, and half of a fitted model: nothing is impossible."""
    fitted = like.marginal(range(len(schema))).reshape(-1)
    try:
        inverted = project_on_simplex(estimate(PairSources.of(parts), schema.names).probabilities).reshape(-1)
    except TacitError:
        inverted = np.full(len(fitted), 1 / len(fitted))
    start = 0.49 * inverted + 0.49 * fitted + 0.02 / len(fitted)
    return start / start.sum()


def _trees(
    learning: Sequence[WholeReports],
    testing: Sequence[WholeReports],
    counted: PairSources,
    schema: Schema,
    shares: Sequence[Array],
    classes: ModelCandidate,
    search: ModelSearch,
) -> Iterator[ModelCandidate]:
    """Trees along the branches that estimated pairs show, and that the classes' pairs show; then mixtures of the better."""
    tried: list[ModelCandidate] = []
    for start in _starting_forests(counted, schema, shares, classes.model):
        if all(start.parents != other.model.parents for other in tried if isinstance(other.model, Forest)):
            tried.append(_fitted_forest(start, learning, testing))
    if not tried:
        return
    yield from tried
    best = max(tried, key=lambda candidate: candidate.held_out)
    if best.held_out < classes.held_out - PROMISING:
        return
    while isinstance(best.model, Forest) and 2 * best.model.n_components <= MOST_TREES:
        richer = _fitted_forest(split_forest(best.model, search.rng), learning, testing)
        yield richer
        if richer.held_out <= best.held_out + WORTHWHILE:
            return
        best = richer


def _fitted_forest(start: Forest, learning: Sequence[WholeReports], testing: Sequence[WholeReports]) -> ModelCandidate:
    climb = fit_forest(start, learning, prior=PRIOR_PEOPLE, arrived=TREE_ARRIVED, most_steps=TREE_STEPS)
    model, is_turned = likeliest_mirror(climb.model, learning)
    if is_turned:
        climb = fit_forest(model, learning, prior=PRIOR_PEOPLE, arrived=TREE_ARRIVED, most_steps=TREE_STEPS)
    return ModelCandidate(climb.model, mean_log(climb.model, testing), converged=climb.converged)


def _starting_forests(
    counted: PairSources, schema: Schema, shares: Sequence[Array], like: RecordModel
) -> Iterator[Forest]:
    """Forests to start from: branches and tables of estimated pairs, and those of a fitted model."""
    n = len(schema)
    fitted = {(i, j): like.marginal([i, j]) for i, j in small_pairs(schema)}
    estimated = pair_tables(counted, schema)
    tables, gains = [dict(fitted) for _ in range(2)], np.zeros((2, n, n))
    for (i, j), pair in fitted.items():
        gains[1, i, j] = gains[1, j, i] = information(pair, np.zeros_like(pair))
        if (i, j) in estimated:
            tables[0][i, j] = project_on_simplex(estimated[i, j].probabilities)
            gains[0, i, j] = gains[0, j, i] = information(tables[0][i, j], estimated[i, j].standard_errors)
    for pair_shares, gain in zip(tables, gains, strict=True):
        if (gain > 0).any():
            both = {**pair_shares, **{(j, i): pair.T for (i, j), pair in pair_shares.items()}}
            pairs = [[both.get((i, j), np.empty(0)) for j in range(n)] for i in range(n)]
            yield plant_forest(branches(gain), pairs, shares)


def refine_model(
    model: RecordModel, parts: Sequence[WholeReports], steps: int = FINAL_STEPS
) -> tuple[RecordModel, bool]:
    """The chosen model, fitted to all reports, and whether it arrived."""
    if isinstance(model, LatentClasses):
        climb = fit_classes(model, parts, prior=PRIOR_PEOPLE, arrived=FINAL_ARRIVED, most_steps=steps)
        return likeliest_mirror(climb.model, parts)[0], climb.converged
    if isinstance(model, Forest):
        grove = fit_forest(
            model, parts, prior=PRIOR_PEOPLE, arrived=TRIED_ARRIVED, most_steps=min(steps, 2 * TREE_STEPS)
        )
        return likeliest_mirror(grove.model, parts)[0], grove.converged
    assert isinstance(model, ExactTable)
    shares = [model.marginal([j]) for j in range(len(model.shape))]
    prior = table_prior(shares, sum(reports.people for reports in parts))
    start = ExactTable(0.99 * model.probabilities + 0.01 / len(model.probabilities), model.shape)
    table = fit_table(start, parts, prior, arrived=FINAL_ARRIVED, most_steps=steps)
    return table.model, table.converged
