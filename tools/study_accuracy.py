"""How true the errors of studies are, over simulated ones: ``python -m tools.study_accuracy --out docs/notes/study-accuracy.md``.

Runs every device and every family, as simple samples and with weights and clusters, 2,000 studies of 1,000 people each, and
writes the table of the page between its marks. Each case is written down when it is done (`--kept`), so that a broken run
goes on where it stopped. Exit 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.estimation import device_simulation
from tests.regression import regression_simulation
from tests.study_scores import CLUSTERS, PEOPLE, REPORTED, SOAKED, Scores

MARKS = ("<!-- table: begin -->", "<!-- table: end -->")
SIMPLE, COMPLEX = "simple sample", f"weights, {CLUSTERS} clusters"
HEAD = "| study | estimate | sample | mean of z | deviation of z | coverage | without an error |"


def main() -> int:
    options = _options()
    kept = _kept(options.kept)
    rows, missed = [], []
    for kind, case, clustered in _cases(options.only):
        design = COMPLEX if clustered else SIMPLE
        key = f"{kind}: {case}: {design}: {options.seeds} seeds of {options.stream}"
        if key not in kept:
            kept[key] = _run(kind, case, options, clustered=clustered)
            _keep(options.kept, key, kept[key])
        for one in kept[key]:
            rows.append(_row(f"{kind}: {case}", design, one))
            missed += [f"{kind}: {case} ({design}): {miss}" for miss in one["misses"]]
    _write(options.out, rows, missed, options.seeds)
    print("\n".join(missed) if missed else "Every target is met.")
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SOAKED, help="studies of each case")
    parser.add_argument(
        "--stream", type=int, default=REPORTED, help="which seeds: 1964 to choose by, 1965 to report on"
    )
    parser.add_argument("--out", type=Path, required=True, help="the page whose table is written")
    parser.add_argument("--only", choices=("share", "regression"), help="half of the cases")
    parser.add_argument("--kept", type=Path, default=Path("out/study-accuracy.jsonl"), help="cases that are done")
    return parser.parse_args()


def _cases(only: str | None) -> Iterator[tuple[str, str, bool]]:
    cases = {"share": list(device_simulation.CASES), "regression": list(regression_simulation.CASES)}
    for kind in cases if only is None else [only]:
        for clustered in (False, True):
            for case in cases[kind]:
                yield kind, case, clustered


def _run(kind: str, case: str, options: argparse.Namespace, *, clustered: bool) -> list[dict[str, Any]]:
    simulated = device_simulation.simulated if kind == "share" else regression_simulation.simulated
    began = time.process_time()
    all_scores = simulated(case, options.seeds, clustered=clustered, stream=options.stream)
    took = time.process_time() - began
    print(f"{kind}: {case}{', clustered' if clustered else ''}: {took:.0f} s", flush=True)
    return [_summed(scores) for scores in all_scores]


def _summed(scores: Scores) -> dict[str, Any]:
    return {
        "name": scores.name,
        "mean": round(scores.mean, 4),
        "deviation": round(scores.deviation, 4),
        "coverage": round(scores.coverage, 4),
        "left_out": scores.left_out,
        "misses": scores.misses(),
    }


def _kept(path: Path) -> dict[str, list[dict[str, Any]]]:
    if not path.exists():
        return {}
    return dict(json.loads(line) for line in path.read_text().splitlines())


def _keep(path: Path, key: str, summed: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lines:
        lines.write(json.dumps([key, summed]) + "\n")


def _row(case: str, design: str, one: dict[str, Any]) -> str:
    shown = {
        "mean": f"{one['mean']:+.2f}",
        "deviation": f"{one['deviation']:.2f}",
        "coverage": f"{one['coverage']:.3f}",
    }
    numbers = [f"**{text}**" if _is_missed(one, what) else text for what, text in shown.items()]
    name = one["name"].replace("|", "\\|")
    return " | ".join([f"| {case}", name, design, *numbers, f"{one['left_out']} |"])


def _is_missed(one: dict[str, Any], what: str) -> bool:
    return any(f": {what} " in miss for miss in one["misses"])


def _write(path: Path, rows: list[str], missed: list[str], seeds: int) -> None:
    said = [f"Missed: {miss}." for miss in missed] or ["Every target is met."]
    head = f"{seeds:,} studies of {PEOPLE:,} people each, {len(rows)} estimates. " + " ".join(said)
    table = "\n".join([MARKS[0], "", head, "", HEAD, "|---" * 7 + "|", *rows, "", MARKS[1]])
    before, _, rest = path.read_text().partition(MARKS[0])
    path.write_text(before + table + rest.partition(MARKS[1])[2])


if __name__ == "__main__":
    sys.exit(main())
