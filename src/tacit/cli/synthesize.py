"""``tacit synthesize``: synthetic rows under differential privacy, from noisy counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tacit.cli.names import listed_groups
from tacit.cli.output import JsonFlag, print_json, print_text
from tacit.cli.writing import check_apart, check_writable
from tacit.errors import InvalidInput


def synthesize(
    table: Annotated[
        str, typer.Argument(metavar="IN", help="CSV or Parquet file of people, or address of a database table.")
    ],
    schema: Annotated[
        Path,
        typer.Option(
            help="Scheme document that lists all answers; write it without looking at the data, else epsilon is void."
        ),
    ],
    epsilon: Annotated[float, typer.Option(help="Epsilon of differential privacy, for all rows of a person together.")],
    out: Annotated[Path, typer.Option(help="File for the synthetic rows (CSV or Parquet).")],
    delta: Annotated[
        float, typer.Option(help="Delta of differential privacy: 0 gives Laplace noise, above 0 Gaussian noise.")
    ] = 0.0,
    tables: Annotated[
        str | None,
        typer.Option(help="Tables to count with noise, such as 'a,b;c'; all pairs of attributes if not said."),
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="Column that identifies the person of each row; never published.")
    ] = None,
    rows_per_person: Annotated[int, typer.Option(help="Largest number of rows used of each person.")] = 1,
    missing: Annotated[
        Literal["refuse", "answer", "drop"], typer.Option(help="What to do with missing values.")
    ] = "refuse",
    total: Annotated[
        float | None, typer.Option(help="Largest sum of epsilon over all releases of this input; the ledger keeps it.")
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="Private file of the epsilon spent; IN.ledger.json if not said; required for a database."),
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Write synthetic rows under differential privacy, drawn from tables that are counted with noise.

    There is no seed: noise that can be drawn again hides nothing, so the system's random generator draws it.
    """
    from tacit.channel.scheme import Scheme
    from tacit.publish.ledger import Ledger
    from tacit.publish.manifests import public_path
    from tacit.publish.opening import is_stored, stored_table
    from tacit.publish.synthesis import synthesize as draw

    if not is_stored(table):
        check_apart(out, [table])
    for path in (out, public_path(out)):
        check_writable(path)
    if ledger is None and is_stored(table):
        raise InvalidInput("A table of a database has no folder for its ledger. Name one with --ledger F.")
    spent = Ledger.read(ledger or Ledger.beside(table), total).spend(epsilon, delta, str(out))
    check_writable(spent.path)
    people = stored_table(table) if is_stored(table) else Path(table)
    release = draw(
        people, epsilon, Scheme.read(schema).schema, None if tables is None else listed_groups(tables),
        delta=delta, person=person, rows_per_person=rows_per_person, missing=missing,
    )  # fmt: skip
    spent.write()
    release.write(out)
    if json:
        written = {"verified": {"rows": release.model.rows}, "out": str(out), "ledger": spent.to_document()}
        print_json(release.to_document() | written)
        return
    print_text(release.describe())
    print_text(spent.words)
    print_text(f"Written and verified: {out}")
