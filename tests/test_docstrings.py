"""Every example in a docstring runs and shows what it says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import tacit

MODULES = [
    module.name for module in pkgutil.walk_packages(tacit.__path__, "tacit.") if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_the_examples_are_found() -> None:
    finder = doctest.DocTestFinder()
    examples = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert examples >= 20


def test_every_public_name_exists() -> None:
    for name in tacit.__all__:
        assert getattr(tacit, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'guess'"):
        _ = tacit.guess


# What is made by a function or raised, never by its user: its docstring tells what it holds.
RESULTS = {"JointModel", "Regression", "Release", "ReleaseCheck", "TacitError", "Plan"}


def sections(text: str) -> set[str]:
    return {name for name in ("Parameters", "Returns", "Raises", "Examples") if f"{name}\n{'-' * len(name)}" in text}


@pytest.mark.parametrize("name", [name for name in tacit.__all__ if inspect.isfunction(getattr(tacit, name))])
def test_public_functions_say_what_they_take_and_give(name: str) -> None:
    function = getattr(tacit, name)
    wanted = {"Returns", "Examples"} | ({"Parameters"} if inspect.signature(function).parameters else set())
    text = inspect.getdoc(function) or ""
    assert wanted <= sections(text), name
    if "Parameters" in wanted:
        listed = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
        for parameter in inspect.signature(function).parameters:
            assert re.search(rf"\b{parameter}\b", listed), f"{name} does not say what {parameter} is"


@pytest.mark.parametrize("name", [name for name in tacit.__all__ if inspect.isclass(getattr(tacit, name))])
def test_public_classes_say_what_they_hold(name: str) -> None:
    kind = getattr(tacit, name)
    text = inspect.getdoc(kind) or ""
    assert text, name
    if name not in RESULTS:
        assert "Parameters" in sections(text), name
    for member, value in vars(kind).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if (
            inspect.isfunction(function)
            and not member.startswith("_")
            and "." not in function.__qualname__.split(name)[0]
        ):
            assert inspect.getdoc(function), f"{name}.{member} has no docstring"
