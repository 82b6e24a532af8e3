"""Definitions of a series' waves, as documents."""

from __future__ import annotations

import copy
from typing import Any

from tacit.channel.document import document_hash
from tacit.survey.definition import Definition
from tests.survey.questionnaires import SMALL


def wave_of_series(
    wave: int, waves: int = 4, text: str = SMALL, *, series: str | None = None, **stated: Any
) -> dict[str, Any]:
    """One wave of a declared series under its hash; `series` is a hash that does not fit."""
    document = copy.deepcopy(Definition.from_yaml(text).bare)
    made = dict(Definition.frozen({**document, "waves": waves, **stated, "wave": wave}).bare)
    if series is not None:
        made["series"] = series
        made["hash"] = document_hash(made)
    return made
