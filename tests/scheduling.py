"""Which tests one worker runs together, so that nothing expensive is started or computed twice.

pytest-xdist would do this with its ``xdist_group`` marks, but from pytest 9.2 on they are not heeded.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler.loadscope import LoadScopeScheduling

ROOT = Path(__file__).parents[1]
SERVERS = ("browser", "postgres", "spark")
# Packages of many compiled loops. Their tests come first, being many, so that everybody else finds the loops compiled.
COMPILED = ("design", "joint", "mine", "publish")

# Functions that simulate hundreds of surveys; each process that calls them simulates them anew.
SIMULATING = ("many_reports(", "repeated(")


class TogetherScheduling(LoadScopeScheduling):
    """What stays together: the tests of a server, of compiled loops, of simulated surveys, of a shared fixture, of a case."""

    def _split_scope(self, nodeid: str) -> str:
        return server_of(nodeid) or _unit(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        if (
            "browser" in self.workqueue
        ):  # it mostly waits, so others compute beside it; at the end nobody would be left to
            self.workqueue.move_to_end("browser", last=False)
        super()._assign_work_unit(node)


def server_of(nodeid: str) -> str | None:
    """The slow server a test needs, as its file, its name or its case says."""
    path, _, name = nodeid.partition("::")
    if path.startswith("tests/browser/"):
        return "browser"
    return next((server for server in SERVERS if server in name), None)


def _unit(nodeid: str) -> str:
    path = nodeid.partition("::")[0]
    for package in COMPILED:
        if path.startswith(f"tests/{package}/") or f"[tacit.{package}." in nodeid:
            return f"tests/{package}"
    if any(call in _text(path) for call in SIMULATING):
        return "simulated surveys"
    return path if 'scope="module"' in _text(path) else nodeid.partition("[")[0]


@cache
def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8") if path.endswith(".py") else ""
