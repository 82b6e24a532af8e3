"""Repeated options from a settings file: a table for each command, options by their names.

What is typed on the command line wins. A command or an option that does not exist is refused, so that a misspelt setting
is never passed over in silence. ``tacit.toml`` in the working folder is read unasked, so it may have come with a downloaded
folder: what decides where a command reads, listens or computes is taken from a file only if ``--settings`` names it.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput, UnknownName

FILE = Path("tacit.toml")
# A formula is computed, a seed undoes chance, force replaces files, and the others say whose reports and connections are
# believed.
ONLY_IF_NAMED = ("formula", "seed", "force", "store", "host", "proxy")


def read_settings(root: Any) -> dict[str, Any]:
    """Defaults for the commands under `root`, as typer takes them; empty if there is no file.

    ``--settings FILE`` is taken off the line, since no command reads it.
    """
    named = _take_option(sys.argv)
    if named is None and not FILE.is_file():
        return {}

    file = named or FILE
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InvalidInput(f"{file} cannot be read: {problem}. Mend it, or move it away.") from None
    defaults = _defaults(root, document, ())
    _announce(root, defaults, file, is_named=named is not None)
    return defaults if named is not None else _harmless(defaults)


def _harmless(defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of every command without those that only a named file may make."""
    return {
        name: _harmless(value) if isinstance(value, dict) else value
        for name, value in defaults.items()
        if isinstance(value, dict) or name not in ONLY_IF_NAMED
    }


def _take_option(words: list[str]) -> Path | None:
    """Remove ``--settings FILE``, which may stand before or after the command, and return the file."""
    end = words.index("--") if "--" in words else len(words)
    places = [at for at, word in enumerate(words[:end]) if word.partition("=")[0] == "--settings"]
    if not places:
        return None
    if len(places) > 1:
        raise InvalidInput("--settings is given twice. Name one file.")
    word, equals, value = words.pop(places[0]).partition("=")
    if not equals:
        if places[0] >= end - 1:
            raise InvalidInput(f"{word} names no file. Write --settings {FILE}.")
        value = words.pop(places[0])
    return Path(value)


def _defaults(command: Any, table: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    children = getattr(command, "commands", None)
    if children is None:
        return _options(command, table, path)
    named = {}
    for name, inner in table.items():
        if name not in children:
            raise UnknownName(
                "Command of the settings", " ".join((*path, name)), [" ".join((*path, c)) for c in children]
            )
        if not isinstance(inner, Mapping):
            raise InvalidInput(
                f"[{'.'.join((*path, name))}] in the settings must be a table of options, not {inner!r}."
            )
        named[name] = _defaults(children[name], inner, (*path, name))
    return named


def _options(command: Any, table: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The values under the names of the command's parameters."""
    named = {
        option.lstrip("-"): parameter.name
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and option != "--help"
    }
    values = {}
    for name, value in table.items():
        key = name.replace("_", "-")
        if key not in named:
            raise UnknownName(f"Option of [{'.'.join(path)}] in the settings", name, sorted(named))
        if isinstance(value, Mapping):
            raise InvalidInput(f"{name} in [{'.'.join(path)}] of the settings must be a value or a list, not a table.")
        values[named[key]] = value
    return values


def _announce(root: Any, defaults: Mapping[str, Any], file: Path, *, is_named: bool) -> None:
    """Say on standard error which settings the command at hand takes from the file, and which it does not take."""
    command, table = root, defaults
    for word in sys.argv[1:]:
        children = getattr(command, "commands", {})
        if word not in children:
            break
        command, table = children[word], table.get(word, {})
    if hasattr(command, "commands"):
        return
    options = {parameter.name: (*parameter.opts, *parameter.secondary_opts) for parameter in command.params}
    typed = {word.partition("=")[0] for word in sys.argv[1:]}
    untyped = [name for name in table if not typed & set(options[name])]
    ignored = [name for name in untyped if name in ONLY_IF_NAMED and not is_named]
    if ignored:
        sys.stderr.write(
            f"Ignored in {file}: {', '.join(ignored)}. They are taken from a file only if it is named: add --settings "
            f"{file}, or type them.\n"
        )
    taken = {name: table[name] for name in untyped if name not in ignored}
    if taken:
        settings = ", ".join(
            f"{name.replace('_', '-')} = {json.dumps(value, default=str)}" for name, value in taken.items()
        )
        sys.stderr.write(f"From {file}: {settings}.\n")
    if taken.get("json") is True:
        sys.argv.append("--json")  # as if it were typed, so that a refusal is JSON too
