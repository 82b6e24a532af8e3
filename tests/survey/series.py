"""Definitions of a series' waves, as documents."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

from tacit.channel.document import canonical
from tacit.survey.definition import Definition
from tests.survey.questionnaires import SMALL


def wave_of_series(
    wave: int, waves: int = 4, text: str = SMALL, *, series: str | None = None, **stated: Any
) -> dict[str, Any]:
    """One wave of a declared series under its hash; `series` is a hash that does not fit."""
    document = copy.deepcopy(Definition.from_yaml(text).bare)
    shared = {name: value for name, value in document.items() if name not in ("wave", "series", "hash")}
    shared |= {"waves": waves, **stated}
    digest = hashlib.sha256(canonical(shared).encode()).hexdigest()
    return dict(Definition.frozen({**shared, "wave": wave, "series": series or digest}).bare)
