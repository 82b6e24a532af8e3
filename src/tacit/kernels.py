"""How kernels are compiled, cached, and compiled again when a kernel that they call was changed.

numba gives every function two entrances, one for Python and one for C, and compiles them too. For a function whose arguments are
tuples of many arrays that is a fifth of its compile time. Nobody enters from C, and inner kernels are not entered from Python.

numba's cache notices that the file of a kernel was changed, not the file of a kernel that it calls and that was compiled into it.
So the stamp of each cached kernel also holds a hash of all kernel files that its own imports, directly or through others.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

COMPILING: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True}
UNLOCKED = COMPILING | {"nogil": True}
INNER = UNLOCKED | {"no_cpython_wrapper": True}
_KERNEL_FILES = re.compile(r"^from ([\w.]+_kernels) import", re.MULTILINE)


@functools.cache
def _imported_files(file: Path) -> frozenset[Path]:
    """The file of a kernel and all kernel files that it imports; they are imported before its own kernels are made."""
    modules = [sys.modules.get(name) for name in _KERNEL_FILES.findall(file.read_text(encoding="utf-8"))]
    files = [Path(module.__file__) for module in modules if module is not None and module.__file__]
    return frozenset({file}).union(*map(_imported_files, files))


@functools.cache
def _hash_of_files(file: Path) -> str:
    digest = hashlib.sha256()
    for each in sorted(_imported_files(file)):
        digest.update(each.read_bytes())
    return digest.hexdigest()


def _compiler(options: dict[str, Any]) -> Callable[[Any], Any]:
    """A decorator that compiles with these options, and caches under the hash of all that is compiled in."""

    def compile_kernel(function: Any) -> Any:
        dispatcher = njit(**options)(function)
        cache = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)  # none where NUMBA_DISABLE_JIT is set
        if cache is not None:
            cache._source_stamp = (cache._source_stamp, _hash_of_files(Path(function.__code__.co_filename)))
        return dispatcher

    return compile_kernel


kernel = _compiler(COMPILING)
unlocked_kernel = _compiler(UNLOCKED)  # for threads that run side by side
inner_kernel = _compiler(INNER)
