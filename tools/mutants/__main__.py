"""A seeded sample of faults, each tried against its module's tests: ``python -m tools.mutants --sample 400``."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TextIO

from tools.mutants.faults import FAULTS
from tools.mutants.running import ROOT, Outcome, copied_sources, tried, warm_up
from tools.mutants.sites import sites_of
from tools.mutants.targets import modules, stages

EQUIVALENT = Path(__file__).with_name("equivalent.txt")
WANTED = 0.9


def main() -> int:
    options = _options()
    warm_up()
    with copied_sources() as copy, options.out.open("w") as out:
        print(f"{len(FAULTS)} named faults, then {options.sample} of seed {options.seed}", file=out)
        unnoticed = _named(copy, options, out) if options.named else []
        shares = _sampled(copy, options, out)
    return 1 if unnoticed or shares < WANTED else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=400, help="how many faults are drawn")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--limit", type=float, default=90, help="processor seconds for the tests of one fault")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="processor minutes for all")
    parser.add_argument("--only", default="", help="a part of the paths of the modules")
    parser.add_argument("--no-named", dest="named", action="store_false", help="leave the named faults out")
    parser.add_argument("--out", type=Path, default=ROOT / "out/mutants.txt")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    return options


def _named(copy: Path, options: argparse.Namespace, out: TextIO) -> list[str]:
    """The faults by hand that survive."""
    unnoticed = []
    log = options.out.with_suffix(".log")
    healthy: dict[str, bool] = {}
    for fault in FAULTS:
        file = copy / "tacit" / fault.file
        source = file.read_text()
        assert source.count(fault.old) == 1, f"{fault.name}: the text to change stands {source.count(fault.old)} times"
        tests = " ".join(fault.tests)
        if tests not in healthy:
            healthy[tests] = not tried([fault.tests], options.limit, log).noticed
        if not healthy[tests]:
            raise SystemExit(f"{tests}: fails without any fault; see {log}.")
        outcome = _with(file, source.replace(fault.old, fault.new).encode(), [fault.tests], options)
        _say(out, f"{outcome.how} ({outcome.seconds:.0f} s): {fault.name}")
        unnoticed += [] if outcome.noticed else [fault.name]
    return unnoticed


def _sampled(copy: Path, options: argparse.Namespace, out: TextIO) -> float:
    """The share of a sample that is noticed; what cannot change any result is left out before."""
    files = [file for file in modules() if options.only in str(file)]
    equivalent = set(EQUIVALENT.read_text().splitlines()) if EQUIVALENT.exists() else set()
    every = [(site, file) for file in files for site in sites_of(file, str(file.relative_to(ROOT)))]
    drawn = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    counts: Counter[str] = Counter()
    end = time.process_time() + 60 * options.minutes
    spent = 0.0
    for site, file in drawn:
        source = file.read_bytes()
        shown = site.shown(source)
        if any(line and line.split("  #")[0] == shown for line in equivalent):
            counts["equivalent"] += 1
            continue
        if time.process_time() + spent > end:
            break
        mutated = copy / file.relative_to(ROOT / "src")
        outcome = _with(mutated, site.applied(source), stages(file), options)
        spent += outcome.seconds
        counts[outcome.how] += 1
        _say(out, f"{outcome.how} ({outcome.seconds:.0f} s): {shown}")
    judged = counts.total() - counts["equivalent"]
    share = counts["noticed"] / judged if judged else 1.0
    _say(out, f"{dict(counts)} of {len(every)} places: {share:.1%} of {judged} noticed")
    return share


def _with(file: Path, text: bytes, files: list[list[str]], options: argparse.Namespace) -> Outcome:
    before = file.read_bytes()
    file.write_bytes(text)
    try:
        return tried(files, options.limit, options.out.with_suffix(".log"))
    finally:
        file.write_bytes(before)


def _say(out: TextIO, line: str) -> None:
    print(line, flush=True)
    print(line, file=out, flush=True)


if __name__ == "__main__":
    sys.exit(main())
