"""Functions that `tacit.estimate` has taken over: they warn, name their successor and work throughout 0.2."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from tacit.estimation import Several, ShareEstimate, TableEstimate, estimate
from tacit.estimation.conjunctions import Condition


def _warn(name: str, successor: str) -> None:
    warnings.warn(f"{name} is now {successor}; the old name works throughout 0.2.", DeprecationWarning, stacklevel=3)


def estimate_share(reports: Several, where: Condition, **options: Any) -> ShareEstimate:
    """Deprecated: ``tacit.estimate(reports, {"smokes": "yes"})``."""
    _warn("estimate_share", "estimate(reports, {'smokes': 'yes'})")
    return estimate(reports, where, **options)


def estimate_shares(reports: Several, where: Sequence[Condition], **options: Any) -> list[ShareEstimate]:
    """Deprecated: ``tacit.estimate(reports, [{"smokes": "yes"}, {"smokes": "no"}])``."""
    _warn("estimate_shares", "estimate(reports, [{'smokes': 'yes'}, {'smokes': 'no'}])")
    return estimate(reports, list(where), **options) if where else []


def estimate_tables(reports: Several, tables: Sequence[str | Sequence[str]], **options: Any) -> list[TableEstimate]:
    """Deprecated: ``tacit.estimate(reports, [["smokes"], ["smokes", "age"]])``."""
    _warn("estimate_tables", "estimate(reports, [['smokes'], ['smokes', 'age']])")
    lists = [[names] if isinstance(names, str) else list(names) for names in tables]
    return estimate(reports, lists, **options) if lists else []
