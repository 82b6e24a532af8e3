"""What a front is asked for, in three groups: what to protect, what to prefer, how long to search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from tacit.design.wanted import WantedNumbers
from tacit.errors import InvalidInput, UnknownName

DesignMethod = Literal["optrr", "exact", "warner", "uniform-perturbation", "gamma-diagonal"]
METHODS: tuple[DesignMethod, ...] = get_args(DesignMethod)


@dataclass(frozen=True, kw_only=True, eq=False)
class Bounds:
    """What to protect: how much any report may tell, and under which priors.

    Parameters
    ----------
    delta : float, optional
        How sure any report may make anyone of any answer.
    gamma : float or sequence, optional
        Bounds on amplification, a promise that needs no prior. Several give one point each.
    privacy : float or sequence, optional
        Wanted chances that the best guess is wrong, one point each.
    others : sequence of arrays
        Other priors that may be right; `delta` is kept for them too.
    ball : float
        Keep `delta` too where this share of the people answers otherwise than a prior says.

    Examples
    --------
    >>> Bounds(delta=0.8, ball=0.05).is_for_several_priors
    True
    """

    delta: float | None = None
    gamma: float | Sequence[float] | None = None
    privacy: float | Sequence[float] | None = None
    others: Sequence[ArrayLike] = ()
    ball: float = 0.0

    def __post_init__(self) -> None:
        for value in self.gammas:
            if not (value > 1 and np.isfinite(value)):
                raise InvalidInput(f"gamma is {value:g}; it must be finite and above 1 (1 would say nothing at all).")
        if not 0 <= self.ball < 1:
            raise InvalidInput(
                f"ball is {self.ball:g}; it is the share of people who may answer otherwise, from 0 to below 1."
            )

    @property
    def gammas(self) -> tuple[float, ...]:
        """The bounds on amplification, however many."""
        return _several(self.gamma)

    @property
    def privacies(self) -> tuple[float, ...]:
        """The wanted privacies, however many."""
        return _several(self.privacy)

    @property
    def is_for_several_priors(self) -> bool:
        return len(self.others) > 0 or self.ball > 0

    def check(self, method: DesignMethod) -> None:
        """Refuse bounds that the method cannot keep."""
        if self.is_for_several_priors:
            if method != "exact" or self.delta is None:
                raise InvalidInput("A set of priors (others, or a ball) is for the method exact with delta.")
            for name in ("gamma", "privacy"):
                if getattr(self, name) is not None:
                    raise InvalidInput(
                        f"A set of priors gives one channel under delta, so {name} cannot be given with it."
                    )
        for name in ("gamma", "privacy"):
            if method != "exact" and getattr(self, name) is not None:
                raise InvalidInput(
                    f"{name} is for the exact method only, not for {method}. Use the method exact, or delta."
                )


@dataclass(frozen=True, kw_only=True, eq=False)
class FrontPreferences:
    """What to prefer: the way to design, how many points, and what counts as a good guess.

    Parameters
    ----------
    method : {"exact", "optrr", "warner", "uniform-perturbation", "gamma-diagonal"}
        The least error of any channel, with its proof; the published search over square matrices; or a classic family.
    points : int
        Points of the exact front.
    accuracy : array, optional
        ``accuracy[guess, truth]``: what each guess is worth, where not only the exact one counts (`closeness` for ordered
        answers). Refused for the exact method, whose proof counts right guesses only.
    purpose : str, optional
        What the error is of, as in `exact_front`: ``mean``, ``cumulative``, ...; the shares of all answers if not said.
    """

    method: DesignMethod = "exact"
    points: int = 12
    accuracy: ArrayLike | None = None
    purpose: str | WantedNumbers | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownName("Method", str(self.method), METHODS)
        if self.purpose is not None and self.method == "optrr":
            raise InvalidInput(
                "OptRR searches for the shares of all answers, so a purpose is not for it. Use the method exact, or leave it out."
            )
        if self.points < 1:
            raise InvalidInput(f"points is {self.points}; a front needs at least 1.")
        if self.accuracy is not None and self.method == "exact":
            raise InvalidInput(
                "The proof of the exact method counts right guesses only, so nearness (accuracy, --closeness) is not for it. "
                "Use the method optrr or a classic family, or leave it out."
            )


@dataclass(frozen=True, kw_only=True)
class SearchEffort:
    """How long OptRR searches, and from which seed. The publication gives the generations only; the rest are our defaults.

    Parameters
    ----------
    generations, population, archive, slots : int
        How many generations, of how many matrices each; how many are kept from one to the next; and the steps of privacy
        of the optimal set.
    patience : int, optional
        Stops the search after so many generations that left the optimal set unchanged.
    crossover_rate, mutation_rate : float
        Chances of the two operators.
    polish : bool
        Descends from the optimal set with exact derivatives at the end; without it the published algorithm is seen alone.
    seed : int, optional
        The same seed gives the same front.
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


@dataclass(frozen=True, eq=False)
class FrontSettings:
    """All that a front is asked for; a bound that the method cannot keep is refused."""

    bounds: Bounds = field(default_factory=Bounds)
    preferences: FrontPreferences = field(default_factory=FrontPreferences)
    effort: SearchEffort = field(default_factory=SearchEffort)

    def __post_init__(self) -> None:
        self.bounds.check(self.preferences.method)


def _several(given: float | Sequence[float] | None) -> tuple[float, ...]:
    return () if given is None else tuple(float(value) for value in np.atleast_1d(np.asarray(given, dtype=np.float64)))
