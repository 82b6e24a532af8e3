"""What a benchmark says: one number beside its target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """A measured number; a target is at least reached, or at most where the unit is a cost."""

    name: str
    value: float
    target: float
    unit: str  # "times faster" where more is better; "CPU seconds", "times the memory" and the like where less is
    detail: str = ""

    @property
    def is_met(self) -> bool:
        return self.value >= self.target if self.unit == "times faster" else self.value <= self.target

    def __str__(self) -> str:
        bound = "at least" if self.unit == "times faster" else "at most"
        verdict = "" if self.is_met else "  MISSED"
        return f"{self.name}: {self.value:.3g} {self.unit} ({bound} {self.target:g}){verdict}  {self.detail}".rstrip()
