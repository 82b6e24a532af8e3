"""``tacit survey export | backup | restore | drill``: taking everything out, and putting it back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.output import progress
from tacit.cli.survey.store import DEFAULT_STORE, JsonOption, StoreOption, SurveyArgument, opened_store, record, show
from tacit.cli.writing import check_writable
from tacit.errors import InvalidInput


def export(
    survey: SurveyArgument,
    out: Annotated[Path, typer.Option(help="New folder for the files.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write the disguised reports (CSV, Parquet), the scheme and a codebook; `tacit estimate` and `tacit mine` read them."""
    with opened_store(store) as opened:
        from tacit.survey.exports import export_folder
        from tacit.survey.unhurried import at_low_priority

        stored = opened.named(survey)
        with progress("Exporting") as bar:
            files = at_low_priority(lambda: export_folder(opened, stored, out, bar.advance))
        record(opened, "exported", stored.definition.name)
    show({"files": [str(file) for file in files]}, [f"Wrote {file}" for file in files], as_json=as_json)


def backup(
    out: Annotated[Path, typer.Argument(help="File for the backup, or a folder: the file is then named by the time.")],
    keep: Annotated[
        int | None,
        typer.Option(min=1, help="With a folder: keep this many of the newest backups and delete the others."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Copy the whole store into one file; people may go on answering meanwhile."""
    from tacit.survey.store.backup import back_up, dated_name, drop_older

    if keep is not None and not out.is_dir():
        raise InvalidInput(f"--keep goes with a folder of backups, and {str(out)!r} is none. Make it first.")
    file = dated_name(out) if out.is_dir() else out
    check_writable(file)
    with opened_store(store) as opened:
        from tacit.survey.unhurried import at_low_priority

        record(opened, "backed up", str(file))
        with progress("Copying") as bar:
            copied = at_low_priority(lambda: back_up(opened, file, bar.advance))
    dropped = drop_older(out, keep) if keep is not None else []
    show(
        {
            "file": str(file), "surveys": copied.surveys, "reports": copied.reports,
            **({"dropped": [str(copy) for copy in dropped]} if keep is not None else {}),
        },
        [f"Wrote {file}: {copied.surveys} surveys, {copied.reports} reports.", *(f"Deleted {copy}" for copy in dropped)],
        as_json=as_json,
    )  # fmt: skip


def drill(
    backup_file: Annotated[Path, typer.Argument(help="Backup file, or a folder: its newest backup is taken.")],
    as_json: JsonOption = False,
) -> None:
    """Test a backup: restore it into a temporary store and check all surveys, reports and the audit log."""
    from tacit.extras import require

    require("survey")
    from tacit.survey.store.backup import newest, restored_for_practice
    from tacit.survey.unhurried import at_low_priority

    file = newest(backup_file) if backup_file.is_dir() else backup_file
    with progress("Restoring") as bar:
        drilled = at_low_priority(lambda: restored_for_practice(file, bar.advance))
    lines = [f"{file}: restored and checked in {drilled.seconds:.1f} s."]
    lines += [
        f"  {survey.name} (wave {survey.wave}, {survey.state}): {survey.reports} reports" for survey in drilled.surveys
    ]
    lines.append(f"  the audit log of {drilled.audit_lines} lines is whole")
    show({"file": str(file), **drilled.to_document()}, lines, as_json=as_json)


def restore(
    backup_file: Annotated[Path, typer.Argument(help="Backup file that `survey backup` wrote.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Fill an empty store (SQLite file or PostgreSQL database) from a backup of either kind of store."""
    from tacit.extras import require

    require("survey")
    from tacit.survey.store.backup import fill_from, opened_backup

    # The backup first: one that cannot be read leaves no empty store behind.
    with (
        opened_backup(backup_file) as source,
        opened_store(store, must_exist=False) as opened,
        progress("Copying") as bar,
    ):
        copied = fill_from(source, opened, bar.advance)
    show(
        {"surveys": copied.surveys, "reports": copied.reports},
        [f"Restored {copied.surveys} surveys, {copied.reports} reports."],
        as_json=as_json,
    )
