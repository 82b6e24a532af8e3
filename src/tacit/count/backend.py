"""Asking a database through ibis: its chatter kept quiet, its complaints in one sentence."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

# What the libraries say about one another, which nobody who counts can act on.
CHATTER = (
    r"fetch_arrow_table\(\) is deprecated",
    r"fetch_record_batch\(\) is deprecated",
    r"PySpark does not yet fully support pandas",
    r"The copy keyword is deprecated",
    r"The 'future\.infer_string' option is deprecated",
)
# Base classes of what drivers raise; a driver that was never imported cannot have raised anything.
DRIVER_ERRORS = (
    ("duckdb", "Error"),
    ("psycopg", "Error"),
    ("pyspark.errors", "PySparkException"),
    ("ibis.common.exceptions", "IbisError"),
)


@contextlib.contextmanager
def asking(what: str) -> Iterator[None]:
    """Run queries; what the database refuses becomes one sentence."""
    with warnings.catch_warnings():
        for message in CHATTER:
            warnings.filterwarnings("ignore", message)
        try:
            yield
        except Exception as error:
            if not isinstance(error, _driver_errors()):
                raise
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InvalidInput(
                f"{what} failed: {reason.rstrip('.')}. Is the table there, complete, and of the columns the scheme names?"
            ) from error


def _driver_errors() -> tuple[type[BaseException], ...]:
    loaded = [
        getattr(sys.modules[module], name) for module, name in DRIVER_ERRORS if hasattr(sys.modules.get(module), name)
    ]
    return (sqlite3.Error, *loaded)


def answer(expression: Any) -> pa.Table:
    """The result of a query as an Arrow table."""
    with asking("The query"):
        return expression.to_pyarrow()


def single_row(expression: Any) -> dict[str, Any]:
    """The one row of an aggregation."""
    return dict(answer(expression).to_pylist()[0])
