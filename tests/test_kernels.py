"""Kernels are compiled without entrances that nobody uses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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


def _doubled(folder: Path, factor: int) -> str:
    """What a kernel gives that calls one of another file, in a process of its own and with the cache of the one before."""
    package = folder / "calling"
    package.mkdir(exist_ok=True)
    head = "from tacit.kernels import inner_kernel, kernel\n"
    inner = head + f"\n@inner_kernel\ndef scale(x):\n    return {factor} * x\n"
    middle = head + "from calling._inner_kernels import scale\n\n@inner_kernel\ndef pass_on(x):\n    return scale(x)\n"
    outer = head + "from calling._middle_kernels import pass_on\n\n@kernel\ndef call(x):\n    return pass_on(x)\n"
    for name, text in {
        "__init__": "",
        "_inner_kernels": inner,
        "_middle_kernels": middle,
        "_outer_kernels": outer,
    }.items():
        file = package / f"{name}.py"
        if not file.exists() or file.read_text() != text:  # files that did not change keep their time
            file.write_text(text)
    asked = "from calling._outer_kernels import call; print(call(21), sum(call.stats.cache_hits.values()))"
    paths = [str(folder), str(Path(tacit.__file__).parent.parent)]
    settings = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([sys.executable, "-c", asked], env=settings, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_cache_notices_that_a_kernel_of_another_file_was_changed(tmp_path: Path) -> None:
    """Without the hash of imported kernels, the third run gave 42: the code of before a pull."""
    assert _doubled(tmp_path, 2) == "42 0"
    assert _doubled(tmp_path, 2) == "42 1"
    assert _doubled(tmp_path, 3) == "63 0"
    assert _doubled(tmp_path, 3) == "63 1"
