"""Runs a module's tests against one fault, in a process forked from one that has already imported what tests need."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEEDED = (
    "pytest", "numpy", "scipy.special", "scipy.optimize", "scipy.stats", "scipy.sparse", "pyarrow",
    "pyarrow.parquet", "pyarrow.csv", "numba", "pandas", "polars", "sklearn.tree", "yaml", "argon2", "cryptography.fernet",
    "httpx", "starlette.testclient", "duckdb", "ibis", "typer", "rich.console",
)  # fmt: skip
MARKS = "not slow and not spark and not postgres and not browser"
PASSED, FAILED, NOTHING_RUN = 0, 1, 5


@dataclass(frozen=True)
class Outcome:
    """What the tests said of a fault: whether one noticed, after how many processor seconds, and where it stopped."""

    noticed: bool
    seconds: float
    how: str


def warm_up() -> None:
    """Import everything but Tacit itself; uncompiled, because a compiled kernel would outlive the fault."""
    os.environ.update(NUMBA_DISABLE_JIT="1", PYTHONDONTWRITEBYTECODE="1", OPENBLAS_NUM_THREADS="1")
    sys.dont_write_bytecode = True
    for name in NEEDED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


@contextlib.contextmanager
def copied_sources() -> Iterator[Path]:
    """A copy of ``src`` that faults are put into; programs that tests start read it too."""
    with tempfile.TemporaryDirectory(prefix="tacit-mutants-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc"))
        sys.path.insert(0, str(copy))
        os.environ["PYTHONPATH"] = str(copy)
        yield copy


def tried(stages: Sequence[Sequence[str]], limit: float, log: Path) -> Outcome:
    """Run the stages of test files one after another until a test fails, at most `limit` processor seconds."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _run_stages(stages, limit, log)
    _, status, used = _waited(child, start + 20 * limit)
    seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        return Outcome(noticed=False, seconds=seconds, how="out of time")
    code = os.WEXITSTATUS(status)
    return Outcome(noticed=code == FAILED, seconds=seconds, how="noticed" if code == FAILED else "survived")


def _waited(child: int, deadline: float) -> tuple[int, int, resource.struct_rusage]:
    while True:
        done = os.wait4(child, os.WNOHANG)
        if done[0]:
            return done
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            return os.wait4(child, 0)
        time.sleep(0.05)


def _run_stages(stages: Sequence[Sequence[str]], limit: float, log: Path) -> None:
    import pytest

    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    code = NOTHING_RUN
    try:
        for files in stages:
            options = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", MARKS]
            options += ["-o", f"pythonpath={os.environ['PYTHONPATH']} {ROOT}"]  # not the sources beside the tests
            options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of plugins that are imported already
            code = int(pytest.main([*options, "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml"), *files]))
            # An error while collecting is a notice, too.
            if code not in (PASSED, NOTHING_RUN):
                os._exit(FAILED)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(FAILED)
    os._exit(PASSED)
