"""Kernels are compiled without entrances that nobody uses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

import tacit
from tacit.kernels import COMPILING


def _above(numbers: NDArray[np.float64]) -> float:
    return numbers[0] + 1


def test_a_kernel_has_an_entrance_for_python_and_none_for_c() -> None:
    entrances = []
    for way in (njit(), njit(**COMPILING | {"cache": False})):  # what comes from the cache cannot be looked at
        compiled = way(_above)
        assert compiled(np.array([1.5])) == 2.5
        (text,) = compiled.inspect_llvm().values()
        entrances.append("cfunc." in text)
    assert entrances == [True, False]


def test_every_kernel_is_compiled_the_same_way() -> None:
    folder = Path(tacit.__file__).parent
    own = [path.name for path in folder.rglob("*.py") if re.search(r"\bn?jit\(|@n?jit\b", path.read_text("utf-8"))]
    assert own == ["kernels.py"]
