"""How CPU seconds and peak memory grow with rows, questions and answers; each size in a process of its own.

``python -m benchmarks growth`` prints the table of the page about scale. The largest sizes take minutes and 4 GB; without
TACIT_LARGE=1 they are left out, and the page marks what was worked out from the others.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.ratio import Ratio

ROWS = (1_000_000, 10_000_000)
QUESTIONS = (10, 50, 200)
ANSWERS = (10, 1_000, 100_000)
LARGE = {"rows": (50_000_000,), "questions": (), "answers": (1_000_000,), "hashed answers": (1_000_000,)}
WIDE_ROWS = ANSWER_ROWS = 1_000_000


def rows(n: int) -> dict[str, float]:
    """Five questions of ten answers: disguise all, then estimate a table of three."""
    return _survey(n, 5, 10, 3)


def questions(n: int) -> dict[str, float]:
    """Yes/no questions: disguise all, then the tallies of all pairs."""
    import itertools

    from tacit.count.sources import sources

    def all_pairs(reports: object, names: tuple[str, ...]) -> None:
        (source,) = sources(reports)  # type: ignore[arg-type]
        source.engine.tallies(list(itertools.combinations(names, 2)))

    return _survey(WIDE_ROWS, n, 2, 0, all_pairs)


def answers(n: int) -> dict[str, float]:
    """One question through Hadamard response: disguise it, then all shares with their intervals."""
    return _survey(ANSWER_ROWS, 1, n, 1)


def hashed_answers(n: int) -> dict[str, float]:
    """The same through local hashing, whose cost is the number of reports times that of answers."""
    return _survey(ANSWER_ROWS, 1, n, 1, channel="local_hashing")


def _survey(
    n_rows: int, n_questions: int, n_answers: int, asked: int, task: object = None, channel: str | None = None
) -> dict[str, float]:
    import tacit
    from tacit.table import Table
    from tacit.table.coded import code_type

    names = tuple(f"q{place}" for place in range(n_questions))
    schema = tacit.Schema(tuple(tacit.Attribute(name, tuple(map(str, range(n_answers)))) for name in names))
    kind = channel or ("hadamard" if n_questions == 1 else "gamma_diagonal")
    scheme = tacit.Scheme.of(schema, [([name], getattr(tacit.channels, kind)(math.e)) for name in names])
    rng = np.random.default_rng(1)
    codes = {name: rng.integers(0, n_answers, n_rows).astype(code_type(n_answers)) for name in names}
    small = tacit.Dataset(Table(schema, {name: code[: 1 << 17] for name, code in codes.items()}))
    tacit.disguise(small, scheme)  # compilation is not what is measured
    started = time.process_time()
    reports = tacit.disguise(tacit.Dataset(Table(schema, codes)), scheme)
    disguised = time.process_time()
    if task is None:
        tacit.estimate(reports, names[:asked]).interval()
    else:
        task(reports, names)  # type: ignore[operator]
    return {"disguise": disguised - started, "answer": time.process_time() - disguised}


def measured(what: str, n: int) -> str:
    program = f"from benchmarks import growth; growth.tell(growth.{what.replace(' ', '_')}({n}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def tell(seconds: dict[str, float]) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds['disguise']:.2f} | {seconds['answer']:.2f} | {peak:,.0f}")


def run() -> list[Ratio]:
    print("| size | disguise, CPU s | answer, CPU s | peak memory, MB |\n|---|---|---|---|")
    sizes_of = {"rows": ROWS, "questions": QUESTIONS, "answers": ANSWERS, "hashed answers": (100_000,)}
    for what, sizes in sizes_of.items():
        for n in (*sizes, *(LARGE[what] if os.environ.get("TACIT_LARGE") == "1" else ())):
            print(f"| {n:,} {what} | {measured(what, n)} |", flush=True)
    return []
