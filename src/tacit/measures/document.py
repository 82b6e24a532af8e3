"""Measures as JSON: what is infinite or unknown is None, as JSON has no infinity; a sentence in `warnings` says why."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from tacit.measures.cost import ExpectedError
from tacit.measures.group import GroupMeasures
from tacit.measures.meaning import group_meanings


def finite(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value


def group_document(group: GroupMeasures) -> dict[str, Any]:
    document: dict[str, Any] = {
        "attributes": list(group.attributes),
        "kind": group.kind,
        "gamma": finite(group.gamma),
        "epsilon": finite(group.epsilon),
        "map_privacy": group.map_privacy,
        "blind_privacy": group.blind_privacy,
        "worst_posterior": group.worst_posterior,
        "pse": group.pse,
        "condition": finite(group.condition),
        "entries": [asdict(entry) for entry in group.entries],
        "meaning": group_meanings(group),
    }
    if group.questionnaire:
        document["questionnaire"] = group.questionnaire
    if group.coin_guessed is not None:
        document["coin_guessed"] = group.coin_guessed
    if group.determinable is not None:
        document["determinable"] = {name: finite(value) for name, value in asdict(group.determinable).items()}
    return document


def error_document(error: ExpectedError) -> dict[str, Any]:
    document: dict[str, Any] = {
        "attributes": list(error.attributes),
        "standard_error": error.worst,
        "direct": error.worst_direct,
    }
    if len(error.attributes) == 1 and error.standard_errors is not None:
        document["standard_errors"] = error.standard_errors.tolist()
    return document
