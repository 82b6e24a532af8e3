"""Design: OptRR's generations beside pymoo's SPEA2, the exact front beside a general semidefinite solver."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians
from tacit.design import exact_front, named_prior
from tacit.design.optrr import OptrrSearch
from tacit.design.problem import DesignProblem
from tacit.design.settings import SearchEffort

PRIOR = named_prior("normal")
RECORDS, DELTA, SIZE = 10_000, 0.75, 100
PYMOO_GENERATIONS, OURS_GENERATIONS = 40, 1000


def run() -> list[Ratio]:
    seconds = cpu_medians(
        {
            "ours": lambda: evolve(OURS_GENERATIONS),
            "peer": lambda: evolve_in_pymoo(PYMOO_GENERATIONS),
            "exact": lambda: exact_front(PRIOR, RECORDS, delta=DELTA, points=12),
        },
        repeats=3,
    )
    few, many = (cpu_medians({"polished": partial(polished, n)}, repeats=1)["polished"] for n in (10, 25))
    prior = named_prior("normal", 20)
    twenty = cpu_medians({"exact": lambda: exact_front(prior, RECORDS, delta=DELTA, points=12)}, repeats=1)["exact"]
    ours, peer = OURS_GENERATIONS / seconds["ours"], PYMOO_GENERATIONS / seconds["peer"]
    shown = f"{ours:.0f} against {peer:.1f} generations per CPU second, 10 answers, {SIZE} + {SIZE} matrices"
    return [
        Ratio("OptRR generations beside pymoo's SPEA2", ours / peer, 12, "times faster", shown),
        Ratio("OptRR, 20,000 generations", 20_000 / ours, 30, "CPU seconds", f"from {OURS_GENERATIONS} generations"),
        Ratio(
            "OptRR, 25 answers beside 10", many / few, 6.25, "times the CPU seconds", f"{many:.0f} against {few:.0f}"
        ),
        Ratio("exact front, 12 points, 10 answers", seconds["exact"], 5, "CPU seconds", "all certified to 1e-6"),
        Ratio("exact front, 12 points, 20 answers", twenty, 60, "CPU seconds", "all certified to 1e-6"),
    ]


def evolve(generations: int) -> None:
    problem = DesignProblem.of(PRIOR, RECORDS, delta=DELTA)
    search = OptrrSearch(problem, SearchEffort(generations=generations, population=SIZE, archive=SIZE, seed=1))
    while not search.is_over:
        search.advance()


def polished(n_answers: int) -> None:
    """A search and its polish, both at a fraction of the usual effort."""
    from tacit.design import polish
    from tacit.design.optrr import optrr_front

    usual, polish.LEVELS = polish.LEVELS, 8
    try:
        problem = DesignProblem.of(named_prior("normal", n_answers), RECORDS, delta=DELTA)
        optrr_front(problem, SearchEffort(generations=500, slots=200, seed=1))
    finally:
        polish.LEVELS = usual


def evolve_in_pymoo(generations: int) -> None:
    """The same objectives and bound in pymoo: 100 variables scaled to columns, everything vectorized."""
    from pymoo.algorithms.moo.spea2 import SPEA2
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize
    from threadpoolctl import threadpool_limits

    n = len(PRIOR)

    class Channels(Problem):
        def __init__(self) -> None:
            super().__init__(n_var=n * n, n_obj=2, n_ieq_constr=1, xl=1e-6, xu=1.0)

        def _evaluate(self, x: np.ndarray, out: dict[str, np.ndarray], *args: object, **kwargs: object) -> None:
            matrices = x.reshape(-1, n, n)
            matrices = matrices / matrices.sum(axis=1, keepdims=True)
            joint = matrices * PRIOR
            expected = joint.sum(axis=2)
            inverse = np.linalg.inv(matrices)
            mse = ((inverse**2).sum(axis=1) * expected).sum(axis=1)
            guessed = joint.max(axis=2)
            out["F"] = np.stack([guessed.sum(axis=1), np.log(mse)], axis=1)
            out["G"] = ((guessed / expected).max(axis=1) - DELTA)[:, None]

    with threadpool_limits(limits=1):
        minimize(Channels(), SPEA2(pop_size=SIZE), ("n_gen", generations), seed=1, verbose=False)
