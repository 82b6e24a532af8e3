"""What a respondent sees: who asks, cards, scales as rows of buttons, what may be left out and taken back, one's own answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tacit.errors import InvalidInput
from tacit.survey.definition import Definition
from tacit.survey.questionnaire_file import LARGEST_LOGO
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import open_page, start
from tests.browser.test_page import violations
from tests.survey.server import RunningServer

pytestmark = pytest.mark.browser

Served = tuple[RunningServer, Store]
# A picture that would run something, if it were more than a picture.
LOGO = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4" onload="document.title='taken'">
<script>document.title = "taken"; fetch("/taken")</script><rect width="4" height="4"/></svg>"""
FACE = """\
name: face
title: Nursing
institution: "<b>Institute</b> of Health"
logo: logo.svg
minutes: 4
introduction: We ask how nurses are. It helps to plan. The rest is for those who read on.
contact: research@example.org
consent: I agree that my disguised answers are used for research.
privacy: strong
pages:
  - questions:
      - {name: tired, kind: scale, text: "Tired?", scale: {from: 0, to: 10, low: not at all, high: wholly}, sensitive: true}
      - {name: rests, kind: scale, text: Do you rest?, scale: {labels: [never, rarely, often]}, sensitive: true, optional: true}
      - {name: place, kind: choice, text: Where do you work?, answers: [ward, home], sensitive: false, optional: true}
"""


def write_face(folder: Path, logo: str | bytes = LOGO) -> Path:
    (folder / "logo.svg").write_bytes(logo if isinstance(logo, bytes) else logo.encode())
    (folder / "face.yaml").write_text(FACE)
    return folder / "face.yaml"


@pytest.fixture(scope="module")
def face(served: Served, tmp_path_factory: pytest.TempPathFactory) -> StoredSurvey:
    path = write_face(tmp_path_factory.mktemp("face"))
    return served[1].add(Definition.read(path), FACE)


def test_the_first_screen_says_who_asks_and_a_logo_is_nothing_but_a_picture(
    context: Any, served: Served, face: StoredSurvey
) -> None:
    addresses: list[str] = []
    context.on("request", lambda request: addresses.append(request.url))
    page = open_page(context, served[0], face, is_begun=False)
    assert page.inner_text(".who") == "<b>Institute</b> of Health"
    assert page.evaluate("document.querySelector('.who img').naturalWidth") > 0
    assert page.inner_text(".lead") == "We ask how nurses are. It helps to plan."
    assert page.evaluate(
        "(() => { const p = document.querySelector('.lead'); return p.scrollHeight <= p.clientHeight; })()"
    )
    assert "About 4 minutes" in page.inner_text(".facts")
    assert page.title() == "Nursing"
    assert not [address for address in addresses if "taken" in address]
    page.click(".asks > summary")
    assert "The rest is for those who read on." in page.inner_text(".asks")
    page.click("#begin")
    assert page.inner_text(".consent").startswith("I agree that my disguised answers are used for research.")
    assert page.evaluate("document.activeElement.textContent") == "Before you start"
    assert violations(page) == []


def test_a_scale_is_one_row_of_buttons_inside_its_card_on_the_narrowest_phone(
    browser: Any, served: Served, face: StoredSurvey
) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640}, locale="en")
    page = open_page(context, served[0], face, "#test")
    start(page)
    buttons = [label.bounding_box() for label in page.locator("#field-tired .scale label").all()]
    assert len(buttons) == 11
    assert len({box["y"] for box in buttons}) == 1
    assert min(box["width"] for box in buttons) >= 20
    assert min(box["height"] for box in buttons) >= 44
    card, text = (page.locator(name).bounding_box() for name in ("#field-tired", "#legend-tired"))
    assert card["y"] < text["y"]
    assert buttons[-1]["x"] + buttons[-1]["width"] <= card["x"] + card["width"]
    assert page.inner_text("#field-tired .ends").split() == ["not", "at", "all", "wholly"]
    # Where each step has its word, steps stand below one another on a phone and beside one another elsewhere.
    steps = page.locator("#field-rests .scale label")
    assert steps.all_inner_texts() == ["1\nnever", "2\nrarely", "3\noften"]
    assert len({label.bounding_box()["y"] for label in steps.all()}) == 3
    page.set_viewport_size({"width": 1280, "height": 800})
    assert len({label.bounding_box()["y"] for label in steps.all()}) == 1
    page.keyboard.press("Tab")
    page.focus("#tired-0")
    page.keyboard.press("ArrowRight")
    assert page.is_checked("#tired-1")
    assert violations(page) == []
    context.close()


def test_what_may_be_left_out_says_so_can_be_taken_back_and_is_shown_before_sending(
    context: Any, served: Served, face: StoredSurvey
) -> None:
    page = open_page(context, served[0], face, "#test")
    start(page)
    assert page.inner_text("#legend-place .marks").split() == ["not", "disguised", "optional"]
    assert "optional" not in page.inner_text("#legend-tired")
    assert page.locator("#place-back").count() == 0
    page.check("#place-1")
    page.click("#place-back")
    assert not page.is_checked("#place-1")
    page.check("#tired-7", force=True)
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    assert page.inner_text("dl.odds dd.own >> nth=0") == "7"
    assert "Only you see your answers here." in page.inner_text("main")
    assert page.inner_text("dl.open dd") == "No answer"


@pytest.mark.parametrize("logo", [b"GIF89a", b"<svg>" + b" " * LARGEST_LOGO, b"<html><svg></svg></html>"])
def test_a_logo_that_is_no_small_picture_is_refused(tmp_path: Path, logo: bytes) -> None:
    with pytest.raises(InvalidInput, match="a logo is an SVG or PNG picture of at most 8,000 bytes"):
        Definition.read(write_face(tmp_path, logo))
