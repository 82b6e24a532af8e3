"""What can go wrong, in few kinds; every message says what is allowed and what to do next."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class TacitError(Exception):
    """Anything Tacit refuses; the command line prints it and exits with 2."""


class InvalidInput(TacitError, ValueError):
    """A value, a file or a parameter that cannot be used."""


class UnknownName(InvalidInput):
    """A name outside the ones that exist; the nearest is suggested."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        super().__init__(f"{what} {name!r} does not exist. {suggestion(name, known)}")


class UnknownAnswer(InvalidInput):
    """A value outside its attribute's answers."""

    def __init__(self, attribute: str, value: str, answers: Iterable[str], row: int | None = None) -> None:
        self.attribute, self.value = attribute, value
        where = "" if row is None else f" (row {row + 1:,})"
        super().__init__(f"{attribute!r} has no answer {value!r}{where}. {suggestion(value, answers)}")


class NotEstimable(TacitError, ValueError):
    """The reports hold no information about what was asked."""


class SchemeMismatch(InvalidInput):
    """Reports and scheme do not belong together."""


class UndisguisedColumns(UserWarning):
    """Columns that a scheme leaves undisguised without anybody having said that they are public."""


class MissingExtra(TacitError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, what: str, extra: str, missing: Iterable[str] = ()) -> None:
        named = ", ".join(missing) or "an extra"
        super().__init__(f"{what} needs {named}, not installed here. Run: pip install 'tacit[{extra}]'")


def suggestion(name: str, known: Iterable[str], limit: int = 12) -> str:
    """A sentence that points to the nearest known name, or lists what there is."""
    names = [str(item) for item in known]
    if not names:
        return "There is none yet."
    close = difflib.get_close_matches(str(name), names, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"There is: {', '.join(map(repr, names[:limit]))}{more}."


def names_homes(homes: Mapping[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that says where an argument belongs which it does not take itself; its signature stays as it is."""

    def refuse_misplaced(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def checked_call(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in homes.keys() & kwargs.keys():
                raise InvalidInput(f"{function.__name__} takes {name!r} as {homes[name]}.")
            return function(*args, **kwargs)

        return checked_call

    return refuse_misplaced
