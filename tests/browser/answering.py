"""Answering a survey as a respondent does."""

from __future__ import annotations

from typing import Any

from tacit.survey.store.surveys import StoredSurvey
from tests.survey.server import RunningServer


def open_page(
    context: Any,
    server: RunningServer,
    survey: StoredSurvey,
    fragment: str = "",
    *,
    who: str | None = None,
    is_begun: bool = True,
) -> Any:
    """The first screen of a survey, with Start pressed unless it is not to begin.

    `who` answers the question whether one has answered here before ("me", "else").
    """
    page = context.new_page()
    page.goto(f"{server.url}/s/{survey.fingerprint}{fragment}")
    if who is not None:
        say_who(page, who)
    page.wait_for_selector("#begin, h1:has-text('cannot be answered')")
    if is_begun and page.locator("#begin").count():
        page.click("#begin")
    return page


def say_who(page: Any, who: str) -> None:
    """Answer whether it was oneself who answered here before, as the first person of the device or as a new one."""
    page.wait_for_selector("#who")
    page.click("#who button >> nth=0" if who == "me" else "#who button.quiet")


def read_on(page: Any) -> None:
    """Open everything that is one tap away on the first screen."""
    for summary in page.locator(".more > summary").all():
        summary.click()


def start(page: Any) -> None:
    page.wait_for_selector("#begin, #consent")
    if page.locator("#begin").count():
        page.click("#begin")
    page.check("#consent")
    page.click(".entrance button[type=submit]")
    page.wait_for_selector("fieldset")


def send(page: Any) -> None:
    """Finish the last page of questions, take the last look and send."""
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    page.click("#review button[type=submit]")
    page.wait_for_selector("#survey[data-state]:not([data-state=sending])")


def answer_small(page: Any, *, smokes: bool, drinks: bool) -> None:
    """Answer the small questionnaire and send it."""
    start(page)
    page.check("#age-1")
    page.check(f"#smokes-{int(smokes)}")
    page.check(f"#drinks-{int(drinks)}")
    send(page)
