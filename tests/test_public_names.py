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


@pytest.mark.parametrize("package", ["tacit", "tacit.mine", "tacit.measures", "tacit.channel"])
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
    seen |= {"KINDS", "Recipe"} if package == "tacit.channel" else set()  # imported at once
    assert seen == set(module.__all__)
    assert all(getattr(module, name) is not None for name in seen)


def test_there_are_about_forty_names():
    assert len(tacit.__all__) <= 45


@pytest.mark.parametrize(
    ("name", "home"),
    [
        *[(name, "tacit.publish") for name in ("Effort", "Preferences", "Protection", "Release", "ReleaseCheck")],
        *[(name, "tacit.design") for name in ("Bounds", "Front", "FrontPreferences", "SearchEffort")],
        *[(name, "tacit.channel.scheme") for name in ("Group", "Questionnaire")],
        ("Regression", "tacit.regression"),
        ("JointModel", "tacit.joint"),
        ("HeavyHitter", "tacit.mine"),
    ],
)
def test_a_name_that_moved_warns_and_names_its_home(name, home):
    with pytest.warns(
        DeprecationWarning, match=f"tacit.{name} is now {home}.{name}; the old name works throughout 0.2"
    ):
        moved = getattr(tacit, name)
    assert moved is getattr(importlib.import_module(home), name)
    assert name not in dir(tacit)


def test_functions_that_estimate_took_over_warn_and_give_the_same():
    reports = tacit.Reports.from_truth({"smokes": ["no", "yes", "no"], "age": ["old", "old", "young"]})
    where = [{"smokes": "yes"}, {"age": "old", "smokes": ["no", "yes"]}]
    with pytest.warns(DeprecationWarning, match=r"estimate_share is now estimate\(reports, {'smokes': 'yes'}\)"):
        assert tacit.estimate_share(reports, where=where[0]) == tacit.estimate(reports, where[0])
    with pytest.warns(DeprecationWarning, match="estimate_shares is now estimate"):
        assert tacit.estimate_shares(reports, where) == tacit.estimate(reports, where)
    with pytest.warns(DeprecationWarning, match="estimate_tables is now estimate"):
        tables = tacit.estimate_tables(reports, ["smokes", ["smokes", "age"]])
    assert [table.names for table in tables] == [("smokes",), ("smokes", "age")]


@pytest.mark.parametrize("package", ["tacit", "tacit.mine", "tacit.measures", "tacit.channel"])
def test_a_name_that_does_not_exist_is_refused(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nosuch'"):
        importlib.import_module(package).nosuch  # noqa: B018


@pytest.mark.parametrize("kind", tacit.channels.KINDS)
def test_every_channel_has_its_signature_and_docstring(kind):
    function = getattr(tacit.channels, kind.replace("-", "_"))
    parameters = inspect.signature(function).parameters
    assert all(parameter.annotation is not parameter.empty for parameter in parameters.values())
    assert all(f"{name}" in inspect.getdoc(function).partition("Parameters")[2] for name in parameters)
