"""The page's words: every language has every word and every place, and a file of words can stand in for a language."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from tacit.channel.document import document_hash
from tacit.cli.survey import app
from tacit.errors import InvalidInput
from tacit.survey.definition import Definition
from tacit.survey.words import FOLDER, RELEASED, checked_words, page_words, released_words, template
from tacit.survey.yaml_lines import parse
from tests.survey.page import STATIC, node
from tests.survey.questionnaires import SMALL

TURKISH = SMALL.replace("privacy: strong", "privacy: strong\nlanguages: [tr]\nwords: {tr: tr.yaml}")


def written(words: dict[str, Any]) -> str:
    return yaml.safe_dump(words, allow_unicode=True)


def english() -> dict[str, Any]:
    return dict(json.loads(released_words("en")))


@pytest.mark.parametrize("language", RELEASED)
def test_every_language_has_every_word_and_every_place(language: str) -> None:
    assert checked_words(parse(released_words(language), language)) == json.loads(released_words(language))


def test_every_file_of_words_is_released() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(RELEASED)


def test_the_page_uses_every_word_and_no_other() -> None:
    modules = "".join(path.read_text(encoding="utf-8") for path in STATIC.rglob("*.js"))
    script = re.sub(r"^import .*$", "", modules, flags=re.MULTILINE)
    for name in english():
        # Some words are looked up by the name of a reason, which then stands in the script as a text.
        assert re.search(rf'words\.{name}\b|"{name}"', script), f"no script uses {name!r}"
    for name in re.findall(r"\bwords\.(\w+)", script):
        assert name in english(), f"{name!r} is no word"


def test_a_number_takes_the_form_of_its_language() -> None:
    texts = {
        "missing": {"one": "One is open.", "few": "{n} are open (few).", "other": "{n} are open."},
        "plain": "Next",
    }

    def spoken(language: str, n: int) -> Any:
        return node("spoken", script="page_hash.mjs", texts=texts, language=language, values={"n": n})["missing"]

    assert (spoken("en", 1), spoken("en", 3)) == ("One is open.", "3 are open.")
    assert spoken("pl", 3) == "3 are open (few)."


def test_words_of_another_language_are_frozen_with_the_survey(tmp_path: Path) -> None:
    (tmp_path / "tr.yaml").write_text("\n".join(template()).replace("Start", "Başla"), encoding="utf-8")
    (tmp_path / "survey.yaml").write_text(TURKISH, encoding="utf-8")
    definition = Definition.read(tmp_path / "survey.yaml")
    assert definition.document["words"]["tr"]["start"] == "Başla"
    assert definition.hash == document_hash(definition.document)
    assert page_words(definition.document) == {"words": {}, "hashes": {}}


def test_the_page_carries_its_first_language_and_the_hashes_of_the_others() -> None:
    carried = page_words({"languages": ["de", "ar"]})
    assert list(carried["words"]) == ["de"]
    assert set(carried["hashes"]) == {"de", "ar"}


REFUSED = {
    "lacks the place {of}": {"page": "Page {n}"},
    "'page' has the place {all}": {"page": "Page {n} of {of}, {all}"},
    "The direction 'up' does not exist": {"direction": "up"},
    "The words has no key 'nxet'": {"nxet": "Weiter"},
    "The words needs the key 'next'": {"next": None},
}


@pytest.mark.parametrize("message", REFUSED)
def test_words_that_the_page_could_not_speak_are_refused_with_their_line(message: str) -> None:
    words = {name: text for name, text in {**english(), **REFUSED[message]}.items() if text is not None}
    with pytest.raises(InvalidInput, match=re.escape(message)) as refusal:
        checked_words(parse(written(words), "tr.yaml"))
    assert re.match(r"tr\.yaml, line \d+: ", str(refusal.value))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("words: {tr: tr.yaml}", ""), "the page has no words of its own (buttons, the privacy label) in 'tr'"),
        (("{tr: tr.yaml}", "{tr: none.yaml}"), "there is no file of words 'none.yaml' beside this one"),
        (("languages: [tr]", "languages: [en]"), "words are given in 'tr', but languages lists en"),
        (("languages: [tr]", "languages: [Türkisch]"), "'Türkisch' is no language: write its short tag"),
    ],
)
def test_a_language_without_its_words_is_refused_with_its_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    (tmp_path / "tr.yaml").write_text("\n".join(template()), encoding="utf-8")
    (tmp_path / "survey.yaml").write_text(TURKISH.replace(*change), encoding="utf-8")
    with pytest.raises(InvalidInput, match=re.escape(message)) as refusal:
        Definition.read(tmp_path / "survey.yaml")
    assert re.match(r"survey\.yaml, line \d+: ", str(refusal.value))


def test_the_command_writes_a_file_that_can_be_translated(tmp_path: Path) -> None:
    file = tmp_path / "tr.yaml"
    done = CliRunner().invoke(app, ["words", str(file), "--from", "de", "--json"], catch_exceptions=False)
    assert json.loads(done.stdout) == {"file": str(file), "language": "de"}
    assert checked_words(parse(file.read_text(encoding="utf-8"), "tr.yaml")) == json.loads(released_words("de"))
    again = CliRunner().invoke(app, ["words", str(file)])
    assert "exists already" in str(again.exception)
    unknown = CliRunner().invoke(app, ["words", str(tmp_path / "x.yaml"), "--from", "xx"])
    assert "no words in 'xx'" in str(unknown.exception)
