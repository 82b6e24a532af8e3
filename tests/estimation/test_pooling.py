"""Several tables give one estimate: unbiased, with true errors, and as precise as their information allows."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import tacit
from tacit import Attribute, Reports, Scheme, channels
from tacit.count import MemoryEngine, Source, sources
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation import contributions, pooling
from tacit.estimation.contributions import counted_contributions
from tacit.estimation.group_parts import apply, parts_for
from tacit.estimation.mean import estimated_mean
from tacit.estimation.pooling import information, interactions
from tacit.schema import Schema
from tests.estimation.simulation import (
    REPEATS,
    SCHEMA,
    SCHEMES,
    assert_true_errors,
    marginal,
    simulated,
    stacked,
)

# Sources side by side: scheme and number of reports of each.
SIDE_BY_SIDE = {
    "two schemes": [("gamma", 900), ("warner", 600)],
    "clear and disguised": [("public", 150), ("flip", 1200)],
    "sets and a matrix": [("subset", 900), ("tall-part", 600)],
    "bits and a mixture": [("mask", 900), ("uniform", 600)],
    "dealt and clear": [("dealt", 1200), ("public", 100)],
}


def side_by_side(case: str, seed: int) -> list[Reports]:
    return [simulated(SCHEMES[scheme], n, 1000 * seed + i) for i, (scheme, n) in enumerate(SIDE_BY_SIDE[case])]


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("case", SIDE_BY_SIDE)
def test_pooled_estimates_are_unbiased_with_true_errors(case: str) -> None:
    names = ["age", "smokes"]
    tables = [tacit.estimate(side_by_side(case, seed), names) for seed in range(REPEATS // 2)]
    assert_true_errors(*stacked(tables), marginal(names).ravel())


@pytest.mark.parametrize("case", SIDE_BY_SIDE)
def test_the_covariance_has_the_variances_on_its_diagonal(case: str) -> None:
    found = tacit.estimate(side_by_side(case, 1), ["smokes", "sex", "age"])
    assert np.allclose(np.diag(found.covariance), found.standard_errors.ravel() ** 2, atol=1e-12)
    assert np.isclose(found.probabilities.sum(), 1) or case == "bits and a mixture"


@pytest.mark.parametrize("case", SIDE_BY_SIDE)
def test_a_table_is_the_sum_of_its_pooled_interactions(case: str) -> None:
    """The formula of the split questionnaire, written out: weighted means of every interaction, spread evenly."""
    names = ("smokes", "age", "drinks")
    found = sources(side_by_side(case, 2))
    table = np.full((2, 3, 2), 1 / 12)
    known = []
    for source in found:
        asked = tuple(name for name in names if name in source.questionnaire.attributes)
        known.append((source, asked, information(parts_for(source.questionnaire, asked), asked)))
    for interaction in interactions(names):
        telling = [(s, asked, s.engine.n_rows * told[interaction]) for s, asked, told in known if interaction in told]
        total = sum(weight for _, _, weight in telling)
        for source, asked, weight in telling:
            part = interaction_of(counted_contributions(source, asked).mean, asked, interaction)
            shape = [size if name in interaction else 1 for name, size in zip(names, (2, 3, 2), strict=True)]
            table += weight / total * part.reshape(shape) / (12 / part.size)
    assert np.allclose(tacit.estimate(side_by_side(case, 2), names).probabilities, table, atol=1e-12)


def interaction_of(table: np.ndarray, names: Sequence[str], interaction: Sequence[str]) -> np.ndarray:
    part = table.sum(axis=tuple(axis for axis, name in enumerate(names) if name not in interaction))
    for axis in range(part.ndim):
        part = part - part.mean(axis=axis, keepdims=True)
    return part


def test_clear_tables_side_by_side_are_counted_together() -> None:
    first, second = simulated(SCHEMES["public"], 300, 1), simulated(SCHEMES["public"], 700, 2)
    found = tacit.estimate([first, second], ["age", "sex"])
    counts = sum(sources(part)[0].engine.tally(["age", "sex"]) for part in (first, second))
    assert np.allclose(found.probabilities, counts / 1000)
    assert found.n_reports == 1000


@pytest.mark.parametrize(("members", "gamma"), [(1, 19.0), (2, 5.0), (2, 40.0)])
@pytest.mark.parametrize("names", [("age",), ("age", "smokes"), ("smokes", "drinks", "age")])
def test_the_information_of_a_set_is_the_published_one(names: tuple[str, ...], members: int, gamma: float) -> None:
    """Up to the scale that all questionnaires share: g_T n_S, the same for every interaction of a questionnaire."""
    shape = SCHEMA.shape(names)
    n = math.prod(shape)
    scheme = Scheme.of(SCHEMA.select(names), [(names, channels.subset(members, gamma))])
    told = information(parts_for(scheme.questionnaires[0], names), names)
    r = 1 + (gamma - 1) * members / n
    g = ((gamma - 1) / r) ** 2 * members * (n - members) / (n**2 * (n - 1))
    for interaction, amount in told.items():
        assert amount == pytest.approx(g * math.prod(SCHEMA.shape(interaction)), rel=1e-6)


@dataclass(frozen=True, eq=False)
class Expected:
    """An engine that counts exactly what is expected when every record is equally common."""

    schema: Schema
    n_rows: int
    scheme: Scheme

    def tally(self, columns: Sequence[str]) -> np.ndarray:
        questionnaire = self.scheme.questionnaires[0]
        names = [a for a in questionnaire.attributes if a in columns or questionnaire.group_of(a) is not None]
        parts = parts_for(questionnaire, names)
        shape = tuple(size for part in parts for size in part.channel.shape)
        return self.n_rows * apply(parts, np.full(shape, 1 / math.prod(shape)))


@pytest.mark.parametrize("kind", ["gamma-diagonal", "subset", "mixed"])
def test_pooling_is_the_best_linear_estimator_for_symmetric_channels(kind: str) -> None:
    names = ("smokes", "age")
    asked = [("smokes", "age"), ("age",), ("smokes",), ("smokes", "age")]
    made = [channels.gamma_diagonal(19), channels.gamma_diagonal(9), channels.warner(0.7), channels.gamma_diagonal(3)]
    if kind != "gamma-diagonal":
        made[0] = channels.subset(2, 19)
    if kind == "subset":
        made[1], made[3] = channels.subset(1, 9), channels.subset(3, 5)
    found = []
    for mine, recipe, rows in zip(asked, made, (10**7, 3 * 10**7, 2 * 10**7, 4 * 10**7), strict=True):
        scheme = Scheme.of(SCHEMA.select(mine), [(mine, recipe)])
        found.append(Source(scheme.questionnaires[0], Expected(scheme.report_schema, rows, scheme)))
    ours = estimated_mean(found, names, (2, 3))
    assert np.allclose(ours.probabilities, 1 / 6)
    precision = np.zeros((6, 6))
    for source, mine in zip(found, asked, strict=True):
        summing = np.stack([marginal_of(cell, mine, names) for cell in np.eye(6)], axis=1)
        covariance = estimated_mean([source], mine, SCHEMA.shape(mine)).covariance()
        precision += summing.T @ np.linalg.pinv(covariance, rcond=1e-9) @ summing
    assert np.allclose(ours.covariance(), np.linalg.pinv(precision, rcond=1e-9), rtol=1e-5, atol=1e-13)
    alone = estimated_mean(found[:1], names, (2, 3)).variances()
    assert (ours.variances() < alone).all()


def marginal_of(cell: np.ndarray, mine: Sequence[str], names: Sequence[str]) -> np.ndarray:
    table = cell.reshape(2, 3)
    return table.sum(axis=tuple(axis for axis, name in enumerate(names) if name not in mine)).reshape(-1)


def test_more_sources_mean_smaller_errors() -> None:
    parts = [simulated(SCHEMES["gamma"], 5000, 1), simulated(SCHEMES["uniform"], 5000, 2)]
    together = tacit.estimate(parts, ["smokes", "age"]).standard_errors
    for part in parts:
        assert (together < tacit.estimate(part, ["smokes", "age"]).standard_errors * 1.001).all()


def test_errors_do_not_depend_on_blocks_or_on_the_way_they_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = side_by_side("two schemes", 3)
    names = ["smokes", "drinks", "age", "sex"]
    whole = tacit.estimate(reports, names)
    monkeypatch.setattr(pooling, "BLOCK_ENTRIES", 50)
    assert np.allclose(tacit.estimate(reports, names).standard_errors, whole.standard_errors, rtol=1e-12)
    table = counted_contributions(sources(reports)[0], names)
    weights = np.random.default_rng(1).normal(size=(5, 24))
    by_pairs = np.einsum("sc,sc->s", weights @ table.products, weights)
    assert np.allclose(table.combined_squares(weights), by_pairs)


def test_standard_errors_are_there_where_the_covariance_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = side_by_side("two schemes", 3)
    errors = tacit.estimate(reports, ["smokes", "age"]).standard_errors
    monkeypatch.setattr(contributions, "COVARIANCE_CELLS", 5)
    found = tacit.estimate(reports, ["smokes", "age"])
    assert np.array_equal(found.standard_errors, errors)
    with pytest.raises(InvalidInput, match="covariance of 6 cells is too large to hold; at most 5 cells"):
        _ = found.covariance


def test_sixty_questionnaires_of_two_thousand_cells_take_seconds() -> None:
    """The CENSUS shape, a questionnaire for every set of its attributes: every cell has its error."""
    sizes = (4, 5, 5, 5, 2, 2)
    schema = Schema(tuple(Attribute(f"a{i}", tuple(map(str, range(size)))) for i, size in enumerate(sizes)))
    dealt = [
        (f"q{index}", 1 / 63, [(names, channels.gamma_diagonal(19))])
        for index, names in enumerate(interactions(schema.names))
    ]
    scheme = Scheme.dealt(schema, dealt)
    rng = np.random.default_rng(1)
    rows = {name: rng.integers(0, size, 20_000) for name, size in zip(schema.names, sizes, strict=True)}
    truth = tacit.Dataset(tacit.table.Table.from_codes(schema, rows))
    reports = tacit.disguise(truth, scheme, seed=1)
    started = time.process_time()
    found = tacit.estimate(reports, schema.names)
    assert time.process_time() - started < 10
    assert found.probabilities.shape == sizes
    # For a uniform truth the mean variance over the cells is known but for the sizes that chance deals.
    assert (found.standard_errors**2).mean() == pytest.approx(_cell_variance(sizes) / 20_000, rel=0.05)


def _cell_variance(sizes: tuple[int, ...]) -> float:
    """Of one respondent, for a cell over all attributes, with gamma-diagonal questionnaires."""
    axes = range(len(sizes))
    told = {}
    for asked in interactions([str(axis) for axis in axes]):
        n = math.prod(sizes[int(axis)] for axis in asked)
        told[frozenset(map(int, asked))] = (18 / (1 + 18 / n)) ** 2 * (n - 1) / (n**2 * (n - 1)) / 63
    total = 0.0
    for size in range(1, len(sizes) + 1):
        for inside in itertools.combinations(axes, size):
            known = sum(amount for asked, amount in told.items() if set(inside) <= asked)
            spread = math.prod(
                (1 - 1 / sizes[axis]) / sizes[axis] if axis in inside else sizes[axis] ** -2 for axis in axes
            )
            total += spread / known
    return total


def test_what_one_source_does_not_tell_another_may() -> None:
    silent = Scheme.of(SCHEMA, [(["smokes"], channels.uniform_perturbation(0)), (["age"], channels.warner(0.7))])
    clear = simulated(Scheme.of(SCHEMA.select(["smokes", "age"])), 400, 2)
    found = tacit.estimate([simulated(silent, 5000, 1), clear], ["smokes", "age"])
    alone = tacit.estimate(clear, ["smokes", "age"])
    assert np.allclose(found.probabilities.sum(axis=1), alone.probabilities.sum(axis=1))
    assert (found.standard_errors < alone.standard_errors).all()


def test_attributes_never_dealt_together_are_refused() -> None:
    apart = [("one", 0.5, [(["smokes"], channels.warner(0.8))]), ("two", 0.5, [(["drinks"], channels.warner(0.8))])]
    reports = simulated(Scheme.dealt(SCHEMA, apart), 500, 1)
    assert tacit.estimate(reports, ["smokes", "sex"]).probabilities.shape == (2, 2)
    with pytest.raises(NotEstimable, match="'smokes', 'drinks' are never asked together"):
        tacit.estimate(reports, ["smokes", "drinks"])
    with pytest.raises(NotEstimable, match="'smokes', 'drinks' are never asked together"):
        tacit.estimate(reports, {"smokes": "yes", "drinks": "yes"})


def test_a_questionnaire_that_nobody_was_dealt_says_nothing() -> None:
    apart = [("one", 0.5, [(["smokes"], channels.warner(0.8))]), ("two", 0.5, [(["drinks"], channels.warner(0.8))])]
    scheme = Scheme.dealt(SCHEMA, apart)
    full = simulated(scheme, 500, 1)
    half = Reports(scheme, (full.parts[0], full.parts[1].rows(slice(0, 0))))
    assert tacit.estimate(half, "sex").n_reports == full.parts[0].n_rows
    assert tacit.estimate(half, {"smokes": "yes"}).n_reports == full.parts[0].n_rows
    with pytest.raises(NotEstimable, match="No reports ask for 'drinks'"):
        tacit.estimate(half, ["sex", "drinks"])


def test_where_the_channels_do_not_tell_they_say_why() -> None:
    scheme = Scheme.of(SCHEMA, [(["smokes", "drinks", "age"], channels.cut_and_paste(1, 0.3))])
    twice = [simulated(scheme, 300, 1), simulated(scheme, 300, 2)]
    with pytest.raises(NotEstimable, match="keeps at most 1 answers of a record"):
        tacit.estimate(twice, ["smokes", "age"])


@pytest.mark.parametrize("ask", [lambda r: tacit.estimate(r, "sex", sampling="respondents"),
                                 lambda r: tacit.estimate(r, {"sex": "f"}, sampling="respondents")])  # fmt: skip
def test_pooled_errors_are_never_for_just_the_people_who_answered(ask: object) -> None:
    with pytest.raises(InvalidInput, match="Ask for sampling='population'"):
        ask(side_by_side("two schemes", 1))


def test_too_many_attributes_or_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema(tuple(Attribute(f"a{i}", ("0", "1")) for i in range(13)))
    reports = Reports(Scheme.of(schema), (simulated_bits(schema),))
    other = Reports(Scheme.of(schema, [(["a0"], channels.warner(0.9))]), (simulated_bits(schema),))
    with pytest.raises(InvalidInput, match="At most 12 attributes can be pooled at once, not 13"):
        tacit.estimate([reports, other], schema.names)
    monkeypatch.setattr(pooling, "POOLED_CELLS", 8)
    with pytest.raises(
        InvalidInput, match=r"A table of 16 cells is too large to be pooled; at most 8 are possible\. Ask"
    ):
        tacit.estimate([reports, other], schema.names[:4])
    monkeypatch.setattr(pooling, "COVARIANCE_CELLS", 5)
    with pytest.raises(InvalidInput, match="at most 5 are possible where reports show sets or bits"):
        tacit.estimate(side_by_side("bits and a mixture", 1), ["smokes", "age"])


def simulated_bits(schema: Schema) -> tacit.table.Table:
    rng = np.random.default_rng(1)
    return tacit.table.Table.from_codes(schema, {name: rng.integers(0, 2, 50) for name in schema.names})


def test_tables_that_list_answers_differently_are_refused() -> None:
    other = Scheme.of([Attribute("sex", ("m", "f"))])
    reports = Reports.from_arrow({"sex": ["m", "f"]}, other)
    with pytest.raises(InvalidInput, match="list the answers of 'sex' differently"):
        tacit.estimate([reports, simulated(SCHEMES["public"], 10, 1)], "sex")


def test_engines_of_one_source_are_asked_as_one_table() -> None:
    reports = simulated(SCHEMES["gamma"], 100, 1)
    assert isinstance(sources(reports)[0].engine, MemoryEngine)
    assert np.array_equal(tacit.estimate([reports], "age").probabilities, tacit.estimate(reports, "age").probabilities)
