"""Options that several commands share: a group is a dataclass, and a command takes it as one parameter."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints


def flatten_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer reads it: with an option for each field of the groups that it takes."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint) and isinstance(hint, type)}
    if not groups:
        return command

    @functools.wraps(command)
    def call_command(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in _fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    parameters = [
        option
        for parameter in inspect.signature(command).parameters.values()
        for option in _options(parameter, hints, groups)
    ]
    call_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call_command


def _options(
    parameter: inspect.Parameter, hints: dict[str, Any], groups: dict[str, type[Any]]
) -> Iterator[inspect.Parameter]:
    """The parameter itself, or one for each field of the group it stands for."""
    if parameter.name not in groups:
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        return
    group = groups[parameter.name]
    types = get_type_hints(group, include_extras=True)
    for field in _fields(group):
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[field.name]
        )


def _fields(group: type[Any]) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(group)
