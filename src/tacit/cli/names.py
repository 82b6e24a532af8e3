"""Lists of names in one argument: separated by commas, and quoted as in a CSV file where a name holds one itself."""

from __future__ import annotations

import re

from tacit.errors import InvalidInput

_QUOTED = r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"\s*|'
_NAME = re.compile(_QUOTED + r"(?P<plain>[^,]*))(?P<end>,|\Z)")
_GROUPED_NAME = re.compile(_QUOTED + r"(?P<plain>[^,;]*))(?P<end>[,;]|\Z)")


def listed_names(text: str | None) -> list[str]:
    """The names in ``a,b``; quotes keep commas and outer spaces, as in ``"income, net",b``."""
    return [name for name in map(_read, _NAME.finditer(text or "")) if name]


def listed_groups(text: str) -> list[list[str]]:
    """The groups of names in ``a,b;c``, quoted in the same way."""
    groups: list[list[str]] = [[]]
    for match in _GROUPED_NAME.finditer(text):
        groups[-1].extend(filter(None, [_read(match)]))
        if match["end"] == ";":
            groups.append([])
    return groups


def listed_numbers(option: str, text: str | None) -> dict[str, float] | None:
    """``age=5,sex=.5`` as a mapping."""
    if text is None:
        return None
    named = {}
    for entry in listed_names(text):
        name, equals, value = entry.rpartition("=")
        try:
            named[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise InvalidInput(f"--{option} takes entries like age=5 separated by commas, not {entry!r}.")
    return named


def _read(match: re.Match[str]) -> str:
    quoted = match["quoted"]
    return match["plain"].strip() if quoted is None else quoted.replace('""', '"')
