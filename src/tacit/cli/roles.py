"""``tacit roles``: what each column of a table is to a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.output import JsonFlag, print_json, print_table, print_text
from tacit.cli.writing import check_apart, check_writable

if TYPE_CHECKING:
    from tacit.publish.roles import Roles


def roles(
    table: Annotated[
        str, typer.Argument(metavar="FILE", help="CSV or Parquet file of people, or address of a database table.")
    ],
    out: Annotated[Path | None, typer.Option(help="File for the proposal (YAML), which publish --roles reads.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Propose a role and a type for every column, with the reason for each."""
    from tacit.publish.roles import propose_roles
    from tacit.table.outputs import written_whole

    check_apart(out, [table])
    check_writable(out)
    proposed = propose_roles(table)
    if out is not None:
        with written_whole(out) as temporary:
            temporary.write_text(proposed.to_yaml(Path(table).name), encoding="utf-8")
    if json:
        print_json(proposed.to_document())
        return
    print_roles(proposed, table)
    if out is not None:
        print_text(
            f"Written: {str(out)!r}. Mend what is wrong, then: tacit publish {table} --roles {out} --k 5 --out OUT"
        )


def print_roles(proposed: Roles, table: str) -> None:
    rows = [(column.name, column.role, column.type, column.reason) for column in proposed.columns]
    print_table(f"Proposed roles of the columns of {table!r}", ("column", "role", "type", "because"), rows)
