"""The files for operators name commands and options that exist, and keep respondents out of every log."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from tacit.cli.survey import app

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
