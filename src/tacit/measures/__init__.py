"""Privacy and expected error of a channel, a group or a scheme."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.measures.accuracy import accurate_map_privacy
    from tacit.measures.amplification import gamma_between, posterior_bound
    from tacit.measures.cost import ExpectedError
    from tacit.measures.group import GroupMeasures
    from tacit.measures.scheme import SchemeMeasures, measure
    from tacit.measures.whole_report import AnswerMeasures, WholeReport

_HOMES = {
    "AnswerMeasures": "tacit.measures.whole_report",
    "ExpectedError": "tacit.measures.cost",
    "GroupMeasures": "tacit.measures.group",
    "SchemeMeasures": "tacit.measures.scheme",
    "WholeReport": "tacit.measures.whole_report",
    "accurate_map_privacy": "tacit.measures.accuracy",
    "gamma_between": "tacit.measures.amplification",
    "measure": "tacit.measures.scheme",
    "posterior_bound": "tacit.measures.amplification",
}

__all__ = [
    "AnswerMeasures",
    "ExpectedError",
    "GroupMeasures",
    "SchemeMeasures",
    "WholeReport",
    "accurate_map_privacy",
    "gamma_between",
    "measure",
    "posterior_bound",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit.measures' has no attribute {name!r}")
