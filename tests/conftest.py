"""Settings of the whole suite."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.postgres_server import postgres_server

# Before numpy is imported. Workers share the cores already: a small system of equations that wakes threads waits for theirs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# An example that is slow on a busy machine is no error. Where a change is judged, it is judged by the same examples each
# time; new ones are sought wherever else the tests run.
settings.register_profile("tacit", deadline=None, derandomize="TACIT_REQUIRE_ALL" in os.environ)
settings.load_profile("tacit")


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a database on the one PostgreSQL server of this run."""
    with postgres_server() as url:
        yield url


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.scheduling import TogetherScheduling

    return TogetherScheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--one-case", action="store_true", help="Run the first case only of each test that has several.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--one-case"):
        first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
        further = [item for item in items if first[item.nodeid.partition("[")[0]] is not item]
        config.hook.pytest_deselected(items=further)
        items[:] = [item for item in items if item not in set(further)]
    for item in items:
        if item.get_closest_marker("spark"):
            # Py4J leaves its sockets to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
