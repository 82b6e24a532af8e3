"""How often a database goes through a table: what is asked of it, counted where it is asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from tacit.count import backend, partitions
from tacit.count import table as tables


@contextlib.contextmanager
def counted_scans(*, remote: bool = False) -> Iterator[list[str]]:
    """Every query that goes out; with `remote`, DuckDB is treated like a database that counts groupings far away."""
    asked: list[str] = []
    plain = backend.asking

    def noted(what: str) -> contextlib.AbstractContextManager[None]:
        asked.append(what)
        return plain(what)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "asking", noted)
        patch.setattr(tables, "asking", noted)
        patch.setattr(partitions, "asking", noted)
        if remote:
            patch.setattr(tables, "GROUPING", ("duckdb",))
        yield asked
