"""Optional dependencies: what each extra is for, one sentence where one is missing, and names that are imported late."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from tacit.errors import MissingExtra

# extra: what one does with it, and the modules it brings
EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "mine": ("Mining and attacking reports", ("numba", "sklearn", "threadpoolctl")),
    "design": ("Designing channels", ("numba", "threadpoolctl")),
    "publish": ("Publishing and checking tables", ("numba", "sklearn", "yaml")),
    "database": ("Counting in a database, or in a file that is not read into memory,", ("duckdb", "ibis")),
    "files": ("Reading SPSS, Stata, SAS and Excel files", ("pyreadstat", "openpyxl")),
    "regress": ("Regression", ("formulaic",)),
    "report": ("Drawing pictures and reports", ("matplotlib",)),
    "survey": (
        "A survey",
        ("argon2", "gmpy2", "httptools", "jinja2", "segno", "starlette", "uvicorn", "yaml"),
    ),
    "private": ("A differentially private release", ("opendp",)),
    "postgres": ("PostgreSQL", ("psycopg", "ibis")),
    "spark": ("Spark", ("pyspark", "ibis")),
}


def require(extra: str) -> None:
    """Refuse with the command that installs the extra, where one of its modules is missing."""
    purpose, modules = EXTRAS[extra]
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise MissingExtra(purpose, extra, missing)


def require_all(purpose: str, extras: tuple[str, ...]) -> None:
    """Refuse once, with one command, what needs several extras: each alone would only lead to the next refusal."""
    modules = dict.fromkeys(module for extra in extras for module in EXTRAS[extra][1])
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise MissingExtra(purpose, ",".join(extras), missing)


def missing_extra(problem: ModuleNotFoundError) -> MissingExtra | None:
    """The refusal for a module that could not be imported, if it belongs to an extra."""
    module = (problem.name or "").partition(".")[0]
    for extra, (purpose, modules) in EXTRAS.items():
        if module in modules:
            return MissingExtra(purpose, extra, [module])
    return None


def imported_late(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names are imported from their `homes` when they are first used."""

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(importlib.import_module(homes[name]), name)
        except ModuleNotFoundError as problem:
            raise missing_extra(problem) or problem from None

    return attribute
