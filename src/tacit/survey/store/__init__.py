"""Where reports, spent codes and accounts are kept: SQLite by default, PostgreSQL by URL, with the same behaviour."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.survey.store.database import Database


def connect(url: str | Path) -> Database:
    """The database at a path or a ``postgresql://`` URL."""
    text = str(url)
    if text.startswith(("postgresql://", "postgres://")):
        from tacit.survey.store.postgres import PostgresDatabase

        return PostgresDatabase(text)
    if "://" in text:
        raise InvalidInput(f"{text!r} is no database Tacit knows. Give a file's path, or postgresql://HOST/NAME.")
    from tacit.survey.store.sqlite import SqliteDatabase

    return SqliteDatabase(Path(text))
