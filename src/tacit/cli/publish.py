"""``tacit publish``: k-anonymous tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from tacit.cli.names import listed_groups, listed_names, listed_numbers
from tacit.cli.output import JsonFlag, note, print_json, print_table, print_text, progress
from tacit.cli.writing import check_picture, check_writable, picture_kind
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.publish import Preferences, Protection, Release
    from tacit.publish.publication import Publication
    from tacit.publish.settings import Settings
    from tacit.schema import Schema

Method = Literal["compare", "search", "exact", "local", "microaggregate"]
MissingChoice = Literal["refuse", "answer", "drop"]
Order = Literal["schema", "data"]


def publish(
    table: Annotated[str, typer.Argument(metavar="IN", help="CSV or Parquet file of people, or address of a table.")],
    out: Annotated[
        str, typer.Option(help="The release: CSV, Parquet, or address of a new table in the same database.")
    ],
    k: Annotated[int, typer.Option(help="How many everyone hides among.")] = 5,
    schema: Annotated[Path | None, typer.Option(help="Document with the attributes and the order of answers.")] = None,
    attributes: Annotated[
        str | None, typer.Option(help="Quasi-identifiers, by commas; several sets by semicolons.")
    ] = None,
    roles: Annotated[Path | None, typer.Option(help="Roles of the columns (YAML), as tacit roles writes them.")] = None,
    weights: Annotated[str | None, typer.Option(help="Importance of each, such as age=.5,sex=.5; sums to 1.")] = None,
    granularity: Annotated[
        str | None, typer.Option(help="Steps of numbers and dates, such as age=5,visit=month.")
    ] = None,
    prefer_loss: Annotated[float, typer.Option(help="Loss (NWP) you would be content with.")] = 0.2,
    prefer_bias: Annotated[float, typer.Option(help="Bias (NECD) you would be content with.")] = 1.0,
    method: Annotated[Method, typer.Option(help="How to look for the release.")] = "compare",
    suppress: Annotated[float, typer.Option(help="Share of rows that may be left out.")] = 0.0,
    sensitive: Annotated[
        str | None, typer.Option(help="Sensitive attributes, by commas; published as they are.")
    ] = None,
    l_answers: Annotated[float | None, typer.Option("--l", help="Sensitive answers every class must show.")] = None,
    t_distance: Annotated[float | None, typer.Option("--t", help="How far a class may be from the whole.")] = None,
    entropy: Annotated[bool, typer.Option(help="Read l by entropy instead of counting answers.")] = False,
    person: Annotated[
        str | None, typer.Option(help="Column that says whose row it is: k counts persons; never published.")
    ] = None,
    keep: Annotated[str | None, typer.Option(help="Further columns published as they are, by commas.")] = None,
    drop: Annotated[
        str | None, typer.Option(help="Columns of the roles or the schema to leave out, by commas.")
    ] = None,
    hierarchies: Annotated[Path | None, typer.Option(help="Folder of hierarchies, NAME.csv as in ARX.")] = None,
    order: Annotated[
        Order, typer.Option(help="Order of nominal answers: as given, or computed from the data.")
    ] = "schema",
    target: Annotated[
        str | None, typer.Option(help="Also say how well a classifier of this published attribute survives.")
    ] = None,
    missing: Annotated[MissingChoice, typer.Option(help="What missing values become.")] = "refuse",
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Keep the input's order of rows, which tells what it was sorted by.")
    ] = False,
    evaluations: Annotated[int, typer.Option(help="Generalizations to evaluate.")] = 50_000,
    population: Annotated[int, typer.Option(help="Population of the search.")] = 100,
    polish: Annotated[bool, typer.Option(help="Improve the published search by ruin and recreate.")] = True,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Time for the proof; 30 (with --suppress 0), for exact 600.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Makes the search repeatable.")] = None,
    pick: Annotated[int | None, typer.Option(help="Write this alternative of the front, numbered from 0.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Release an input that was released before; says what k remains.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Picture of the front of alternatives.")] = None,
    report: Annotated[Path | None, typer.Option(help="Page about the release for its publisher (HTML).")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Publish a table k-anonymously: the release, its measures, and the front of alternatives.

    Without --roles, --attributes or --schema nothing is published: the roles that Tacit proposes are shown.
    """
    from tacit.publish import Effort, Preferences, Protection
    from tacit.publish.anonymization import found_release
    from tacit.publish.settings import Settings

    people, new_table = _opened(table), _table_beside(table, out)
    if new_table is None:
        _check_out(table, Path(out))
    check_picture(plot)
    check_writable(report)
    if attributes is None and schema is None and roles is None:
        _show_roles(table, people, json=json)
    protection = Protection(
        k=k,
        attributes=None if attributes is None else listed_groups(attributes),
        sensitive=listed_names(sensitive),
        keep=listed_names(keep),
        l=l_answers,
        t=t_distance,
        entropy=entropy,
        suppress=suppress,
        person=person,
    )
    preferences = Preferences(
        loss=prefer_loss,
        bias=prefer_bias,
        weights=listed_numbers("weights", weights),
        method=method,
        hierarchies=hierarchies,
        order=order,
        missing=missing,
        granularity=_steps(granularity, schema),
        keep_order=keep_order,
    )
    effort = Effort(evaluations=evaluations, population=population, polish=polish, seconds=seconds, seed=seed)
    known = _schema(schema, listed_names(drop))
    if roles is not None:
        protection, preferences = _by_roles(roles, people, protection, preferences, listed_names(drop))
    with progress("Searching and proving", 1.0) as bar:
        publication = _posed(people, Settings(protection, preferences, effort), known, out, new_table, again=again)
        release = found_release(publication, _advancing(bar))
    release = release if pick is None else release.pick(pick)
    written = _write(release, out, new_table, again=again)
    if plot is not None:
        _plot(release, plot)
    if report is not None:
        from tacit.report.release_page import write_release_page

        write_release_page(release, report)
    _print(release, written, out, _survival(release, target), json=json)


def _posed(
    people: Any, settings: Settings, schema: Schema | None, out: str, new_table: str | None, *, again: bool
) -> Publication:
    """The publication; a second release that nobody asked for is refused before anything is searched."""
    from tacit.publish.earlier_releases import earlier_releases, refuse_second_release
    from tacit.publish.publication import pose_publication

    publication = pose_publication(people, settings, schema)
    if new_table is None and not again:
        refuse_second_release(earlier_releases(publication, Path(out)), Path(out))
    return publication


def _show_roles(table: str, people: Any, *, json: bool) -> NoReturn:
    """Show the proposed roles and end: nothing is published before somebody has looked at them."""
    from tacit.cli.roles import print_roles
    from tacit.publish.roles import propose_roles

    proposed = propose_roles(people)
    message = (
        "Nothing was published: say what each column is. 'tacit roles FILE --out F' writes these roles to a file; mend them and "
        "give it as --roles, or name the quasi-identifiers with --attributes."
    )
    if json:
        print_json({"error": message} | proposed.to_document())
    else:
        print_roles(proposed, table)
    note(f"Error: {message}")
    raise SystemExit(2)


def _by_roles(
    path: Path, people: Any, protection: Protection, preferences: Preferences, dropped: list[str]
) -> tuple[Protection, Preferences]:
    """The settings with the columns that a file of roles names; what is dropped has none."""
    from tacit.publish.roles import Roles, read_roles
    from tacit.table.files import column_names

    columns = column_names(people) if isinstance(people, Path) else list(people.columns)
    given = read_roles(path, columns)
    kept = Roles(tuple(column for column in given.columns if column.name not in dropped))
    return kept.protection(protection), kept.preferences(preferences)


def _opened(table: str) -> Any:
    """A file by its path; a table of a database opened, once for everything that is asked of it."""
    from tacit.publish.opening import is_stored, stored_table

    return stored_table(table, writable=True) if is_stored(table) else Path(table)


def _table_beside(table: str, out: str) -> str | None:
    """The name of the new table that `out` is the address of; None where it is a file."""
    from tacit.count.connections import is_address, split_address

    if not is_address(out):
        return None
    database, name = split_address(out)
    if not is_address(table) or split_address(table)[0] != database:
        raise InvalidInput(
            "A release can become a table of the database that holds the input only. Write it to a file."
        )
    return name


def _check_out(table: str, out: Path) -> None:
    if Path(table).resolve() == out.resolve():
        raise InvalidInput("The release would overwrite the table of people. Give another name for the output.")
    check_writable(out)


def _write(release: Release, out: str, new_table: str | None, *, again: bool) -> dict[str, Any]:
    """Write the release; returns what was counted from it, and what its manifests are called."""
    from tacit.publish.writing import write_file, write_private, write_table

    if new_table is None:
        done = write_file(release, Path(out), again=again)
        return {"verified": done.verified, "k_together": done.k_together, "written_warnings": list(done.warnings)}
    verified = write_table(release, new_table)
    private = write_private(release, Path(f"{new_table}.private.json"))
    return {"verified": verified, "private_manifest": str(private)}


def _print(release: Release, written: dict[str, Any], out: str, survived: dict[str, Any], *, json: bool) -> None:
    from tacit.count.connections import shown

    said = written.pop("written_warnings", [])
    if json:
        document = release.to_document()
        warnings = [*document["warnings"], *said]
        print_json(document | written | {"warnings": warnings, "out": shown(out).strip("'"), "survival": survived})
        return
    print_text(release.describe())
    if len(release.methods) > 1:
        _print_methods(release)
    for warning in said:
        print_text(f"Note: {warning}")
    print_text(_survival_words(survived))
    print_text(f"Written and verified: {shown(out)}")
    private = written.get("private_manifest", f"{out}.private.json")
    print_text(f"Keep to yourself: {private} (it makes this release again from its input)")


def _print_methods(release: Release) -> None:
    columns = ("method", "NWP", "NECD", "effective k", "suppressed", "query error", "labels overlap", "written")
    rows = [
        (
            result.method,
            f"{result.nwp:.4f}",
            f"{result.necd:.4f}",
            result.effective_k,
            result.suppressed,
            f"{result.query_error:.1%}",
            "yes" if result.labels_overlap else "no",
            "yes" if result.written else "",
        )
        for result in release.methods
    ]
    print_table("The methods side by side; the query error is the median over random queries", columns, rows)


def _schema(document: Path | None, dropped: list[str]) -> Schema | None:
    """The schema of a document without the columns that are dropped."""
    from tacit.channel.scheme import Scheme

    if document is None:
        return None
    schema = Scheme.read(document).schema
    return schema.select([name for name in schema.names if name not in dropped])


def _steps(text: str | None, schema: Path | None) -> dict[str, float | str] | None:
    """``age=5,visit=month`` as a mapping."""
    if text is None:
        return None
    if schema is not None:
        raise InvalidInput("--granularity is for numbers in a file without --schema; the schema already cuts them.")
    steps: dict[str, float | str] = {}
    for entry in listed_names(text):
        name, equals, value = entry.rpartition("=")
        if not equals or not name.strip() or not value.strip():
            raise InvalidInput(
                f"--granularity takes entries like age=5 or visit=month separated by commas, not {entry!r}."
            )
        try:
            steps[name.strip()] = float(value)
        except ValueError:
            steps[name.strip()] = value.strip()
    return steps


def _advancing(bar: Any) -> Callable[[float, str], None]:
    """The bar of a command moved by shares of work; search and proof each fill half of it."""
    state = {"done": 0.0}

    def report(share: float, what: str) -> None:
        place = share / 2 if what in ("searching", "polishing") else 0.5 + share / 2
        bar.advance(max(0.0, place - state["done"]))
        state["done"] = max(state["done"], place)

    return report


def _survival(release: Release, target: str | None) -> dict[str, Any]:
    from tacit.publish.usefulness import classifier_survival, table_error

    found: dict[str, Any] = {"pair_error": table_error(release.recoding)}
    return found | ({"classifier": vars(classifier_survival(release, target))} if target else {})


def _survival_words(survived: dict[str, Any]) -> str:
    words = (
        f"Tables of two attributes read off the release are off by {survived['pair_error']:.1%} of the rows on average."
    )
    if "classifier" in survived:
        c = survived["classifier"]
        words += f" A classifier of {c['target']} is right for {c['after']:.1%} of unseen rows; on the original for "
        words += f"{c['before']:.1%}, and guessing the most frequent answer for {c['majority_share']:.1%}."
    return words


def _plot(release: Release, path: Path) -> None:
    from tacit.report.plots import front_figure
    from tacit.table import written_whole

    with written_whole(path) as temporary:
        front_figure(release).savefig(temporary, format=picture_kind(path), dpi=150)
