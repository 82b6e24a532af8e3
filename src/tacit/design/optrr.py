"""OptRR: evolutionary search for square channels (Huang and Du, ICDE 2008), complete, with a final polish."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design.bound import with_lower_bounds
from tacit.design.front import Front, measured_point, undominated
from tacit.design.interior import single_thread
from tacit.design.optimal_set import Matrices
from tacit.design.problem import DesignProblem
from tacit.design.sweeps import permitted
from tacit.errors import InvalidInput
from tacit.extras import require

Matrix = NDArray[np.float64]
Progress = Callable[[float], None]

# Generations between two looks at the clock and at the keyboard.
CHUNK = 25


@dataclass(frozen=True)
class SearchSettings:
    """Sizes and rates of the search. The publication gives the generations only; the rest are our defaults.

    `patience` stops the search after that many generations that left the optimal set unchanged. `polish` descends from
    the optimal set with exact derivatives at the end; without it the published algorithm is seen alone.
    """

    generations: int = 20_000
    population: int = 100
    archive: int = 100
    slots: int = 1000
    patience: int | None = None
    crossover_rate: float = 0.9
    mutation_rate: float = 1.0
    polish: bool = True
    seed: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("generations", 1), ("population", 2), ("archive", 2), ("slots", 10), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InvalidInput(f"{name} is {value}; it must be at least {least}.")
        for name in ("crossover_rate", "mutation_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidInput(f"{name} is {getattr(self, name):g}; it is a probability between 0 and 1.")


class Search:
    """The three sets of OptRR: the young population, the archive, and the optimal set indexed by privacy."""

    def __init__(self, problem: DesignProblem, settings: SearchSettings) -> None:
        require("design")
        from tacit.design import _optrr_kernels

        self.problem, self.settings = problem, settings
        self.rng = np.random.default_rng(settings.seed)
        self.generation = 0
        self.idle = 0
        n = problem.n_answers
        self.young = Matrices.empty(settings.population, n)
        self.old = Matrices.empty(settings.archive, n)
        self.optimal = Matrices.empty(settings.slots, n)
        _optrr_kernels.first_population(self.young.channels, problem.prior, problem.posterior_cap, self.rng)
        self.young.measure(problem)
        self.optimal.meet(self.young)

    @property
    def is_over(self) -> bool:
        patience = self.settings.patience
        return self.generation >= self.settings.generations or (patience is not None and self.idle >= patience)

    def advance(self) -> None:
        """Run some generations, few enough for a keyboard interrupt to be noticed soon."""
        from tacit.design import _optrr_kernels

        settings, problem = self.settings, self.problem
        run, self.idle = _optrr_kernels.evolve(
            min(CHUNK, settings.generations - self.generation),
            settings.patience or settings.generations + 1,
            self.idle,
            self.young.arrays,
            self.old.arrays,
            self.optimal.arrays,
            problem.prior,
            problem.posterior_cap,
            problem.guess_worth,
            problem.accuracy is None,
            np.array([settings.crossover_rate, settings.mutation_rate]),
            self.rng,
        )
        self.generation += run


def optrr_front(problem: DesignProblem, settings: SearchSettings, progress: Progress | None = None) -> Front:
    """The front OptRR finds; an interrupt (Ctrl-C) ends the search and keeps what was found."""
    return optrr_fronts(problem, settings, progress)[-1]


def optrr_fronts(
    problem: DesignProblem, settings: SearchSettings, progress: Progress | None = None
) -> tuple[Front, ...]:
    """The front of the published operators alone and, unless the settings say otherwise, the polished one."""
    started = time.perf_counter()
    tell = progress or (lambda share: None)
    search = Search(problem, settings)
    warnings: tuple[str, ...] = ()
    fronts = []
    try:
        _evolve(search, tell)
        if settings.polish:
            fronts.append(_front(search, time.perf_counter() - started, ()))
            _polish(search, tell)
    except KeyboardInterrupt:
        warnings = (f"Interrupted after {search.generation} of {settings.generations} generations: the front so far.",)
    fronts.append(_front(search, time.perf_counter() - started, warnings))
    return tuple(with_lower_bounds(front, problem) for front in fronts)


def _evolve(search: Search, tell: Progress) -> None:
    share = 0.6 if search.settings.polish else 1.0
    while not search.is_over:
        search.advance()
        tell(share * search.generation / search.settings.generations)


def _polish(search: Search, tell: Progress) -> None:
    from tacit.design.polish import Polish

    with single_thread():
        Polish(search.problem, search.optimal, search.rng).run(lambda done: tell(0.6 + 0.4 * done))


def _front(search: Search, seconds: float, warnings: tuple[str, ...]) -> Front:
    """All that was found and Warner's matrices, without the dominated ones: the front is nowhere above Warner.

    Warner's matrices join at the end. A search that starts with them ends higher where answers are few.
    """
    problem, optimal = search.problem, search.optimal
    everything = optimal.joined(Matrices.measured(np.array(permitted(problem, "warner")), problem))
    filled = everything.filled
    kept = filled[undominated(everything.privacy[filled], everything.trace[filled])]
    points = tuple(measured_point(everything.channels[i], problem) for i in kept)
    return Front("optrr", problem.prior, problem.records, problem.delta, seconds, points, problem.answers, warnings)
