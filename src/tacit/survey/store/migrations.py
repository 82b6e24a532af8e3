"""The tables, in the steps they came about. A step that was released is never changed; new ones are added."""

from __future__ import annotations

from tacit.errors import InvalidInput
from tacit.survey.store.database import Database

# No table of reports holds a time, an address or anything that leads to a code.
STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE tacit_surveys (number INTEGER NOT NULL PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, "
        "name TEXT NOT NULL, wave TEXT NOT NULL, state TEXT NOT NULL, source TEXT NOT NULL, definition TEXT NOT NULL, "
        "UNIQUE (name, wave))",
        "CREATE TABLE tacit_spent (box TEXT NOT NULL, token TEXT NOT NULL, PRIMARY KEY (box, token)){suffix}",
        "CREATE TABLE tacit_codes (survey INTEGER NOT NULL, token TEXT NOT NULL, PRIMARY KEY (survey, token)){suffix}",
        "CREATE TABLE tacit_administrators (name TEXT NOT NULL PRIMARY KEY, password TEXT NOT NULL, "
        "failures INTEGER NOT NULL, locked_until DOUBLE PRECISION NOT NULL)",
        "CREATE TABLE tacit_sessions (token TEXT NOT NULL PRIMARY KEY, administrator TEXT NOT NULL, "
        "expires DOUBLE PRECISION NOT NULL)",
        "CREATE TABLE tacit_audit (number INTEGER NOT NULL PRIMARY KEY, at TEXT NOT NULL, administrator TEXT NOT NULL, "
        "action TEXT NOT NULL, detail TEXT NOT NULL)",
    ),
    ("CREATE TABLE tacit_classifiers (survey INTEGER NOT NULL PRIMARY KEY, document TEXT NOT NULL)",),
    # From here on reports lie under the hash of their own random token, and codes buy tokens: `tacit_spent` and
    # `tacit_codes` are kept for surveys that were answered before.
    (
        "CREATE TABLE tacit_issuers (survey INTEGER NOT NULL PRIMARY KEY, private TEXT NOT NULL)",
        "CREATE TABLE tacit_receipts (receipt TEXT NOT NULL PRIMARY KEY, box TEXT NOT NULL, report_key TEXT NOT NULL){suffix}",
        "CREATE TABLE tacit_withdrawn (token TEXT NOT NULL PRIMARY KEY, box TEXT NOT NULL){suffix}",
    ),
    (
        "ALTER TABLE tacit_administrators ADD COLUMN role TEXT NOT NULL DEFAULT 'owner'",
        "ALTER TABLE tacit_administrators ADD COLUMN second_factor TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE tacit_administrators ADD COLUMN last_step INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE tacit_audit ADD COLUMN link TEXT NOT NULL DEFAULT ''",
        "CREATE TABLE tacit_devices (token TEXT NOT NULL PRIMARY KEY, administrator TEXT NOT NULL, "
        "expires DOUBLE PRECISION NOT NULL)",
    ),
    # Open texts identify people, so nothing joins them with reports: their keys come from receipts that nobody keeps.
    (
        "CREATE TABLE tacit_texts (text_key TEXT NOT NULL PRIMARY KEY, box TEXT NOT NULL, question TEXT NOT NULL, "
        "content TEXT NOT NULL){suffix}",
    ),
    # The number of a survey is never given again: whoever still holds a deleted one must not reach another by it.
    ("ALTER TABLE tacit_meta ADD COLUMN last_number INTEGER NOT NULL DEFAULT 0",),
    # The newest open texts, until they are enough for a batch.
    (
        "CREATE TABLE tacit_held_texts (text_key TEXT NOT NULL PRIMARY KEY, box TEXT NOT NULL, question TEXT NOT NULL, "
        "content TEXT NOT NULL){suffix}",
    ),
)
VERSION = len(STEPS)


def version_of(database: Database) -> int:
    if "tacit_meta" not in database.tables():
        return 0
    return int(database.rows("SELECT version FROM tacit_meta")[0][0])


def migrate(database: Database) -> None:
    """Bring the tables to this program's version; a database from a newer program is refused."""
    version = version_of(database)
    if version > VERSION:
        raise InvalidInput(
            f"The database is of version {version}, and this program knows versions up to {VERSION}. "
            "Use the newer Tacit that wrote it."
        )
    if version == VERSION:
        return
    with database.alone():
        # Another program may have done it while this one waited.
        version = version_of(database)
        if version == 0:
            database.run("CREATE TABLE tacit_meta (version INTEGER NOT NULL)")
            database.run("INSERT INTO tacit_meta VALUES (0)")
        for step in STEPS[version:]:
            for statement in step:
                database.run(statement.format(suffix=database.table_suffix))
        database.run("UPDATE tacit_meta SET version = ?", (VERSION,))
