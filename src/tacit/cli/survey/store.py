"""What the survey commands share: the store, its options, and how they answer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from tacit.cli.output import JsonFlag, print_json, print_text
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.survey.definition import Definition
    from tacit.survey.store.surveys import Store

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        envvar="TACIT_STORE",
        help="Store of the surveys: a file, or postgresql://USER@HOST/NAME.",
        show_default=True,
    ),
]
JsonOption = Annotated[bool, JsonFlag]


def _check_url(url: str | None) -> str | None:
    """Refuse an address with a path before anything is opened: the page and its reports stand at the root of a host."""
    if url and urlsplit(url).path.strip("/"):
        raise InvalidInput(
            f"--url {url} has the path {urlsplit(url).path!r}, and links with a path would not work: the server answers at the "
            "root of its host. Give it a name of its own, such as https://survey.example.org."
        )
    return url


UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="Address at which people reach the server, such as https://survey.example.org.",
        callback=_check_url,
    ),
]
SurveyArgument = Annotated[str, typer.Argument(help="The survey's name, name/wave, or fingerprint.")]
FileArgument = Annotated[Path, typer.Argument(help="Questionnaire (YAML file).")]

DEFAULT_STORE = "survey.db"
DEFAULT_PORT = 8000


@contextlib.contextmanager
def opened_store(url: str, *, must_exist: bool = True) -> Iterator[Store]:
    _check_extra()
    from tacit.survey.store.surveys import Store

    store = Store.open(url, must_exist=must_exist)
    try:
        yield store
    finally:
        store.close()


def read_definition(file: Path) -> Definition:
    _check_extra()
    from tacit.survey.definition import Definition

    return Definition.read(file)


def _check_extra() -> None:
    from tacit.extras import require

    require("survey")


def record(store: Store, action: str, detail: str) -> None:
    """What is done here stands in the same audit log as what is done in the browser."""
    from tacit.survey.accounts import COMMAND_LINE, Accounts

    Accounts(store.database).record(COMMAND_LINE, action, detail)


def link_to(url: str | None, fingerprint: str) -> str:
    return f"{(url or f'http://localhost:{DEFAULT_PORT}').rstrip('/')}/s/{fingerprint}"


def show(document: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        print_text("\n".join(lines))
