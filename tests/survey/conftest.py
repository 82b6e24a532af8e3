from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from tacit.survey import accounts
from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store
from tests.postgres_server import fresh_database
from tests.survey.questionnaires import SMALL


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "survey.db")
    return fresh_database(request.getfixturevalue("postgres_url"))


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
