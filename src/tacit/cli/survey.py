"""``tacit survey``: electronic surveys whose page disguises the answers."""

from __future__ import annotations

import csv
import importlib.util
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_text, progress
from tacit.errors import InvalidInput, MissingExtra

app = typer.Typer(
    no_args_is_help=True,
    help="Electronic surveys: answers are disguised on the respondent's own device, and no server ever receives a true one.",
)

StoreOption = Annotated[
    str,
    typer.Option("--store", envvar="TACIT_STORE", help="A file, or postgresql://USER@HOST/NAME.", show_default=True),
]
JsonOption = Annotated[bool, JsonFlag]
UrlOption = Annotated[
    str | None, typer.Option("--url", help="Where people reach the server, such as https://survey.example.org.")
]
SurveyArgument = Annotated[str, typer.Argument(help="The survey's name, name/wave, or fingerprint.")]
FileArgument = Annotated[Path, typer.Argument(help="The questionnaire, a YAML file.")]

DEFAULT_STORE = "survey.db"
DEFAULT_PORT = 8000


def _show(document: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        print_text("\n".join(lines))


def _definition(file: Path) -> Any:
    _check_extra()
    from tacit.survey.definition import Definition

    return Definition.read(file)


def _store(url: str, *, must_exist: bool = True) -> Any:
    _check_extra()
    from tacit.survey.store.surveys import Store

    return Store.open(url, must_exist=must_exist)


def _check_extra() -> None:
    needed = ("argon2", "httptools", "jinja2", "starlette", "uvicorn", "yaml")
    if any(importlib.util.find_spec(module) is None for module in needed):
        raise MissingExtra("A survey", "survey")


def _record(store: Any, action: str, detail: str) -> None:
    """What is done here stands in the same audit log as what is done in the browser."""
    from tacit.survey.accounts import Accounts

    Accounts(store.database).record("(command line)", action, detail)


def _link(url: str | None, fingerprint: str) -> str:
    return f"{(url or f'http://localhost:{DEFAULT_PORT}').rstrip('/')}/s/{fingerprint}"


@app.command()
def new(path: FileArgument, as_json: JsonOption = False) -> None:
    """Start a questionnaire from a template."""
    from importlib.resources import files

    if path.exists():
        raise InvalidInput(f"{str(path)!r} exists already. Name another file.")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {str(path.parent)!r}. Make it first.")
    path.write_text(
        files("tacit.survey").joinpath("templates/questionnaire.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    lines = [f"Wrote {path}. Change it, then look at it with: tacit survey preview {path}"]
    _show({"file": str(path)}, lines, as_json=as_json)


@app.command()
def preview(
    file: FileArgument,
    port: Annotated[int, typer.Option(help="Where the preview is served.")] = DEFAULT_PORT,
    as_json: JsonOption = False,
) -> None:
    """Show what a questionnaire promises, and its page; nothing that is answered there is kept. --json shows no page."""
    definition = _definition(file)
    from tacit.survey.promise import promise

    document, lines = promise(definition)
    if as_json:
        _show(document, lines, as_json=True)
        return
    from tacit.survey.app import SurveyServer
    from tacit.survey.serving import bound_socket, serve

    with tempfile.TemporaryDirectory() as folder:
        url = str(Path(folder) / "preview.db")
        store = _store(url, must_exist=False)
        survey = store.add(definition, file.read_text(encoding="utf-8"), "draft")
        store.close()
        sock = bound_socket("127.0.0.1", port)
        print_text(
            "\n".join([*lines, f"Preview: {_link(f'http://localhost:{port}', survey.fingerprint)}  (end with Ctrl+C)"])
        )
        serve(SurveyServer(url), sock)


@app.command("open")
def open_survey(
    file: FileArgument, store: StoreOption = DEFAULT_STORE, url: UrlOption = None, as_json: JsonOption = False
) -> None:
    """Freeze a questionnaire under its hash and accept answers to it."""
    definition = _definition(file)
    from tacit.survey.promise import promise

    opened = _store(store, must_exist=False)
    survey = opened.add(definition, file.read_text(encoding="utf-8"))
    _record(opened, "opened", definition.name)
    document, lines = promise(definition)
    link = _link(url, survey.fingerprint)
    opened.close()
    shown = {**document, "state": survey.state, "link": link}
    _show(shown, [*lines, f"Open: {link}", f"Serve it with: tacit survey serve --store {store}"], as_json=as_json)


@app.command("serve")
def serve_surveys(
    store: StoreOption = DEFAULT_STORE,
    host: Annotated[str, typer.Option(help="The address to listen on; use a reverse proxy for https.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")
    ] = DEFAULT_PORT,
    url: UrlOption = None,
    rate: Annotated[float, typer.Option(help="Reports a second from one address; 0 limits nothing.")] = 20.0,
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="Check that this questionnaire is what was opened.")
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Serve the open surveys of a store until interrupted."""
    opened = _store(store)
    for path in file or []:
        _check_unchanged(opened, path)
    from tacit.survey.accounts import Accounts
    from tacit.survey.app import SurveyServer
    from tacit.survey.headers import Settings
    from tacit.survey.serving import bound_socket, serve

    sock = bound_socket(host, port)
    base = url or f"http://{host}:{sock.getsockname()[1]}"
    served = [(survey, _link(base, survey.fingerprint)) for survey in opened.surveys()]
    if json:
        surveys = [{"name": s.definition.name, "state": s.state, "link": link} for s, link in served]
        print_json({"address": base, "surveys": surveys})
    else:
        for survey, link in served:
            print_text(f"{survey.definition.name} ({survey.state}): {link}")
    if not Accounts(opened.database).any:
        note("Nobody can log in at /admin yet. Create an administrator with: tacit survey password NAME")
    opened.close()
    serve(SurveyServer(store, Settings(public_url=url, rate=rate, burst=max(15 * rate, 1))), sock)


def _check_unchanged(store: Any, path: Path) -> None:
    definition = _definition(path)
    if store.survey(definition.fingerprint) is None:
        store.add(definition, path.read_text(encoding="utf-8"), "draft")


@app.command()
def password(
    name: Annotated[str, typer.Argument(help="The administrator's name.")],
    store: StoreOption = DEFAULT_STORE,
    file: Annotated[
        Path | None, typer.Option("--file", help="Read the password from this file instead of asking.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create an administrator of the dashboard, or change their password."""
    from tacit.survey.accounts import Accounts

    opened = _store(store)
    if file is not None and not file.is_file():
        raise InvalidInput(f"There is no file {str(file)!r}.")
    secret = (
        file.read_text(encoding="utf-8").rstrip("\n")
        if file
        else typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    )
    Accounts(opened.database).set_password(name, secret)
    opened.close()
    _show({"administrator": name}, [f"{name} can log in at /admin."], as_json=as_json)


@app.command()
def invite(
    survey: SurveyArgument,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many single-use codes.")],
    out: Annotated[Path, typer.Option(help="A CSV file: the only place where the codes will stand.")],
    store: StoreOption = DEFAULT_STORE,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make single-use invitation codes, as links and for printing; the store keeps only their hashes."""
    from tacit.survey.codes import code_token, new_code, printed
    from tacit.survey.store.submissions import token_hash
    from tacit.table.files import written_whole

    opened = _store(store)
    found = opened.named(survey)
    if not found.definition.needs_codes:
        raise InvalidInput(f"The survey {found.definition.name!r} has an open link. For codes write: access: codes")
    codes = [new_code() for _ in range(count)]
    link = _link(url, found.fingerprint)
    with written_whole(out) as temporary:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["code", "link", "page"])
            writer.writerows([printed(code), f"{link}#code={code}", link] for code in codes)
        opened.add_codes(found, [token_hash(found, code_token(found.fingerprint, code)) for code in codes])
    _record(opened, f"made {count} codes", found.definition.name)
    opened.close()
    _show(
        {"codes": count, "file": str(out)},
        [f"Wrote {count} codes to {out}. Keep the file safe; it cannot be made again."],
        as_json=as_json,
    )


@app.command()
def status(
    survey: Annotated[str | None, typer.Argument()] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """How many reports each survey has."""
    opened = _store(store)
    surveys = [opened.named(survey)] if survey else opened.surveys()
    rows = []
    for one in surveys:
        counts = opened.counts(one)
        rows.append(
            {
                "name": one.definition.name, "wave": one.definition.wave, "state": one.state,
                "fingerprint": one.fingerprint, "reports": counts.reports, "tests": counts.tests, "codes": counts.codes,
            }
        )  # fmt: skip
    opened.close()
    lines = [
        f"{row['name']} (wave {row['wave']}, {row['state']}): {row['reports']} reports, {row['tests']} tests, "
        f"{row['codes']} codes"
        for row in rows
    ]
    _show({"surveys": rows}, lines or ["No survey has been opened in this store."], as_json=as_json)


@app.command()
def results(
    survey: SurveyArgument,
    by: Annotated[str | None, typer.Option(help="Also tables by this question.")] = None,
    fakes: Annotated[
        int, typer.Option(min=0, help="Say how far so many fake respondents could move each answer.")
    ] = 10,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Estimates with 95% intervals, and whether the reports look like the page's."""
    from tacit.survey.dashboard import results_document

    opened = _store(store)
    found = opened.named(survey)
    if by is not None:
        found.definition.scheme.schema[by]  # refuses an unknown name with a suggestion
    document = results_document(opened, found, by, fakes=fakes)
    opened.close()
    _show(document, _result_lines(document), as_json=as_json)


def _result_lines(document: dict[str, Any]) -> list[str]:
    lines = [f"{document['n_reports']} disguised reports", *document["warnings"]]
    for table in [*document["questions"], *document["crossed"]]:
        lines.append(f"\n{table['label']} ({'disguised' if table['disguised'] else 'not disguised'})")
        for cell in table["cells"]:
            answer = f"{cell['by']} / {cell['answer']}" if "by" in cell else cell["answer"]
            lines.append(f"  {answer:30} {cell['probability']:7.1%}   {cell['low']:.1%} to {cell['high']:.1%}")
    lines.append("")
    lines.extend(f"{', '.join(fit['attributes'])}: {fit['verdict']}" for fit in document["fit"])
    return lines


@app.command()
def export(
    survey: SurveyArgument,
    out: Annotated[Path, typer.Option(help="A new folder.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write the disguised reports (CSV, Parquet), the scheme and a codebook; `tacit estimate` and `tacit mine` read them."""
    from tacit.survey.exports import export_folder

    opened = _store(store)
    found = opened.named(survey)
    with progress("Exporting") as bar:
        files = export_folder(opened, found, out, bar.advance)
    _record(opened, "exported", found.definition.name)
    opened.close()
    _show({"files": [str(file) for file in files]}, [f"Wrote {file}" for file in files], as_json=as_json)


@app.command()
def close(survey: SurveyArgument, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Accept no more answers, for good, and wipe what the store's files tell about the order of arrival."""
    opened = _store(store)
    found = opened.named(survey)
    opened.close_survey(found)
    _record(opened, "closed", found.definition.name)
    counts = opened.counts(found)
    opened.close()
    _show(
        {"name": found.definition.name, "state": "closed", "reports": counts.reports},
        [f"Closed with {counts.reports} reports."],
        as_json=as_json,
    )


@app.command()
def offer(
    survey: SurveyArgument,
    target: Annotated[str, typer.Option("--class", help="The question the tree predicts.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Mine a tree, freeze it and offer it for the second round."""
    from tacit.survey.second_round import offer_tree

    opened = _store(store)
    document = offer_tree(opened, opened.named(survey), target)
    _record(opened, "offered a classifier", target)
    opened.close()
    _show(document, [f"A tree for {target!r} is offered; results show how often it was right."], as_json=as_json)


@app.command()
def backup(
    out: Annotated[Path, typer.Argument()], store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False
) -> None:
    """Copy everything into one file, while people may go on answering."""
    from tacit.survey.store.backup import back_up

    opened = _store(store)
    _record(opened, "backed up", str(out))
    with progress("Copying") as bar:
        copied = back_up(opened, out, bar.advance)
    opened.close()
    _show(
        {"file": str(out), "surveys": copied.surveys, "reports": copied.reports},
        [f"Wrote {out}: {copied.surveys} surveys, {copied.reports} reports."],
        as_json=as_json,
    )


@app.command()
def restore(
    backup_file: Annotated[Path, typer.Argument()], store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False
) -> None:
    """Fill an empty store from a backup, also one of the other kind of database."""
    from tacit.survey.store.backup import restore as restore_into

    opened = _store(store, must_exist=False)
    with progress("Copying") as bar:
        copied = restore_into(backup_file, opened, bar.advance)
    opened.close()
    _show(
        {"surveys": copied.surveys, "reports": copied.reports},
        [f"Restored {copied.surveys} surveys, {copied.reports} reports."],
        as_json=as_json,
    )
