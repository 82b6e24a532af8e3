from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from tacit.survey import accounts
from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store
from tests.postgres_server import postgres_server
from tests.survey.questionnaires import SMALL

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "survey.db")
    return fresh_database(request.getfixturevalue("postgres_url"))


def fresh_database(server_url: str) -> str:
    import psycopg

    name = f"survey_{next(_numbers)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server_url.rsplit("/", 1)[0] + f"/{name}"


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = Store.open(store_url)
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing that takes no time: its cost is argon2's business, and tests log in often."""
    monkeypatch.setattr(accounts, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    accounts._nobody.cache_clear()


@pytest.fixture(scope="session")
def definition() -> Definition:
    return Definition.from_yaml(SMALL)
