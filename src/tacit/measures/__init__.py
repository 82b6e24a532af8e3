"""Privacy and expected error of a channel, a group or a scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.extras import imported_late, listed_names

if TYPE_CHECKING:
    from tacit.measures.amplification import gamma_between as gamma_between
    from tacit.measures.amplification import posterior_bound as posterior_bound
    from tacit.measures.cost import ExpectedError as ExpectedError
    from tacit.measures.group import GroupMeasures as GroupMeasures
    from tacit.measures.prior import accurate_map_privacy as accurate_map_privacy
    from tacit.measures.scheme import SchemeMeasures as SchemeMeasures
    from tacit.measures.scheme import measure as measure
    from tacit.measures.whole_report import AnswerMeasures as AnswerMeasures
    from tacit.measures.whole_report import WholeReport as WholeReport

_HOMES = {
    "tacit.measures.amplification": (
        "gamma_between",
        "posterior_bound",
    ),
    "tacit.measures.cost": ("ExpectedError",),
    "tacit.measures.group": ("GroupMeasures",),
    "tacit.measures.prior": ("accurate_map_privacy",),
    "tacit.measures.scheme": (
        "SchemeMeasures",
        "measure",
    ),
    "tacit.measures.whole_report": (
        "AnswerMeasures",
        "WholeReport",
    ),
}

__all__ = listed_names(_HOMES)
if not TYPE_CHECKING:  # a type checker would take every name for one of these
    __getattr__ = imported_late(__name__, _HOMES)
