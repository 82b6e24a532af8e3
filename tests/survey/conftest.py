from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from tacit.survey import accounts
from tacit.survey.app import SurveyServer
from tacit.survey.definition import Definition
from tacit.survey.headers import ServerSettings
from tacit.survey.store.surveys import Store, StoredSurvey
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


@pytest.fixture(scope="session")
def definition() -> Definition:
    return Definition.from_yaml(SMALL)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SurveyServer]:
    """A server in this process, which limits nobody."""
    made = SurveyServer(tmp_path / "survey.db", ServerSettings(rate=0))
    yield made
    made.close()


@pytest.fixture
def client(server: SurveyServer) -> TestClient:
    return TestClient(server, base_url="http://survey.test", follow_redirects=False)


@pytest.fixture
def survey(server: SurveyServer) -> StoredSurvey:
    """A small survey that is open on the server."""
    return server.store.add(Definition.from_yaml(SMALL), SMALL)
