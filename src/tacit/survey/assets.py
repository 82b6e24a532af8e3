"""The page's own script and style, written into every page: one document holds all that a respondent's browser runs.

The script stands in `static/` as modules. A page that fetched them one by one would ask a slow network a dozen times
before the first question, so they are joined here, each in a scope of its own, with their names and lines as they are.
Comments stay behind: they are a fifth of what a slow network would carry. The parts run as they arrive, so that a slow
phone examines the definition while the rest of the page is still on its way.
"""

from __future__ import annotations

import base64
import hashlib
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tacit.survey.question_kinds import KINDS, file_name

FOLDER = Path(__file__).parent / "static"
ENTRIES = ("examined", "introduction", "page")  # each part of the script ends with one of them

_IMPORT = re.compile(r'^import (?P<names>\{[^}]*\}|\* as \w+) from "(?P<path>\.\.?/[\w/]+)\.js";\n', re.MULTILINE)
_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function\*?|const|class) (?P<name>\w+))", re.MULTILINE)


@dataclass(frozen=True)
class Inline:
    """Text that stands in the page itself, and what the content security policy calls it by."""

    text: str

    def __post_init__(self) -> None:
        # Either would end the element early, and with it the page.
        if "</script" in self.text or "</style" in self.text:
            raise ValueError("A text written into the page must not contain the end of its own element.")

    @property
    def source(self) -> str:
        digest = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def page_style() -> Inline:
    return Inline((FOLDER / "style.css").read_text(encoding="utf-8"))


@cache
def page_scripts() -> tuple[Inline, ...]:
    modules = page_modules()
    # A kind's script stands in no import: the page asks whatever kinds there are.
    named = (f"kinds/{file_name(kind)}" for kind in KINDS)
    scripts = [f'import * as {Path(name).name} from "./{name}.js";\n' for name in named if name in modules]
    modules["page"] = "".join(scripts) + modules["page"]
    return tuple(Inline(script) for script in join_scripts(modules, ENTRIES))


def page_modules() -> dict[str, str]:
    """The page's modules by their path in `static/`, without its ending."""
    return {
        path.relative_to(FOLDER).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in FOLDER.rglob("*.js")
    }


def join_scripts(modules: dict[str, str], entries: Sequence[str]) -> list[str]:
    """A script for each entry with what it imports, each module once: a function that returns its exports."""
    placed: set[str] = set()

    def place(name: str) -> Iterator[str]:
        if name not in placed:
            placed.add(name)
            for needed in _IMPORT.finditer(modules[name]):
                yield from place(_module(name, needed))
            yield _in_own_scope(name, modules[name])

    # A script that is no module is strict only if it says so.
    return ['"use strict";\n' + "".join(place(entry)) for entry in entries]


def _in_own_scope(name: str, text: str) -> str:
    exports = [match["name"] for match in _EXPORT.finditer(text)]
    body = _EXPORT.sub("", _IMPORT.sub(lambda found: _constant(name, found), _COMMENT.sub("", text)))
    if left := re.search(r"^(?:import|export)\b.*", body, re.MULTILINE):
        raise ValueError(f"static/{name}.js has a line that cannot be joined into the page: {left[0]}")
    return f"const {_scope(name)} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"


def _module(importer: str, imported: re.Match[str]) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), imported["path"]))


def _constant(importer: str, imported: re.Match[str]) -> str:
    names = imported["names"].removeprefix("* as ").replace(" as ", ": ")
    return f"const {names} = {_scope(_module(importer, imported))};\n"


def _scope(name: str) -> str:
    # A module and one of its exports may have the same name.
    return f"{name.replace('/', '_')}Module"
