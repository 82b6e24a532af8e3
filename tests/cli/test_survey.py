"""``tacit survey`` as a researcher types it."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from typer.testing import CliRunner

from tacit.channel.document import document_hash
from tacit.cli.survey import app
from tacit.errors import InvalidInput, MissingExtra, UnknownName
from tacit.survey import accounts as accounts_module
from tacit.survey.accounts import Accounts
from tacit.survey.codes import code_token, read_code
from tacit.survey.definition import Definition
from tacit.survey.store.codes import Spending
from tacit.survey.store.submissions import Submission, SubmissionOutcome, store_batch, token_hash
from tacit.survey.store.surveys import Store
from tests.survey.questionnaires import CODES, SMALL


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing that takes no time: its cost is argon2's business."""
    monkeypatch.setattr(accounts_module, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_STORE", raising=False)


def run(*arguments: object, given: str | None = None) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=given, catch_exceptions=False)


def answer(*arguments: object) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def opened(text: str = SMALL) -> str:
    Path("survey.yaml").write_text(text)
    return str(answer("open", "survey.yaml")["fingerprint"])


def filled(n: int = 40) -> None:
    store = Store.open("survey.db")
    survey = store.surveys()[0]
    rows = [Submission(survey, "reports", str(i), (("yes", "no")[i % 2], "no", "below 30")) for i in range(n)]
    assert store_batch(store.database, rows) == [SubmissionOutcome.STORED] * n
    store.close()


def test_a_new_questionnaire_can_be_opened_as_it_is() -> None:
    assert "Wrote mine.yaml" in run("new", "mine.yaml").stdout
    promised = answer("preview", "mine.yaml")
    document = answer("open", "mine.yaml", "--url", "https://survey.example.org")
    assert document["link"] == f"https://survey.example.org/s/{promised['fingerprint']}"
    assert document["groups"][0]["worst_posterior"] == pytest.approx(0.7)
    with pytest.raises(InvalidInput, match="exists already"):
        run("new", "mine.yaml")
    with pytest.raises(InvalidInput, match="no folder"):
        run("new", "nowhere/mine.yaml")


def test_opening_gives_every_answer_and_the_amplification_of_all() -> None:
    Path("survey.yaml").write_text(SMALL)
    document = answer("open", "survey.yaml")
    assert document["gamma"] == pytest.approx((7 / 3) ** 2)
    assert [one["attribute"] for one in document["answers"]] == ["smokes", "drinks"]
    assert set(document["answers"][0]) >= {"gamma", "map_privacy", "worst_posterior", "pse"}
    filled()
    results = answer("results", "health")
    assert results["answers"] == document["answers"]
    assert results["gamma"] == document["gamma"]


def test_opening_too_much_of_one_person_is_refused_and_nothing_is_opened() -> None:
    asked = "".join(
        f"      - {{name: q{n}, kind: yes-no, text: About {n}?, sensitive: true, prefer_not_to_say: false}}\n"
        for n in range(33)
    )
    Path("survey.yaml").write_text(SMALL + asked)
    with pytest.raises(InvalidInput, match="Deal each respondent a part instead"):
        run("open", "survey.yaml")
    assert not Path("survey.db").exists()


def test_opening_again_changes_nothing_and_an_edited_survey_is_refused() -> None:
    assert opened() == opened()
    Path("survey.yaml").write_text(SMALL.replace("Do you drink?", "Do you drink wine?"))
    with pytest.raises(InvalidInput, match="line 10"):
        run("open", "survey.yaml")
    with pytest.raises(InvalidInput, match="line 10"):
        run("serve", "--file", "survey.yaml", "--port", "0")


def test_status_results_and_close() -> None:
    opened()
    filled()
    (row,) = answer("status")["surveys"]
    assert (row["name"], row["state"], row["reports"]) == ("health", "open", 40)
    results = answer("results", "health", "--by", "age")
    assert results["n_reports"] == 40
    assert {table["attribute"] for table in results["crossed"]} == {"smokes", "drinks"}
    text = run("results", "health").stdout
    assert "Do you smoke? (disguised)" in text
    assert answer("close", "health")["state"] == "closed"
    assert answer("status", "health")["surveys"][0]["state"] == "closed"


def test_unknown_names_are_answered_with_a_suggestion() -> None:
    opened()
    filled()
    with pytest.raises(UnknownName, match="Did you mean 'health'"):
        run("results", "heath")
    with pytest.raises(UnknownName, match="Did you mean 'smokes'"):
        run("results", "health", "--by", "smoke")


def test_opening_says_how_to_go_on() -> None:
    for text, is_invited in ((SMALL, False), (CODES.replace("name: health", "name: coded"), True)):
        Path("survey.yaml").write_text(text)
        said = run("open", "survey.yaml").stdout
        assert "Serve it with: tacit survey serve --store survey.db" in said
        assert ("Invite people with: tacit survey invite coded" in said) == is_invited


def test_invitations_stand_in_their_file_only_and_work() -> None:
    fingerprint = opened(CODES)
    assert answer("invite", "health", "--count", 3, "--out", "codes.csv", "--url", "https://x.org")["codes"] == 3
    with Path("codes.csv").open() as file:
        rows = list(csv.DictReader(file))
    code = read_code(rows[0]["code"])
    assert rows[0]["link"] == f"https://x.org/s/{fingerprint}#code={code}"
    store = Store.open("survey.db")
    survey = store.named("health")
    spending = (survey.number, token_hash(survey, code_token(fingerprint, code)), b"blinded")
    assert store.codes.spend([spending]) == [Spending.SPENT]
    store.close()
    assert answer("status")["surveys"][0]["codes"] == 3


def test_a_survey_of_the_first_version_is_not_served_but_stays_readable() -> None:
    document = {
        key: value for key, value in Definition.from_yaml(SMALL).document.items() if key not in ("programs", "hash")
    }
    old = Definition({**document, "hash": document_hash(document)})
    store = Store.open("survey.db")
    store.add(old, SMALL)
    store.close()
    filled(30)
    with pytest.raises(
        InvalidInput, match=r"opened by the first version.*close it \(tacit survey close health\) and export"
    ):
        run("serve", "--port", "0")
    assert answer("results", "health")["n_reports"] == 30
    assert answer("close", "health")["state"] == "closed"
    assert answer("export", "health", "--out", "out")


def test_a_survey_with_an_open_link_needs_no_codes() -> None:
    opened()
    with pytest.raises(InvalidInput, match="access: codes"):
        run("invite", "health", "--count", 3, "--out", "codes.csv")
    assert not Path("codes.csv").exists()


def test_an_export_is_read_by_tacit_estimate() -> None:
    from tests.cli.run import tacit

    opened()
    filled(400)
    assert len(answer("export", "health", "--out", "data")["files"]) == 14
    found = tacit("estimate", "data/reports.csv", "--scheme", "data/scheme.json", "--attributes", "smokes", "--json")
    assert found.json["n_reports"] == 400
    assert found.json["cells"][1]["probability"] == pytest.approx(0.5, abs=1e-9)
    assert found.err == ""


def test_backup_and_restore() -> None:
    opened()
    filled()
    assert answer("backup", "backup.db") == {"file": "backup.db", "surveys": 1, "reports": 40}
    assert answer("restore", "backup.db", "--store", "other.db") == {"surveys": 1, "reports": 40}
    assert answer("status", "--store", "other.db") == answer("status")


def test_a_backup_that_cannot_be_restored_is_named_and_leaves_no_store() -> None:
    opened()
    filled()
    run("backup", "backup.db")
    whole = Path("backup.db").read_bytes()
    Path("cut.db").write_bytes(whole[:1000])
    Path("text.db").write_text("no database at all " * 100)
    place = whole.index(b'"introduction"')
    Path("changed.db").write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
    for name in ("cut.db", "text.db", "changed.db", "none.db"):
        for command in (("drill", name), ("restore", name, "--store", "new.db")):
            with pytest.raises(InvalidInput, match=rf"'{name}'") as refusal:
                run(*command)
            assert "backup" in str(refusal.value)
    assert not Path("new.db").exists()


def test_a_backup_is_not_restored_over_accounts_or_a_log() -> None:
    opened()
    run("backup", "backup.db")
    Store.open("begun.db").close()
    Path("secret").write_text("a long enough password\n")
    run("password", "ana", "--file", "secret", "--store", "begun.db")
    with pytest.raises(InvalidInput, match=r"'begun\.db' holds accounts already"):
        run("restore", "backup.db", "--store", "begun.db")
    run("accounts", "--delete", "ana", "--store", "begun.db")
    with pytest.raises(InvalidInput, match=r"'begun\.db' holds an audit log already"):
        run("restore", "backup.db", "--store", "begun.db")


def test_a_retention_that_is_over_is_refused_before_there_is_a_store() -> None:
    Path("survey.yaml").write_text(SMALL + "retention: 2020-01-01\n")
    with pytest.raises(InvalidInput, match="2020-01-01, which is over"):
        run("open", "survey.yaml")
    assert not Path("survey.db").exists()


def test_backups_in_a_folder_are_named_by_time_and_the_oldest_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.survey.store import backup

    opened()
    filled()
    Path("backups").mkdir()
    Path("backups/mine.db").write_text("not ours to delete")
    times = iter(f"survey-2026111{day}T031000Z.db" for day in range(1, 5))
    monkeypatch.setattr(backup, "dated_name", lambda folder: folder / next(times))
    for _ in range(3):
        assert answer("backup", "backups", "--keep", "2")["reports"] == 40
    assert sorted(path.name for path in Path("backups").iterdir()) == [
        "mine.db", "survey-20261112T031000Z.db", "survey-20261113T031000Z.db",
    ]  # fmt: skip
    folder = Path("backups").resolve()
    monkeypatch.undo()
    assert backup._DATED_PATTERN.fullmatch(backup.dated_name(folder).name)
    with pytest.raises(InvalidInput, match="--keep goes with a folder"):
        run("backup", "one.db", "--keep", "2")


def test_a_drill_restores_the_newest_backup_and_checks_all_of_it() -> None:
    opened()
    filled()
    Path("backups").mkdir()
    with pytest.raises(InvalidInput, match="There is no backup in 'backups'"):
        run("drill", "backups")
    file = answer("backup", "backups")["file"]
    drilled = answer("drill", "backups")
    assert drilled["file"] == file
    assert drilled["surveys"] == [{"name": "health", "wave": "1", "state": "open", "reports": 40}]
    assert drilled["audit_lines"] == 2
    assert "restored and checked" in run("drill", file).stdout
    damaged = sqlite3.connect(file)
    damaged.execute("UPDATE tacit_reports_1 SET smokes = 'perhaps' WHERE report_key = '7'")
    damaged.commit()
    damaged.close()
    with pytest.raises(InvalidInput, match="a report of 'health' that is none"):
        run("drill", file)


def test_opening_says_how_many_people_the_wanted_margin_takes_and_refuses_what_tells_nothing() -> None:
    Path("survey.yaml").write_text(SMALL)
    asked = answer("preview", "survey.yaml", "--margin", "0.02")
    assert asked["plan"]["margin"] == 0.02
    document = answer("open", "survey.yaml")
    assert document["plan"]["margin"] == 0.05
    assert document["plan"]["per_attribute"]["smokes"] == 2401
    assert asked["plan"]["respondents"] > 6 * document["plan"]["respondents"]
    assert "for a margin of 5 percentage points at 95%" in run("open", "survey.yaml").stdout
    wanted = SMALL.replace("name: health", "name: precise\nmargin: 0.01")
    Path("precise.yaml").write_text(wanted)
    assert answer("open", "precise.yaml")["plan"]["margin"] == 0.01
    half = "groups:\n  - {questions: [smokes], channel: {kind: warner, p: 0.5}}\n"
    Path("half.yaml").write_text(SMALL.replace("name: health", "name: half") + half)
    with pytest.raises(InvalidInput, match=r"line 12: smokes \(disguised by 'warner'\): .* nothing can be estimated"):
        run("open", "half.yaml")
    with pytest.raises(InvalidInput, match=r"must lie strictly between 0 and 1, not 0\.0"):
        run("open", "survey.yaml", "--margin", "0")
    assert [one["name"] for one in answer("status")["surveys"]] == ["health", "precise"]
    Path("wide.yaml").write_text(SMALL + "margin: 2\n")
    with pytest.raises(InvalidInput, match=r"line 11: margin is the wanted margin of error"):
        run("open", "wide.yaml")


def test_many_alike_notes_of_a_plan_are_counted(tmp_path: Path) -> None:
    asked = "".join(
        f"  - {{name: q{n}, kind: scale, scale: {{from: 1, to: 5}}, text: Q{n}?, sensitive: true}}\n" for n in range(6)
    )
    head = "name: a\ntitle: A\nintroduction: A\ncontact: A\nprivacy: strong\npages:\n- questions:\n"
    (tmp_path / "a.yaml").write_text(head + asked)
    done = CliRunner().invoke(app, ["open", str(tmp_path / "a.yaml"), "--store", str(tmp_path / "s.db")])
    assert done.stdout.count("are for a share of one half") == 2
    assert "and 4 more notes like these (--json gives all)" in done.stdout


def test_plan_reads_a_questionnaire() -> None:
    from tests.cli.run import tacit

    Path("survey.yaml").write_text(SMALL)
    assert tacit("plan", "survey.yaml", "--margin", "0.05", "--json").json["per_attribute"]["smokes"] == 2401


ETHICS = SMALL.replace(
    "privacy: strong",
    "privacy: strong\nconsent: I agree that my disguised answers are studied.\ncontroller: The university\n"
    "ethics: Board of ethics, 2026-17\nhelp: Call 0800 123\nincentive: A voucher\nretention: 2999-12-31",
)


def test_what_an_ethics_board_asks_for_is_exported_with_the_data() -> None:
    fingerprint = opened(ETHICS)
    answer("export", "health", "--out", "data")
    consent = json.loads(Path("data/consent.json").read_text())
    assert consent["consent"] == {"en": "I agree that my disguised answers are studied."}
    assert consent["ticked"] == {"en": "I want to take part."}
    assert consent["version"] == fingerprint
    assert consent["definition_hash"] == json.loads(Path("data/definition.json").read_text())["hash"]
    assert (consent["controller"], consent["ethics"]) == ({"en": "The university"}, {"en": "Board of ethics, 2026-17"})
    assert consent["incentive"] == {"en": "A voucher"}
    assert (consent["help"], consent["retention"]) == ({"en": "Call 0800 123"}, "2999-12-31")
    Path("survey.yaml").write_text(ETHICS.replace("are studied", "are sold"))
    with pytest.raises(InvalidInput, match="opened with another questionnaire"):
        run("open", "survey.yaml")


@pytest.mark.parametrize("text", [ETHICS, CODES])
def test_a_preregistration_is_the_same_bytes_again_and_is_held_against_what_was_opened(text: str) -> None:
    Path("survey.yaml").write_text(text)
    first = answer("preregister", "survey.yaml", "--out", "registered", "--margin", "0.03")
    assert answer("preregister", "survey.yaml", "--out", "again", "--margin", "0.03") == first
    assert set(first["files"]) == {
        "questionnaire.yaml", "definition.json", "scheme.json", "label.json", "plan.json", "consent.json", "codebook.csv",
        "analysis.py", "analysis.R",
    }  # fmt: skip
    assert json.loads(Path("registered/plan.json").read_text())["margin"] == 0.03
    for name, digest in first["files"].items():
        assert hashlib.sha256(Path("registered", name).read_bytes()).hexdigest() == digest
    assert (
        f"Register this hash: {first['hash']}"
        in run("preregister", "survey.yaml", "--out", "third", "--margin", "0.03").stdout
    )
    opened(text)
    assert answer("preregister", "survey.yaml", "--check", "registered") == first
    Path("edited.yaml").write_text(text.replace("Do you drink?", "Do you drink wine?"))
    with pytest.raises(
        InvalidInput, match=r"something else than .* registered as 'health'\. Compare it with 'registered/"
    ):
        run("preregister", "edited.yaml", "--check", "registered")
    with pytest.raises(InvalidInput, match="is not empty"):
        run("preregister", "survey.yaml", "--out", "registered")
    with pytest.raises(InvalidInput, match="--out FOLDER to write a bundle, or --check"):
        run("preregister", "survey.yaml")


def test_a_changed_preregistration_is_noticed() -> None:
    Path("survey.yaml").write_text(SMALL)
    answer("preregister", "survey.yaml", "--out", "bundle")
    opened(SMALL.replace("Do you drink?", "Do you drink wine?"))
    with pytest.raises(InvalidInput, match="was opened with another questionnaire than the registered one"):
        run("preregister", "survey.yaml", "--check", "bundle")
    Path("bundle/analysis.R").write_text("# what was wanted to come out")
    with pytest.raises(InvalidInput, match=r"analysis\.R is not the file that was registered"):
        run("preregister", "survey.yaml", "--check", "bundle")
    manifest = json.loads(Path("bundle/manifest.json").read_text())
    Path("bundle/manifest.json").write_text(json.dumps(manifest | {"wave": "2"}))
    with pytest.raises(InvalidInput, match=r"manifest\.json was changed"):
        run("preregister", "survey.yaml", "--check", "bundle")
    with pytest.raises(InvalidInput, match="is no pre-registration"):
        run("preregister", "survey.yaml", "--check", "nowhere")


def test_results_can_be_weighted_to_a_population() -> None:
    opened()
    filled(60)
    Path("margins.yaml").write_text("age: {below 30: 1.0, 30 to 59: 0, 60 or more: 0}")
    weighted = answer("results", "health", "--population", "margins.yaml")["weighted"]
    assert weighted["margins"] == ["age"]
    assert weighted["effective_reports"] == pytest.approx(60)
    assert weighted["questions"][0]["label"] == "Do you smoke?"
    shown = run("results", "health", "--population", "margins.yaml").stdout
    assert "Do you smoke? (weighted)\n  No " in shown
    with pytest.raises(InvalidInput, match=r"no file 'none\.yaml' with the shares"):
        run("results", "health", "--population", "none.yaml")


def test_what_is_done_here_stands_in_the_audit_log() -> None:
    opened()
    run("close", "health")
    store = Store.open("survey.db")
    assert [entry[1:] for entry in Accounts(store.database).audit()] == [
        ("(command line)", "closed", "health"),
        ("(command line)", "opened", "health"),
    ]
    store.close()


def test_passwords_are_asked_for_or_read() -> None:
    opened()
    Path("secret").write_text("a long enough password\n")
    assert answer("password", "ana", "--file", "secret") == {"administrator": "ana"}
    assert "ben can log in" in run("password", "ben", given="a long enough password\n" * 2).stdout
    with pytest.raises(InvalidInput, match="at least 12"):
        run("password", "ana", given="short\nshort\n")
    with pytest.raises(InvalidInput, match="no file"):
        run("password", "ana", "--file", "nowhere")


def test_a_busy_port_is_one_clear_sentence() -> None:
    opened()
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"Port {port} on 127.0.0.1 cannot be used: Address already in use"):
            run("serve", "--port", port)


def test_a_missing_store_and_a_newer_one_are_one_clear_sentence() -> None:
    with pytest.raises(InvalidInput, match=r"There is no store 'survey\.db'"):
        run("serve")
    opened()
    store = Store.open("survey.db")
    store.database.run("UPDATE tacit_meta SET version = 99")
    store.close()
    with pytest.raises(InvalidInput, match="version 99"):
        run("status")


def test_a_store_that_may_not_be_written_is_one_clear_sentence() -> None:
    Path("survey.yaml").write_text(SMALL)
    with pytest.raises(InvalidInput, match="cannot be opened"):
        run("open", "survey.yaml", "--store", "/proc/survey.db")  # where nobody may make files


def test_a_missing_extra_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("survey.yaml").write_text(SMALL)
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    for command in (["open", "survey.yaml"], ["status"], ["preview", "survey.yaml"]):
        with pytest.raises(MissingExtra, match=r"pip install 'tacit\[survey\]'"):
            run(*command)


def test_every_command_explains_itself() -> None:
    for command in app.registered_commands:
        assert command.callback is not None
        assert command.callback.__doc__, command


def with_password(name: str, *options: str, password: str = "a long enough password") -> dict[str, Any]:
    Path("secret").write_text(password)
    return answer("password", name, "--file", "secret", *options)


def test_accounts_have_roles_and_second_factors_and_can_be_deleted() -> None:
    opened()
    with_password("ana")
    made = with_password("lee", "--role", "analyst", "--second-factor")
    assert made["second_factor"].startswith("otpauth://totp/Tacit:lee?secret=")
    listed = answer("accounts")["accounts"]
    assert [(one["name"], one["role"], one["second_factor"]) for one in listed] == [
        ("ana", "owner", False),
        ("lee", "analyst", True),
    ]
    assert with_password("lee").keys() == {"administrator"}  # a new password keeps role and second factor
    assert answer("accounts")["accounts"] == listed
    assert [one["name"] for one in answer("accounts", "--delete", "lee")["accounts"]] == ["ana"]
    with pytest.raises(UnknownName, match="'nobody'"):
        run("accounts", "--delete", "nobody")
    with pytest.raises(UnknownName, match="'chief'"):
        with_password("ana", "--role", "chief")
    shown = run("password", "ana", "--file", "secret", "--second-factor").stdout
    assert "▀" in shown or "█" in shown  # a QR code


def test_the_audit_log_is_checked_and_a_change_refused() -> None:
    opened()
    with_password("ana")
    log = answer("audit")
    assert log["lines"] == len(log["latest"]) == 2
    done = {"administrator": "(command line)", "action": "password set", "detail": "ana: owner"}
    assert log["latest"][0].items() >= done.items()
    with_password("ben")
    assert answer("audit", "--head", log["head"])["lines"] == 3  # the log has grown since then
    store = Store.open("survey.db")
    store.database.run("UPDATE tacit_audit SET administrator = 'eve' WHERE number = 1")
    store.close()
    with pytest.raises(InvalidInput, match="line 1 does not fit"):
        run("audit")
    store = Store.open("survey.db")
    store.database.run("DELETE FROM tacit_audit")
    store.close()
    assert answer("audit")["lines"] == 0  # a chain that was cut off whole: only who noted its head can tell
    with pytest.raises(InvalidInput, match=r"None of the 0 lines .* were cut off"):
        run("audit", "--head", log["head"])


def test_a_closed_survey_can_be_deleted_for_good() -> None:
    opened()
    filled()
    with pytest.raises(InvalidInput, match="is open"):
        run("delete", "health", "--yes")
    answer("close", "health")
    assert answer("delete", "health", "--yes")["deleted"] == "health/1"
    assert answer("status")["surveys"] == []
    assert b"Do you smoke?" not in Path("survey.db").read_bytes()


def test_a_proxy_that_is_no_address_is_refused() -> None:
    opened()
    with pytest.raises(InvalidInput, match="'nginx' does not appear"):
        run("serve", "--proxy", "nginx", "--port", "0")


def test_invitations_are_printed_and_reminded() -> None:
    opened(CODES)
    made = answer("invite", "health", "--count", 3, "--out", "codes.csv", "--print", "codes.html")
    codes = Path("codes.csv").read_bytes()
    for again in (("codes.csv",), ("more.csv", "--print", "codes.html")):
        with pytest.raises(InvalidInput, match=r"'codes\.(csv|html)' exists already"):
            run("invite", "health", "--count", 3, "--out", *again)
    for command in ("reminders", "incentives"):
        with pytest.raises(InvalidInput, match="is the file of all codes"):
            run(command, "health", "--codes", "codes.csv", "--out", "./codes.csv")
    assert Path("codes.csv").read_bytes() == codes
    assert answer("status")["surveys"][0]["codes"] == 3
    assert made["files"] == ["codes.csv", "codes.html"]
    assert made["fingerprint_words"] in Path("codes.html").read_text()
    assert answer("reminders", "health", "--codes", "codes.csv", "--out", "left.csv")["codes"] == 3
    assert Path("left.csv").read_text() == Path("codes.csv").read_text()
    assert answer("status")["surveys"][0]["started"] == 0
    with pytest.raises(InvalidInput, match="There is no file"):
        run("reminders", "health", "--codes", "none.csv", "--out", "left.csv")


def test_incentives_are_owed_to_codes_and_lead_to_no_report() -> None:
    fingerprint = opened(CODES)
    answer("invite", "health", "--count", 14, "--out", "codes.csv")
    with Path("codes.csv").open() as file:
        codes = [row["code"] for row in csv.DictReader(file)]
    store = Store.open("survey.db")
    survey = store.named("health")

    def start(some: list[str]) -> None:
        hashes = [token_hash(survey, code_token(fingerprint, read_code(code))) for code in some]
        store.codes.spend([(survey.number, one, code.encode()) for one, code in zip(hashes, some, strict=True)])

    start(codes[:4])
    with pytest.raises(InvalidInput, match="Only 4 people have started, and the survey is open"):
        run("incentives", "health", "--codes", "codes.csv", "--out", "owed.csv")
    assert not Path("owed.csv").exists()
    start(codes[4:10])
    store.close()
    assert answer("incentives", "health", "--codes", "codes.csv", "--out", "owed.csv")["codes"] == 10
    with Path("owed.csv").open() as file:
        assert [row["code"] for row in csv.DictReader(file)] == codes[:10]
    # Nothing in the store joins a code with a report: reports lie under tokens that no code leads to.
    assert answer("status")["surveys"][0]["reports"] == 0
    answer("close", "health")
    assert answer("incentives", "health", "--codes", "codes.csv", "--out", "again.csv")["codes"] == 10


def test_backups_and_exports_are_their_owners_alone() -> None:
    opened()
    filled()
    answer("backup", "backup.db")
    answer("export", "health", "--out", "data")
    files = [Path("backup.db"), *Path("data").iterdir()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert Path("data").stat().st_mode & 0o777 == 0o700


def test_an_export_holds_what_was_promised_for_outsiders_to_check() -> None:
    from tacit.channel.document import document_hash

    fingerprint = opened(CODES)
    answer("export", "health", "--out", "data")
    definition = json.loads(Path("data/definition.json").read_text())
    assert definition["hash"] == document_hash(definition)
    assert definition["hash"].startswith(fingerprint)
    assert definition["programs"]
    label = json.loads(Path("data/label.json").read_text())
    assert {one["attribute"] for one in label["answers"]} == {"smokes", "drinks"}
    assert label["gamma"] == answer("open", "survey.yaml")["gamma"]
    assert run("verify", "data/definition.json").exit_code == 0


BAD = {
    "line 10: 'or did you?' has no value. Between braces a comma ends a text": (
        "text: Smoke?",
        "text: Smoke, or did you?",
    ),
    "line 10: the question 'region' stands also in line 9. Give each question its own name": ("smokes", "region"),
    "line 7: the quota depends on the answer to 'smokes', which is sensitive": ("{region: north}", "{smokes: yes}"),
    "line 10: the open text 'smokes' is called sensitive": ("kind: yes-no", "kind: text"),
    "line 5: the page has no words of its own (buttons, the privacy label) in 'tr'": ("[en]", "[tr]"),
}


@pytest.mark.parametrize("said", BAD)
def test_a_bad_questionnaire_is_refused_with_its_line_and_the_way_out(said: str) -> None:
    text = (
        "name: a\ntitle: A\nintroduction: A\ncontact: A\nlanguages: [en]\nquotas:\n  - {when: {region: north}, most: 9}\n"
        "pages: [{questions: [\n{name: region, kind: choice, text: Where?, answers: [north, south], sensitive: false},\n"
        "{name: smokes, kind: yes-no, text: Smoke?, sensitive: true}]}]\nprivacy: strong\n"
    )
    assert text.count(BAD[said][0])
    Path("a.yaml").write_text(text.replace(*BAD[said]))
    with pytest.raises(InvalidInput, match=re.escape(f"a.yaml, {said}")):
        run("open", "a.yaml")
    assert not Path("survey.db").exists()


def test_another_tools_file_that_cannot_be_carried_over_names_each_part() -> None:
    parts = [{"type": "file", "name": "scan"}, {"type": "ranking", "name": "order"}]
    Path("a.json").write_text(json.dumps({"elements": parts}))
    with pytest.raises(InvalidInput) as refusal:
        run("import", "a.json", "--out", "a.yaml")
    for part in (
        "file 'scan': files are not sent.",
        "ranking 'order': rankings are not asked. Ask for the first choice",
    ):
        assert part in str(refusal.value)
    assert not Path("a.yaml").exists()


def test_an_address_with_a_path_is_refused_before_anything_is_opened() -> None:
    """Links such as https://example.org/surveys/s/... never worked, and told respondents of tampering."""
    Path("health.yaml").write_text(SMALL)
    for command in (("open", "health.yaml"), ("serve",)):
        with pytest.raises(InvalidInput, match="has the path '/surveys', and links with a path would not work"):
            run(*command, "--url", "https://example.org/surveys")
    assert not Path("survey.db").exists()
