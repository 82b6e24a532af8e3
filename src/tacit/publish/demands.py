"""Demands on a table that somebody else made: ``k=5,l=2,t=.3,prosecutor=.2``, held against what a check found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidInput, TacitError, UnknownName

if TYPE_CHECKING:
    from tacit.publish.check import ReleaseCheck

Measure = Callable[["ReleaseCheck"], float | None]


def _least(values: list[float]) -> float | None:
    return min(values, default=None)


def _greatest(values: list[float]) -> float | None:
    return max(values, default=None)


# The measures that the named value is the least of, and those that it is the greatest of.
AT_LEAST: dict[str, Measure] = {
    "k": lambda check: check.k,
    "l": lambda check: check.l,
    "entropy": lambda check: _least([answers.entropy for answers in check.sensitive]),
    "k_map": lambda check: check.risk.k_map,
}
AT_MOST: dict[str, Measure] = {
    "t": lambda check: check.t,
    "beta": lambda check: _greatest([answers.beta for answers in check.sensitive]),
    "one_answer": lambda check: _greatest([float(answers.one_answer) for answers in check.sensitive]),
    "prosecutor": lambda check: check.highest_risk,
    "average": lambda check: check.mean_risk,
    "journalist": lambda check: None if check.risk.journalist is None else check.risk.journalist.highest,
    "marketer": lambda check: check.risk.marketer,
    "household": lambda check: None if check.risk.household is None else check.risk.household.highest,
    "uniques": lambda check: check.unique_rows,
    "at_risk": lambda check: check.rows_at_risk,
}
NEEDED = {
    **dict.fromkeys(
        ("l", "entropy", "t", "beta", "one_answer"), "the sensitive attributes (--sensitive, sensitive=...)"
    ),
    **dict.fromkeys(("k_map", "journalist"), "the people the rows come from (--people, people=...)"),
    "household": "whose row each is (--person, person=...)",
}
TOLERANCE = 1e-9


class UnmetDemand(TacitError):
    """A table that does not show what was demanded of it; `failed` lists the demands, `check` is all that was measured."""

    def __init__(self, failed: list[Demanded], check: ReleaseCheck) -> None:
        self.failed, self.check = [entry.demand for entry in failed], check
        super().__init__(
            f"The table does not show {'; '.join(entry.words for entry in failed)}. Generalize it further (tacit publish), or "
            "demand less."
        )


@dataclass(frozen=True)
class Demanded:
    """One demand and what was found."""

    demand: str  # as it was written
    found: float
    is_met: bool

    @property
    def words(self) -> str:
        return f"{self.demand} (found: {self.found:.6g})"

    def to_document(self) -> dict[str, Any]:
        return {"demand": self.demand, "found": self.found, "met": self.is_met}


def read_demands(text: str | Mapping[str, float]) -> dict[str, float]:
    """Demands by the names of their measures; refused where a name or a number is none."""
    if not isinstance(text, str):
        entries = [(str(name), str(value)) for name, value in text.items()]
    else:
        entries = [
            (name.strip(), value.strip()) for name, _, value in (part.partition("=") for part in text.split(","))
        ]
    demands: dict[str, float] = {}
    for name, value in entries:
        if name not in AT_LEAST and name not in AT_MOST:
            raise UnknownName("Measure", name, (*AT_LEAST, *AT_MOST))
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf or name in demands:
            raise InvalidInput(
                f"A demand is a measure and one number of at least 0, such as k=5,t=.3; not {f'{name}={value}'!r}"
                f"{' a second time' * (name in demands)}."
            )
        demands[name] = number
    return demands


def hold(check: ReleaseCheck, demands: Mapping[str, float]) -> list[Demanded]:
    """Every demand with what the check found; refused where a measure needs something that was not given."""
    held = []
    for name, wanted in demands.items():
        found = (AT_LEAST.get(name) or AT_MOST[name])(check)
        if found is None:
            raise InvalidInput(f"{name}={wanted:g} cannot be checked without {NEEDED[name]}.")
        is_met = found >= wanted - TOLERANCE if name in AT_LEAST else found <= wanted + TOLERANCE
        held.append(Demanded(f"{name}={wanted:g}", float(found), bool(is_met)))
    return held
