from __future__ import annotations

import pytest

from tests.scheduling import SERVERS, TogetherScheduling, server_of


def test_the_name_of_a_test_says_which_server_it_needs(request: pytest.FixtureRequest) -> None:
    """Workers are dealt tests by their names; a name that does not tell would start a second server."""
    marked = [
        (item.nodeid, server) for item in request.session.items for server in SERVERS if item.get_closest_marker(server)
    ]
    assert [nodeid for nodeid, server in marked if server_of(nodeid) != server] == []


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        ("tests/browser/test_page.py::test_a[en]", "browser"),
        ("tests/count/test_stored.py::test_b[spark-csv]", "spark"),
        ("tests/survey/test_store.py::test_c[postgres]", "postgres"),
        ("tests/survey/test_store.py::test_c[sqlite]", "tests/survey/test_store.py::test_c"),
        ("tests/publish/test_search.py::test_e[1]", "tests/publish"),
        ("tests/test_docstrings.py::test_f[tacit.design.advice]", "tests/design"),
        ("tests/estimation/test_inversion.py::test_g[mask]", "simulated surveys"),
        ("tests/experiments/test_trees.py::test_d[x]", "tests/experiments/test_trees.py"),
    ],
)
def test_what_shares_a_server_compiled_loops_surveys_a_fixture_or_a_name_stays_together(nodeid: str, unit: str) -> None:
    assert TogetherScheduling._split_scope(None, nodeid) == unit  # type: ignore[arg-type]
