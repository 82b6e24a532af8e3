"""Arms on the page: chance on the device deals one, each asks in its own way, and which one is sent in the clear."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store
from tests.browser.answering import open_page, read_on, start
from tests.browser.test_wire import recorded
from tests.survey.server import RunningServer
from tests.survey.test_dealing import ARMS

pytestmark = pytest.mark.browser

# The first number that the page draws deals the version.
DEALT = """(() => {
  const drawn = crypto.getRandomValues.bind(crypto);
  let isFirst = true;
  crypto.getRandomValues = (into) => {
    if (isFirst && into instanceof Uint32Array && into.length === 1) {
      isFirst = false;
      into[0] = Math.floor(SHARE * 2 ** 32);
      return into;
    }
    return drawn(into);
  };
})()"""


@pytest.mark.parametrize(
    ("share", "arm", "asked", "mark"),
    [
        (0.1, "device", "smokes", "disguised"),
        (0.6, "self", "smokes", "disguised by yourself"),
        (0.9, "direct", "smokes_direct", "not disguised"),
    ],
)
def test_each_arm_asks_in_its_own_way(
    context: Any, served: tuple[RunningServer, Store], share: float, arm: str, asked: str, mark: str
) -> None:
    server, store = served
    text = ARMS.replace("name: arms", f"name: arms_{arm}")
    survey = store.add(Definition.from_yaml(text), text)
    context.add_init_script(DEALT.replace("SHARE", str(share)))
    traffic = recorded(context)
    page = open_page(context, server, survey)
    read_on(page)
    # Announced to everybody before consent, whatever was dealt.
    assert "one of 3 versions" in page.inner_text(".versions")
    assert "Asked directly in one of the versions" in page.inner_text("dl.label")
    start(page)
    other = "smokes" if asked == "smokes_direct" else "smokes_direct"
    assert page.locator(f"#field-{other}").count() == 0
    assert page.inner_text(f"#field-{asked} .mark") == mark
    assert ("mother's birthday" in page.inner_text(f"#field-{asked}")) == (arm == "self")
    page.check("#age-0")
    page.check(f"#{asked}-1")
    page.check("#drinks-0")
    page.wait_for_timeout(200)
    page.reload()  # the same version again
    page.wait_for_selector(f"#{asked}-1:checked")
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    assert ("You run the chance device yourself" in page.inner_text("dl.odds")) == (arm == "self")
    page.click("#review button[type=submit]")
    page.wait_for_selector("#survey[data-state=stored]")
    # Of what other versions ask nothing is said.
    assert "Not asked" not in page.inner_text("dl.sent")
    (sent,) = [json.loads(one["body"])["report"] for one in traffic if one["method"] == "PUT"]
    shown = dict(zip(survey.wire.names, survey.wire.decode(sent), strict=True))
    assert shown["questionnaire"] == arm
    assert (shown["smokes"] is None) == (arm == "direct")
    assert shown["smokes_direct"] == ("yes" if arm == "direct" else "not asked")
    if arm == "self":
        assert shown["smokes"] == "yes"  # what the own device has shown is sent as it was entered
