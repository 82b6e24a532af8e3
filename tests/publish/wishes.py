"""Settings by their names alone, as tests like to write them."""

from __future__ import annotations

import dataclasses
from typing import Any

from tacit import publish
from tacit.publish import Effort, Preferences, Protection, Release

RENAMED = {"prefer_loss": "loss", "prefer_bias": "bias"}


def anonymize(data: Any, k: int = 5, attributes: Any = None, weights: Any = None, **wishes: Any) -> Release:
    """`tacit.publish.anonymize` with all settings side by side; the search alone unless a method is named."""
    named = {"k": k, "attributes": attributes, "weights": weights, "method": "search"} | wishes
    given = {RENAMED.get(name, name): value for name, value in named.items()}
    parts = [_taken(kind, given) for kind in (Protection, Preferences, Effort)]
    return publish.anonymize(data, protection=parts[0], preferences=parts[1], effort=parts[2], **given)


def _taken(kind: type, given: dict[str, Any]) -> Any:
    names = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: given.pop(name) for name in names & set(given)})
