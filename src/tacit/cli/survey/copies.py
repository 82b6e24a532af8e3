"""``tacit survey export | backup | restore``: taking everything out, and putting it back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.output import progress
from tacit.cli.survey.store import DEFAULT_STORE, JsonOption, StoreOption, SurveyArgument, opened_store, record, show


def export(
    survey: SurveyArgument,
    out: Annotated[Path, typer.Option(help="A new folder.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write the disguised reports (CSV, Parquet), the scheme and a codebook; `tacit estimate` and `tacit mine` read them."""
    with opened_store(store) as opened:
        from tacit.survey.exports import export_folder

        stored = opened.named(survey)
        with progress("Exporting") as bar:
            files = export_folder(opened, stored, out, bar.advance)
        record(opened, "exported", stored.definition.name)
    show({"files": [str(file) for file in files]}, [f"Wrote {file}" for file in files], as_json=as_json)


def backup(
    out: Annotated[Path, typer.Argument()], store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False
) -> None:
    """Copy everything into one file, while people may go on answering."""
    with opened_store(store) as opened:
        from tacit.survey.store.backup import back_up

        record(opened, "backed up", str(out))
        with progress("Copying") as bar:
            copied = back_up(opened, out, bar.advance)
    show(
        {"file": str(out), "surveys": copied.surveys, "reports": copied.reports},
        [f"Wrote {out}: {copied.surveys} surveys, {copied.reports} reports."],
        as_json=as_json,
    )


def restore(
    backup_file: Annotated[Path, typer.Argument()], store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False
) -> None:
    """Fill an empty store from a backup, also one of the other kind of database."""
    with opened_store(store, must_exist=False) as opened:
        from tacit.survey.store.backup import restore as restore_into

        with progress("Copying") as bar:
            copied = restore_into(backup_file, opened, bar.advance)
    show(
        {"surveys": copied.surveys, "reports": copied.reports},
        [f"Restored {copied.surveys} surveys, {copied.reports} reports."],
        as_json=as_json,
    )
