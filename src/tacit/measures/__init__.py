"""Privacy and expected error of a channel, a group or a scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.extras import imported_late

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
    "AnswerMeasures": "tacit.measures.whole_report",
    "ExpectedError": "tacit.measures.cost",
    "GroupMeasures": "tacit.measures.group",
    "SchemeMeasures": "tacit.measures.scheme",
    "WholeReport": "tacit.measures.whole_report",
    "accurate_map_privacy": "tacit.measures.prior",
    "gamma_between": "tacit.measures.amplification",
    "measure": "tacit.measures.scheme",
    "posterior_bound": "tacit.measures.amplification",
}

__all__ = sorted(_HOMES)
__getattr__ = imported_late(__name__, _HOMES)
