"""Options that hold several entries in one text."""

from __future__ import annotations

from tacit.errors import InvalidInput


def names(text: str | None) -> tuple[str, ...]:
    """``age, sex`` as names.

    >>> names("age, sex")
    ('age', 'sex')
    """
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def sets(text: str | None) -> list[tuple[str, ...]] | None:
    """``age,sex;town`` as sets of names."""
    return None if text is None else [names(part) for part in text.split(";")]


def numbers(option: str, text: str | None) -> dict[str, float] | None:
    """``age=5,sex=.5`` as a mapping."""
    if text is None:
        return None
    found = {}
    for entry in names(text):
        name, equals, value = entry.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise InvalidInput(f"--{option} takes entries like age=5 separated by commas, not {entry!r}.")
    return found
