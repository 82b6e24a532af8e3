"""What cosmic-ray does not do by itself: draw a seeded sample of all faults, and run the tests that a fault can reach."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

from tools.near import changed_lines, near_tests

LEFT_OUT = "not slow and not spark and not postgres and not browser and not soak"


def draw_sample(session: str, size: int, seed: int) -> int:
    """Skip all but `size` of a session's faults, drawn by their places in the code; return how many there were."""
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import WorkerOutcome, WorkResult

    with use_db(session) as faults:
        waiting = sorted(faults.pending_work_items, key=lambda item: str(item.mutations))
        drawn = {item.job_id for item in random.Random(seed).sample(waiting, min(size, len(waiting)))}
        skipped = [item.job_id for item in waiting if item.job_id not in drawn]
        faults.set_multiple_results(skipped, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    return len(waiting)


def ordered_tests(base: str = "HEAD") -> list[str]:
    """The test files that the change in the working tree reaches, those of the changed modules' names first."""
    names = {f"test_{Path(file).stem.strip('_').removesuffix('_kernels')}" for file in changed_lines(base)}
    return sorted(near_tests(base), key=lambda file: (Path(file).stem not in names, Path(file).stat().st_size))


def main() -> None:
    """``sample SESSION --size N --seed S`` or ``test``, which ends with 0 where no test notices the change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("sample", "test"))
    parser.add_argument("session", nargs="?")
    parser.add_argument("--size", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1848)
    asked = parser.parse_args()
    if asked.what == "sample":
        places = draw_sample(asked.session, asked.size, asked.seed)
        print(f"{min(asked.size, places):,} of {places:,} faults drawn with seed {asked.seed}.")
        return
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-m", LEFT_OUT, *ordered_tests()]
    sys.exit(subprocess.run(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, check=False).returncode)


if __name__ == "__main__":
    main()
