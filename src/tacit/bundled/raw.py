"""The bundled sets as they were published: every row and column, numbers as integers, ``?`` as null."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FROM_TEST = "from_test"


def raw_adult() -> pa.Table:
    """UCI Adult: 48,842 people, 15 columns, and `from_test`, true for the 16,281 rows of ``adult.test``."""
    return _parquet("adult.parquet")


def raw_breast_cancer() -> pa.Table:
    """UCI Breast Cancer Wisconsin (Original): 699 samples, nine grades from 1 to 10, the `Id` and the `Class`."""
    return _parquet("breast_cancer.parquet")


def raw_votes() -> pa.Table:
    """UCI Congressional Voting Records 1984: 435 representatives, sixteen votes `V1` to `V16`, the party as `Class`."""
    return _parquet("votes.parquet")


def raw_nursery() -> pa.Table:
    """UCI Nursery: 12,960 applications for nursery schools, eight attributes of two to five answers, and the `class`."""
    return _parquet("nursery.parquet")


def adult_nine_document() -> dict[str, Any]:
    """The schema of the k-anonymity study as a scheme document: nine ordered attributes of Adult."""
    return json.loads(_resource("adult_nine.json").read_text(encoding="utf-8"))


def _parquet(name: str) -> pa.Table:

    return pq.read_table(pa.BufferReader(_resource(name).read_bytes()))


def _resource(name: str) -> Any:
    return resources.files("tacit.bundled").joinpath(name)
