"""Databases to publish from."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.postgres_server import postgres_server
from tests.publish.databases import Filled, duckdb_people, postgres_people, sqlite_people


@pytest.fixture(scope="session")
def postgres_url():
    with postgres_server() as url:
        yield url


@pytest.fixture
def filled(request: pytest.FixtureRequest, tmp_path: Path) -> Filled:
    def fill(engine: str, rows: pa.Table) -> str:
        if engine == "duckdb":
            return duckdb_people(tmp_path / "people.duckdb", rows)
        if engine == "sqlite":
            return sqlite_people(tmp_path / "people.sqlite", rows)
        return postgres_people(request.getfixturevalue("postgres_url"), rows)

    return fill
