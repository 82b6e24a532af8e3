"""Every route that the application has, attacked: without a form's token, from elsewhere, in the wrong role; and all headers.

The routes and whose they are come from the application itself: a new route is attacked without being named here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from tacit.survey.accounts import ROLES, Accounts, Session
from tacit.survey.admin import Door
from tacit.survey.app import SurveyServer
from tacit.survey.definition import Definition
from tacit.survey.headers import ServerSettings
from tacit.survey.limits import LARGEST_BODY
from tacit.survey.store.database import StoreUnavailable
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.survey.questionnaires import SMALL

PASSWORD = "a long enough password"
HOME = "https://survey.test"
FOREIGN = (
    {"origin": "http://evil.test"},
    {"origin": "null"},
    {"origin": "http://["},
    {"origin": "http://survey.test"},  # the same name without encryption is anybody's on the way
    {"origin": "https://survey.test.evil.test"},
    {"origin": "//survey.test"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "none"},
    {"sec-fetch-site": "cross-site", "origin": HOME},
)


class Attacked:
    """A server that people reach by https, with two owners and an analyst, and one open survey."""

    def __init__(self, server: SurveyServer) -> None:
        self.server = server
        self.accounts = Accounts(server.store.database)
        for name, role in (("ana", "owner"), ("bo", "owner"), ("lee", "analyst"), ("gone", "owner")):
            self.accounts.set_password(name, PASSWORD, role)  # type: ignore[arg-type]
        self.survey: StoredSurvey = server.store.add(Definition.from_yaml(SMALL), SMALL)
        self.client = TestClient(server, base_url=HOME, follow_redirects=False, raise_server_exceptions=False)

    @property
    def doors(self) -> list[Door]:
        return [route for route in self.server.routes if isinstance(route, Door)]

    @property
    def actions(self) -> list[Door]:
        return [door for door in self.doors if "POST" in methods(door) and door.roles]

    def path(self, route: Route) -> str:
        return route.path.format(fingerprint=self.survey.fingerprint, file="reports.csv", language="de", mark="0" * 64)

    def session(self, name: str) -> Session:
        return self.accounts.log_in(name, PASSWORD)

    def ask(self, method: str, path: str, session: Session | None = None, **options: Any) -> Any:
        self.client.cookies.clear()
        headers = {**options.pop("headers", {}), **({"cookie": f"tacit_session={session.token}"} if session else {})}
        return self.client.request(method, path, headers=headers, **options)

    def form(self, csrf: str | None) -> dict[str, str]:
        """Every field that some form has, filled in as its action wants it."""
        filled = {"name": self.survey.definition.name, "class": "smokes", "model": "tree", "password": PASSWORD}
        return filled if csrf is None else {**filled, "csrf": csrf}

    def held(self) -> dict[str, list[Any]]:
        """All that the store holds."""
        database = self.server.store.database
        return {table: sorted(database.rows(f"SELECT * FROM {table}")) for table in database.tables()}


@pytest.fixture
def attacked(tmp_path: Path) -> Iterator[Attacked]:
    server = SurveyServer(tmp_path / "survey.db", ServerSettings(rate=0, public_url=HOME))
    yield Attacked(server)
    server.close()


def methods(route: Route) -> set[str]:
    return (route.methods or set()) - {"HEAD"}


def is_refused(answer: Any) -> bool:
    """A change is refused; who wants to look is sent to log in."""
    is_sent_away = (answer.status_code, answer.headers.get("location")) == (303, "/admin/login")
    return answer.status_code == 403 or (answer.request.method == "GET" and is_sent_away)


def test_every_route_of_the_dashboard_says_whose_it_is(attacked: Attacked) -> None:
    unsaid = [route.path for route in attacked.server.routes if not isinstance(route, Door)]
    assert [path for path in unsaid if not path.startswith("/s/")] == ["/healthz", "/metrics"]
    assert {door.path for door in attacked.doors if not door.roles} == {"/admin/login"}
    assert all(set(door.roles) <= set(ROLES) for door in attacked.doors)
    # Analysts look: the only thing that they change is their own session.
    assert {door.path for door in attacked.actions if "analyst" in door.roles} == {"/admin/logout"}


def test_no_change_is_made_without_the_token_of_ones_own_session(attacked: Attacked) -> None:
    ana, bo = attacked.session("ana"), attacked.session("bo")
    held = attacked.held()
    for door in attacked.actions:
        path = attacked.path(door)
        tries: list[dict[str, Any]] = [
            *({"data": attacked.form(csrf)} for csrf in (None, "", "0" * 64, bo.csrf, ana.token)),
            *({"data": attacked.form(ana.csrf), "headers": headers} for headers in FOREIGN),
            {"data": attacked.form(None), "params": {"csrf": ana.csrf}},
            {"json": attacked.form(ana.csrf)},
            {"files": {"csrf": (None, ana.csrf), "name": (None, "health")}},
            {"content": f"csrf={ana.csrf}", "headers": {"content-type": "text/plain"}},
        ]
        for one in tries:
            assert attacked.ask("POST", path, ana, **one).status_code == 403, (path, one)
        for method in ("GET", "HEAD", "DELETE", "PATCH"):
            answer = attacked.ask(method, path, ana, params=attacked.form(ana.csrf))
            assert answer.status_code == 405, (method, path)
    assert attacked.held() == held


def test_no_foreign_page_logs_anybody_in(attacked: Attacked) -> None:
    held = attacked.held()
    for headers in FOREIGN:
        form = {"name": "ana", "password": PASSWORD}
        assert attacked.ask("POST", "/admin/login", data=form, headers=headers).status_code == 403, headers
    assert attacked.held() == held
    assert attacked.ask("POST", "/admin/login", data=form, headers={"origin": HOME}).status_code == 303


def ended(attacked: Attacked) -> dict[str, Session | None]:
    """Sessions that are none, by how they ended."""
    expired, out, gone = attacked.session("ana"), attacked.session("ana"), attacked.session("gone")
    attacked.server.store.database.run("UPDATE tacit_sessions SET expires = 1 WHERE administrator = 'ana'")
    attacked.accounts.log_out(out)
    attacked.accounts.delete("gone")
    return {"nobody": None, "expired": expired, "logged out": out, "deleted": gone, "made up": Session("x" * 43, "ana")}


def test_every_route_is_open_to_its_roles_and_to_nobody_else(attacked: Attacked) -> None:
    outsiders = ended(attacked)
    for door in attacked.doors:
        path, (method,) = attacked.path(door), methods(door)
        if not door.roles:
            continue
        for who, session in outsiders.items():
            held = attacked.held()
            form = {"data": attacked.form(session.csrf if session else "")} if method == "POST" else {}
            answer = attacked.ask(method, path, session, **form)
            assert is_refused(answer), (who, path)
            assert "Health" not in answer.text
            assert attacked.held() == held
        for name, role in (("lee", "analyst"), ("bo", "owner")):
            session = attacked.session(name)
            held = attacked.held()
            form = {"data": attacked.form(session.csrf)} if method == "POST" else {}
            is_allowed = role in door.roles
            assert is_refused(attacked.ask(method, path, session, **form)) == (not is_allowed), (role, path)
            assert is_allowed or attacked.held() == held
    # The owner's own turn closed the survey and deleted it: what was refused before would have worked.
    assert attacked.server.store.surveys() == []


def wrong_headers(answer: Any) -> list[str]:
    """What is missing in an answer's headers, or said too often or too loudly."""
    headers = answer.headers
    policies = headers.get_list("content-security-policy")
    wrong = {
        "policy": len(policies) != 1 or "default-src 'none'" not in policies[0] or "unsafe" in policies[0],
        "cache": headers.get_list("cache-control") != ["no-store"],
        "types": headers.get_list("x-content-type-options") != ["nosniff"],
        "referrer": headers.get_list("referrer-policy") != ["no-referrer"],
        "program": bool({"server", "x-powered-by", "date"} & set(headers)),
        "host": "location" in headers and not headers["location"].startswith(("/admin", "/s/")),
        "cookies": not all(
            {"httponly", "secure", "samesite=strict", "path=/admin"} <= set(one.lower().split("; "))
            for one in headers.get_list("set-cookie")
        ),
    }
    return [name for name, is_wrong in wrong.items() if is_wrong]


DATABASE = "postgresql://ana:***@10.1.2.3:5432/reports"


def answers_of_every_kind(attacked: Attacked, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    reports = f"/s/{attacked.survey.fingerprint}/reports/"
    report = {"report": "000100"}
    yield attacked.ask("PUT", reports + "a" * 64, json=report)
    yield attacked.ask("PUT", reports + "a" * 64, json=report)
    yield attacked.ask("PUT", reports + "a" * 64, json={"report": "000101"})
    yield attacked.ask("PUT", reports + "b" * 64, json={"report": "x" * LARGEST_BODY})
    yield attacked.ask("PUT", reports + "b" * 64, content="x")
    yield attacked.ask("PUT", "/nowhere", json=report)
    yield attacked.ask("GET", "/admin", headers={"host": "evil.test"})
    yield attacked.ask("POST", "/admin/login", data={"name": "ana", "password": "wrong"})
    yield attacked.ask("POST", "/admin/login", data={"name": "ana", "password": PASSWORD})
    for _ in range(25):
        yield attacked.ask("POST", "/admin/login", data={"name": "x", "password": "y"})
        yield attacked.ask("POST", f"/s/{attacked.survey.fingerprint}/withdrawals", content="{}")
    for path in (
        "/nowhere",
        "/admin/nowhere",
        "/",
        "//evil.test/",
        "/admin/",
        f"/s/{attacked.survey.fingerprint}/",
        "/s/x",
    ):
        yield attacked.ask("GET", path)
    for error in (None, StoreUnavailable(f"The database at {DATABASE} refused."), RuntimeError(f"{DATABASE}: a fault")):
        with monkeypatch.context() as patched:
            if error is not None:
                patched.setattr(Store, "survey", failing(error))
            for route in attacked.server.routes:
                path, (method,) = attacked.path(route), methods(route)
                session = attacked.session("ana")
                yield attacked.ask(
                    method, path, session, **({"data": attacked.form(session.csrf)} if method == "POST" else {})
                )
                if error is None:
                    yield attacked.ask(method, path)
                    yield attacked.ask("PATCH", path, session)


def failing(error: Exception) -> Any:
    def fail(*arguments: Any) -> None:
        raise error

    return fail


def test_every_answer_of_every_kind_has_every_header(attacked: Attacked, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for answer in answers_of_every_kind(attacked, monkeypatch):
        seen.add(answer.status_code)
        assert wrong_headers(answer) == [], (answer.status_code, answer.request.method, answer.request.url)
        assert DATABASE not in answer.text  # nobody outside learns where the reports lie
    assert seen >= {200, 201, 303, 307, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503}, seen
