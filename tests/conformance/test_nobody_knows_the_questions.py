"""Outside `tacit.survey.kinds` and its scripts nobody tests of which kind a question is, and a kind is 1 + 1 files and a line."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tacit
from tacit.survey.question_kinds import KINDS, file_name

ROOT = Path(tacit.__file__).parent
SURVEY = ROOT / "survey"
WORDS = "|".join(map(re.escape, KINDS))
# `kind === "several"`, `"text" !== one.kind`, and a case of a switch over one.
SCRIPT_TEST = re.compile(
    rf'\bkind\b\)?\s*[=!]==?\s*["`]|["`](?:{WORDS})["`]\s*[=!]==?\s*\S*\bkind\b|switch \([^)]*\bkind\b'
)


def kind_comparisons(tree: ast.AST) -> Iterator[str]:
    """Comparisons of something called kind with the name of a kind of question."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Match):
            words = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
            named = [
                ast.unparse(part)
                for part in ast.walk(node)
                if isinstance(part, ast.Name | ast.Attribute | ast.Subscript)
            ]
            if words & set(KINDS) and any(re.search(r"\bkind\b", name) for name in named):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def test_no_module_outside_tests_a_questions_kind() -> None:
    folders = (SURVEY, ROOT / "cli" / "survey")
    outside = [path for folder in folders for path in folder.rglob("*.py") if SURVEY / "kinds" not in path.parents]
    testing = {str(path): found for path in outside if (found := list(kind_comparisons(ast.parse(path.read_text()))))}
    assert not testing


def test_no_script_outside_tests_a_questions_kind() -> None:
    outside = [path for path in SURVEY.glob("static/**/*.js") if path.parent.name != "kinds"]
    assert len(outside) > 20
    assert not {path.name: found for path in outside if (found := SCRIPT_TEST.findall(path.read_text()))}


@pytest.mark.parametrize(
    "code",
    [
        "question.kind == 'several'",
        "one['kind'] not in ('several', 'text')",
        "kind == 'grid'",
        "'date' != question.kind",
    ],
)
def test_the_test_notices_a_module_that_asks(code: str) -> None:
    assert list(kind_comparisons(ast.parse(code)))


@pytest.mark.parametrize(
    "code", ['one.kind === "several"', 'kind !== "text"', '"date" === one.kind', "switch (one.kind) {"]
)
def test_the_test_notices_a_script_that_asks(code: str) -> None:
    assert SCRIPT_TEST.search(code)


def test_each_kind_has_a_file_and_each_that_is_asked_a_script() -> None:
    assert {path.stem for path in SURVEY.glob("kinds/*.py")} == {"__init__", *map(file_name, KINDS)}
    # A grid is written as one question and asked as scales.
    assert {path.stem for path in SURVEY.glob("static/kinds/*.js")} == {file_name(one) for one in KINDS} - {"grid"}


STARS = """
from tacit.survey.question_kinds import Answers, QuestionKind, in_every_language


class Stars(QuestionKind):
    own_key = "stars"

    def read_answers(self, entry, reader):
        numbers = [str(count) for count in range(1, int(entry.number("stars")) + 1)]
        return Answers(in_every_language([(number, "★" * int(number)) for number in numbers], reader.languages), ordered=True)

    def details(self, fields, answers):
        return {"most": len(answers.named)}


KIND = Stars()
"""
STARS_SCRIPT = """
import { element } from "../dom.js";
import { addKind } from "../kinds.js";

function inputs({ name, most }, { answers }, view, changed) {
  const choose = (event) => ((answers[name] = event.target.value), changed());
  return element("input", { id: `${name}-0`, type: "range", min: 1, max: most, oninput: choose });
}

addKind("stars", { inputs });
"""


@pytest.fixture(scope="module")
def with_stars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with a kind of question that it does not have: a file, a script and a line."""
    source = tmp_path_factory.mktemp("stars")
    shutil.copytree(ROOT, source / "tacit", ignore=shutil.ignore_patterns("__pycache__"))
    survey = source / "tacit" / "survey"
    (survey / "kinds" / "stars.py").write_text(STARS)
    (survey / "static" / "kinds" / "stars.js").write_text(STARS_SCRIPT)
    registry = survey / "question_kinds.py"
    registry.write_text(registry.read_text().replace('"grid")', '"grid", "stars")'))
    return source


ASKING = """
import re, sys
from pathlib import Path
from starlette.testclient import TestClient
from tacit.survey.app import SurveyServer
from tacit.survey.definition import Definition
from tacit.survey.headers import ServerSettings
text = Path(sys.argv[1]).read_text()
definition = Definition.from_yaml(text)
print(*definition.scheme.schema["mood"].answers, sep="|")
server = SurveyServer(Path(sys.argv[2]), ServerSettings(rate=0))
survey = server.store.add(definition, text)
page = TestClient(server, base_url="http://survey.test").get(f"/s/{survey.fingerprint}").text
server.close()
Path(sys.argv[3]).write_text(page)
print('addKind("stars"' in page, '"most":5' in page)
"""
QUESTIONNAIRE = """\
name: mood
title: Mood
introduction: We ask about moods.
contact: research@example.org
privacy: strong
pages:
  - questions:
      - {name: mood, kind: stars, text: How are you?, stars: 5, sensitive: true, prefer_not_to_say: false}
"""


def test_a_new_kind_is_a_file_a_script_and_a_line(with_stars: Path, tmp_path: Path) -> None:
    (tmp_path / "mood.yaml").write_text(QUESTIONNAIRE)
    paths = [str(tmp_path / name) for name in ("mood.yaml", "survey.db", "page.html")]
    done = subprocess.run(
        [sys.executable, "-c", ASKING, *paths],
        env={"PYTHONPATH": str(with_stars), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["1|2|3|4|5", "True True"]


def test_without_its_line_the_kind_is_refused(tmp_path: Path) -> None:
    from tacit.errors import InvalidInput
    from tacit.survey.definition import Definition

    with pytest.raises(InvalidInput, match="has no key 'stars'"):
        Definition.from_yaml(QUESTIONNAIRE)
