"""``tacit survey serve | password | invite``: who may come in."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_text
from tacit.cli.survey.store import (
    DEFAULT_PORT,
    DEFAULT_STORE,
    JsonOption,
    StoreOption,
    SurveyArgument,
    UrlOption,
    link_to,
    opened_store,
    read_definition,
    record,
    show,
)
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.survey.store.surveys import Store, StoredSurvey


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
    with opened_store(store) as opened:
        for path in file or []:
            _check_unchanged(opened, path)
        from tacit.survey.accounts import Accounts
        from tacit.survey.app import SurveyServer
        from tacit.survey.headers import Settings
        from tacit.survey.serving import bound_socket, serve

        sock = bound_socket(host, port)
        _announce(opened.surveys(), url or f"http://{host}:{sock.getsockname()[1]}", as_json=json)
        if not Accounts(opened.database).any:
            note("Nobody can log in at /admin yet. Create an administrator with: tacit survey password NAME")
    serve(SurveyServer(store, Settings(public_url=url, rate=rate, burst=max(15 * rate, 1))), sock)


def _check_unchanged(store: Store, path: Path) -> None:
    definition = read_definition(path)
    store.add(definition, path.read_text(encoding="utf-8"), "draft")


def _announce(surveys: Sequence[StoredSurvey], base: str, *, as_json: bool) -> None:
    served = [
        {"name": survey.definition.name, "state": survey.state, "link": link_to(base, survey.fingerprint)}
        for survey in surveys
    ]
    if as_json:
        print_json({"address": base, "surveys": served})
        return
    for one in served:
        print_text(f"{one['name']} ({one['state']}): {one['link']}")


def password(
    name: Annotated[str, typer.Argument(help="The administrator's name.")],
    store: StoreOption = DEFAULT_STORE,
    file: Annotated[
        Path | None, typer.Option("--file", help="Read the password from this file instead of asking.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create an administrator of the dashboard, or change their password."""
    with opened_store(store) as opened:
        from tacit.survey.accounts import Accounts

        Accounts(opened.database).set_password(name, _secret(file))
    show({"administrator": name}, [f"{name} can log in at /admin."], as_json=as_json)


def _secret(file: Path | None) -> str:
    if file is None:
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    if not file.is_file():
        raise InvalidInput(f"There is no file {str(file)!r}.")
    return file.read_text(encoding="utf-8").rstrip("\n")


def invite(
    survey: SurveyArgument,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many single-use codes.")],
    out: Annotated[Path, typer.Option(help="A CSV file: the only place where the codes will stand.")],
    store: StoreOption = DEFAULT_STORE,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make single-use invitation codes, as links and for printing; the store keeps only their hashes."""
    with opened_store(store) as opened:
        found = opened.named(survey)
        if not found.definition.needs_codes:
            raise InvalidInput(f"The survey {found.definition.name!r} has an open link. For codes write: access: codes")
        _write_codes(opened, found, count, out, link_to(url, found.fingerprint))
        record(opened, f"made {count} codes", found.definition.name)
    show(
        {"codes": count, "file": str(out)},
        [f"Wrote {count} codes to {out}. Keep the file safe; it cannot be made again."],
        as_json=as_json,
    )


def _write_codes(store: Store, survey: StoredSurvey, count: int, out: Path, link: str) -> None:
    """The codes into a file and their hashes into the store: both or, with an error, neither."""
    from tacit.survey.codes import code_token, new_code, printed
    from tacit.survey.store.submissions import token_hash
    from tacit.table.files import written_whole

    codes = [new_code() for _ in range(count)]
    with written_whole(out) as temporary:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["code", "link", "page"])
            writer.writerows([printed(code), f"{link}#code={code}", link] for code in codes)
        store.add_codes(survey, [token_hash(survey, code_token(survey.fingerprint, code)) for code in codes])
