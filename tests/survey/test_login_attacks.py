"""Attacks on the administrators' door: slow logins, lock-outs, brute force, fixation, stale sessions."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import socket
import sqlite3
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from argon2 import PasswordHasher
from scipy.stats import wilcoxon
from starlette.testclient import TestClient

from tacit.errors import InvalidInput, UnknownName
from tacit.survey import accounts as accounts_module
from tacit.survey import limits, totp
from tacit.survey.accounts import SESSION_SECONDS, Accounts, WrongLogin
from tacit.survey.admin import MOST_WAITING
from tacit.survey.app import SurveyServer
from tacit.survey.headers import ServerSettings, client_address, origin
from tacit.survey.limits import FAILURES_ALLOWED, LOCK_SECONDS, STRANGERS_ALLOWED, Attempts, RateLimit
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.postgres_server import fresh_database
from tests.survey.running import run_async
from tests.survey.server import running_server

PASSWORD = "a long enough password"
SLOW_LOGINS = 1_500


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(tmp_path: Path, clock: Clock) -> Iterator[Accounts]:
    store = Store.open(tmp_path / "accounts.db")
    made = Accounts(store.database, clock)
    made.set_password("ana", PASSWORD)
    yield made
    store.close()


def fail(accounts: Accounts, times: int, **shown: str) -> None:
    for _ in range(times):
        with pytest.raises(WrongLogin):
            accounts.log_in("ana", "a wrong password", **shown)


@pytest.mark.slow
def test_1500_slow_logins_do_not_stop_the_server(tmp_path: Path) -> None:
    Store.open(tmp_path / "s.db").close()
    form = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 900\r\n\r\nname="
    store_url, log = str(tmp_path / "s.db"), tmp_path / "log"
    with running_server(store_url, log, open_files=1_024) as running, contextlib.ExitStack() as slow:
        connections = []
        for _ in range(SLOW_LOGINS):
            connections.append(slow.enter_context(socket.create_connection(("127.0.0.1", running.port), 20)))
            connections[-1].sendall(b"POST /admin/login HTTP/1.1\r\nHost: x\r\n" + form)
        begun = time.monotonic()
        with urllib.request.urlopen(running.url + "/healthz", timeout=10) as answer:
            assert answer.status == 200
        assert time.monotonic() - begun < 5
        connections[0].settimeout(30)
        assert connections[0].recv(100).startswith(b"HTTP/1.1 408")  # each is told, and let go


def test_a_login_form_that_trickles_is_given_up(server: SurveyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SLOWEST_BODY_SECONDS", 0.1)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(0.06)
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/x-www-form-urlencoded"), (b"host", b"x")]
    for path in ("/admin/login", "/admin/logout"):
        sent.clear()
        scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
            "root_path": "", "scheme": "http", "headers": headers, "client": ("192.0.2.1", 1), "server": ("x", 80),
        }  # fmt: skip
        run_async(lambda scope=scope: server(scope, receive, send))  # type: ignore[misc]
        assert sent[0]["status"] == 408
        assert (b"connection", b"close") in sent[0]["headers"]


def test_an_outsider_locks_out_nobody_but_their_own_origin(accounts: Accounts, clock: Clock) -> None:
    fail(accounts, FAILURES_ALLOWED + 3, origin="192.0.2.66")
    with pytest.raises(WrongLogin):  # locked there, for whoever comes from there
        accounts.log_in("ana", PASSWORD, origin="192.0.2.66")
    assert accounts.log_in("ana", PASSWORD, origin="198.51.100.7").administrator == "ana"
    clock.now += LOCK_SECONDS + 1
    assert accounts.log_in("ana", PASSWORD, origin="192.0.2.66").administrator == "ana"


def test_a_browser_that_logged_in_before_comes_in_under_an_attack_from_everywhere(accounts: Accounts) -> None:
    device = accounts.remembered_device(accounts.log_in("ana", PASSWORD, origin="198.51.100.7"))
    for number in range(STRANGERS_ALLOWED + 20):
        fail(accounts, 1, origin=f"192.0.2.{number}")
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", PASSWORD, origin="203.0.113.9")
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", PASSWORD, origin="203.0.113.9", device="made up")
    assert accounts.log_in("ana", PASSWORD, origin="198.51.100.7", device=device).administrator == "ana"


def test_the_second_factor_opens_every_lock_and_alone_opens_nothing(accounts: Accounts, clock: Clock) -> None:
    secret = accounts.set_password("ana", PASSWORD, second_factor=True)
    assert secret is not None
    code = totp.code_at(secret, int(clock.now // totp.STEP_SECONDS))
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", PASSWORD)  # the password alone is not enough
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", "a wrong password", code=code)  # nor is the code
    fail(accounts, FAILURES_ALLOWED, origin="198.51.100.7")
    assert accounts.log_in("ana", PASSWORD, code=code, origin="198.51.100.7").administrator == "ana"
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", PASSWORD, code=code, origin="203.0.113.9")  # a code that was seen is of no use
    clock.now += totp.STEP_SECONDS
    later = totp.code_at(secret, int(clock.now // totp.STEP_SECONDS))
    assert accounts.log_in("ana", PASSWORD, code=later, origin="203.0.113.9").role == "owner"


def test_one_code_opens_one_session_also_for_two_who_come_at_once(
    accounts: Accounts, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = accounts.set_password("ana", PASSWORD, second_factor=True)
    code = totp.code_at(str(secret), int(clock.now // totp.STEP_SECONDS))
    both = threading.Barrier(2)
    monkeypatch.setattr(accounts_module, "_verify_password", lambda *given: both.wait(10) >= 0)
    with ThreadPoolExecutor(2) as pool:
        tries = [pool.submit(accounts.log_in, "ana", PASSWORD, code=code, origin=f"192.0.2.{n}") for n in (1, 2)]
        errors = [one.exception() for one in tries]
    assert sorted(type(error).__name__ for error in errors) == ["NoneType", "WrongLogin"]


@pytest.mark.postgres
def test_one_code_opens_one_session_on_two_servers_of_one_postgres_database(
    postgres_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = fresh_database(postgres_url)
    with contextlib.closing(Store.open(url)) as one, contextlib.closing(Store.open(url)) as other:
        secret = Accounts(one.database, clock).set_password("ana", PASSWORD, second_factor=True)
        assert secret is not None
        code = totp.code_at(secret, int(clock.now // totp.STEP_SECONDS))
        run, sessions = one.database.run, []

        def overtaken(statement: str, parameters: Any = ()) -> int:
            # The other server lets somebody in with this code just before the first one marks it as used.
            if statement.startswith("UPDATE tacit_administrators") and not sessions:
                sessions.append(Accounts(other.database, clock).log_in("ana", PASSWORD, code=code))
            return run(statement, parameters)

        monkeypatch.setattr(one.database, "run", overtaken)
        with pytest.raises(WrongLogin):
            Accounts(one.database, clock).log_in("ana", PASSWORD, code=code)
        assert len(sessions) == 1


def test_a_password_that_is_changed_while_it_is_checked_opens_nothing(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = accounts_module._verify_password

    def slowly(stored: str, password: str) -> bool:
        fits = verified(stored, password)
        monkeypatch.setattr(accounts_module, "_verify_password", verified)
        accounts.set_password("ana", "another long password")
        return fits

    monkeypatch.setattr(accounts_module, "_verify_password", slowly)
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", PASSWORD)
    accounts.log_in("ana", "another long password")


def test_a_wrong_name_costs_what_a_wrong_password_costs_also_the_first_one(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is one computation of argon2 with the same settings; what else they do is a few statements of SQL."""
    computed: list[tuple[str, ...]] = []

    class Counted(PasswordHasher):
        def verify(self, stored: Any, password: Any) -> Any:
            computed.append(tuple(stored.split("$")[1:4]))
            return super().verify(stored, password)

        def hash(self, *given: Any, **more: Any) -> str:
            computed.append(("hash",))
            return super().hash(*given, **more)

    hasher = Counted(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts_module, "_hasher", hasher)
    for name in ("ana", "nobody", "ana", "nobody else"):
        with pytest.raises(WrongLogin):
            accounts.log_in(name, "a wrong password")
    assert len(computed) == 4
    assert len(set(computed)) == 1


def test_a_name_with_and_without_a_second_factor_and_none_are_checked_alike(
    accounts: Accounts, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wrong login verifies one password, computes three one-time codes and writes one line; nothing is drawn for it."""
    accounts.set_password("lee", PASSWORD, second_factor=True)
    done: list[str] = []

    def watched(module: Any, name: str) -> None:
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, **more: done.append(name) or real(*given, **more))

    watched(accounts_module, "_verify_password")
    watched(totp, "code_at")
    watched(accounts_module.secrets, "token_bytes")
    watched(accounts._database, "run")
    watched(accounts._database, "rows")
    work = []
    for name in ("ana", "lee", "eve"):
        clock.now += LOCK_SECONDS
        done.clear()
        fail_as(accounts, name, code="123456")
        work.append(list(done))
    assert work[0] == work[1] == work[2]
    assert sorted(set(work[0])) == ["_verify_password", "code_at", "rows", "run"]


def fail_as(accounts: Accounts, name: str, **shown: str) -> None:
    with pytest.raises(WrongLogin):
        accounts.log_in(name, "a wrong password", **shown)


@pytest.mark.soak
def test_wrong_names_and_wrong_passwords_take_the_same_time(accounts: Accounts, clock: Clock) -> None:
    """Argon2 costs next to nothing here, so that all else shows; in turn, so that a busy machine is busy for all alike."""
    accounts.set_password("lee", PASSWORD, second_factor=True)
    chance = random.Random(1983)
    seconds: dict[str, list[int]] = {"ana": [], "lee": [], "eve": []}
    for _ in range(1_000):
        for name in chance.sample(sorted(seconds), 3):
            clock.now += LOCK_SECONDS
            begun = time.process_time_ns()
            fail_as(accounts, name)
            seconds[name].append(time.process_time_ns() - begun)
    for known in ("ana", "lee"):
        pairs = wilcoxon(np.subtract(seconds[known], seconds["eve"]))
        assert pairs.pvalue > 1e-6, f"{known}: {np.median(seconds[known])} ns, nobody: {np.median(seconds['eve'])} ns"


def test_a_password_with_older_settings_is_hashed_anew_at_the_next_login(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts_module, "_hasher", PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    for _ in range(2):
        assert accounts.log_in("ana", PASSWORD).administrator == "ana"
        ((stored,),) = accounts._database.rows("SELECT password FROM tacit_administrators")
        assert "$m=16,t=2,p=1$" in stored


def test_10000_tries_from_10000_origins_check_few_passwords(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    real = accounts_module._verify_password
    monkeypatch.setattr(accounts_module, "_verify_password", lambda *given: checked.append("") or real(*given))
    lines = len(accounts.audit(100_000))
    for number in range(10_000):
        fail(accounts, 1, origin=f"2001:db8:{number // 256:x}:{number % 256:x}::/64")
    assert len(checked) == STRANGERS_ALLOWED
    assert len(accounts.audit(100_000)) == lines + STRANGERS_ALLOWED  # nor does a flood fill the log


def test_a_flood_of_names_does_not_make_the_limits_forget_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.survey.limits.MOST_REMEMBERED", 100)
    attempts = Attempts(lambda: 0.0)
    for number in range(500):
        attempts.failed(f"name {number}", "a", is_known=False)
    for _ in range(FAILURES_ALLOWED):
        attempts.failed("ana", "a", is_known=False)
    assert not attempts.allows("ana", "a", is_known=True)
    assert len(attempts._by_origin) == len(attempts._by_account) == 100


def csrf_of(page: str) -> str:
    return re.search(r'name="csrf" value="([0-9a-f]+)"', page).group(1)  # type: ignore[union-attr]


def log_in(client: TestClient, name: str = "ana", **more: Any) -> Any:
    return client.post("/admin/login", data={"name": name, "password": PASSWORD}, **more)


def test_a_character_that_no_text_holds_gets_a_refusal_and_no_alarm(store_url: str) -> None:
    """PostgreSQL refuses it, and the server would say that its database is in trouble."""
    server = SurveyServer(store_url, ServerSettings(rate=0))
    client = TestClient(server, base_url="http://survey.test", follow_redirects=False)
    assert log_in(client, "an\0a").status_code == 403
    for path in ("/s/%00", "/s/%00/full", "/s/%00/answers/%00"):
        assert client.get(path).status_code == 404
    for name in ("tokens", "withdrawals"):
        assert client.post(f"/s/%00/{name}", json={}).status_code == 404
    Accounts(server.store.database).set_password("ana", PASSWORD)
    assert log_in(client, "ana").status_code == 303
    assert client.get("/admin/surveys/%00").status_code == 404
    server.close()


def test_a_flood_of_addresses_does_not_free_the_one_that_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_REMEMBERED", 100)
    now = [0.0]
    limit = RateLimit(rate=0.001, burst=2, clock=lambda: now[0])
    assert [limit.allows("greedy") for _ in range(3)] == [True, True, False]
    for number in range(1_000):
        assert limit.allows(f"192.0.2.{number}")
        if number % 50 == 0:
            assert not limit.allows("greedy")
    assert len(limit._buckets) == 100  # and memory stays small


def test_a_crowd_that_waits_to_log_in_keeps_no_owner_out(server: SurveyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Accounts(server.store.database)
    made.set_password("ana", PASSWORD)
    secret = made.set_password("lee", PASSWORD, second_factor=True)
    assert secret is not None
    device = made.remembered_device(made.log_in("ana", PASSWORD))
    checked, let_go = Accounts.log_in, threading.Event()

    def slow_for_strangers(self: Accounts, name: str, password: str, **shown: str) -> Any:
        if name == "x":
            let_go.wait(20)
        return checked(self, name, password, **shown)

    async def post(address: str, name: str, cookie: str = "", code: str = "") -> int:
        transport = httpx.ASGITransport(app=server, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://survey.test") as client:
            headers = {"cookie": f"tacit_device={cookie}"}
            form = {"name": name, "password": PASSWORD, "code": code}
            return (await client.post("/admin/login", data=form, headers=headers)).status_code

    async def scenario() -> list[int]:
        crowd = [asyncio.create_task(post(f"192.0.2.{number}", "x")) for number in range(MOST_WAITING + 3)]
        while sum(one.done() for one in crowd) < 3:  # told to come again: every place is taken
            await asyncio.sleep(0.01)
        code = totp.code_at(secret, int(time.time() // totp.STEP_SECONDS))
        told = [await post("198.51.100.1", "ana"), await post("198.51.100.2", "ana", device)]
        told.append(await post("198.51.100.3", "lee", code=code))
        let_go.set()
        await asyncio.gather(*crowd)
        return told

    monkeypatch.setattr(Accounts, "log_in", slow_for_strangers)
    assert run_async(scenario) == [429, 303, 303]


def test_a_session_that_was_planted_is_not_continued(client: TestClient, server: SurveyServer) -> None:
    made = Accounts(server.store.database)
    made.set_password("ana", PASSWORD)
    made.set_password("mallory", PASSWORD)
    planted = made.log_in("mallory", PASSWORD).token
    for cookie in ("chosen by somebody else", planted):
        client.cookies.set("tacit_session", cookie, domain="survey.test", path="/admin")
        assert log_in(client).status_code == 303
        assert client.cookies["tacit_session"] != cookie
        assert made.session(cookie) is None
        client.cookies.clear()


def test_an_expired_session_is_refused(accounts: Accounts, clock: Clock) -> None:
    session = accounts.log_in("ana", PASSWORD)
    clock.now += SESSION_SECONDS - 1
    assert accounts.session(session.token) is not None
    clock.now += 2
    assert accounts.session(session.token) is None


def test_a_new_password_ends_old_sessions_and_known_devices(accounts: Accounts) -> None:
    session = accounts.log_in("ana", PASSWORD)
    device = accounts.remembered_device(session)
    accounts.set_password("ana", PASSWORD + "!")
    assert accounts.session(session.token) is None
    for number in range(STRANGERS_ALLOWED):
        fail(accounts, 1, origin=str(number))
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", PASSWORD + "!", origin="elsewhere", device=device)


def test_a_deleted_account_is_gone_with_its_sessions(accounts: Accounts) -> None:
    session = accounts.log_in("ana", PASSWORD)
    accounts.delete("ana")
    assert accounts.session(session.token) is None
    assert accounts.names() == []
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", PASSWORD)
    with pytest.raises(UnknownName, match="'ana'"):
        accounts.delete("ana")


@pytest.mark.parametrize("change", ["deleted", "a new password"])
def test_what_an_account_had_is_in_no_file_after_its_end(accounts: Accounts, tmp_path: Path, change: str) -> None:
    secret = accounts.set_password("lee", PASSWORD, second_factor=True)
    assert secret is not None
    ((stored,),) = accounts._database.rows("SELECT password FROM tacit_administrators WHERE name = 'lee'")
    kept = [stored.rsplit("$", 1)[1].encode(), secret.encode()]

    def found() -> list[bool]:
        content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        return [one in content for one in kept]

    assert found() == [True, True]
    if change == "deleted":
        accounts.delete("lee")
    else:
        accounts.set_password("lee", PASSWORD + "!", second_factor=True)
    assert found() == [False, False]


@pytest.mark.parametrize("length", [0, 11, 1_001])
def test_passwords_are_judged_by_their_length(accounts: Accounts, length: int) -> None:
    with pytest.raises(InvalidInput, match=f"has {length} characters; 12 to 1000"):
        accounts.set_password("ana", "x" * length)
    accounts.set_password("ana", "only letters")
    assert accounts.log_in("ana", "only letters").role == "owner"


def test_an_analyst_looks_and_changes_nothing(client: TestClient, server: SurveyServer, survey: StoredSurvey) -> None:
    made = Accounts(server.store.database)
    made.set_password("lee", PASSWORD, "analyst")
    assert log_in(client, "lee").status_code == 303
    overview = client.get("/admin").text
    assert "What administrators did" not in overview
    page = f"/admin/surveys/{survey.fingerprint}"
    assert client.get(page).status_code == 200
    assert client.get(page + "/export/scheme.json").status_code == 200
    for action in ("close", "delete", "classifier"):
        answer = client.post(f"{page}/{action}", data={"csrf": csrf_of(overview), "name": "health", "class": "smokes"})
        assert answer.status_code == 403
        assert "Only an owner" in answer.text
    assert server.store.named("health").state == "open"


def test_a_deleted_survey_leaves_nothing_in_the_files(
    client: TestClient, server: SurveyServer, survey: StoredSurvey, tmp_path: Path
) -> None:
    Accounts(server.store.database).set_password("ana", PASSWORD)
    log_in(client)
    csrf = csrf_of(client.get("/admin").text)
    put = f"/s/{survey.fingerprint}/reports/{'a' * 64}"
    assert client.put(put, json={"report": "000100"}).status_code == 201
    page = f"/admin/surveys/{survey.fingerprint}"
    answer = client.post(page + "/delete", data={"csrf": csrf, "name": "health"})
    assert (answer.status_code, "is open" in answer.text) == (400, True)
    client.post(page + "/close", data={"csrf": csrf})
    answer = client.post(page + "/delete", data={"csrf": csrf, "name": "helth"})
    assert (answer.status_code, "type its name" in answer.text) == (400, True)
    assert client.post(page + "/delete", data={"csrf": csrf, "name": "health"}).status_code == 303
    assert server.store.surveys() == []
    assert client.get(f"/s/{survey.fingerprint}").status_code == 404
    assert client.put(put, json={"report": "000100"}).status_code in (404, 409)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Do you smoke?" not in content
    assert survey.fingerprint.encode() not in content


def test_the_audit_log_shows_every_change_to_it(accounts: Accounts) -> None:
    for number in range(4):
        accounts.record("ana", f"action {number}")
    database = accounts._database
    whole = accounts.log.chain()
    assert (whole.lines, whole.broken_at) == (5, None)
    database.run("UPDATE tacit_audit SET detail = 'nothing' WHERE number = 3")
    assert accounts.log.chain().broken_at == 3
    database.run("UPDATE tacit_audit SET detail = '' WHERE number = 3")
    assert accounts.log.chain() == whole
    database.run("DELETE FROM tacit_audit WHERE number = 2")
    assert accounts.log.chain().broken_at == 3
    database.run("UPDATE tacit_audit SET number = number - 1 WHERE number > 2")
    assert accounts.log.chain().broken_at == 2
    assert accounts.log.chain().head != whole.head


def test_lines_of_an_older_log_are_taken_into_the_chain(accounts: Accounts) -> None:
    database = accounts._database
    database.run("UPDATE tacit_audit SET link = ''")
    accounts.record("ana", "the first line of the chain")
    assert accounts.log.chain().broken_at is None
    database.run("UPDATE tacit_audit SET administrator = 'eve' WHERE number = 1")
    assert accounts.log.chain().broken_at == 2


@pytest.mark.parametrize(("seconds", "code"), [(59, "94287082"), (1111111109, "07081804"), (20000000000, "65353130")])
def test_one_time_codes_are_those_of_rfc_6238(seconds: int, code: str) -> None:
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"  # "12345678901234567890", Appendix B
    assert totp.code_at(secret, seconds // 30, digits=8) == code
    assert totp.accepted_step(secret, code[2:], seconds + 29, 0) == seconds // 30
    assert totp.accepted_step(secret, code[2:], seconds + 61, 0) is None
    assert totp.accepted_step(secret, code[2:], seconds, seconds // 30) is None


def scope_of(client: str, *forwarded: str) -> dict[str, Any]:
    return {"client": (client, 1), "headers": [(b"x-forwarded-for", one.encode()) for one in forwarded]}


def test_only_trusted_proxies_are_believed_about_addresses() -> None:
    alone = ServerSettings()
    behind = ServerSettings(proxies=("127.0.0.1", "10.0.0.0/8"))
    forged = scope_of("192.0.2.1", "198.51.100.1")
    assert client_address(forged, alone) == client_address(forged, behind) == "192.0.2.1"
    assert client_address(scope_of("127.0.0.1", "198.51.100.1"), behind) == "198.51.100.1"
    # What the client itself wrote stands first; only the proxies' own additions count.
    assert client_address(scope_of("127.0.0.1", "1.1.1.1, 198.51.100.1, 10.1.2.3"), behind) == "198.51.100.1"
    assert client_address(scope_of("127.0.0.1", "1.1.1.1", "198.51.100.1"), behind) == "198.51.100.1"
    assert client_address(scope_of("127.0.0.1"), behind) == "127.0.0.1"
    assert origin("2001:db8::1") == origin("2001:db8::ffff:1") != origin("2001:db8:0:1::1")
    assert origin("192.0.2.1") != origin("192.0.2.2")
    # An IPv4 address in IPv6 spelling is that address: all of them are in one network of 64 bits.
    assert origin("::ffff:192.0.2.1") == "192.0.2.1" != origin("::ffff:192.0.2.2")
    assert client_address(scope_of("::ffff:127.0.0.1", "198.51.100.1"), behind) == "198.51.100.1"
    with pytest.raises(InvalidInput, match=r"such as 10\.0\.0\.0/8"):
        _ = ServerSettings(proxies=("nginx",)).networks


def test_an_older_store_of_accounts_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.survey.store import connect, migrations

    with monkeypatch.context() as past:
        past.setattr(migrations, "STEPS", migrations.STEPS[:2])
        past.setattr(migrations, "VERSION", 2)
        database = connect(tmp_path / "old.db")
        migrations.migrate(database)
        database.run(
            "INSERT INTO tacit_administrators VALUES ('ana', ?, 0, 0)", (accounts_module._hasher.hash(PASSWORD),)
        )
        database.run("INSERT INTO tacit_audit VALUES (1, 'then', 'ana', 'logged in', '')")
        database.close()
    store = Store.open(tmp_path / "old.db")
    made = Accounts(store.database)
    assert made.log_in("ana", PASSWORD).role == "owner"
    assert made.log.chain().broken_at is None
    store.close()
    assert sqlite3.connect(tmp_path / "old.db").execute("SELECT version FROM tacit_meta").fetchone() == (
        migrations.VERSION,
    )
