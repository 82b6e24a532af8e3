"""Commands that are imported when they are run or explained, and groups whose help lines are never cut."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from tacit.cli.writing import guard_files

# Where a command is: ``module:function`` below `tacit.cli`; a group has a help line and its own commands.
Place = str | tuple[str, Mapping[str, str]]

PLAIN: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "add_completion": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class Imported(MutableMapping[str, Any]):
    """Commands by name, each built when it is first asked for."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = _build_command(name, self._places[name])
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        raise TypeError("Commands are listed in tacit.cli.app.")

    def __delitem__(self, name: str) -> None:
        raise TypeError("Commands are listed in tacit.cli.app.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Command(TyperCommand):
    """A command whose usage line reads ``SCHEME``, ``[NAME]`` or ``REPORTS...``."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for argument in self._arguments():
            argument.metavar = (argument.metavar or argument.name or "").removesuffix("...").upper()

    def _arguments(self) -> list[Any]:
        return [parameter for parameter in self.params if parameter.param_type_name == "argument"]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        named = [f"{argument.metavar}{'...' if argument.nargs != 1 else ''}" for argument in self._arguments()]
        pieces = [
            name if argument.required else f"[{name}]" for argument, name in zip(self._arguments(), named, strict=True)
        ]
        return ["[OPTIONS]", *pieces]


class CommandApp(typer.Typer):
    """An app of such commands."""

    def command(self, name: str | None = None, **settings: Any) -> Any:
        added = super().command(name, **{"cls": Command, **settings})
        return lambda function: added(guard_files(function))


class CommandGroup(TyperGroup):
    """A group that explains its commands in whole sentences, on several lines where they are long."""

    def command_lines(self) -> list[tuple[str, str]]:
        return [(name, (command.help or "").split("\n\n")[0]) for name, command in self.commands.items()]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self.command_lines())


def _build_command(name: str, place: Place) -> Any:
    if not isinstance(place, str):
        explanation, places = place
        group = typer.Typer(cls=CommandGroup, help=explanation, no_args_is_help=True, **PLAIN)
        group.callback()(lambda: None)
        command: Any = typer.main.get_command(group)
        command.commands = Imported(places)
        return command
    module, _, attribute = place.partition(":")
    command_or_group = getattr(importlib.import_module(f"tacit.cli.{module}"), attribute)
    if isinstance(command_or_group, typer.Typer):
        return typer.main.get_command(command_or_group)
    alone = CommandApp(**PLAIN)
    alone.command(name)(flatten_groups(command_or_group))
    return typer.main.get_command(alone)


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
