"""Standard input as a file that can be opened by its name, and opened again."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path

NAME = "-"
PARQUET_MARK = b"PAR1"


@functools.cache
def standard_input() -> Path:
    """What comes in, kept in memory where the system can; else in a private file that is removed at the end."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("standard input")
        path = Path(f"/proc/self/fd/{handle}")
        if path.exists():
            _copy(handle)
            return path
        os.close(handle)
    handle, name = tempfile.mkstemp(prefix="tacit-")
    atexit.register(lambda: Path(name).unlink(missing_ok=True))
    _copy(handle)
    return Path(name)


def _copy(handle: int) -> None:
    with os.fdopen(os.dup(handle), "wb") as held:
        shutil.copyfileobj(sys.stdin.buffer, held)


@functools.cache
def holds_parquet(file: Path) -> bool:
    """Whether standard input is a Parquet file; it has no name that would say so."""
    with file.open("rb") as content:
        return content.read(len(PARQUET_MARK)) == PARQUET_MARK


def spoken_name(path: str | Path) -> str:
    """A file as sentences name it; standard input has a path that says nothing."""
    is_input = str(path) == NAME or (standard_input.cache_info().currsize > 0 and Path(path) == standard_input())
    return "Standard input" if is_input else repr(str(path))
