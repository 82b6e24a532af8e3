"""``tacit publish``: k-anonymous tables."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from tacit.cli import publish_options as given
from tacit.cli.names import listed_groups, listed_names, listed_numbers
from tacit.cli.output import JsonFlag, compiling_told, note, print_json, progress
from tacit.cli.publish_answer import print_release, survival
from tacit.cli.writing import check_apart, check_picture, check_writable
from tacit.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from tacit.publish import Release
    from tacit.publish.publication import Publication
    from tacit.publish.roles import Roles
    from tacit.publish.settings import Settings
    from tacit.schema import Schema


def publish(
    table: given.Table,
    out: given.Out = None,
    k: given.K = 5,
    schema: given.SchemaFile = None,
    attributes: given.Attributes = None,
    roles: given.RolesFile = None,
    weights: given.Weights = None,
    granularity: given.Granularity = None,
    prefer_loss: given.PreferLoss = 0.2,
    prefer_bias: given.PreferBias = 1.0,
    method: given.Method = "compare",
    suppress: given.Suppress = 0.0,
    cells: given.Cells = True,
    sensitive: given.Sensitive = None,
    l_answers: given.L = None,
    t_distance: given.T = None,
    entropy: given.Entropy = False,
    recursive: given.Recursive = None,
    beta: given.Beta = None,
    people: given.People = None,
    k_map: given.KMap = None,
    presence: given.PresenceLimits = None,
    person: given.Person = None,
    survey_weights: given.SurveyWeights = None,
    every: given.Every = None,
    keep: given.Keep = None,
    drop: given.Drop = None,
    hierarchies: given.Hierarchies = None,
    order: given.Order = "schema",
    target: given.Target = None,
    missing: given.Missing = "refuse",
    keep_order: given.KeepOrder = False,
    choose: given.Choose = "balanced",
    seconds: given.Seconds = None,
    prove: given.Prove = False,
    within: given.Within = None,
    seed: given.Seed = None,
    pick: given.Pick = None,
    alternatives: given.Alternatives = None,
    dry_run: given.DryRun = False,
    again: given.Again = False,
    epsilon: given.Epsilon = None,
    plot: given.Plot = None,
    report: given.Report = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Publish a table k-anonymously: the release, its measures, and the front of alternatives.

    Without --roles, --attributes or --schema nothing is published: the roles that Tacit proposes are shown.
    """
    from tacit.publish import Effort, Preferences, Protection
    from tacit.publish.settings import Settings

    if out is None and not dry_run:
        raise InvalidInput("Name the release with --out OUT, or look at what would be written with --dry-run.")
    beside = None if out is None or dry_run else _table_beside(table, out)
    asked = ReleaseRequest(
        table, out or "", _opened(table), beside, pick, plot, report, target, alternatives, again=again, json=json,
        is_try=dry_run,
    )  # fmt: skip
    asked.check()
    dropped = _dropped(drop, asked.people, schema)
    if epsilon is not None:
        raise InvalidInput(
            "Synthetic rows under an epsilon have a command of their own: tacit synthesize IN --schema F --epsilon E --out OUT."
        )
    if pick is not None and alternatives is not None:
        return _write_kept(asked)
    if attributes is None and schema is None and roles is None:
        _show_roles(asked)
    named = None if roles is None else _named_roles(roles, asked.people, dropped)
    secrets = listed_names(sensitive) or ([] if named is None else list(named.named("sensitive")))
    protection = Protection(
        k=k, attributes=None if attributes is None else listed_groups(attributes), sensitive=secrets,
        keep=listed_names(keep), l=l_answers, t=t_distance, entropy=entropy, recursive=recursive, beta=beta, people=people,
        k_map=k_map, presence=_limits(presence), suppress=suppress, person=person,
        every=every, survey_weights=survey_weights,
    )  # fmt: skip
    preferences = Preferences(
        loss=prefer_loss, bias=prefer_bias, weights=listed_numbers("weights", weights), method=method, order=order,
        hierarchies=hierarchies, missing=missing, granularity=_steps(granularity, schema), keep_order=keep_order,
        cells=cells, choose=choose,
    )  # fmt: skip
    effort = Effort(seconds=seconds, seed=seed, prove=prove, within=within)
    if named is not None:
        protection, preferences = named.protection(protection), named.preferences(preferences)
    return _release(asked, Settings(protection, preferences, effort), _schema(schema, dropped))


@dataclass(frozen=True)
class ReleaseRequest:
    """What goes in and what comes out."""

    table: str
    out: str
    people: Any  # a path, or a table of a database that is open
    new_table: str | None  # name of a table beside the input; None where the release is a file
    pick: int | None
    plot: Path | None
    report: Path | None
    target: str | None
    alternatives: Path | None
    again: bool
    json: bool
    is_try: bool  # nothing but what is asked for besides the release is written

    def check(self) -> None:
        """Refuse what could not be written in the end."""
        check_apart(self.alternatives, [self.table])
        if self.pick is None:
            check_writable(self.alternatives)
        if self.new_table is None and not self.is_try:
            _check_out(self.table, Path(self.out))
        self._refuse_same_names()
        check_picture(self.plot)
        check_writable(self.report)

    def _refuse_same_names(self) -> None:
        """Refuse a picture or a page that would overwrite the table, the release or a manifest."""
        files = [self.table, self.out, f"{self.out}.manifest.json", f"{self.out}.private.json"]
        taken = {Path(name).resolve() for name in files if name}
        for path in (own for own in (self.plot, self.report, self.alternatives) if own is not None):
            if path.resolve() in taken:
                raise InvalidInput(f"{str(path)!r} is the name of another file of this release. Give another name.")
            taken.add(path.resolve())


def _release(asked: ReleaseRequest, settings: Settings, schema: Schema | None) -> None:
    """Search, write and say what was written."""
    from tacit.publish.anonymization import find_release, pick_kept

    if asked.pick is not None and (kept := _kept_beside(asked, settings, schema)) is not None:
        _finish(pick_kept(kept, asked.people, asked.pick), asked)
        return
    with progress("Looking for a release", 1.0, " (Ctrl-C takes the best until then)") as bar, compiling_told(bar):
        release = find_release(_posed(asked, settings, schema), _advancing(bar), began=0.0)
        if asked.is_try or asked.alternatives is not None:
            release = release.explore()
    _keep_alternatives(release, asked)
    _finish(release if asked.pick is None else release.pick(asked.pick), asked)


def _kept_beside(asked: ReleaseRequest, settings: Settings, schema: Schema | None) -> dict[str, Any] | None:
    """The private manifest beside the output that numbers the alternatives of the same input and the same settings."""
    from json import dumps as to_json
    from json import loads as from_json

    from tacit.publish.earlier_releases import earlier_releases
    from tacit.publish.publication import pose_publication

    if asked.new_table is not None or settings.effort.seed is not None:  # a seed finds the same alternatives again
        return None
    publication = pose_publication(asked.people, settings, schema)
    mine = from_json(to_json(publication.settings.to_document()))  # lists in place of tuples
    kept = [
        entry
        for entry in earlier_releases(publication, Path(asked.out))
        if all(entry.document["settings"][part] == mine[part] for part in ("protection", "preferences"))
    ]
    return max(kept, key=lambda entry: entry.path.stat().st_mtime).document if kept else None


def _write_kept(asked: ReleaseRequest) -> None:
    """Write an alternative of an earlier run, byte for byte as it would have been written then."""
    from tacit.publish.anonymization import pick_kept
    from tacit.publish.manifests import read_alternatives

    document = read_alternatives(asked.alternatives or "")
    with progress("Making the alternative again") as bar, compiling_told(bar):
        release = pick_kept(document, asked.people, asked.pick or 0)
    _finish(release, asked)


def _keep_alternatives(release: Release, asked: ReleaseRequest) -> None:
    from tacit.publish.manifests import alternatives_document
    from tacit.publish.writing import write_document
    from tacit.table.outputs import written_whole

    if asked.alternatives is not None:
        with written_whole(asked.alternatives, private=True) as file:
            write_document(file, alternatives_document(release))


def _finish(release: Release, asked: ReleaseRequest) -> None:
    """Write a release, unless it is a try, and say what it is."""
    # All that can fail comes before the release takes its name; the picture and the page take theirs with it.
    survived, document = survival(release, asked.target), release.to_document()
    with contextlib.ExitStack() as beside:
        _draw(release, asked, beside)
        written = {"verified": None} if asked.is_try else _write(release, asked)
    print_release(release, document, survived, written, asked)


def _draw(release: Release, asked: ReleaseRequest, beside: contextlib.ExitStack) -> None:
    """Write the picture and the page that were asked for, under names that become final with the release's own."""
    from tacit.report.page import picture_kind
    from tacit.table.outputs import written_whole

    if asked.plot is not None:
        _plot(release, beside.enter_context(written_whole(asked.plot)), picture_kind(asked.plot))
    if asked.report is not None:
        from tacit.report.release_page import write_release_page

        write_release_page(release, beside.enter_context(written_whole(asked.report, private=True)))


def _limits(text: str | None) -> tuple[float, float] | None:
    """``0,0.5`` as two numbers."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput(f"--presence takes a least and a greatest share, such as 0,0.5; not {text!r}.") from None
    return low, high


def _posed(asked: ReleaseRequest, settings: Settings, schema: Schema | None) -> Publication:
    """The publication; a second release that nobody asked for is refused before anything is searched."""
    from tacit.publish.earlier_releases import earlier_releases, refuse_second_release
    from tacit.publish.publication import pose_publication

    publication = pose_publication(asked.people, settings, schema)
    published = (*publication.rows.names, *publication.settings.protection.others)
    if asked.target is not None and asked.target not in published:
        raise UnknownName("Published attribute", asked.target, published)
    if asked.new_table is None and not asked.again and not asked.is_try:
        refuse_second_release(earlier_releases(publication, Path(asked.out)), Path(asked.out))
    return publication


def _show_roles(asked: ReleaseRequest) -> NoReturn:
    """Show the proposed roles and end: nothing is published before somebody has looked at them."""
    from tacit.cli.roles import print_roles
    from tacit.publish.roles import propose_roles

    proposed = propose_roles(asked.people)
    message = (
        f"Nothing was published: say what each column is. `tacit roles {shlex.quote(asked.table)} --out roles.yaml` writes these "
        "roles to a file; mend them and give it as --roles roles.yaml, or name the quasi-identifiers with --attributes."
    )
    if asked.json:
        print_json({"error": message} | proposed.to_document())
    else:
        print_roles(proposed, asked.table)
    note(f"Error: {message}")
    raise SystemExit(2)


def _named_roles(path: Path, people: Any, dropped: list[str]) -> Roles:
    """The roles of the columns that a file names; what is dropped has none."""
    from tacit.publish.roles import Roles, read_roles

    given = read_roles(path, _columns(people))
    return Roles(tuple(column for column in given.columns if column.name not in dropped))


def _columns(people: Any) -> list[str]:
    from tacit.table.files import column_names

    return column_names(people) if isinstance(people, Path) else list(people.columns)


def _dropped(text: str | None, people: Any, document: Path | None) -> list[str]:
    """The columns to leave out; a misspelled one would be published after all."""
    names, schema = listed_names(text), _schema(document, []) if text else None
    present = list(dict.fromkeys([*_columns(people), *(() if schema is None else schema.names)])) if names else []
    for name in names:
        if name not in present:
            raise UnknownName("Column to drop", name, present)
    return names


def _opened(table: str) -> Any:
    """A file by its path; a table of a database opened, once for everything that is asked of it."""
    from tacit.publish.opening import is_stored, stored_table

    return stored_table(table, writable=True) if is_stored(table) else Path(table)


def _table_beside(table: str, out: str) -> str | None:
    """The name of the new table that `out` is the address of; None where it is a file."""
    from tacit.count.connections import SPARK, is_address, split_address

    if not is_address(out):
        return None
    if out.startswith(SPARK):
        if not table.startswith(SPARK):
            raise InvalidInput("Spark takes releases of what it holds itself. Write this one to a file.")
        return out
    database, name = split_address(out)
    if not is_address(table) or split_address(table)[0] != database:
        raise InvalidInput(
            "A release can become a table of the database that holds the input only. Write it to a file."
        )
    return name


def _check_out(table: str, out: Path) -> None:
    from tacit.publish.manifests import private_path, public_path

    if Path(table).resolve() == out.resolve():
        raise InvalidInput("The release would overwrite the table of people. Give another name for the output.")
    for path in (out, public_path(out), private_path(out)):
        check_writable(path)


def _write(release: Release, asked: ReleaseRequest) -> dict[str, Any]:
    """Write the release; returns what was counted from it, and what its manifests are called."""
    from tacit.publish.writing import write_file, write_private, write_table

    if asked.new_table is None:
        done = write_file(release, Path(asked.out), again=asked.again)
        return {"verified": done.verified, "k_together": done.k_together, "written_warnings": list(done.warnings)}
    verified = write_table(release, asked.new_table)
    name = Path(asked.new_table.partition("?")[0].removeprefix("spark:").rstrip("/")).name
    private = write_private(release, Path(f"{name}.private.json"))
    return {"verified": verified, "private_manifest": str(private)}


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


def _plot(release: Release, path: Path, kind: str) -> None:
    from tacit.report.page import save_picture
    from tacit.report.plots import front_figure

    save_picture(front_figure(release), path, kind)
