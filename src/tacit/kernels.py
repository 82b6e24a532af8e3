"""How kernels are compiled that only other kernels call.

numba gives every function two entrances, one for Python and one for C, and compiles them too. For a function whose arguments are
tuples of many arrays that is a fifth of its compile time, spent on entrances nobody uses.
"""

from __future__ import annotations

from typing import Any

from numba import njit

COMPILING: dict[str, Any] = {"cache": True, "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner_kernel = njit(**COMPILING)
