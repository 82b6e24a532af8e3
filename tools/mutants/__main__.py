"""A seeded sample of faults, each tried against its module's tests: ``python -m tools.mutants --sample 400``."""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import sys
import time
from pathlib import Path

from tools.mutants.faults import FAULTS
from tools.mutants.results import Results, equivalents
from tools.mutants.running import ROOT, changed, copied_sources, tried, warm_up
from tools.mutants.session import Session
from tools.mutants.sites import Site, sites_of
from tools.mutants.targets import COMPILED_ONLY, modules, stages

WANTED = 0.9


def main() -> int:
    options = _options()
    warm_up()
    results = Results(options.out.with_suffix(f".seed{options.seed}.jsonl"))
    with copied_sources() as copy:
        unnoticed = _named(copy, options) if options.named else []
        drawn, every = _drawn(options)
        _sampled(copy, drawn, results, options)
    results.read_again()
    share = results.summed_up([_identity(site) for site in drawn], options.out, every, equivalents())
    print(options.out.read_text())
    return 1 if unnoticed or share < WANTED else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=430, help="how many faults are drawn")
    parser.add_argument("--seed", type=int, default=1848, help="of the draw")
    parser.add_argument("--limit", type=float, default=60, help="processor seconds for the tests of one fault")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="minutes for the sample; what is done is kept"
    )
    parser.add_argument("--only", default="", help="a part of the paths of the modules")
    parser.add_argument(
        "--part", default="", help="of the sample, only paths with this part: so that several runs share it"
    )
    parser.add_argument("--again", action="store_true", help="try those that survived an earlier run once more")
    parser.add_argument("--no-named", dest="named", action="store_false", help="leave the named faults out")
    parser.add_argument("--out", type=Path, default=ROOT / "out/mutants.txt")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.log = options.out.with_suffix(f".{options.part.replace('/', '-')}.log" if options.part else ".log")
    options.end = time.monotonic() + 60 * options.minutes
    return options


def _named(copy: Path, options: argparse.Namespace) -> list[str]:
    """The faults by hand that survive."""
    unnoticed = []
    log = options.log
    healthy: dict[str, bool] = {}
    for fault in FAULTS:
        file = copy / "tacit" / fault.file
        source = file.read_text()
        if source.count(fault.old) != 1:
            print(f"stands {source.count(fault.old)} times in {fault.file}, write it anew: {fault.name}", flush=True)
            unnoticed.append(fault.name)
            continue
        tests = " ".join(fault.tests)
        if tests not in healthy:
            healthy[tests] = not tried([fault.tests], options.limit, log, compiled=fault.compiled).noticed
        if not healthy[tests]:
            raise SystemExit(f"{tests}: fails without any fault; see {log}.")
        with changed(file, source.replace(fault.old, fault.new).encode()):
            outcome = tried([fault.tests], options.limit, log, compiled=fault.compiled)
        print(f"{outcome.how} ({outcome.seconds:.0f} s): {fault.name}", flush=True)
        unnoticed += [] if outcome.noticed else [fault.name]
    return unnoticed


def _drawn(options: argparse.Namespace) -> tuple[list[Site], int]:
    """The sample, and of how many it is drawn; a longer sample of a seed begins with the shorter one."""
    files = [file for file in modules() if options.only in str(file)]
    every = [site for file in files for site in sites_of(file, str(file.relative_to(ROOT)))]
    if not options.only:
        for fault in sorted(equivalents().keys() - set(map(_identity, every))):
            print(f"no longer in the code, take it out of equivalent.txt: {fault}", flush=True)
    random.Random(options.seed).shuffle(every)
    return every[: options.sample], len(every)


def _sampled(copy: Path, drawn: list[Site], results: Results, options: argparse.Namespace) -> None:
    """Try what has no result yet: first where one session suffices, then what is decided while Tacit is imported."""
    skipped = equivalents()
    wanted = [site for site in drawn if options.part in site.file and _identity(site) not in skipped]
    open_ones = [site for site in wanted if results.is_open(_identity(site), again=options.again)]
    inside = [site for site in open_ones if not _acts_on_import(site)]
    if inside:
        _in_session(copy, inside, results, options)
        results.read_again()
    for site in open_ones:
        if time.monotonic() > options.end:
            return
        if _acts_on_import(site) or results.how(_identity(site)) == "to be imported":
            file = copy.parent / site.file
            with changed(file, site.applied(file.read_bytes())):
                compiled = site.file.endswith(COMPILED_ONLY)
                tests = stages(ROOT / site.file) if compiled else _near(site, options.log) or stages(ROOT / site.file)
                outcome = tried(tests, 2 * options.limit, options.log, compiled=compiled)
            results.add(_identity(site), site.shown(_source(site.file)), outcome)


def _near(site: Site, log: Path) -> list[list[str]]:
    """The tests that call anything in a fault's module, those of the same name first, then quick ones."""
    kept = log.with_suffix(".reach.json")
    known = json.loads(kept.read_text()) if kept.exists() else {}
    ranks, name = _ranks(site.file), site.file.removeprefix("src/")
    near = [
        (ranks.get(file, 9), one["seconds"], test)
        for file, of_file in known.items()
        for test, one in of_file["tests"].items()
        if any(place[0] == name for place in one["places"])
    ]
    return [[test for _, _, test in sorted(near)]] if near else []


def _acts_on_import(site: Site) -> bool:
    return not site.function.line or site.file.endswith(COMPILED_ONLY)


def _in_session(copy: Path, sites: list[Site], results: Results, options: argparse.Namespace) -> None:
    """Fork the process that imports Tacit: this one must stay without it for faults that act on import."""
    ranked = {site.file: _ranks(site.file) for site in sites}
    files = sorted({file for ranks in ranked.values() for file in ranks})

    def work(session: Session) -> None:
        for site in sites:
            if time.monotonic() > options.end:
                return
            outcome = session.outcome(site, ranked[site.file])
            if not outcome.noticed and (site.file.removeprefix("src/"), site.function.line) in session.collected:
                outcome = outcome.to_be_imported()
            results.add(_identity(site), site.shown(_source(site.file)), outcome)

    child = os.fork()
    if child == 0:
        done = Session(copy, options.limit, options.log, work).run(files)
        sys.stdout.flush()
        os._exit(0 if done else 1)
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit("The session that tries the faults broke; what it did is kept, so start again.")


def _ranks(file: str) -> dict[str, int]:
    return {test: rank for rank, tests in enumerate(stages(ROOT / file)) for test in tests}


def _identity(site: Site) -> str:
    return site.identity(_source(site.file))


@functools.cache
def _source(file: str) -> bytes:
    return (ROOT / file).read_bytes()


if __name__ == "__main__":
    sys.exit(main())
