"""Every public name is what it looks like: the same object before and after its use."""

import ast
import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

import tacit

FUNCTIONS = [name for name in tacit.__all__ if inspect.isfunction(getattr(tacit, name))]


def test_functions_are_functions():
    assert {"attack", "disguise", "estimate", "measure", "plan"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_a_signature_and_help_and_can_be_pickled(name):
    function = getattr(tacit, name)
    assert not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
    assert inspect.getdoc(function)
    assert pickle.loads(pickle.dumps(function)) is function


def test_names_keep_their_type_when_their_package_is_imported():
    script = """
import importlib, pkgutil, sys, tacit
before = {name: type(getattr(tacit, name)) for name in tacit.__all__}
for module in list(pkgutil.iter_modules(tacit.__path__)):
    if module.name != "__main__":
        importlib.import_module(f"tacit.{module.name}")
after = {name: type(getattr(tacit, name)) for name in tacit.__all__}
sys.exit(before != after)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_no_module_has_the_name_of_a_public_function():
    import pkgutil

    assert not {module.name for module in pkgutil.iter_modules(tacit.__path__)} & set(FUNCTIONS)


@pytest.mark.parametrize("package", ["tacit", "tacit.mine", "tacit.measures"])
def test_what_type_checkers_see_is_what_is_there(package):
    module = importlib.import_module(package)
    (block,) = [
        node
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    ]
    imported = {a.asname or a.name for line in block.body if isinstance(line, ast.ImportFrom) for a in line.names}
    assigned = {target.id for line in block.body if isinstance(line, ast.Assign) for target in line.targets}
    seen = {name for name in imported | assigned if not name.startswith("_")}
    assert seen == set(module.__all__)
    assert all(getattr(module, name) is not None for name in seen)
