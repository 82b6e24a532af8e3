"""What was spent of an input's privacy: the epsilons of all its synthetic releases add up, and a stated sum is kept.

Noise hides a person once. Every further release of the same people spends its epsilon again (sequential composition). So the
ledger counts whatever was drawn from the input, also from versions of it that changed since. It is private: it stays with the
input.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.table.outputs import written_whole

LEDGER_FORMAT = "tacit-ledger/1"


@dataclass(frozen=True)
class Spending:
    """One release."""

    epsilon: float
    delta: float
    out: str


@dataclass(frozen=True)
class Ledger:
    """All releases of an input, and the sum of their epsilons that was stated as the most."""

    path: Path
    total: float | None = None
    spendings: tuple[Spending, ...] = ()

    @classmethod
    def beside(cls, table: str | Path) -> Path:
        """Where the ledger of a file lies."""
        return Path(f"{table}.ledger.json")

    @classmethod
    def read(cls, path: Path, total: float | None = None) -> Ledger:
        """The ledger in a file, an empty one where there is none; `total` states the most anew, which may only fall."""
        if total is not None and not 0 < total < math.inf:
            raise InvalidInput(f"The epsilon of all releases together must be a number above 0, not {total!r}.")
        if not path.exists():
            return cls(path, total)
        try:
            document = json.loads(path.read_text("utf-8"))
            ledger = cls(path, document["total"], tuple(Spending(**entry) for entry in document["spendings"]))
            is_ledger = document["format"] == LEDGER_FORMAT
        except (OSError, ValueError, KeyError, TypeError):
            is_ledger = False
        if not is_ledger:
            raise InvalidInput(
                f"{str(path)!r} is no ledger that Tacit wrote, so what was spent is not known. Name another file with --ledger, "
                "or move this one away."
            )
        if total is not None and ledger.total is not None and total > ledger.total:
            raise InvalidInput(
                f"{str(path)!r} states an epsilon of at most {ledger.total:g} for all releases together, and {total:g} is more. "
                "A promise that was made can only become stricter."
            )
        return ledger if total is None else replace(ledger, total=total)

    @property
    def epsilon(self) -> float:
        return math.fsum(spending.epsilon for spending in self.spendings)

    @property
    def delta(self) -> float:
        return math.fsum(spending.delta for spending in self.spendings)

    def spend(self, epsilon: float, delta: float, out: str) -> Ledger:
        """The ledger with one release more; refused where all together would be above the stated sum."""
        if self.total is not None and self.epsilon + epsilon > self.total + 1e-12:
            raise InvalidInput(
                f"Epsilon {self.epsilon:g} of {self.total:g} is spent on this input ({str(self.path)!r}), and {epsilon:g} more "
                f"would be {self.epsilon + epsilon:g}. At most {max(0.0, self.total - self.epsilon):g} is left."
            )
        return replace(self, spendings=(*self.spendings, Spending(float(epsilon), float(delta), out)))

    def write(self) -> None:
        """Keep the ledger, before the release is written: what was drawn is spent, whatever becomes of it."""
        document = {
            "format": LEDGER_FORMAT,
            "total": self.total,
            "spendings": [asdict(spending) for spending in self.spendings],
        }
        with written_whole(self.path, private=True) as file:
            file.write_text(json.dumps(document, indent=1) + "\n", "utf-8")

    @property
    def words(self) -> str:
        number = len(self.spendings)
        most = "" if self.total is None else f" of at most {self.total:g}"
        return f"Spent on this input by {number} release{'s' * (number > 1)}: epsilon {self.epsilon:g}{most} ({self.path})."

    def to_document(self) -> dict[str, Any]:
        left = None if self.total is None else self.total - self.epsilon
        return {"path": str(self.path), "epsilon": self.epsilon, "delta": self.delta, "total": self.total, "left": left}
