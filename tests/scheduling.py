"""Which tests one worker runs together, so that nothing expensive is started or computed twice.

pytest-xdist would do this with its ``xdist_group`` marks, but from pytest 9.2 on they are not heeded.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler.loadscope import LoadScopeScheduling

ROOT = Path(__file__).parents[1]
SERVERS = ("browser", "postgres", "spark")
# Packages of many compiled loops. Their tests come first, being many, so that everybody else finds the loops compiled.
COMPILED = ("design", "joint", "mine", "publish")


class TogetherScheduling(LoadScopeScheduling):
    """What stays together: the tests of a server, of compiled loops, of a file that shares a fixture, the cases of a test."""

    def _split_scope(self, nodeid: str) -> str:
        return server_of(nodeid) or _unit(nodeid)


def server_of(nodeid: str) -> str | None:
    """The slow server a test needs, as its file, its name or its case says."""
    path, _, name = nodeid.partition("::")
    if path.startswith("tests/browser/"):
        return "browser"
    return next((server for server in SERVERS if server in name), None)


def _unit(nodeid: str) -> str:
    path = nodeid.partition("::")[0]
    package = next((f"tests/{name}" for name in COMPILED if path.startswith(f"tests/{name}/")), None)
    if package:
        return package
    return path if _shares_a_fixture(path) else nodeid.partition("[")[0]


@cache
def _shares_a_fixture(path: str) -> bool:
    return path.endswith(".py") and 'scope="module"' in (ROOT / path).read_text(encoding="utf-8")
