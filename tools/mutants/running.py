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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEEDED = (
    "pytest", "numpy", "scipy.special", "scipy.optimize", "scipy.stats", "scipy.sparse", "pyarrow",
    "pyarrow.parquet", "pyarrow.csv", "numba", "pandas", "polars", "sklearn.tree", "yaml", "argon2", "cryptography.fernet",
    "httpx", "starlette.testclient", "duckdb", "ibis", "typer", "rich.console",
)  # fmt: skip
MARKS = "not slow and not spark and not postgres and not browser"
PASSED, FAILED, NOTHING_RUN, HANGS, TOO_LONG = 0, 1, 5, 64, 65
HOW = {PASSED: "survived", FAILED: "noticed", HANGS: "hangs", TOO_LONG: "out of time"}
# A test that takes far longer than without the fault does not end for whoever runs it either.
NOTICED = ("noticed", "hangs")


@dataclass(frozen=True)
class Outcome:
    """What the tests said of a fault, after how many processor seconds."""

    how: str
    seconds: float
    by: str = ""  # the test that noticed, where it is known

    @property
    def noticed(self) -> bool:
        return self.how in NOTICED

    def to_be_imported(self) -> Outcome:
        """The same fault may act while modules are imported, which a running session cannot show."""
        return Outcome("to be imported", self.seconds)


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


@contextlib.contextmanager
def changed(file: Path, text: bytes) -> Iterator[None]:
    """A file with another text for a while."""
    before = file.read_bytes()
    file.write_bytes(text)
    try:
        yield
    finally:
        file.write_bytes(before)


def tried(stages: Sequence[Sequence[str]], limit: float, log: Path, *, compiled: bool = False) -> Outcome:
    """Run the stages of test files one after another until a test fails, at most `limit` processor seconds."""
    return in_child(lambda: _stages_code(stages, compiled=compiled), limit, log)


def in_child(work: Callable[[], int], limit: float, log: Path) -> Outcome:
    """What a piece of work says in a forked process that ends with it."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _work_and_end(work, limit, log)
    _, status, used = _waited(child, start + 20 * limit)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # programs that the tests started and could not end
    seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        return Outcome("out of time", seconds)
    return Outcome(HOW.get(os.WEXITSTATUS(status), "noticed"), seconds)


def options_of_pytest(base: Path | None = None) -> list[str]:
    """How pytest is started, so that it reads the copied sources and leaves nothing behind."""
    options = ["-x", "-q", "-s", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", MARKS]
    options += ["-o", f"pythonpath={os.environ['PYTHONPATH']} {ROOT}"]  # not the sources beside the tests
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of plugins that are imported already
    options += ["--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    return [*options, f"--basetemp={base}"] if base else options


def _waited(child: int, deadline: float) -> tuple[int, int, resource.struct_rusage]:
    while True:
        done = os.wait4(child, os.WNOHANG)
        if done[0]:
            return done
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            return os.wait4(child, 0)
        time.sleep(0.01)


def _work_and_end(work: Callable[[], int], limit: float, log: Path) -> None:
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
        code = FAILED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _stages_code(stages: Sequence[Sequence[str]], *, compiled: bool) -> int:
    import pytest

    if compiled:
        _compile_anew()
    for files in stages:
        code = int(pytest.main([*options_of_pytest(), *files]))
        # An error while collecting is a notice, too.
        if code not in (PASSED, NOTHING_RUN):
            return FAILED
    return PASSED


def _compile_anew() -> None:
    """For the few kernels that do not run as plain Python."""
    from numba import config

    os.environ["NUMBA_DISABLE_JIT"] = "0"
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(dir=Path(os.environ["PYTHONPATH"]).parent)
    config.reload_config()
