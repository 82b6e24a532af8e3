"""Repeated options from ``tacit.toml`` in the working folder: a table for each command, options by their names.

What is typed on the command line wins. A command or an option that does not exist is refused, so that a misspelt setting
is never passed over in silence.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput, UnknownName

FILE = Path("tacit.toml")


def read_settings(root: Any) -> dict[str, Any]:
    """Defaults for the commands under `root`, as typer takes them; empty where there is no file."""
    if not FILE.is_file():
        return {}
    import tomllib

    try:
        document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InvalidInput(f"{FILE} cannot be read: {problem}. Mend it, or move it away.") from None
    defaults = _defaults(root, document, ())
    _announce(root, defaults)
    return defaults


def _defaults(command: Any, table: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    children = getattr(command, "commands", None)
    if children is None:
        return _options(command, table, path)
    named = {}
    for name, inner in table.items():
        if name not in children:
            raise UnknownName(f"Command in {FILE}", " ".join((*path, name)), [" ".join((*path, c)) for c in children])
        if not isinstance(inner, Mapping):
            raise InvalidInput(f"[{'.'.join((*path, name))}] in {FILE} must be a table of options, not {inner!r}.")
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
            raise UnknownName(f"Option of [{'.'.join(path)}] in {FILE}", name, sorted(named))
        if isinstance(value, Mapping):
            raise InvalidInput(f"{name} in [{'.'.join(path)}] of {FILE} must be a value or a list, not a table.")
        values[named[key]] = value
    return values


def _announce(root: Any, defaults: Mapping[str, Any]) -> None:
    """Say on standard error which settings the command at hand takes from the file: those that were not typed."""
    command, table = root, defaults
    for word in sys.argv[1:]:
        children = getattr(command, "commands", {})
        if word not in children:
            break
        command, table = children[word], table.get(word, {})
    if hasattr(command, "commands"):
        return
    spelled = {one.name: (*one.opts, *one.secondary_opts) for one in command.params}
    typed = {word.partition("=")[0] for word in sys.argv[1:]}
    taken = {name: value for name, value in table.items() if not typed & set(spelled[name])}
    if taken:
        shown = ", ".join(
            f"{name.replace('_', '-')} = {json.dumps(value, default=str)}" for name, value in taken.items()
        )
        sys.stderr.write(f"From {FILE}: {shown}.\n")
    if taken.get("json") is True:
        sys.argv.append("--json")  # as if it were typed, so that a refusal is JSON too
