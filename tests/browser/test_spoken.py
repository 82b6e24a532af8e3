"""What a screen reader is given to say: the accessibility tree, screen by screen."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import open_page, start
from tests.browser.asked import ASKED
from tests.survey.server import RunningServer

pytestmark = pytest.mark.browser

Served = tuple[RunningServer, Store]
SPOKEN = ASKED.replace("name: asked", "name: spoken").replace("title: Asked", "title: Spoken")


@pytest.fixture(scope="module")
def spoken(served: Served) -> StoredSurvey:
    return served[1].add(Definition.from_yaml(SPOKEN), SPOKEN)


def tree(page: Any) -> list[dict[str, Any]]:
    """Every node that is spoken: role, name, description and states."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return [
        {
            "role": node["role"]["value"],
            "name": node.get("name", {}).get("value", ""),
            "description": node.get("description", {}).get("value", ""),
            **{one["name"]: one["value"].get("value") for one in node.get("properties", [])},
        }
        for node in nodes
        if not node.get("ignored")
    ]


def only(page: Any, role: str, name: str = "") -> dict[str, Any]:
    [node] = [one for one in tree(page) if one["role"] == role and one["name"].startswith(name)]
    return node


def test_nothing_of_the_introduction_is_said_twice_and_a_changed_example_is_said(
    context: Any, served: Served, spoken: StoredSurvey
) -> None:
    page = open_page(context, served[0], spoken)
    said = Counter(
        one["name"] for one in tree(page) if one["role"] in ("StaticText", "image") and len(one["name"]) > 40
    )
    assert said
    assert max(said.values()) == 1
    assert page.get_attribute(".caption", "aria-live") == "polite"
    page.click("button[type=submit]")
    consent = only(page, "checkbox", "I want to take part")
    assert consent["focused"]
    assert consent["invalid"] == "true"
    assert consent["description"] == "Please tick that you want to take part."


def test_a_page_says_where_one_is_and_each_field_what_it_lacks(
    context: Any, served: Served, spoken: StoredSurvey
) -> None:
    page = open_page(context, served[0], spoken)
    start(page)
    heading = only(page, "heading")
    assert heading["focused"]
    assert heading["description"] == "Page 1 of 3"
    page.click("button[type=submit]")
    born = only(page, "Date")
    assert (born["invalid"], born["description"]) == ("true", "Please enter a date.")
    page.fill("#born-0", "1990-02-03")
    born = only(page, "Date")
    assert (born["invalid"], born["description"]) == ("false", "")
    page.check("#region-0")
    page.check("#understood-1")
    page.click("button[type=submit]")
    page.wait_for_selector("#takes-0")
    assert only(page, "heading")["description"] == "Page 2 of 3"
    assert only(page, "group", "What do you take?")["description"] == "Choose all that apply, or none."
