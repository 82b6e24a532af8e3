from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any
from unittest import mock

import pytest

from tests.scheduling import ROOT, SERVERS, TogetherScheduling, server_of


def test_the_name_of_a_test_says_which_server_it_needs(request: pytest.FixtureRequest) -> None:
    """Workers are dealt tests by their names; a name that does not tell would start a second server."""
    marked = [
        (item.nodeid, server) for item in request.session.items for server in SERVERS if item.get_closest_marker(server)
    ]
    assert [nodeid for nodeid, server in marked if server_of(nodeid) != server] == []


def test_every_file_with_a_full_size_marks_it_for_make_soak() -> None:
    """`make soak` runs what is marked, so a full size without the mark would never be run."""
    files = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    enlarged = [
        path for path, text in files.items() if re.search(r"environ[^\n]*TACIT_SOAK|TACIT_SOAK[^\n]*environ", text)
    ]
    repeated = [
        path for path, text in files.items() if re.search(r"^ +REPEATS,$|simulation import REPEATS", text, re.M)
    ]
    assert len(enlarged) > 10
    assert len(repeated) > 3
    assert [str(path) for path in {*enlarged, *repeated} if "mark.soak" not in files[path]] == []


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        ("tests/browser/test_page.py::test_a[en]", "browser"),
        ("tests/count/test_stored.py::test_b[spark-csv]", "spark"),
        ("tests/survey/test_store.py::test_c[postgres]", "postgres"),
        ("tests/survey/test_store.py::test_c[sqlite]", "tests/survey/test_store.py::test_c"),
        ("tests/publish/test_search.py::test_e[1]", "tests/publish"),
        ("tests/test_docstrings.py::test_f[tacit.design.advice]", "tests/design"),
        ("tests/estimation/test_contributions.py::test_g[mask]", "simulated surveys"),
        ("tests/experiments/test_trees.py::test_d[x]", "tests/experiments/test_trees.py"),
    ],
)
def test_what_shares_a_server_compiled_loops_surveys_a_fixture_or_a_name_stays_together(nodeid: str, unit: str) -> None:
    assert TogetherScheduling._split_scope(None, nodeid) == unit  # type: ignore[arg-type]


def test_the_browser_comes_first() -> None:
    given: list[list[int]] = []
    node = mock.Mock(gateway=None, send_runtest_some=given.append)
    scheduling: Any = TogetherScheduling.__new__(TogetherScheduling)
    tests = ["tests/publish/test_a.py::test_a", "tests/browser/test_b.py::test_b"]
    scheduling.registered_collections, scheduling.assigned_work = {node: tests}, {}
    scheduling.workqueue = OrderedDict({"tests/publish": {tests[0]: False}, "browser": {tests[1]: False}})
    scheduling._assign_work_unit(node)
    scheduling._assign_work_unit(node)
    assert given == [[1], [0]]
