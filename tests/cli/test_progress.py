"""Work that takes long says so on standard error: a bar on terminals, a line elsewhere."""

from __future__ import annotations

import io
import time

import pytest

from tacit.cli import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "SILENT_SECONDS", 0.05)


def told(monkeypatch: pytest.MonkeyPatch, err: io.StringIO, seconds: float) -> str:
    monkeypatch.setattr("sys.stderr", err)
    with output.progress("Searching", 1.0, " (--seconds 5 is quicker)") as bar:
        bar.add("compiling a kernel (the first time only)")
        time.sleep(seconds)  # nothing is done in the meantime: the clock alone speaks
        bar.add("compiling another (the first time only)")
        bar.add("")
        bar.advance(0.5)
    return err.getvalue()


def test_a_log_gets_two_lines_at_most(soon: None, monkeypatch: pytest.MonkeyPatch) -> None:
    said = told(monkeypatch, io.StringIO(), 0.3)
    assert said == "Searching (--seconds 5 is quicker) ...\nSearching: compiling a kernel (the first time only) ...\n"


def test_a_terminal_gets_a_bar_before_the_first_step_is_done(soon: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Searching" in told(monkeypatch, Terminal(), 0.3)


def test_what_is_quick_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, io.StringIO(), 0.0) == ""
