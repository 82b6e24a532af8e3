"""OptRR: evolutionary search for square channels (Huang and Du, ICDE 2008), complete, with a final polish."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.design.bound import with_lower_bounds
from tacit.design.front import Front, front_of, measured_point, undominated_points
from tacit.design.interior import single_thread
from tacit.design.optimal_set import Matrices
from tacit.design.problem import DesignProblem
from tacit.design.settings import SearchEffort
from tacit.design.sweeps import permitted_channels
from tacit.extras import require

Matrix = NDArray[np.float64]
Progress = Callable[[float], None]

# Generations between two looks at the clock and at the keyboard.
CHUNK = 25


class OptrrSearch:
    """The three sets of OptRR: the young population, the archive, and the optimal set indexed by privacy."""

    def __init__(self, problem: DesignProblem, effort: SearchEffort) -> None:
        require("design")
        from tacit.design import _optrr_kernels

        self.problem, self.effort = problem, effort
        self.rng = np.random.default_rng(effort.seed)
        self.generation = 0
        self.idle = 0
        n = problem.n_answers
        self.young = Matrices.empty(effort.population, n)
        self.old = Matrices.empty(effort.archive, n)
        self.optimal = Matrices.empty(effort.slots, n)
        _optrr_kernels.first_population(self.young.channels, problem.prior, problem.posterior_cap, self.rng)
        self.young.measure(problem)
        self.optimal.meet(self.young)

    @property
    def is_over(self) -> bool:
        patience = self.effort.patience
        return self.generation >= self.effort.generations or (patience is not None and self.idle >= patience)

    def advance(self) -> None:
        """Run some generations, few enough for a keyboard interrupt to be noticed soon."""
        from tacit.design import _optrr_kernels

        effort, problem = self.effort, self.problem
        run, self.idle = _optrr_kernels.evolve(
            min(CHUNK, effort.generations - self.generation),
            effort.patience or effort.generations + 1,
            self.idle,
            self.young.arrays,
            self.old.arrays,
            self.optimal.arrays,
            problem.for_kernels,
            np.array([effort.crossover_rate, effort.mutation_rate]),
            self.rng,
        )
        self.generation += run


def optrr_front(problem: DesignProblem, effort: SearchEffort, progress: Progress | None = None) -> Front:
    """The front OptRR finds; an interrupt (Ctrl-C) ends the search and keeps what was found."""
    return optrr_fronts(problem, effort, progress)[-1]


def optrr_fronts(problem: DesignProblem, effort: SearchEffort, progress: Progress | None = None) -> tuple[Front, ...]:
    """The front of the published operators alone and, unless the effort leaves it out, the polished one."""
    started = time.perf_counter()
    tell = progress or (lambda share: None)
    search = OptrrSearch(problem, effort)
    warnings: tuple[str, ...] = ()
    fronts = []
    try:
        _evolve(search, tell)
        if effort.polish:
            fronts.append(_front(search, time.perf_counter() - started, ()))
            _polish(search, tell)
    except KeyboardInterrupt:
        warnings = (f"Interrupted after {search.generation} of {effort.generations} generations: the front so far.",)
    fronts.append(_front(search, time.perf_counter() - started, warnings))
    return tuple(with_lower_bounds(front, problem) for front in fronts)


def _evolve(search: OptrrSearch, tell: Progress) -> None:
    share = 0.6 if search.effort.polish else 1.0
    while not search.is_over:
        search.advance()
        tell(share * search.generation / search.effort.generations)


def _polish(search: OptrrSearch, tell: Progress) -> None:
    from tacit.design.polish import Polish

    with single_thread():
        Polish(search.problem, search.optimal, search.rng).run(lambda done: tell(0.6 + 0.4 * done))


def _front(search: OptrrSearch, seconds: float, warnings: tuple[str, ...]) -> Front:
    """All that was found and Warner's matrices, without the dominated ones: the front is nowhere above Warner.

    Warner's matrices join at the end. A search that starts with them ends higher where answers are few.
    """
    problem, optimal = search.problem, search.optimal
    everything = optimal.join(Matrices.from_channels(np.array(permitted_channels(problem, "warner")), problem))
    filled = everything.filled_slots
    best = filled[undominated_points(everything.privacy[filled], everything.trace[filled])]
    points = tuple(measured_point(everything.channels[i], problem) for i in best)
    return front_of(problem, "optrr", seconds, points, warnings)
