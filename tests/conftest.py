"""Settings of the whole suite."""

import pytest
from hypothesis import settings

# An example that is slow on a busy machine is no error.
settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one slow server together, so that only one worker starts it."""
    for item in items:
        for server in ("spark", "postgres", "browser"):
            if item.get_closest_marker(server):
                item.add_marker(pytest.mark.xdist_group(server))
        if item.get_closest_marker("spark"):
            # Py4J leaves its sockets to the garbage collector.
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
