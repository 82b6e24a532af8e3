"""The server says when it is not well, and tells watchers nothing about respondents."""

from __future__ import annotations

import resource
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tacit.survey import health
from tacit.survey.app import SurveyServer
from tacit.survey.headers import ServerSettings
from tacit.survey.store.surveys import StoredSurvey


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SurveyServer]:
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 0.0)
    made = SurveyServer(tmp_path / "survey.db", ServerSettings(rate=0, least_free=0))
    yield made
    made.close()


def local(server: SurveyServer) -> TestClient:
    return TestClient(server, base_url="http://survey.test", client=("127.0.0.1", 5000))


def put(client: TestClient, survey: StoredSurvey) -> int:
    path = f"/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}"
    return client.put(path, json={"report": "000100"}).status_code


def test_a_disk_that_takes_nothing_fails_the_health_check(
    server: SurveyServer, survey: StoredSurvey, tmp_path: Path
) -> None:
    client = local(server)
    assert client.get("/healthz").json() == {"status": "ok"}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may grow beyond the log as it is: to the database this is a disk without room.
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "survey.db-wal").stat().st_size, hard))
    try:
        answer = client.get("/healthz")
        stored = put(client, survey)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (answer.status_code, answer.json()["status"]) == (503, "failing")
    assert stored == 503
    assert client.get("/healthz").status_code == 200
    assert put(client, survey) == 201


def test_little_room_fails_the_health_check_before_it_is_too_late(
    server: SurveyServer,
) -> None:
    nearly_full = ServerSettings(least_free=1 << 62)
    watched = health.Health(server.store, nearly_full, lambda: 0, server.receiving.answers)
    assert watched._look() == "The disk is nearly full."


def test_a_watcher_on_the_machine_itself_need_not_know_the_public_name(tmp_path: Path) -> None:
    server = SurveyServer(tmp_path / "s.db", ServerSettings(public_url="https://survey.example.org", least_free=0))
    for base, status in (("http://127.0.0.1:8000", 200), ("http://localhost:8000", 200), ("http://evil.test", 400)):
        client = TestClient(server, base_url=base, client=("127.0.0.1", 5000))
        assert client.get("/healthz").status_code == status
        assert client.get("/metrics").status_code == status
        assert client.get("/admin/login").status_code == 400
    server.close()


def test_however_often_it_is_asked_the_disk_is_tried_seldom(
    server: SurveyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 60.0)
    monkeypatch.setattr(health.Health, "_look", lambda self: looks.append(1))
    client = local(server)
    for _ in range(20):
        client.get("/healthz")
    assert len(looks) <= 1


def test_metrics_say_nothing_about_respondents(server: SurveyServer, survey: StoredSurvey) -> None:
    client = local(server)
    before = client.get("/metrics").text
    assert "tacit_up 1" in before
    for _ in range(3):
        assert put(client, survey) == 201
    after = client.get("/metrics").text
    free = [line for line in after.splitlines() if line.startswith("tacit_disk_free_bytes")]
    # Three more people have answered, and a program that looks every second does not see it.
    assert 'tacit_answers_total{status="201"} 0' in after
    assert len(free) == 1
    for secret in (survey.fingerprint, survey.definition.name, "smokes"):
        assert secret not in after
    for _ in range(97):
        put(client, survey)
    assert 'tacit_answers_total{status="201"} 100' in client.get("/metrics").text


@pytest.mark.parametrize(
    ("address", "headers"), [("192.0.2.1", {}), ("127.0.0.1", {"x-forwarded-for": "192.0.2.1"}), ("nowhere", {})]
)
def test_metrics_are_for_this_machine_alone(server: SurveyServer, address: str, headers: dict[str, Any]) -> None:
    client = TestClient(server, base_url="http://survey.test", client=(address, 5000))
    assert client.get("/metrics", headers=headers).status_code == 404
