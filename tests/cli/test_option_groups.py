"""A group of options is one parameter of a command and an option for each of its fields."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer

from tacit.cli.commands import flatten_groups
from tacit.cli.sampling import SampleOptions
from tests.cli.run import tacit


@dataclass(frozen=True, kw_only=True)
class Pair:
    first: Annotated[int, typer.Option(help="Needed.")]
    second: Annotated[str, typer.Option(help="Not needed.")] = "b"


SEEN: list[tuple[object, ...]] = []


def grouped(own: Annotated[str, typer.Argument()], pair: Pair, last: Annotated[bool, typer.Option()] = False) -> None:
    """Explained."""
    SEEN.append((own, pair, last))


def plain(own: str) -> None:
    SEEN.append((own,))


def test_fields_stand_where_the_group_stands_and_come_back_as_the_group() -> None:
    command = flatten_groups(grouped)
    assert list(inspect.signature(command).parameters) == ["own", "first", "second", "last"]
    assert command.__doc__ == "Explained."
    command(own="x", first=3, second="c", last=True)
    assert SEEN.pop() == ("x", Pair(first=3, second="c"), True)
    assert inspect.signature(command).parameters["first"].default is inspect.Parameter.empty


def test_a_command_without_groups_is_left_alone() -> None:
    assert flatten_groups(plain) is plain


@pytest.mark.parametrize("command", ["estimate", "prevalence", "regress"])
def test_all_commands_on_samples_take_the_same_options(command: str) -> None:
    said = tacit(command, "--help").out
    for name in inspect.signature(SampleOptions).parameters:
        assert f"--{name.replace('_', '-')} " in said
