"""How kernels are compiled, and those that only other kernels call.

numba gives every function two entrances, one for Python and one for C, and compiles them too. For a function whose arguments are
tuples of many arrays that is a fifth of its compile time. Nobody enters from C, and inner kernels are not entered from Python.
"""

from __future__ import annotations

from typing import Any

from numba import njit

COMPILING: dict[str, Any] = {"cache": True, "no_cfunc_wrapper": True}
UNLOCKED = COMPILING | {"nogil": True}
INNER = UNLOCKED | {"no_cpython_wrapper": True}
kernel = njit(**COMPILING)
unlocked_kernel = njit(**UNLOCKED)  # for threads that run side by side
inner_kernel = njit(**INNER)
