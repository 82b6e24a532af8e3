"""The page's modules joined into the parts of the one script that stands in the page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess

import pytest
from starlette.testclient import TestClient

from tacit.survey.app import SurveyServer
from tacit.survey.assets import FOLDER, Inline, join_scripts, page_scripts, page_style
from tacit.survey.definition import Definition
from tacit.survey.headers import ServerSettings
from tests.survey.page import required
from tests.survey.questionnaires import SMALL

MODULES = {
    "count": "export const count = 2;\nexport function* upTo(end) {\n  for (let at = 1; at <= end; at += 1) yield at;\n}\n",
    "both": 'import { count as two, upTo } from "./count.js";\nimport * as number from "./count.js";\n'
    "export class Sum {\n  all = [...upTo(two)].reduce((a, b) => a + b) + number.count;\n}\n",
    "entry": 'import { Sum } from "./both.js";\nimport { count } from "./count.js";\n'
    "export async function told() {\n  return new Sum().all * count;\n}\n",
    "unused": "this is no script at all",
}


def test_joined_modules_run_as_they_would_alone() -> None:
    script = "".join(join_scripts(MODULES, ["count", "entry"]))
    script += "entryModule.told().then((told) => console.log(JSON.stringify(told)));"
    node = required("node", "node is not installed")
    done = subprocess.run([node, "-"], input=script, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == 10


@pytest.mark.parametrize(
    ("entries", "parts"),
    [(["entry"], [["count", "both", "entry"]]), (["both", "entry"], [["count", "both"], ["entry"]])],
)
def test_each_module_is_there_once_and_after_what_it_needs(entries: list[str], parts: list[list[str]]) -> None:
    assert [
        re.findall(r"^const (\w+)Module = ", part, re.MULTILINE) for part in join_scripts(MODULES, entries)
    ] == parts


def test_every_part_is_strict_on_its_own() -> None:
    assert all(part.text.startswith('"use strict";\n') for part in page_scripts())


def test_comments_stay_behind_and_code_beside_them_does_not() -> None:
    text = "// Why.\nconst a = 1; // what\n  // How.\nconst b = '// no comment';\n"
    [part] = join_scripts({"entry": text}, ["entry"])
    assert "Why" not in part
    assert "How" not in part
    assert "const a = 1; // what\nconst b = '// no comment';\n" in part


def test_what_judges_the_definition_comes_before_what_asks() -> None:
    first, *others = [part.text for part in page_scripts()]
    assert "const examinedModule" in first
    assert not any(name in first for name in ("const introductionModule", "const sendingModule", "const pageModule"))
    assert "const pageModule" in others[-1]


@pytest.mark.parametrize(
    "line", ['import "./count.js";', "export default 3;", "export { count };", "export let changing;"]
)
def test_a_line_that_cannot_be_joined_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=re.escape(line)):
        join_scripts({"entry": f"const count = 1;\n{line}\n"}, ["entry"])


@pytest.mark.parametrize("text", ["const end = '</script>';", "/* </style> */"])
def test_text_that_would_end_its_element_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must not contain the end"):
        Inline(text)


def test_every_line_of_code_of_every_module_is_in_the_page() -> None:
    script = "".join(part.text for part in page_scripts())
    for path in FOLDER.rglob("*.js"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.lstrip().startswith(("import ", "export ", "//")):
                assert line in script


def test_script_and_style_stand_in_the_page_as_the_policy_knows_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    server = SurveyServer(tmp_path_factory.mktemp("survey") / "survey.db", ServerSettings(rate=0))
    survey = server.store.add(Definition.from_yaml(SMALL), SMALL)
    answer = TestClient(server, base_url="http://survey.test").get(f"/s/{survey.fingerprint}")
    server.close()
    found = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    found += re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    inlines = [*page_scripts(), page_style()]
    assert found == [inline.text for inline in inlines]
    for inline in inlines:
        digest = base64.b64encode(hashlib.sha256(inline.text.encode()).digest()).decode()
        assert inline.source == f"'sha256-{digest}'"
        assert inline.source in answer.headers["content-security-policy"]
