"""What became of each fault, written down at once, so that a broken run goes on where it stopped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.mutants.running import NOTICED, Outcome

EQUIVALENT = Path(__file__).with_name("equivalent.txt")
SURVIVED = ("survived", "not reached", "out of time")


class Results:
    """A line for each fault that was tried; the last one of a fault counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._told: dict[str, dict[str, Any]] = {}
        self.read_again()

    def read_again(self) -> None:
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        self._told = {one["fault"]: one for one in map(json.loads, lines)}

    def add(self, identity: str, shown: str, outcome: Outcome) -> None:
        told = {"fault": identity, "shown": shown, **vars(outcome)}
        self._told[identity] = told
        with self._path.open("a") as out:
            out.write(json.dumps(told) + "\n")
        print(f"{len(self._told)}: {outcome.how} ({outcome.seconds:.1f} s): {shown}", flush=True)

    def how(self, identity: str) -> str:
        return str(self._told[identity]["how"]) if identity in self._told else ""

    def is_open(self, identity: str, *, again: bool) -> bool:
        how = self.how(identity)
        return how in ("", "to be imported") or (again and how in SURVIVED)

    def summed_up(self, drawn: Sequence[str], out: Path, every: int, equivalent: Mapping[str, str]) -> float:
        """Write the survivors with the share that is noticed, and give the share."""
        tried = [self._told[one] for one in drawn if one in self._told and one not in equivalent]
        counts = Counter(one["how"] for one in tried)
        share = sum(counts[how] for how in NOTICED) / len(tried) if tried else 1.0
        without = sum(one in equivalent for one in drawn)
        lines = [
            f"{share:.1%} of {len(tried)} faults noticed, drawn from {every}; {without} more of the sample change nothing",
            *(f"  {how}: {number}" for how, number in counts.most_common()),
            "",
            *(f"{one['how']}: {one['shown']}" for one in tried if one["how"] not in NOTICED),
        ]
        out.write_text("\n".join(lines) + "\n")
        return share


def equivalents(path: Path = EQUIVALENT) -> dict[str, str]:
    """Faults that change nothing anybody can see, each with the reason on the indented line below."""
    told: dict[str, str] = {}
    fault = ""
    for line in path.read_text().splitlines() if path.exists() else []:
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            told[fault] = f"{told[fault]} {line.strip()}".strip()
        else:
            fault = line
            told[fault] = ""
    unexplained = [fault for fault, reason in told.items() if not reason]
    if unexplained:
        raise ValueError(f"{path.name} gives no reason for {unexplained[0]}; write one on an indented line below it.")
    return told
