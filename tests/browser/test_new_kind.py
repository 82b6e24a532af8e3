"""A kind of question that the program does not have, asked by its preview: a file, a script and a line in a copy of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from tests.browser.answering import send, start
from tests.conformance.test_nobody_knows_the_questions import QUESTIONNAIRE, with_stars
from tests.postgres_server import free_port
from tests.survey.server import COMMAND, RunningServer, wait_until_answering

__all__ = ["with_stars"]


def test_an_invented_kind_is_asked_and_sent(context: Any, with_stars: Path, tmp_path: Path) -> None:
    (tmp_path / "mood.yaml").write_text(QUESTIONNAIRE)
    port, log = free_port(), tmp_path / "log"
    with log.open("ab") as output:
        preview = subprocess.Popen(
            [*COMMAND, "preview", "mood.yaml", "--port", str(port)],
            cwd=tmp_path,
            env={"PYTHONPATH": str(with_stars), "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_answering(RunningServer(preview, port, log))
        page = context.new_page()
        page.goto(re.findall(r"http\S+/s/\w+", log.read_text())[0])
        page.wait_for_selector("#begin, #consent")
        start(page)
        page.fill("#mood-0", "4")
        send(page)
        assert page.get_attribute("#survey", "data-state") == "stored"
    finally:
        preview.terminate()
        preview.wait(30)
