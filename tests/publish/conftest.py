"""Databases to publish from."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.postgres_server import fresh_database
from tests.publish.databases import Filled, duckdb_people, postgres_people, sqlite_people


@pytest.fixture(scope="session")
def people_url(postgres_url: str) -> str:
    """A database of its own, for every test empties it."""
    return fresh_database(postgres_url)


@pytest.fixture
def filled(request: pytest.FixtureRequest, tmp_path: Path) -> Filled:
    def fill(engine: str, rows: pa.Table) -> str:
        if engine == "duckdb":
            return duckdb_people(tmp_path / "people.duckdb", rows)
        if engine == "sqlite":
            return sqlite_people(tmp_path / "people.sqlite", rows)
        return postgres_people(request.getfixturevalue("people_url"), rows)

    return fill
