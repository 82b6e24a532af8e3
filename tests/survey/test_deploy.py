"""The files for operators name commands and options that exist, and keep respondents out of every log."""

from __future__ import annotations

import re
import shlex
import urllib.request
from pathlib import Path

import pytest
import typer

from tacit.cli.survey import app
from tacit.survey.store.surveys import Store
from tests.cli.run import tacit as run
from tests.survey.server import running_server

SMALL = """
name: small
title: Small
introduction: Two words.
contact: The survey office
privacy: strong
pages:
  - title: One
    questions: [{name: smokes, kind: yes-no, text: Do you smoke?, sensitive: true}]
"""
DEPLOY = Path(__file__).parents[2] / "deploy"


def commands() -> list[list[str]]:
    """What the files run: `survey` and its arguments."""
    lines = [
        line.removeprefix("ExecStart=/srv/survey/venv/bin/tacit ")
        for path in sorted(DEPLOY.glob("*.service"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("ExecStart=")
    ]
    entry = re.search(r"ENTRYPOINT (\[.*\])", (DEPLOY / "Containerfile").read_text(encoding="utf-8"))
    assert entry is not None
    _, *contained = re.findall(r'"([^"]*)"', entry[1])
    return [*map(shlex.split, lines), contained]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_of_the_recipes_is_understood(command: list[str]) -> None:
    assert command[0] == "survey"
    group = typer.main.get_command(app)
    name, *arguments = command[1:]
    parsed = group.commands[name].make_context(name, arguments)  # type: ignore[attr-defined]
    assert parsed.params


@pytest.mark.parametrize("command", [one for one in commands() if one[1] == "serve"], ids=" ".join)
def test_a_server_begins_in_an_empty_folder_and_serves_what_is_opened_later(command: list[str], tmp_path: Path) -> None:
    store = str(tmp_path / "survey.db")
    options = tuple(one for one in command[2:] if one not in ("--host", "0.0.0.0"))  # this machine alone
    with running_server(store, tmp_path / "log", extra=options) as server:
        assert Path(store).stat().st_mode & 0o777 == 0o600
        Path(tmp_path / "small.yaml").write_text(SMALL, encoding="utf-8")
        told = run("survey", "open", tmp_path / "small.yaml", "--store", store)
        assert told.code == 0, told.err
        opened = Store.open(store)
        fingerprint = opened.named("small").fingerprint
        opened.close()
        proxied = {"X-Forwarded-For": "203.0.113.9", "Host": "survey.example.org"}
        request = urllib.request.Request(f"{server.url}/s/{fingerprint}", headers=proxied)
        with urllib.request.urlopen(request, timeout=20) as page:
            assert page.status == 200


def test_a_container_is_built_from_what_the_package_is_made_of() -> None:
    wanted = set(re.findall(r"^!(.+)$", (DEPLOY.parent / ".containerignore").read_text(encoding="utf-8"), re.MULTILINE))
    assert wanted == {"LICENSE", "NOTICE", "README.md", "pyproject.toml", "src"}
    assert all((DEPLOY.parent / name).exists() for name in wanted)


def test_the_proxies_log_nobody_and_believe_no_client() -> None:
    nginx, caddy = ((DEPLOY / name).read_text(encoding="utf-8") for name in ("nginx.conf", "Caddyfile"))
    assert nginx.count("access_log off;") == nginx.count("server {")
    assert "X-Forwarded-For $remote_addr;" in nginx
    assert "$proxy_add_x_forwarded_for" not in nginx
    assert "header_up X-Forwarded-For {remote_host}" in caddy
    assert re.search(r"^\s*log\b", caddy, re.MULTILINE) is None
    for text in (nginx, caddy):
        assert re.search(r"metrics\b.*404", text)


def test_the_timer_starts_the_backup_and_the_backup_is_drilled() -> None:
    unit = (DEPLOY / "tacit-survey-backup.service").read_text(encoding="utf-8")
    assert (DEPLOY / "tacit-survey-backup.timer").read_text(encoding="utf-8").count("OnCalendar=") == 1
    runs = [line.split("tacit survey ")[1].split()[0] for line in unit.splitlines() if line.startswith("ExecStart=")]
    assert runs == ["backup", "drill"]
