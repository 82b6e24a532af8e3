"""``tacit disguise``: a file of truths becomes a file of reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_text, progress
from tacit.errors import InvalidInput


def disguise(
    source: Annotated[str, typer.Argument(metavar="IN", help="CSV or Parquet file of true answers, or a Spark table.")],
    scheme: Annotated[Path, typer.Option(help="Scheme document (JSON).")],
    out: Annotated[
        str, typer.Option(help="Report file to write (.csv or .parquet), or spark:TABLE; - is standard output (CSV).")
    ],
    seed: Annotated[int | None, typer.Option(help="Repeatable simulation instead of real randomness.")] = None,
    drop_others: Annotated[bool, typer.Option(help="Leave out columns that the scheme does not name.")] = False,
    missing: Annotated[Literal["refuse", "drop"], typer.Option(help="What to do with missing values.")] = "refuse",
    missing_mark: Annotated[list[str] | None, typer.Option(help="Text that means missing, such as '?'.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Disguise every record of a file, streaming; nothing appears under OUT until all is written."""
    from tacit.channel.scheme import Scheme
    from tacit.disguising import disguise_file
    from tacit.table.encode import Missing
    from tacit.table.files import checked_file

    plan = Scheme.read(scheme)
    on_spark = _is_on_spark(source, out)
    if not on_spark:
        checked_file(source)
    if plan.public_names:
        note(f"Going out undisguised, as the scheme has them in no group: {', '.join(plan.public_names)}.")
    policy = Missing(tuple(missing_mark or ()), drop=missing == "drop")
    if on_spark:
        from tacit.spark_disguising import disguise_on_spark

        written = disguise_on_spark(source, plan, out, seed=seed, missing=policy, drop_others=drop_others)
    else:
        with progress("Disguising") as bar:
            written = disguise_file(
                source, plan, out, seed=seed, missing=policy, drop_others=drop_others, on_rows=bar.advance
            )
    if seed is not None:
        note("A seed was given: this is a simulation, and the file says so. Never disguise real answers with a seed.")
    if json:
        print_json({"n_reports": written, "out": str(out), "scheme": plan.hash, "simulation": seed is not None})
    else:
        print_text(f"{written:,} reports written to {out}.")


def _is_on_spark(source: str, out: str) -> bool:
    places = [place.startswith("spark:") for place in (source, out)]
    if places[0] != places[1]:
        raise InvalidInput(
            "Truths on a Spark cluster are disguised there, and their reports stay there: give spark: addresses for both IN "
            "and --out, or for neither."
        )
    return places[0]
