"""Invitation codes on the page: checked first, spent by a press of the button, never offered to the next person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tacit.survey.codes import code_token, new_code
from tacit.survey.invitations import fingerprint_words
from tacit.survey.store.submissions import token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import answer_small, open_page, read_on, send, start
from tests.browser.test_wire import recorded
from tests.survey.server import RunningServer

pytestmark = pytest.mark.browser

Served = tuple[RunningServer, Store]


@pytest.fixture
def coded(served: Served) -> StoredSurvey:
    return served[1].named("coded")


def issued(store: Store, survey: StoredSurvey) -> str:
    code = new_code()
    store.add_codes(survey, [token_hash(survey, code_token(survey.fingerprint, code))])
    return code


def pressed(page: Any) -> str:
    """What the page says after Start was pressed in vain."""
    page.check("#consent")
    page.click("button[type=submit]")
    page.wait_for_selector(".problem:not(:empty)")
    return str(page.inner_text(".problem"))


def test_a_wrong_and_a_spent_code_are_known_before_the_first_question(
    browser: Any, served: Served, coded: StoredSurvey
) -> None:
    server, store = served
    code = issued(store, coded)
    contexts = [browser.new_context(locale="en") for _ in range(3)]
    first, second, third = (open_page(context, server, coded, f"#code={code}") for context in contexts)
    start(first)
    assert "has been used already" in pressed(second)
    assert second.locator("fieldset").count() == 0
    third.fill("#code", new_code())
    assert "not valid for this survey" in pressed(third)
    for context in contexts:
        context.close()


def test_opening_the_page_spends_nothing_and_says_what_the_code_is_good_for(
    context: Any, served: Served, coded: StoredSurvey
) -> None:
    server, store = served
    code = issued(store, coded)
    before = store.counts(coded).started
    page = open_page(context, server, coded, f"#code={code}")
    assert "used up when you press the button" in page.inner_text("main")
    assert "If you clear this browser before you send, it is lost." in page.inner_text("main")
    assert store.counts(coded).started == before


def test_a_reload_keeps_the_token_also_when_the_answer_was_lost(
    context: Any, served: Served, coded: StoredSurvey
) -> None:
    server, store = served
    code = issued(store, coded)
    before = store.counts(coded)
    traffic = recorded(context)
    page = open_page(context, server, coded, f"#code={code}")

    def lost(route: Any) -> None:
        route.fetch()  # the server spends the code and signs, and its answer never arrives
        route.abort()

    context.route("**/tokens", lost)
    assert "press Start again" in pressed(page)
    context.unroute("**/tokens")
    assert store.counts(coded).started == before.started + 1
    again = open_page(context, server, coded, f"#code={code}")
    start(again)
    after_reload = open_page(context, server, coded, f"#code={code}")
    answer_small(after_reload, smokes=True, drinks=False)
    assert after_reload.get_attribute("#survey", "data-state") == "stored"
    asked = [json.loads(one["body"]) for one in traffic if one["url"].endswith("/tokens")]
    assert len(asked) == 2  # the second reload asks nothing: the token is signed
    assert asked[0] == asked[1]
    assert store.counts(coded).reports == before.reports + 1


def test_what_the_server_signs_and_what_it_receives_have_nothing_in_common(
    context: Any, served: Served, coded: StoredSurvey
) -> None:
    server, store = served
    code = issued(store, coded)
    traffic = recorded(context)
    answer_small(open_page(context, server, coded, f"#code={code}"), smokes=True, drinks=False)
    (asked,) = [one for one in traffic if one["url"].endswith("/tokens")]
    (sent,) = [one for one in traffic if "/reports/" in one["url"]]
    token, signature = sent["url"].rsplit("/", 1)[1], json.loads(sent["body"])["signature"]
    assert token not in asked["body"]
    assert signature not in asked["body"]
    assert json.loads(asked["body"])["blinded"] not in sent["body"]
    for secret in (code, code_token(coded.fingerprint, code)):
        assert secret not in sent["url"] + sent["body"]
    assert coded.verifier is not None


def test_a_different_report_under_a_used_token_is_told_so_and_never_thanked(
    context: Any, served: Served, coded: StoredSurvey
) -> None:
    server, store = served
    code = issued(store, coded)
    page = open_page(context, server, coded, f"#code={code}")
    answer_small(page, smokes=True, drinks=False)
    before = store.counts(coded).reports
    for age in (0, 2):  # public, so that the second report certainly differs
        # A device that lost the receipt, and with it the memory that this code was used.
        page.evaluate(
            """Object.keys(localStorage).filter((name) => !name.startsWith("tacit.token"))
              .forEach((name) => localStorage.removeItem(name))"""
        )
        again = open_page(context, server, coded, f"#code={code}")
        start(again)
        again.check(f"#age-{age}")
        again.check("#smokes-1")
        again.check("#drinks-0")
        send(again)
        assert again.get_attribute("#survey", "data-state") == "refused"
        assert "Another report has already been sent" in again.inner_text("main")
        assert "Thank you" not in again.inner_text("main")
        assert again.locator(".receipt").count() == 0  # of a report that is not there
    assert store.counts(coded).reports == before


def test_the_next_person_is_not_offered_the_code(context: Any, served: Served, coded: StoredSurvey) -> None:
    server, store = served
    code = issued(store, coded)
    page = open_page(context, server, coded, f"#code={code}")
    answer_small(page, smokes=True, drinks=False)
    page.click("button.quiet")
    page.wait_for_selector("#begin, #consent")
    assert page.input_value("#code") == ""
    assert "code" not in page.evaluate("location.hash")
    assert code not in page.evaluate(
        "JSON.stringify(Object.entries(localStorage)) + location.href + document.body.innerHTML"
    )


def test_a_signature_that_does_not_fit_is_refused_by_the_page(
    context: Any, served: Served, coded: StoredSurvey
) -> None:
    server, store = served
    code = issued(store, coded)
    page = open_page(context, server, coded, f"#code={code}")
    context.route("**/tokens", lambda route: route.fulfill(json={"signature": "A" * 341 + "B"}))
    assert "does not fit this survey" in pressed(page)


def test_the_fingerprint_stands_on_the_page_as_on_the_invitation(
    context: Any, served: Served, coded: StoredSurvey
) -> None:
    server, _ = served
    page = open_page(context, server, coded)
    read_on(page)
    assert page.inner_text(".fingerprint") == fingerprint_words(coded.fingerprint)


def test_a_report_is_withdrawn_with_the_receipt_that_was_shown(
    context: Any, served: Served, fresh_survey: StoredSurvey
) -> None:
    server, store = served
    traffic = recorded(context)
    page = open_page(context, server, fresh_survey)
    answer_small(page, smokes=True, drinks=False)
    receipt = page.inner_text(".receipt")
    (sent,) = [one for one in traffic if one["method"] == "PUT"]
    assert receipt.replace("-", "") not in sent["url"] + sent["body"]  # only its hash is sent
    before = store.counts(fresh_survey)
    page = open_page(context, server, fresh_survey, who="else")
    page.click(".withdraw summary")
    for typed, told in ((receipt[:-1] + "0" + receipt[-1:], "no report with this receipt"), (receipt, "was deleted")):
        page.fill("#withdraw-receipt", typed)
        page.click(".withdraw button")
        page.wait_for_selector(f".withdrawn:has-text('{told}')")
    after = store.counts(fresh_survey)
    assert (after.reports, after.withdrawn) == (before.reports - 1, before.withdrawn + 1)
