"""The base install: what it does by itself, and what it says where an extra is missing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tacit.extras import EXTRAS, missing_extra

ROOT = Path(__file__).parent.parent

# Every command runs in one fresh interpreter in which no module of any extra can be imported.
WITHOUT_EXTRAS = """
import contextlib, io, json, sys
from tacit.extras import EXTRAS
for modules in EXTRAS.values():
    sys.modules.update(dict.fromkeys(modules[1]))
from tacit.cli import main
answers = []
for command in json.loads(sys.argv[1]):
    sys.argv = ["tacit", *command]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    answers.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(answers))
"""


def without_extras(commands: list[list[str]], folder: Path) -> list[tuple[int, str, str]]:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, json.dumps(commands)],
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(code, out, err) for code, out, err in json.loads(done.stdout)]


BASE = [
    ["design", "scheme", "--data", "truth.csv", "--gamma", "9", "--public", "sex", "--out", "s.json"],
    ["disguise", "truth.csv", "--scheme", "s.json", "--out", "r.parquet"],
    ["disguise", "truth.csv", "--scheme", "s.json", "--out", "r.csv"],
    ["estimate", "r.parquet", "--scheme", "s.json", "--attributes", "smokes,sex"],
    ["estimate", "r.csv", "--scheme", "s.json", "--attributes", "smokes", "--method", "likelihood"],
    ["design", "scheme", "--data", "truth.csv", "--theta", "0.8", "--public", "sex", "--out", "f.json"],
    ["disguise", "truth.csv", "--scheme", "f.json", "--out", "f.csv"],
    ["estimate", "f.csv", "--scheme", "f.json", "--attributes", "smokes", "--method", "likelihood"],
    ["measure", "s.json"],
    ["plan", "s.json", "--margin", "0.05"],
    ["survey", "new", "survey.yaml"],
]
EXTRA = [
    (["mine", "tree", "r.csv", "--scheme", "s.json", "--class", "smokes"], "mine"),
    (["mine", "rules", "r.csv", "--scheme", "s.json"], "mine"),
    (["measure", "s.json", "--attack", "--reports", "r.csv"], "mine"),
    (["design", "front", "--prior", "0.5,0.3,0.2", "--records", "100", "--delta", "0.8"], "design"),
    (["design", "front", "--method", "optrr", "--prior", "0.5,0.5", "--records", "9", "--delta", "0.8"], "design"),
    (["publish", "truth.csv", "--k", "5", "--attributes", "smokes,sex", "--out", "o.csv"], "publish"),
    (["check", "truth.csv", "--attributes", "smokes,sex"], "publish"),
    (["survey", "open", "survey.yaml"], "survey"),
    # All that is missing at once: one extra after the other would be refused for the next.
    (["demo", "--out", "out"], "mine,design,publish,regress"),
    (["reproduce", "trees", "--quick", "--out", "out"], "mine,design,publish,report"),
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, str, str]]:
    folder = tmp_path_factory.mktemp("base")
    (folder / "truth.csv").write_text("smokes,sex\n" + "no,f\nyes,m\nno,m\nno,f\n" * 50)
    return without_extras([*BASE, *([*command, "--json"] for command, _ in EXTRA)], folder)


def test_the_base_designs_disguises_estimates_measures_and_plans(answers: list[tuple[int, str, str]]) -> None:
    for command, (code, _, err) in zip(BASE, answers, strict=False):
        assert code == 0, (command, err)


@pytest.mark.slow
def test_what_needs_an_extra_says_so_in_one_sentence(answers: list[tuple[int, str, str]]) -> None:
    for (command, extra), (code, out, err) in zip(EXTRA, answers[len(BASE) :], strict=True):
        assert code == 2, command
        assert f"pip install 'tacit[{extra}]'" in err, command
        assert "Traceback" not in err
        assert json.loads(out) == {"error": err.removeprefix("Error: ").strip()}


def test_a_module_of_no_extra_is_no_missing_extra() -> None:
    assert missing_extra(ModuleNotFoundError("No module named 'nowhere'", name="nowhere")) is None


def test_public_names_name_their_extra() -> None:
    script = (
        "import sys, tacit\n"
        "from tacit.errors import MissingExtra\n"
        "sys.modules.update(dict.fromkeys(['numba', 'sklearn', 'threadpoolctl']))\n"
        "for name in ('attack', 'TreeClassifier', 'anonymize'):\n"
        "    try:\n"
        "        getattr(tacit, name)\n"
        "    except MissingExtra as problem:\n"
        "        print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert len(re.findall(r"Run: pip install 'tacit\[(?:mine|publish)\]'", done.stdout)) == 3


def test_extras_of_the_package_are_the_ones_named_in_messages() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRAS) <= set(declared)
    assert set(declared) - set(EXTRAS) == {"all", "dev", "docs", "bench"}
    assert all(extra in declared["all"][0] for extra in EXTRAS)
