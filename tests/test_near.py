"""The tests that a change reaches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.near import near_tests

FILES = {
    "src/tacit/low.py": "def deep():\n    return 1\n\n\ndef other():\n    return 2\n",
    "src/tacit/high.py": "from tacit.low import deep\n\n\ndef top():\n    return deep()\n",
    "tests/test_top.py": "from tacit.high import top\n\n\ndef test_top():\n    assert top()\n",
    "tests/test_other.py": "from tacit.low import other\n\n\ndef test_other():\n    assert other()\n",
    "tests/test_apart.py": "def test_apart():\n    assert True\n",
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    identity = ["-c", "user.name=tests", "-c", "user.email=tests@localhost"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], check=True)
    return tmp_path


def test_whoever_names_a_changed_function_is_near(repository: Path) -> None:
    (repository / "src/tacit/low.py").write_text(FILES["src/tacit/low.py"].replace("return 1", "return 3"))
    assert near_tests("HEAD") == ["tests/test_top.py"]
    (repository / "src/tacit/low.py").write_text(FILES["src/tacit/low.py"].replace("return 2", "return 3"))
    assert near_tests("HEAD") == ["tests/test_other.py"]


def test_changed_and_mirroring_tests_are_near(repository: Path) -> None:
    (repository / "tests/test_apart.py").write_text("def test_apart():\n    assert 1\n")
    (repository / "src/tacit/other.py").write_text("LIMIT = 1\n")
    assert near_tests("HEAD") == ["tests/test_apart.py", "tests/test_other.py"]


def test_nothing_changed_is_near_nothing(repository: Path) -> None:
    assert near_tests("HEAD") == []


def test_a_public_name_of_the_package_reaches_its_home(repository: Path) -> None:
    home, test = Path("src/tacit/estimation/__init__.py"), Path("tests/test_door.py")
    home.parent.mkdir()
    home.write_text("def estimate():\n    return 1\n")
    test.write_text("import tacit\n\n\ndef test_door():\n    assert tacit.estimate()\n")
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "more"], check=True)
    home.write_text("def estimate():\n    return 2\n")
    assert near_tests("HEAD") == [str(test)]
