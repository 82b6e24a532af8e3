"""Every attack of docs/explanation/threat-model.md, tried. The names of the tests are named there."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import math
import re
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from benchmarks.survey_load import wait_until_answering
from tacit.survey import limits
from tacit.survey.accounts import Accounts, WrongLogin
from tacit.survey.app import SurveyServer
from tacit.survey.assets import page_scripts
from tacit.survey.codes import code_token, new_code
from tacit.survey.definition import Definition
from tacit.survey.headers import ServerSettings
from tacit.survey.issuing import Signer, base64url
from tacit.survey.limits import FAILURES_ALLOWED, LOCK_SECONDS, RateLimit
from tacit.survey.store.submissions import token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.postgres_server import free_port
from tests.survey.buying import is_signature_of, signed_token, some_blinded
from tests.survey.questionnaires import CODES, SMALL
from tests.survey.running import run_async
from tests.survey.server import SOURCE, running_server

PASSWORD = "a long enough password"
REPORT = "000100"


def put(
    client: TestClient, survey: StoredSurvey, token: str | None = None, report: str = REPORT, **options: Any
) -> Any:
    path = f"/s/{survey.fingerprint}/reports/{token or secrets.token_hex(32)}"
    return client.put(
        path, content=json.dumps({"report": report}), headers={"content-type": "application/json"}, **options
    )


def logged_in(server: SurveyServer, client: TestClient) -> str:
    """Log in as ana; returns the form token of her session."""
    Accounts(server.store.database).set_password("ana", PASSWORD)
    answer = client.post("/admin/login", data={"name": "ana", "password": PASSWORD})
    assert answer.status_code == 303
    page = client.get("/admin").text
    return re.search(r'name="csrf" value="([0-9a-f]+)"', page).group(1)  # type: ignore[union-attr]


def test_a_replayed_report_is_counted_once_and_another_is_refused(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    token = secrets.token_hex(32)
    assert put(client, survey, token).status_code == 201
    answer = put(client, survey, token)
    assert (answer.status_code, answer.json()) == (200, {"outcome": "repeated"})
    answer = put(client, survey, token, "010000")
    assert (answer.status_code, answer.json()["reason"]) == (409, "different")
    assert [row for batch in server.store.rows(survey) for row in batch] == [("no", "yes", "below 30")]


@pytest.fixture
def coded(server: SurveyServer) -> StoredSurvey:
    return server.store.add(Definition.from_yaml(CODES), CODES)


def issued(server: SurveyServer, survey: StoredSurvey) -> str:
    """A fresh code, as the page sends it."""
    token = code_token(survey.fingerprint, new_code())
    server.store.add_codes(survey, [token_hash(survey, token)])
    return token


def buy(client: TestClient, survey: StoredSurvey, code: str, blinded: str) -> Any:
    return client.post(f"/s/{survey.fingerprint}/tokens", json={"code": code, "blinded": blinded})


def test_a_code_buys_one_signature_and_the_same_again(
    client: TestClient, server: SurveyServer, coded: StoredSurvey
) -> None:
    verifier = coded.verifier
    assert verifier is not None
    code, blinded = issued(server, coded), some_blinded(verifier)
    bought = [buy(client, coded, code, blinded) for _ in range(2)]
    assert [answer.status_code for answer in bought] == [200, 200]
    assert bought[0].json() == bought[1].json()
    assert is_signature_of(verifier, bought[0].json()["signature"], blinded)
    other = buy(client, coded, code, some_blinded(verifier))
    assert (other.status_code, other.json()["reason"]) == (409, "used")
    unknown = buy(client, coded, code_token(coded.fingerprint, new_code()), blinded)
    assert (unknown.status_code, unknown.json()["reason"]) == (403, "unknown")


def test_opening_a_link_spends_no_code(client: TestClient, server: SurveyServer, coded: StoredSurvey) -> None:
    code = issued(server, coded)
    assert client.get(f"/s/{coded.fingerprint}").status_code == 200
    for method in ("GET", "HEAD"):
        assert client.request(method, f"/s/{coded.fingerprint}/tokens").status_code == 405
    assert server.store.counts(coded).started == 0
    assert code not in client.get(f"/s/{coded.fingerprint}").text


@pytest.mark.parametrize(
    "content",
    [
        {}, {"code": "x"}, {"code": 1, "blinded": "AA"}, {"code": "x", "blinded": "AA", "more": 1},
        {"code": "x", "blinded": "!"}, {"code": "x", "blinded": "AA"},
        {"code": "x", "blinded": base64url(b"\xff" * 256)}, {"code": "x", "blinded": base64url(bytes(256))},
    ],
)  # fmt: skip
def test_what_cannot_be_signed_costs_no_code(
    client: TestClient, server: SurveyServer, coded: StoredSurvey, content: dict[str, Any]
) -> None:
    code = issued(server, coded)
    body = {**content, "code": code} if content.get("code") == "x" else content
    assert client.post(f"/s/{coded.fingerprint}/tokens", json=body).status_code == 400
    assert server.store.counts(coded).started == 0


def test_codes_are_bought_for_open_surveys_with_codes_only(
    client: TestClient, server: SurveyServer, coded: StoredSurvey
) -> None:
    verifier = coded.verifier
    assert verifier is not None
    text = SMALL.replace("name: health", "name: uncoded")
    without = server.store.add(Definition.from_yaml(text), text)
    assert buy(client, without, "0" * 64, some_blinded(verifier)).status_code == 404
    code = issued(server, coded)
    server.store.close_survey(coded)
    answer = buy(client, coded, code, some_blinded(verifier))
    assert (answer.status_code, answer.json()["reason"]) == (409, "closed")


def test_only_signed_tokens_bring_a_report(client: TestClient, server: SurveyServer, coded: StoredSurvey) -> None:
    signer = server.store.signer(coded)
    assert signer is not None
    bought, foreign = signed_token(signer), signed_token(Signer.new())
    bodies_of = {
        "none": {"report": REPORT},
        "foreign": {"report": REPORT, "signature": foreign.signature},
        "no number": {"report": REPORT, "signature": "!"},
        "no text": {"report": REPORT, "signature": 5},
    }
    for content in bodies_of.values():
        answer = client.put(f"/s/{coded.fingerprint}/reports/{bought.token}", json=content)
        assert (answer.status_code, answer.json()["reason"]) == (403, "token")
    content = {"report": REPORT, "signature": bought.signature}
    other = secrets.token_hex(32)
    assert client.put(f"/s/{coded.fingerprint}/reports/{other}", json=content).status_code == 403
    statuses = [client.put(f"/s/{coded.fingerprint}/reports/{bought.token}", json=content).status_code for _ in "ab"]
    assert statuses == [201, 200]
    answer = client.put(f"/s/{coded.fingerprint}/reports/{bought.token}", json={**content, "report": "010000"})
    assert (answer.status_code, answer.json()["reason"]) == (409, "different")
    assert server.store.counts(coded).reports == 1


def test_tests_and_second_rounds_need_a_code_where_reports_do(
    client: TestClient, server: SurveyServer, coded: StoredSurvey
) -> None:
    """Without one, whoever knows the address could fill the tests, or forge the accuracy of a classifier."""
    signer = server.store.signer(coded)
    assert signer is not None
    bought, foreign = signed_token(signer), signed_token(Signer.new())
    tests = f"/s/{coded.fingerprint}/tests/{bought.token}"
    for content in ({"report": REPORT}, {"report": REPORT, "signature": foreign.signature}):
        assert client.put(tests, json=content).status_code == 403
    assert client.put(tests, json={"report": REPORT, "signature": bought.signature}).status_code == 201
    server.store.offer_classifier(coded, {"target": "smokes", "tree": {"answer": "no"}})

    def second(token: str) -> str:
        return f"/s/{coded.fingerprint}/second/{hashlib.sha256(f'second {token}'.encode()).hexdigest()}"

    paid = {"report": "01", "signature": bought.signature, "bearer": bought.token}
    refused = [
        (second(bought.token), {"report": "01"}),
        (second(bought.token), {**paid, "signature": foreign.signature}),
        (second(foreign.token), {**paid, "bearer": foreign.token}),
        (second(secrets.token_hex(32)), paid),
        (second(bought.token), {**paid, "bearer": 5}),
    ]
    assert [client.put(path, json=content).status_code for path, content in refused] == [403] * len(refused)
    assert client.put(second(bought.token), json={**paid, "more": 1}).status_code == 400
    assert [client.put(second(bought.token), json=paid).status_code for _ in "ab"] == [201, 200]
    assert server.store.counts(coded).second == 1
    text = CODES.replace("name: health", "name: drafted")
    draft = server.store.add(Definition.from_yaml(text), text, state="draft")
    tried = client.put(f"/s/{draft.fingerprint}/tests/{secrets.token_hex(32)}", json={"report": REPORT})
    assert tried.status_code == 201, "while a survey is drafted there are no codes to try it with"


def test_opening_a_draft_leaves_no_moment_in_which_reports_need_no_code(
    client: TestClient, server: SurveyServer
) -> None:
    """The server read the survey while it was a draft, and nobody has opened its page since."""
    definition = Definition.from_yaml(CODES)
    draft = server.store.add(definition, CODES, state="draft")
    assert client.put(f"/s/{draft.fingerprint}/tests/{'a' * 64}", json={"report": REPORT}).status_code == 201
    opened = server.store.add(definition, CODES)
    assert (opened.fingerprint, opened.state) == (draft.fingerprint, "open")
    assert put(client, opened).status_code == 403
    assert server.store.counts(opened).reports == 0


def test_a_signer_in_trouble_is_answered_with_try_again(
    client: TestClient, server: SurveyServer, coded: StoredSurvey
) -> None:
    assert coded.verifier is not None
    code = issued(server, coded)
    server.store.codes.database.run("ALTER TABLE tacit_invitations RENAME TO gone")
    answer = buy(client, coded, code, some_blinded(coded.verifier))
    assert answer.status_code == 503
    assert "retry-after" in answer.headers
    server.store.codes.database.run("ALTER TABLE gone RENAME TO tacit_invitations")
    assert buy(client, coded, code, some_blinded(coded.verifier)).status_code == 200


def test_what_is_sent_to_a_deleted_survey_reaches_no_other(client: TestClient, server: SurveyServer) -> None:
    """The server knows the deleted survey still, and the next one is opened in its place."""
    store = server.store
    first = store.add(Definition.from_yaml(CODES), CODES)
    assert first.verifier is not None
    assert buy(client, first, issued(server, first), some_blinded(first.verifier)).status_code == 200
    signer = store.signer(first)
    assert signer is not None
    bought = signed_token(signer)
    content = {"report": REPORT, "signature": bought.signature}
    store.close_survey(first)
    store.delete_survey(store.named("health"))
    text = CODES.replace("privacy: strong", "privacy: strong\nwave: second")
    second = store.add(Definition.from_yaml(text), text)
    assert second.verifier is not None
    assert client.put(f"/s/{first.fingerprint}/reports/{bought.token}", json=content).status_code in (404, 409)
    assert store.counts(second).reports == 0
    # Its codes buy signatures of its own key, not of the one that was deleted.
    blinded = some_blinded(second.verifier)
    answer = buy(client, second, issued(server, second), blinded)
    assert is_signature_of(second.verifier, answer.json()["signature"], blinded)


def test_codes_cannot_be_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    alphabets: list[str] = []

    def choice(letters: str) -> str:
        alphabets.append(letters)
        drawn.append(letters[len(drawn) % len(letters)])
        return drawn[-1]

    monkeypatch.setattr(secrets, "choice", choice)
    assert new_code().startswith("".join(drawn))
    # With a million codes issued, a thousand guesses a second find one in over a thousand years.
    codes = math.prod(len(set(letters)) for letters in alphabets)
    assert codes / 1e6 / 1e3 / (365 * 86400) > 1000


def test_a_code_of_one_survey_opens_no_other(client: TestClient, server: SurveyServer) -> None:
    first = server.store.add(Definition.from_yaml(CODES), CODES)
    other_text = CODES.replace("name: health", "name: other")
    other = server.store.add(Definition.from_yaml(other_text), other_text)
    assert first.verifier is not None
    assert other.verifier is not None
    code = issued(server, first)
    assert buy(client, other, code, some_blinded(other.verifier)).status_code == 403
    signer = server.store.signer(first)
    assert signer is not None
    bought = signed_token(signer)
    content = {"report": REPORT, "signature": bought.signature}
    assert client.put(f"/s/{other.fingerprint}/reports/{bought.token}", json=content).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"null", b'"00"', b"{", b"\xff\xfe", b'{"report": 5}', b'{"report": "000100", "more": 1}',
        b'{"report": "00010"}', b'{"report": "0001000"}', b'{"report": "00zz00"}', b'{"report": "000199"}',
        b'{"report": "\\u0660\\u0660\\u0660\\u0661\\u0660\\u0660"}', b"[" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused(
    client: TestClient, server: SurveyServer, survey: StoredSurvey, body: bytes
) -> None:
    path = f"/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}"
    answer = client.put(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}
    assert server.store.counts(survey).reports == 0


def test_oversized_reports_are_refused_before_they_are_read(client: TestClient, survey: StoredSurvey) -> None:
    assert put(client, survey, report="0" * limits.LARGEST_BODY).status_code == 413

    def endless() -> Iterator[bytes]:
        for _ in range(1000):
            yield b"0" * 1024

    path = f"/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}"
    answer = client.put(path, content=endless(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_other_content_types_are_refused(client: TestClient, survey: StoredSurvey) -> None:
    path = f"/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}"
    assert client.put(path, content="report=000100").status_code == 415


def test_a_body_that_trickles_is_given_up(
    server: SurveyServer, survey: StoredSurvey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SLOWEST_BODY_SECONDS", 0.1)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(0.06)
        return {"type": "http.request", "body": b"{", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "PUT", "path": f"/s/{survey.fingerprint}/reports/{'a' * 64}",
        "headers": [(b"content-type", b"application/json")], "client": ("192.0.2.1", 1),
    }  # fmt: skip
    run_async(lambda: server(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


@pytest.mark.slow
def test_a_head_that_trickles_is_given_up(tmp_path: Path) -> None:
    Store.open(tmp_path / "s.db").close()
    with running_server(str(tmp_path / "s.db"), tmp_path / "log") as running, socket.socket() as slow:
        slow.connect(("127.0.0.1", running.port))
        slow.settimeout(30)
        begun = time.monotonic()
        slow.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        assert slow.recv(100) == b""  # closed by the server
        assert 2 < time.monotonic() - begun < 25


# A server whose every answer takes a tenth of a second of the one event loop.
BUSY_SERVER = """
import sys, time
from tacit.survey.serving import bound_socket, serve

async def busy(scope, receive, send):
    if scope["type"] == "http":
        time.sleep(0.1)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

serve(busy, bound_socket("127.0.0.1", int(sys.argv[1])))
"""


def test_a_crowd_that_comes_at_once_does_not_keep_others_out() -> None:
    port = free_port()
    question = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    environment = {"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin:/bin"}
    server = subprocess.Popen([sys.executable, "-c", BUSY_SERVER, str(port)], env=environment)
    is_over = threading.Event()

    def keep_busy() -> None:
        with socket.create_connection(("127.0.0.1", port), 20) as regular:
            while not is_over.is_set():
                regular.sendall(question)
                regular.recv(1_000)

    others = threading.Thread(target=keep_busy)
    try:
        wait_until_answering(port)
        others.start()
        with contextlib.ExitStack() as crowd:
            for _ in range(400):
                crowd.enter_context(socket.create_connection(("127.0.0.1", port), 20))
            last = crowd.enter_context(socket.create_connection(("127.0.0.1", port), 20))
            begun = time.monotonic()
            last.sendall(question)
            assert last.recv(1_000).startswith(b"HTTP/1.1 200")
            waited = time.monotonic() - begun
    finally:
        is_over.set()
        others.join()
        server.terminate()
        server.wait()
    # Where each turn of the loop takes one new connection, this takes about eight seconds.
    assert waited < 3


@pytest.mark.parametrize("box", ["reports", "tests", "second", "spent", "..", ""])
@pytest.mark.parametrize(
    "fingerprint", ["0" * 32, "../../etc/passwd", "%2e%2e", "x'; DROP TABLE tacit_surveys; --", "0" * 33]
)
def test_paths_that_lead_nowhere_lead_nowhere(
    client: TestClient, survey: StoredSurvey, fingerprint: str, box: str
) -> None:
    answer = client.put(
        f"/s/{fingerprint}/{box}/{'a' * 64}", content="{}", headers={"content-type": "application/json"}
    )
    assert answer.status_code == 404


@pytest.mark.parametrize("path", ["/static/page.js", "/static/..%2faccounts.py", "/..%2f..%2fapp.py", "//etc/passwd"])
def test_no_file_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_forged_host_is_refused_where_the_server_knows_its_own(tmp_path: Path) -> None:
    server = SurveyServer(tmp_path / "s.db", ServerSettings(public_url="https://survey.test", rate=0))
    survey = server.store.add(Definition.from_yaml(SMALL), SMALL)
    good = TestClient(server, base_url="https://survey.test")
    evil = TestClient(server, base_url="https://evil.test")
    assert good.get(f"/s/{survey.fingerprint}").status_code == 200
    assert put(good, survey).status_code == 201
    assert evil.get(f"/s/{survey.fingerprint}").status_code == 400
    assert put(evil, survey).status_code == 400
    both = [("host", "survey.test"), ("host", "evil.test")]
    assert good.get(f"/s/{survey.fingerprint}", headers=both).status_code == 400
    server.close()


def test_no_answer_repeats_the_host_it_was_asked_for(client: TestClient, survey: StoredSurvey) -> None:
    for path in (f"/s/{survey.fingerprint}", "/admin", "/admin/login", "/nowhere"):
        answer = client.get(path, headers={"host": "evil.test"})
        assert "evil.test" not in answer.text + str(answer.headers)


HOSTILE = '</script><script>alert(1)</script>"><img src=x onerror=alert(1)>{{ 7*7 }}\u2028'


def test_script_in_a_questionnaire_stays_text(client: TestClient, server: SurveyServer) -> None:
    text = SMALL.replace("title: Health", "title: " + json.dumps(HOSTILE)).replace("Do you smoke?", json.dumps(HOSTILE))
    survey = server.store.add(Definition.from_yaml(text), text)
    csrf = logged_in(server, client)
    put(client, survey)
    assert csrf
    for path in (f"/s/{survey.fingerprint}", "/admin", f"/admin/surveys/{survey.fingerprint}"):
        page = client.get(path).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "49" not in re.findall(r"<title>(.*?)</title>", page, re.S)[0]
    embedded = re.search(r'id="definition">(.*?)</script>', client.get(f"/s/{survey.fingerprint}").text, re.S)
    assert embedded is not None
    assert json.loads(embedded.group(1)) == survey.definition.document


def test_every_page_has_the_security_headers(client: TestClient, survey: StoredSurvey) -> None:
    for path in (f"/s/{survey.fingerprint}", "/admin/login", "/nowhere", "/healthz"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        # The only scripts that may run are the parts of the page's own, letter by letter.
        assert f"script-src {' '.join(part.source for part in page_scripts())};" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_a_tampered_definition_is_refused_by_the_store(server: SurveyServer, survey: StoredSurvey) -> None:
    weaker = survey.definition.to_json().replace("2.3333333333333335", "900")
    server.store.database.run("UPDATE tacit_surveys SET definition = ?", (weaker,))
    with pytest.raises(ValueError, match="was changed after it was opened"):
        server.store.survey(survey.fingerprint)


def test_nobody_gets_in_without_logging_in(client: TestClient, survey: StoredSurvey) -> None:
    for path in (
        "/admin",
        f"/admin/surveys/{survey.fingerprint}",
        f"/admin/surveys/{survey.fingerprint}/export/reports.csv",
    ):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/admin/login")
    assert client.post(f"/admin/surveys/{survey.fingerprint}/close", data={"csrf": "x"}).status_code == 403


def test_a_form_from_elsewhere_changes_nothing(client: TestClient, server: SurveyServer, survey: StoredSurvey) -> None:
    csrf = logged_in(server, client)
    close = f"/admin/surveys/{survey.fingerprint}/close"
    assert client.post(close, data={}).status_code == 403
    assert client.post(close, data={"csrf": "0" * 64}).status_code == 403
    assert client.post(close, data={"csrf": csrf}, headers={"origin": "http://evil.test"}).status_code == 403
    assert client.post(close, data={"csrf": csrf}, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert server.store.named("health").state == "open"
    assert client.post(close, data={"csrf": csrf}).status_code == 303
    assert server.store.named("health").state == "closed"


def test_a_foreign_site_cannot_log_an_administrator_in(client: TestClient, server: SurveyServer) -> None:
    Accounts(server.store.database).set_password("ana", PASSWORD)
    form = {"name": "ana", "password": PASSWORD}
    assert client.post("/admin/login", data=form, headers={"origin": "http://evil.test"}).status_code == 403


WRITTEN = """
name: written
title: Written
introduction: Why we ask.
contact: research@example.org
privacy: strong
pages:
- questions:
  - {name: steals, kind: yes-no, text: Do you steal?, sensitive: true, prefer_not_to_say: false}
  - {name: why, kind: text, text: Why?, sensitive: false, optional: true}
"""


def test_polling_reports_and_texts_joins_nothing(client: TestClient, server: SurveyServer) -> None:
    """Whoever looked after every report joined 40 of 40 texts with theirs: one row was new in each file."""
    survey = server.store.add(Definition.from_yaml(WRITTEN), WRITTEN)
    logged_in(server, client)

    def download(name: str) -> Counter[str]:
        lines = client.get(f"/admin/surveys/{survey.fingerprint}/export/{name}").text.splitlines()
        return Counter(lines[1:])

    before, batches = download("texts.csv"), []
    for number in range(45):
        texts = {"key": secrets.token_hex(32), "answers": {"why": f"I am person {number}"}}
        body = {"report": secrets.choice(["00", "01"]), "receipt": secrets.token_hex(32), "texts": texts}
        path = f"/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}"
        assert client.put(path, json=body).status_code == 201
        assert download("reports.csv").total() == number + 1
        after = download("texts.csv")
        if after != before:
            batches.append(list((after - before).elements()))
        before = after
    assert [len(batch) for batch in batches] == [10] * 4
    orders = [[int(line.split()[-1]) for line in batch] for batch in batches]
    assert any(order != sorted(order) for order in orders)
    server.store.close_survey(survey)
    assert download("texts.csv").total() == 45


def test_the_session_cookie_is_for_the_server_alone(client: TestClient, server: SurveyServer) -> None:
    Accounts(server.store.database).set_password("ana", PASSWORD)
    cookie = client.post("/admin/login", data={"name": "ana", "password": PASSWORD}).headers["set-cookie"].lower()
    for flag in ("httponly", "samesite=strict", "path=/admin"):
        assert flag in cookie


def test_logging_out_ends_the_session_on_the_server(client: TestClient, server: SurveyServer) -> None:
    csrf = logged_in(server, client)
    stolen = dict(client.cookies)
    client.post("/admin/logout", data={"csrf": csrf})
    client.cookies.update(stolen)
    assert client.get("/admin").status_code == 303


def test_brute_force_locks_the_account_for_a_while(tmp_path: Path) -> None:
    now = [1_000.0]
    store = Store.open(tmp_path / "s.db")
    accounts = Accounts(store.database, clock=lambda: now[0])
    accounts.set_password("ana", PASSWORD)
    for _ in range(FAILURES_ALLOWED):
        with pytest.raises(WrongLogin):
            accounts.log_in("ana", "a wrong password")
    with pytest.raises(WrongLogin):
        accounts.log_in("ana", PASSWORD)
    now[0] += LOCK_SECONDS + 1
    assert accounts.log_in("ana", PASSWORD).administrator == "ana"
    actions = [action for _, _, action, _ in accounts.audit()]
    assert actions.count("login failed") == FAILURES_ALLOWED
    store.close()


def test_attempts_from_one_address_are_slowed_down(client: TestClient, server: SurveyServer) -> None:
    Accounts(server.store.database).set_password("ana", PASSWORD)
    statuses = [client.post("/admin/login", data={"name": "x", "password": "y"}).status_code for _ in range(12)]
    assert 429 in statuses


def test_passwords_and_sessions_are_stored_only_as_hashes(
    client: TestClient, server: SurveyServer, tmp_path: Path
) -> None:
    logged_in(server, client)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert PASSWORD.encode() not in content
    assert client.cookies["tacit_session"].encode() not in content
    assert b"$argon2id$" in content


def test_a_short_password_is_refused(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    with pytest.raises(ValueError, match="at least 12"):
        Accounts(store.database).set_password("ana", "short")
    store.close()


def test_one_address_cannot_flood(tmp_path: Path) -> None:
    server = SurveyServer(tmp_path / "s.db", ServerSettings(rate=1, burst=3))
    survey = server.store.add(Definition.from_yaml(SMALL), SMALL)
    client = TestClient(server)
    statuses = [put(client, survey).status_code for _ in range(6)]
    assert statuses[:3] == [201] * 3
    assert 429 in statuses
    server.close()


def test_a_bucket_refills() -> None:
    now = [0.0]
    limit = RateLimit(rate=1, burst=2, clock=lambda: now[0])
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
    assert limit.allows("b")
    now[0] = 1.5
    assert [limit.allows("a") for _ in range(2)] == [True, False]


def test_no_address_and_no_time_is_logged_or_stored(tmp_path: Path) -> None:
    url = str(tmp_path / "s.db")
    store = Store.open(url)
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    with running_server(url, tmp_path / "log") as running:
        import httpx

        for _ in range(3):
            path = f"{running.url}/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}"
            assert httpx.put(path, json={"report": REPORT}).status_code == 201
    log = (tmp_path / "log").read_text()
    assert log.splitlines()[1:] == [
        "Nobody can log in at /admin yet. Create an administrator with: tacit survey password NAME"
    ]
    content = b"".join(path.read_bytes() for path in tmp_path.glob("s.db*"))
    assert b"127.0.0.1" not in content
    store.close()


def test_an_overloaded_server_refuses_politely(tmp_path: Path) -> None:
    server = SurveyServer(tmp_path / "s.db", ServerSettings(rate=0, most_waiting=0))
    survey = server.store.add(Definition.from_yaml(SMALL), SMALL)
    answer = put(TestClient(server), survey)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    server.close()


def test_a_database_in_trouble_is_answered_with_try_again(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    server.store.database.run(f"DROP TABLE {survey.table('reports')}")
    answer = put(client, survey)
    assert answer.status_code == 503
    assert "retry-after" in answer.headers
    assert answer.json() == {"error": "The server's database takes nothing at present. Please try again soon."}


@pytest.mark.slow
def test_a_full_disk_is_answered_with_try_again_and_loses_nothing(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    database = server.writer._database
    pages = database.rows("PRAGMA page_count")[0][0]
    database.rows(f"PRAGMA max_page_count = {pages}")
    answers = [put(client, survey).status_code for _ in range(300)]
    assert set(answers) == {201, 503}
    assert server.store.counts(survey).reports == answers.count(201)
    database.rows("PRAGMA max_page_count = 1000000")
    assert put(client, survey).status_code == 201


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_request_makes_the_server_fail(
    client: TestClient, server: SurveyServer, survey: StoredSurvey, data: st.DataObject
) -> None:
    part = st.one_of(
        st.sampled_from(
            ["s", "admin", "static", "surveys", survey.fingerprint, "reports", "tests", "export", "login", "a" * 64]
        ),
        st.text(alphabet=st.characters(codec="utf-8", exclude_characters="/?#\\"), max_size=12),
    )
    method = data.draw(st.sampled_from(["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"]))
    path = "/" + "/".join(map(quote, data.draw(st.lists(part, max_size=6))))
    headers = {
        "content-type": data.draw(
            st.sampled_from(["application/json", "application/x-www-form-urlencoded", "text/plain"])
        )
    }
    body = data.draw(
        st.one_of(st.binary(max_size=64), st.sampled_from([b'{"report":"000100"}', b"name=a&password=b", b"csrf=1"]))
    )
    assert client.request(method, "http://survey.test" + path, content=body, headers=headers).status_code not in (
        500,
        502,
    )
