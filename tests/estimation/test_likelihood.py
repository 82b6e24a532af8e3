"""The likelihood estimate is the optimum it claims to be, and says so when it is not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import tacit
from tacit import Attribute, Reports, Schema, Scheme, channels
from tacit.channel.mixing import above_water
from tacit.count import MemoryEngine, Source, sources
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation import evidence as evidence_module
from tacit.estimation.evidence import gather_evidence
from tacit.estimation.expectation import Step, accelerate, expectation_step
from tacit.estimation.likelihood import most_likely, orbit_fit
from tacit.table import Table
from tests.estimation.simulation import SCHEMA, SCHEMES, marginal, simulated

# Those whose likelihood is iterated, and some attributes of each.
ITERATED = {
    "warner-below": ["age"],
    "gamma": ["smokes", "drinks"],
    "flip": ["smokes", "drinks", "sex"],
    "square": ["age", "sex"],
    "tall": ["drinks"],
    "mask": ["smokes", "age"],
    "cut-and-paste": ["drinks", "age"],
    "subset": ["age", "drinks"],
    "dealt": ["smokes", "age"],
}


def size_of(name: str) -> int:
    return SCHEMA[name].size


def update_for(reports: Reports, names: list[str]) -> tuple[np.ndarray, object]:
    covered, evidence = gather_evidence(sources(reports), names)
    shape = SCHEMA.shape(covered)
    return np.full(shape, 1 / math.prod(shape)), expectation_step(evidence)


@pytest.mark.parametrize("scheme", ITERATED)
def test_the_bound_holds_all_along_the_way(scheme: str) -> None:
    start, update = update_for(simulated(SCHEMES[scheme], 400, 5), ITERATED[scheme])
    best = accelerate(start, update, 1e-12, 100_000)
    assert best.converged
    greatest = update(best.distribution).likelihood
    truth = start
    for _ in range(200):
        step = update(truth)
        assert step.likelihood <= greatest + 1e-12
        assert step.likelihood + step.remaining >= greatest - 1e-12
        truth = step.after
    # Plain EM climbs towards the same height, so the acceleration did not end somewhere else.
    assert update(truth).likelihood > update(start).likelihood


def test_the_bound_is_tight_near_a_corner() -> None:
    """Where every report is the same the likeliest truth is a corner, and towards it the likelihood is almost linear."""
    scheme = Scheme.of(
        SCHEMA.select(["age"]), [(["age"], channels.matrix([[0.7, 0.1, 0.2], [0.2, 0.8, 0.1], [0.1, 0.1, 0.7]]))]
    )
    _, update = update_for(Reports.from_arrow({"age": ["middle"] * 50}, scheme), ["age"])
    greatest = update(np.array([0.0, 1.0, 0.0])).likelihood
    near = update(np.array([0.001, 0.998, 0.001]))
    assert greatest - near.likelihood <= near.remaining <= 1.01 * (greatest - near.likelihood)


@pytest.mark.parametrize("scheme", ITERATED)
def test_a_general_optimizer_finds_nothing_better(scheme: str) -> None:
    start, update = update_for(simulated(SCHEMES[scheme], 400, 6), ITERATED[scheme])

    def loss(free: np.ndarray) -> float:
        shares = np.exp(free - free.max())
        return -update((shares / shares.sum()).reshape(start.shape)).likelihood

    found = minimize(loss, np.zeros(start.size), method="L-BFGS-B", options={"maxiter": 500})
    best = update(accelerate(start, update, 1e-9, 50_000).distribution).likelihood
    assert best >= -found.fun - 1e-9
    assert best <= -found.fun + 1e-4  # the two agree


@given(st.data())
def test_the_closed_form_of_a_mixture_meets_the_conditions_of_the_optimum(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 8))
    counts = np.array(data.draw(st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any)), dtype=float)
    noise = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.01, 0.3, 2.0]), min_size=size, max_size=size)))
    frequencies = counts / counts.sum()
    truth = above_water(frequencies, noise)
    assert truth.min() >= 0
    assert np.isclose(truth.sum(), 1)
    seen = frequencies > 0
    slope = np.zeros(size)
    slope[seen] = frequencies[seen] / (truth + noise)[seen]
    level = slope[truth > 0]
    assert np.allclose(level, level[0])
    assert (slope <= level[0] * (1 + 1e-9)).all()


@pytest.mark.parametrize("scheme", ["warner", "uniform", "unrelated", "unrelated-joint", "randomized", "public"])
def test_the_closed_form_is_the_optimum_of_the_iteration(scheme: str) -> None:
    names = (
        ["drinks", "smokes"] if scheme == "unrelated-joint" else ["age"] if scheme == "public" else ["age", "smokes"]
    )
    reports = simulated(SCHEMES[scheme], 60, 4)  # so few that some cells are empty
    fit = most_likely(sources(reports), names, size_of)
    assert fit.steps == 0
    start, update = update_for(reports, names)
    assert update(fit.distribution).remaining <= 1e-12
    iterated = accelerate(start, update, 1e-12, 100_000)
    assert np.allclose(iterated.distribution, fit.distribution, atol=1e-4)


BITS = Schema(tuple(Attribute(name, ("no", "yes")) for name in "abcdef"))
FLIPPED = {
    "one group": [("abcdef", 0.3)],
    "two groups": [("fda", 0.3), ("bec", 0.6)],
    "some told as they are": [("be", 0.45), ("c", 0.9)],
    "one each": [(name, 0.2) for name in "abcdef"],
    "nothing hidden": [("abc", 0), ("def", 1)],
}


def flipped_reports(groups: list[tuple[str, float]], rows: int) -> Reports:
    rng = np.random.default_rng(7)
    told = {name: (rng.random(rows) < rng.random()).astype(np.uint8) for name in "abcdef"}
    told["f"] = told["a"] | told["b"]
    scheme = Scheme.of(BITS, [(list(names), channels.flip(theta)) for names, theta in groups])
    return tacit.disguise(tacit.Dataset(Table(BITS, told)), scheme, seed=3)


@pytest.mark.parametrize("groups", FLIPPED.values(), ids=FLIPPED)
@pytest.mark.parametrize("rows", [1, 40, 3000])
def test_orbits_of_flips_hold_the_optimum_of_the_whole(groups: list[tuple[str, float]], rows: int) -> None:
    reports = flipped_reports(groups, rows)
    names = list("cadbfe")
    _, evidence = gather_evidence(sources(reports), names)
    fit = orbit_fit(evidence, (2,) * 6, 1e-9, 50_000)
    assert fit is not None
    assert fit.converged
    assert np.isclose(fit.distribution.sum(), 1)
    assert fit.distribution.min() >= 0
    assert expectation_step(evidence)(fit.distribution).remaining <= 1e-9
    np.testing.assert_array_equal(most_likely(sources(reports), names, lambda _: 2).distribution, fit.distribution)


def test_orbits_say_when_they_stopped_too_early() -> None:
    _, evidence = gather_evidence(sources(flipped_reports(FLIPPED["two groups"], 3000)), list("abcdef"))
    assert not orbit_fit(evidence, (2,) * 6, 1e-12, 2).converged


def test_other_channels_have_no_orbits() -> None:
    reports = simulated(SCHEMES["warner"], 100, 1)
    assert orbit_fit(gather_evidence(sources(reports), ["age", "smokes"])[1], (3, 2), 1e-9, 10) is None
    assert orbit_fit(gather_evidence(sources(simulated(SCHEMES["dealt"], 100, 1)), ["age"])[1], (3,), 1e-9, 10) is None


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_never_leaves_the_simplex(scheme: str) -> None:
    for seed in range(5):
        found = tacit.estimate(simulated(SCHEMES[scheme], 40, seed), ["age", "smokes"], method="likelihood")
        assert found.converged
        assert found.probabilities.min() >= 0
        assert np.isclose(found.probabilities.sum(), 1)
        assert found.probabilities.shape == (3, 2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_with_many_reports_it_finds_the_truth(scheme: str) -> None:
    found = tacit.estimate(simulated(SCHEMES[scheme], 30_000, 11), ["age", "smokes"], method="likelihood")
    # Errors are those of inversion, which the likelihood does not exceed in large samples; 5.2 of them: 1e-6 in all.
    assert (np.abs(found.probabilities - marginal(["age", "smokes"])) <= 5.2 * found.standard_errors).all()
    assert found.method == "likelihood"


@pytest.mark.parametrize("scheme", ["square", "mask", "subset"])
def test_a_cell_that_is_never_true(scheme: str) -> None:
    young = {"smokes": 1000 * ["no"], "drinks": 500 * ["no", "yes"], "age": 1000 * ["young"], "sex": 1000 * ["f"]}
    truth = tacit.Dataset.from_arrow(young, SCHEMA)
    reports = tacit.disguise(truth, SCHEMES[scheme], seed=2)
    found = tacit.estimate(reports, ["age"], method="likelihood")
    assert found.converged
    assert found.probabilities[0] >= 1 - 5 * found.standard_errors[0]
    assert found.probabilities.min() >= 0


def as_one_matrix(reports: Reports) -> Reports:
    """The same reports under a scheme that lists every possible whole report of its groups as a label."""
    groups = reports.scheme.groups
    law = np.ones((1, 1))
    rows = np.zeros(reports.n_reports, dtype=np.int64)
    for group in groups:
        known = _keys(group.channel.reports())
        position = {key: index for index, key in enumerate(known)}
        sent = _keys([reports.table[column.name] for column in group.report_attributes])
        rows = rows * len(known) + np.array([position[key] for key in sent])
        law = np.kron(law, group.channel.matrix)
    names = [name for group in groups for name in group.names]
    used = np.unique(rows)
    unused = np.setdiff1d(np.arange(len(law)), used)
    table = np.vstack([law[used], law[unused].sum(axis=0)])  # what nobody sent is one report
    scheme = Scheme.of(SCHEMA.select(names), [(names, channels.matrix(table, [f"r{i}" for i in range(len(table))]))])
    codes = np.searchsorted(used, rows)
    return Reports(scheme, (Table(scheme.report_schema, {"+".join(names): codes}),))


def _keys(columns: object) -> list[bytes]:
    flat = np.concatenate([np.asarray(column).reshape(len(column), -1).astype(np.int64) for column in columns], axis=1)
    return [row.tobytes() for row in flat]


@pytest.mark.parametrize(
    ("scheme", "names"),
    [
        ("mask", ["smokes", "age"]),
        ("cut-and-paste", ["smokes", "drinks", "age"]),
        ("subset", ["age", "drinks", "smokes"]),
    ],
)
def test_the_likelihood_of_sets_is_that_of_the_written_out_matrix(scheme: str, names: list[str]) -> None:
    reports = simulated(SCHEMES[scheme], 300, 3)
    ours = most_likely(sources(reports), names, size_of)
    dense = most_likely(sources(as_one_matrix(reports)), names, size_of)
    assert ours.converged
    _start, update = update_for(reports, names)
    # Chances are rounded to 2**-32 in the written-out matrix, hence not to the last digit.
    assert update(ours.distribution).likelihood == pytest.approx(update(dense.distribution).likelihood, abs=1e-7)
    assert np.allclose(ours.distribution, dense.distribution, atol=2e-3)


def test_clear_tables_side_by_side_are_counted_together() -> None:
    first, second = simulated(SCHEMES["public"], 300, 1), simulated(SCHEMES["public"], 700, 2)
    found = tacit.estimate([first, second], ["age", "sex"], method="likelihood")
    counts = sum(sources(part)[0].engine.tally(["age", "sex"]) for part in (first, second))
    assert np.allclose(found.probabilities, counts / 1000, atol=1e-4)


def test_an_iteration_that_was_stopped_says_so() -> None:
    reports = simulated(SCHEMES["flip"], 500, 1)
    stopped = tacit.estimate(reports, ["smokes", "drinks"], method="likelihood", max_steps=1)
    assert not stopped.converged
    assert stopped.to_document()["converged"] is False
    assert "not converged" in str(stopped)
    whole = tacit.estimate(reports, ["smokes", "drinks"], method="likelihood")
    assert whole.converged
    assert "not converged" not in str(whole)


def test_errors_and_intervals_are_those_of_inversion() -> None:
    reports = simulated(SCHEMES["gamma"], 500, 1)
    likely, unbiased = (tacit.estimate(reports, ["smokes", "age"], method=m) for m in ("likelihood", "inversion"))
    assert np.array_equal(likely.unbiased, unbiased.probabilities)
    # Where the optimum lies inside the simplex both are the same, up to where the iteration stops.
    np.testing.assert_allclose(likely.interval().low, unbiased.interval().low, atol=1e-6)
    assert np.array_equal(likely.covariance, unbiased.covariance)


def test_where_extrapolation_loses_likelihood_plain_steps_are_taken() -> None:
    start, update = update_for(simulated(SCHEMES["gamma"], 400, 5), ["smokes", "drinks"])
    plain: list[np.ndarray] = [start]

    def distrusting(truth: np.ndarray) -> Step:
        """Sees no likelihood in whatever is not a plain step from where it was."""
        step = update(truth)
        known = any(truth is point for point in plain)
        plain.append(step.after)
        return step if known else Step(step.after, -math.inf, step.remaining)

    found = accelerate(start, distrusting, 0.0, 10)
    truth = start
    for _ in range(20):
        truth = update(truth).after
    assert np.array_equal(found.distribution, truth)


def test_reports_that_nobody_can_send_are_refused() -> None:
    never = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.8], [0.0, 0.5, 0.1], [0.0, 0.0, 0.0]]
    scheme = Scheme.of(SCHEMA.select(["age"]), [(["age"], channels.matrix(never, ["a", "b", "c", "d"]))])
    reports = Reports.from_arrow({"age": ["a", "b", "d", "d"]}, scheme)
    with pytest.raises(InvalidInput, match="2 reports could not have been sent by anybody"):
        tacit.estimate(reports, "age", method="likelihood")


def test_too_many_different_sets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_module, "MATRIX_ENTRIES", 20)
    with pytest.raises(InvalidInput, match=r"different reports that show sets.*use the inversion method"):
        tacit.estimate(simulated(SCHEMES["subset"], 100, 1), ["smokes"], method="likelihood")


@dataclass(frozen=True)
class Elsewhere:
    """Reports that are stored outside memory."""

    scheme: Scheme
    engine: MemoryEngine

    def sources(self) -> tuple[Source, ...]:
        return (Source(self.scheme.questionnaires[0], _Remote(self.engine)),)


class _Remote:
    def __init__(self, engine: MemoryEngine) -> None:
        self.schema, self.n_rows = engine.schema, engine.n_rows
        self.tally, self.tallies, self.totals = engine.tally, engine.tallies, engine.totals


def test_sets_outside_memory_have_no_likelihood() -> None:
    reports = simulated(SCHEMES["mask"], 100, 1)
    stored = Elsewhere(reports.scheme, MemoryEngine(reports.table))
    assert np.allclose(tacit.estimate(stored, "age").probabilities, tacit.estimate(reports, "age").probabilities)
    with pytest.raises(
        NotEstimable, match="Reports of age show sets, and where they are stored whole reports cannot be listed"
    ):
        tacit.estimate(stored, "age", method="likelihood")
