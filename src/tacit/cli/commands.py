"""Commands that are imported when they are run or explained, and groups whose help lines are never cut."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

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
    from tacit.cli.option_groups import flatten_groups

    alone = CommandApp(**PLAIN)
    alone.command(name)(flatten_groups(command_or_group))
    return typer.main.get_command(alone)
