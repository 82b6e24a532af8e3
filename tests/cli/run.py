"""Runs a command in this process, the way the shell would."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from dataclasses import dataclass
from typing import Any
from unittest import mock

from tacit.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def tacit(*arguments: object) -> Outcome:
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", ["tacit", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
    return Outcome(code, out.getvalue(), err.getvalue())


def refused(*arguments: object) -> str:
    """The message of a command that must be refused: exit code 2, one message, nothing on standard output."""
    outcome = tacit(*arguments)
    assert outcome.code == 2, f"exit code {outcome.code}: {outcome.out}{outcome.err}"
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    return outcome.err
