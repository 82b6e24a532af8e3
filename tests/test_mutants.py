"""The faults of ``make mutants``: where they are put."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tools.mutants.faults import FAULTS, Fault
from tools.mutants.patching import put_in
from tools.mutants.reach import Reach, ReachFile, Tracer
from tools.mutants.results import EQUIVALENT, Results, equivalents
from tools.mutants.running import Outcome
from tools.mutants.sites import Function, Site, sites_of
from tools.mutants.targets import ROOT, modules, stages

TEXT = '''
def tried(values: list[int] | None, *, flag: bool = True) -> int:
    """A docstring with 1 + 1."""
    if not values or len(values) >= 3:
        raise ValueError(f"{len(values or ())} is more than 2")
    total = 0
    for value in sorted(values):
        total += max(value, 0) * 2
    print(total)
    return -total if flag and total > 1.5 else "a" + "b"
'''


@pytest.fixture
def faulty(tmp_path: Path) -> dict[str, str]:
    """What the text becomes by each fault."""
    file = tmp_path / "text.py"
    file.write_text(TEXT)
    return {site.shown(TEXT.encode()): site.applied(TEXT.encode()).decode() for site in sites_of(file, "text.py")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("len(values) >= 3", "len(values) > 3"),
        ("len(values) >= 3", "len(values) >= 4"),
        ("not values or", "not values and"),
        ("not values or", "values or"),
        ("if not values or len(values) >= 3", "if (not (not values or len(values) >= 3))"),
        ('raise ValueError(f"{len(values or ())} is more than 2")', "pass"),
        ("sorted(values)", "list(values)"),
        ("total += max(value, 0) * 2", "pass"),
        ("max(value, 0)", "min(value, 0)"),
        (") * 2", ") / 2"),
        ("print(total)", "pass"),
        ("return -total", "return total"),
        ("total > 1.5", "total > 2.25"),
    ],
)
def test_each_kind_of_fault_is_put_in(faulty: dict[str, str], before: str, after: str) -> None:
    assert TEXT.replace(before, after) in faulty.values()


def test_texts_annotations_and_docstrings_are_left_alone(faulty: dict[str, str]) -> None:
    for changed in faulty.values():
        ast.parse(changed)
        assert "list[int] | None" in changed
        assert "1 + 1" in changed
        assert '"a" + "b"' in changed
    assert not any("more than 3" in changed for changed in faulty.values())


def test_a_reversed_comparison_is_one_fault_not_two(tmp_path: Path) -> None:
    file = tmp_path / "text.py"
    file.write_text("if a == b:\n    pass\nif not c:\n    pass\nif a < b:\n    pass\n")
    changes = [site.applied(file.read_bytes()) for site in sites_of(file, "text.py")]
    assert len(changes) == len(set(changes)) == 4


NESTED = """
START = 1

class Counter:
    def added(self, value, step=2):
        inner = lambda: value + step
        return inner()

def made():
    def one():
        return 3
    return one

twice = made()
"""


def _site(sites: list[Site], what: str, text: str) -> Site:
    return next(site for site in sites if what in site.shown(text.encode()))


def test_a_fault_knows_its_function_and_what_runs_on_import(tmp_path: Path) -> None:
    file = tmp_path / "nested.py"
    file.write_text(NESTED)
    sites = sites_of(file, "nested.py")
    assert _site(sites, "'1' -> '2'", NESTED).function == Function("", 0)
    assert _site(sites, "'2' -> '3'", NESTED).function == Function("Counter", 0)  # a default is made with its function
    assert _site(sites, "'+' -> '-'", NESTED).function == Function("Counter.added.lambda", 6)
    moved = b"\n\n" + NESTED.encode()
    file.write_bytes(moved)
    assert {site.identity(moved) for site in sites_of(file, "nested.py")} == {
        site.identity(NESTED.encode()) for site in sites
    }


def _imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("nested", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_fault_is_put_into_functions_that_are_imported_already(tmp_path: Path) -> None:
    file = tmp_path / "nested.py"
    file.write_text(NESTED)
    module = _imported(file)
    counter = module.Counter()
    sites = sites_of(file, "nested.py")
    for fault in ("'+' -> '-'", "'3' -> '4'"):
        changed = _site(sites, fault, NESTED).applied(NESTED.encode())
        assert put_in(str(file), NESTED.encode(), changed) > 0
    assert counter.added(5) == 3
    assert module.twice() == 4  # a function that was made before the fault
    assert put_in(str(file), NESTED.encode(), NESTED.encode()) == 0


def test_the_tracer_tells_which_functions_are_called(tmp_path: Path) -> None:
    file = tmp_path / "nested.py"
    file.write_text(NESTED)
    module = _imported(file)
    tracer = Tracer(tmp_path)
    with tracer.watching():
        module.Counter().added(5)
    assert tracer.places() == {("nested.py", 5), ("nested.py", 6)}


def test_what_tests_reach_is_kept_until_a_file_changes(tmp_path: Path) -> None:
    sources = tmp_path / "src"
    sources.mkdir()
    (tmp_path / "test_one.py").write_text("")
    reach = {"test_one.py::test": Reach(0.5, {("a.py", 3)})}
    ReachFile(tmp_path / "reach.json", sources, tmp_path).keep("test_one.py", reach)
    assert ReachFile(tmp_path / "reach.json", sources, tmp_path).of("test_one.py") == reach
    (tmp_path / "test_one.py").write_text("changed")
    assert ReachFile(tmp_path / "reach.json", sources, tmp_path).of("test_one.py") is None


def test_a_broken_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    drawn = ["a", "b", "c", "d", "e"]
    first = Results(tmp_path / "results.jsonl")
    for name, how in zip(drawn, ["noticed", "survived", "hangs", "out of time"], strict=False):
        first.add(name, f"line of {name}", Outcome(how, 1.0))
    again = Results(tmp_path / "results.jsonl")
    assert [name for name in drawn if again.is_open(name, again=False)] == ["e"]
    assert [name for name in drawn if again.is_open(name, again=True)] == ["b", "d", "e"]
    # What is not noticed in its time counts as a survivor; what changes nothing is not counted.
    assert again.summed_up(drawn, tmp_path / "out.txt", 9, {"b": "no difference"}) == pytest.approx(2 / 3)
    assert "line of d" in (tmp_path / "out.txt").read_text()
    assert "line of b" not in (tmp_path / "out.txt").read_text()


def test_every_fault_that_changes_nothing_has_a_reason(tmp_path: Path) -> None:
    assert all(fault.startswith("src/tacit/") for fault in equivalents(EQUIVALENT))
    (tmp_path / "list.txt").write_text("# a fault without one\nsrc/a.py: f: 'x': constant at 0: '1' -> '2'\n")
    with pytest.raises(ValueError, match="gives no reason"):
        equivalents(tmp_path / "list.txt")


def test_every_module_has_tests_of_its_own() -> None:
    listed = {str(module.relative_to(ROOT)): stages(module) for module in modules()}
    assert [name for name, files in listed.items() if not files] == []
    assert listed["src/tacit/count/memory.py"][0] == ["tests/count/test_memory.py"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_named_fault_still_has_its_place_in_the_code(fault: Fault) -> None:
    assert fault.old in (ROOT / "src" / "tacit" / fault.file).read_text(encoding="utf-8")
