"""What the project promises of itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

import tacit

ROOT = Path(__file__).parent.parent


def test_pages_named_in_the_readme_exist() -> None:
    for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{page} links to {target}"


ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_every_module_named_in_the_architecture_exists() -> None:
    for name in re.findall(r"^\| `([a-z_]+/?(?:\.py)?)`", ARCHITECTURE, flags=re.MULTILINE):
        assert (ROOT / "src" / "tacit" / name).exists(), name


def _architecture_rows() -> Iterator[tuple[str, str]]:
    """Each package with a sentence about what it holds: from the list of all, and from the lists inside the large ones."""
    yield from re.findall(r"^\| `([a-z_]+)/` \| (.*) \|$", ARCHITECTURE, flags=re.MULTILINE)
    for package, listed in re.findall(r"^### Inside `([a-z]+)/`\n(.*?)(?=^##)", ARCHITECTURE, flags=re.M | re.S):
        yield from ((package, where) for where in re.findall(r"^\| [^|`]* \| (.*) \|$", listed, flags=re.MULTILINE))


def test_what_the_architecture_says_a_package_holds_is_there() -> None:
    checked = 0
    for package, holds in _architecture_rows():
        folder = ROOT / "src" / "tacit" / package
        for name in re.findall(r"`([a-z_]+(?:/|\.js)?)`", holds):
            places = [*folder.rglob(f"{name}.py"), *folder.rglob(name.rstrip("/"))]
            assert places, f"{package}/ has no {name}"
            checked += 1
    assert checked >= 200


def test_the_architecture_names_every_module() -> None:
    modules = {file.stem for file in (ROOT / "src" / "tacit").rglob("*.py") if not file.stem.startswith("_")}
    named = {Path(name).stem for name in re.findall(r"`([\w/.]+)`", ARCHITECTURE)}
    assert sorted(modules - named) == []


def test_every_list_of_a_package_in_the_architecture_is_linked() -> None:
    linked = set(re.findall(r"\(#inside-([a-z]+)\)", ARCHITECTURE))
    assert linked == set(re.findall(r"^### Inside `([a-z]+)/`$", ARCHITECTURE, flags=re.MULTILINE))


def test_the_files_that_one_is_told_to_touch_exist() -> None:
    section = ARCHITECTURE.split("## Which files one touches")[1].split("##")[0]
    paths = re.findall(r"`((?:[a-z_]+/)+[a-z_.]*)`", section)
    assert len(paths) >= 15
    for path in paths:
        root = ROOT if path.startswith(("tests/", "docs/")) else ROOT / "src" / "tacit"
        assert (root / path).exists(), path


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_project_names_its_makers_and_no_address() -> None:
    assert PROJECT["authors"] == [{"name": "Tacit contributors"}]
    assert "urls" not in PROJECT
    versions = [entry.rpartition(" ")[2] for entry in PROJECT["classifiers"] if "Python :: 3." in entry]
    assert versions == ["3.11", "3.12", "3.13", "3.14"]


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == tacit.__version__
    assert citation["authors"] == [{"name": "Tacit contributors"}]


def test_the_lock_has_exact_versions_with_hashes_and_no_address() -> None:
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    assert not re.search(r"https?://|file:|index-url|find-links| @ ", text)
    entries = re.split(r"\n(?=[a-z0-9])", text[text.index("\n") + 1 :].strip())
    assert all(re.match(r"[a-z0-9._-]+==\S+", entry) and "--hash=sha256:" in entry for entry in entries)
    locked = {entry.split("==")[0] for entry in entries}
    wanted = {re.split(r"[\[<>=; ]", line)[0].lower().replace("_", "-") for line in PROJECT["dependencies"]}
    assert wanted <= locked


def test_the_workflow_covers_what_is_declared() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert all(f"Programming Language :: Python :: {version}" in PROJECT["classifiers"] for version in matrix)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    called = re.findall(r"make ([a-z -]+)", (ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8"))
    assert {target for line in called for target in line.split()} <= targets


def test_the_bill_of_materials_lists_what_the_server_needs(tmp_path: Path) -> None:
    out = tmp_path / "bom.json"
    subprocess.run([sys.executable, ROOT / "release/sbom.py", out], check=True)
    bom = json.loads(out.read_text(encoding="utf-8"))
    names = {component["name"] for component in bom["components"]}
    assert {"starlette", "uvicorn", "cryptography", "argon2-cffi", "numpy"} <= names
    assert not {"pytest", "pyspark", "ruff"} & names
    references = {component["bom-ref"] for component in bom["components"]} | {bom["metadata"]["component"]["bom-ref"]}
    assert all(set(entry["dependsOn"]) <= references for entry in bom["dependencies"])
    assert "://" not in out.read_text(encoding="utf-8")


def test_a_disk_too_full_for_the_tests_is_named_before_they_start(tmp_path: Path) -> None:
    df = tmp_path / "df"
    df.write_text("#!/bin/sh\nprintf 'Avail\\n  314\\n'\n")
    df.chmod(0o755)
    run = subprocess.run(
        [ROOT / ".ci" / "run"], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, timeout=20
    )
    assert run.returncode == 1
    assert run.stderr == "Tacit's tests need 4,000 MB on this disk; 314 MB are free. Free some, then start again.\n"
    assert run.stdout == ""
