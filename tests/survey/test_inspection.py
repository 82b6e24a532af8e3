"""A survey verified from outside: its address, a saved page, its definition; and everything that could be wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tacit.cli.survey import app
from tacit.survey.definition import Definition
from tacit.survey.inspection import inspect_page
from tacit.survey.site import inert_json
from tacit.survey.store.surveys import Store
from tests.survey.questionnaires import RICH, SMALL
from tests.survey.server import running_server
from tests.survey.test_verification import REFUSALS, changed, copies, flattering_prior


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("verified")
    store = Store.open(str(folder / "survey.db"))
    survey = store.add(Definition.from_yaml(RICH), RICH)
    with running_server(str(folder / "survey.db"), folder / "log") as server:
        yield f"{server.url}/s/{survey.fingerprint}"
    store.close()


@pytest.fixture(scope="module")
def saved(address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from urllib.request import urlopen

    path = tmp_path_factory.mktemp("saved") / "page.html"
    with urlopen(address) as answer:
        path.write_bytes(answer.read())
    return path


def verify(source: object, *options: str) -> Any:
    return CliRunner().invoke(app, ["verify", str(source), *options])


def test_a_live_page_its_saved_copy_and_its_definition_are_verified(address: str, saved: Path, tmp_path: Path) -> None:
    definition = tmp_path / "definition.json"
    definition.write_text(json.dumps(inspect_page(address).document))
    for source, page in ((address, "as released"), (saved, "as released"), (definition, None)):
        answer = json.loads(verify(source, "--json").stdout)
        assert answer["verified"]
        assert answer["page"] == page
        assert answer["fingerprint"] == address.rsplit("/", 1)[1]
        assert {one["attribute"] for one in answer["answers"]} >= {"works", "hours", "symptoms_cough"}
        assert answer["gamma"] > 1


def test_what_was_verified_is_said_in_lines(saved: Path) -> None:
    shown = verify(saved).stdout
    assert "at most" in shown
    assert "all answers together" in shown
    assert "byte for byte" in shown


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda page: page.replace("const ROUNDING = 1e-9", "const ROUNDING = 1"), "script is not that of this release"),
        (lambda page: page.replace("</style>", "* {}</style>"), "style is not that of this release"),
        (lambda page: page.replace("</body>", "<script>alert(1)</script></body>"), "(4 scripts)"),
        (lambda page: page.replace("</body>", '<script src="https://elsewhere.example/x.js"></script></body>'), "not part of it"),
        (lambda page: page.replace("<main", '<main onclick="x()"'), "not part of it"),
        (lambda page: page.replace('"allow_unbounded":false', '"allow_unbounded":true'), "not the one its hash was made for"),
    ],
)  # fmt: skip
def test_a_page_with_anything_changed_is_refused(
    saved: Path, tmp_path: Path, change: Callable[[str], str], reason: str
) -> None:
    text = saved.read_text()
    altered = tmp_path / "altered.html"
    altered.write_text(change(text))
    assert altered.read_text() != text
    result = verify(altered)
    assert result.exception is not None
    assert reason in str(result.exception)


@pytest.mark.parametrize(
    ("attack", "reason"),
    [
        (copies, "Each answer of 'smokes' must be reported by exactly one attribute."),
        (flattering_prior, "Reports of drinks can change the odds of a guess 10,009,576 times; at most 19 is allowed."),
    ],
)
def test_a_page_whose_definition_breaks_its_promise_is_refused(
    saved: Path, tmp_path: Path, attack: Any, reason: str
) -> None:
    text = saved.read_text()
    begin = text.index('id="definition">') + len('id="definition">')
    served = tmp_path / "served.html"
    served.write_text(text[:begin] + inert_json(changed(attack)) + text[text.index("</script>", begin) :])
    assert reason in str(verify(served).exception)


def test_every_definition_the_page_refuses_is_refused_here(tmp_path: Path) -> None:
    for number, (change, _, text) in enumerate(REFUSALS):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(changed(change, text)))
        assert verify(path).exception is not None


def test_a_link_for_another_definition_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.survey import inspection

    page = inspection._fetch_page(address)
    monkeypatch.setattr(inspection, "_fetch_page", lambda _: page)
    assert inspect_page(address).problems == ()
    assert (
        "made for another definition" in inspect_page(address[:-1] + ("0" if address[-1] != "0" else "1")).problems[0]
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON"),
        ("{}", "its format is not tacit-survey"),
        ('{"format": "tacit-survey/1"}', "a part is missing or of the wrong kind"),
        ("<p>Nothing here</p>", "no element with the id 'definition'"),
    ],
)
def test_what_is_no_survey_is_refused_in_one_sentence(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert reason in str(verify(path).exception)


def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path: Path) -> None:
    assert "could not be read" in str(verify(tmp_path / "absent.json").exception)
    assert "could not be read" in str(verify("http://127.0.0.1:9/s/0").exception)


def test_the_first_versions_definitions_carry_no_programs(tmp_path: Path) -> None:
    old = {name: part for name, part in Definition.from_yaml(SMALL).document.items() if name != "programs"}
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert "does not carry one program for each group" in str(verify(tmp_path / "old.json").exception)
