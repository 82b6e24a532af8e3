"""Runs the page's own modules under node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
STATIC = HERE.parents[1] / "src/tacit/survey/static"


def required(command: str, reason: str) -> str:
    """The path of a program; a test without it is skipped, or fails where everything must be there."""
    found = shutil.which(command)
    if found is None:
        if os.environ.get("TACIT_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def node(task: str, script: str = "page_program.mjs", **given: Any) -> Any:
    program = required("node", "node is not installed")
    done = subprocess.run(
        [program, "--no-warnings", str(HERE / script)],
        input=json.dumps({"task": task, **given}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
