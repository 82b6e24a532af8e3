"""Privacy and expected error of a channel, a group or a scheme; the module itself can be called: ``tacit.measure(scheme)``.

Its names are imported when they are first used, so that the dense formulas of `tacit.measure.matrix` come alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit.callable_module import make_callable

if TYPE_CHECKING:
    from tacit.measure.amplification import gamma_between, posterior_bound
    from tacit.measure.channel import accurate_map_privacy
    from tacit.measure.cost import ExpectedError
    from tacit.measure.group import GroupMeasures
    from tacit.measure.scheme import SchemeMeasures, measure

_HOMES = {
    "ExpectedError": "tacit.measure.cost",
    "GroupMeasures": "tacit.measure.group",
    "SchemeMeasures": "tacit.measure.scheme",
    "accurate_map_privacy": "tacit.measure.channel",
    "gamma_between": "tacit.measure.amplification",
    "measure": "tacit.measure.scheme",
    "posterior_bound": "tacit.measure.amplification",
}

__all__ = [
    "ExpectedError",
    "GroupMeasures",
    "SchemeMeasures",
    "accurate_map_privacy",
    "gamma_between",
    "measure",
    "posterior_bound",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit.measure' has no attribute {name!r}")


make_callable(__name__)
