"""Puts a fault into functions that are already imported, so that nothing is imported again for it."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, FunctionType


def put_in(file: str, before: bytes, after: bytes) -> int:
    """Give every function of a file that differs between two texts its new code; how many functions were changed."""
    old, new = _codes(file, before), _codes(file, after)
    changed = {place: code for place, code in new.items() if place in old and code != old[place]}
    places = {_marks(code): place for place, code in old.items()}
    put = 0
    for function in _functions_of(file):
        place = places.get(_marks(function.__code__))
        if place in changed and len(function.__code__.co_freevars) == len(changed[place].co_freevars):
            function.__code__ = changed[place]
            put += 1
    return put


def _functions_of(file: str) -> list[FunctionType]:
    return [one for one in gc.get_objects() if type(one) is FunctionType and one.__code__.co_filename == file]


def _codes(file: str, text: bytes) -> dict[tuple[str, int], CodeType]:
    """Every function's code by its name, and by its turn among those of that name."""
    codes: dict[tuple[str, int], CodeType] = {}
    turns: dict[str, int] = defaultdict(int)
    for code in _inner(compile(text, file, "exec", dont_inherit=True)):
        codes[code.co_qualname, turns[code.co_qualname]] = code
        turns[code.co_qualname] += 1
    return codes


def _inner(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner(constant)


def _marks(code: CodeType) -> tuple[object, ...]:
    """What tells one code of a file from another, however often it is compiled."""
    return code.co_qualname, code.co_firstlineno, tuple(code.co_positions())
