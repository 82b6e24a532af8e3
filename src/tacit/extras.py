"""Optional dependencies: what each extra is for, one sentence where one is missing, and names that are imported late."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
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


def imported_late(
    package: str, homes: Mapping[str, tuple[str, ...]], moved: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names are imported when they are first used.

    Parameters
    ----------
    package : str
        The package's own name.
    homes : mapping of str to tuple of str
        For each module the names that come from it.
    moved : mapping of str to tuple of str
        Names that the package had once, by the module that has them now: their use warns and names it.
    """
    places = {name: module for table in (homes, moved) for module, names in table.items() for name in names}
    old = {name for names in moved.values() for name in names}

    def attribute(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in old:
            home = f"{places[name]}.{name}"
            warning = f"{package}.{name} is now {home}; the old name works throughout 0.2."
            warnings.warn(warning, DeprecationWarning, stacklevel=2)
        try:
            return getattr(importlib.import_module(places[name]), name)
        except ModuleNotFoundError as problem:
            raise missing_extra(problem) or problem from None

    return attribute


def listed_names(homes: Mapping[str, tuple[str, ...]]) -> list[str]:
    """All names of a package, for its ``__all__``."""
    return sorted(name for names in homes.values() for name in names)
