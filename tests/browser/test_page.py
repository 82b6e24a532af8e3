"""What the respondent meets: a page for every reader, in every language, that refuses what would not protect."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from tacit.channel import Recipe
from tacit.survey.assets import join_scripts, page_modules
from tacit.survey.codes import new_code, print_code
from tacit.survey.definition import Definition
from tacit.survey.store.submissions import token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import open_page, read_on, send, start
from tests.browser.conftest import screenshots
from tests.survey.questionnaires import SMALL
from tests.survey.server import RunningServer
from tests.survey.test_sampler import CASES, group_document, report_rows
from tests.survey.test_verification import (
    Document,
    changed,
    copies,
    copy_in_the_clear,
    flattering_prior,
    in_no_group,
    many,
    program,
    read_elsewhere,
    rule_out,
    warner,
)

pytestmark = pytest.mark.browser

FALSE_ALARM = 1e-6
WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def violations(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options=WCAG).response["violations"]
    return [f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:120]})" for one in found]


# Colours do not depend on the direction of reading, so two of the four combinations show both.
@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("ar", "dark")])
def test_every_screen_meets_wcag(browser: Any, served: tuple[RunningServer, Store], language: str, scheme: str) -> None:
    server, store = served
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale=language, color_scheme=scheme)
    page = open_page(context, server, store.named("rich"), "#test")
    seen = [page.evaluate("document.documentElement.dir")]
    problems = violations(page)
    read_on(page)
    page.click("#try")
    page.click(".simulator summary")
    page.wait_for_selector(".crowd p")
    problems += violations(page)
    page.screenshot(path=screenshots() / f"introduction-{language}-{scheme}.png", full_page=True)
    start(page)
    problems += violations(page)
    page.click("button[type=submit]")  # nothing answered: the complaint must be readable, too
    page.wait_for_selector(".problem a")
    problems += violations(page)
    page.screenshot(path=screenshots() / f"complaint-{language}-{scheme}.png", full_page=True)
    for choice in ("#region-0", "#works-1", "#hours-1"):
        page.check(choice)
    page.click("button[type=submit]")
    page.wait_for_selector("#symptoms-0")
    for choice in ("#symptoms-0", "#cheated-0", "#cheated-harmless-1", "#stole-0", "#income-1", "#debts-0"):
        page.check(choice)
    problems += violations(page)
    page.screenshot(path=screenshots() / f"questions-{language}-{scheme}.png", full_page=True)
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    problems += violations(page)
    page.screenshot(path=screenshots() / f"review-{language}-{scheme}.png", full_page=True)
    page.click("#review button[type=submit]")
    page.wait_for_selector("#survey[data-state]:not([data-state=sending])")
    problems += violations(page)
    page.screenshot(path=screenshots() / f"sent-{language}-{scheme}.png", full_page=True)
    context.close()
    assert problems == []
    assert seen == ["rtl" if language == "ar" else "ltr"]


def test_the_language_can_be_changed_in_the_middle(context: Any, served: tuple[RunningServer, Store]) -> None:
    server, store = served
    page = open_page(context, server, store.named("rich"), "#test")
    page.select_option("#language", "ar")
    page.wait_for_selector("html[lang=ar]")
    assert page.evaluate("document.documentElement.lang") == "ar"
    assert page.inner_text("h1") == "غني"


def test_a_survey_can_be_answered_with_the_keyboard_alone(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, store = served
    page = open_page(context, server, fresh_survey)

    def tab_to(selector: str) -> None:
        for _ in range(40):
            if page.evaluate("(s) => document.activeElement.matches(s)", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{selector} cannot be reached with the keyboard")

    tab_to("#consent")
    page.keyboard.press("Space")
    tab_to("button[type=submit]")
    page.keyboard.press("Enter")
    page.wait_for_selector("fieldset")
    for first in ("#age-0", "#smokes-0", "#drinks-0"):
        tab_to(first)
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    tab_to("button[type=submit]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#review")
    tab_to("button[type=submit]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#survey[data-state=stored]")
    assert store.counts(fresh_survey).reports == 1


def test_skipped_questions_are_not_shown_and_sent_disguised(context: Any, served: tuple[RunningServer, Store]) -> None:
    server, store = served
    survey = store.named("rich")
    page = open_page(context, server, survey, "#test")
    start(page)
    assert page.locator("#hours-0").count() == 0
    page.check("#works-1")
    assert page.locator("#hours-0").count() == 1
    page.check("#works-0")
    assert page.locator("#hours-0").count() == 0
    page.check("#region-1")
    page.click("button[type=submit]")
    for choice in ("#cheated-0", "#cheated-harmless-0", "#stole-0", "#income-0", "#debts-0"):
        page.check(choice)
    send(page)
    assert page.get_attribute("#survey", "data-state") in ("stored", "known")
    assert "not asked" in survey.definition.scheme.schema["hours"].answers


def test_the_label_is_computed_from_the_scheme(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    page = open_page(context, server, fresh_survey)
    read_on(page)
    label = page.inner_text("dl.label")
    assert "If your true answer is “Yes”, “Yes” is sent 7 times out of 10, something else 3 times out of 10." in label
    assert "at most 70% sure of your answer" in label
    assert "Sent as you give it, without disguise" in label


def test_the_simulator_shows_a_crowd(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    page = open_page(context, server, fresh_survey)
    read_on(page)
    page.click(".simulator summary")
    page.wait_for_selector(".crowd p")
    counts = [int(line.split("×")[0]) for line in page.inner_text(".crowd").splitlines() if "×" in line]
    assert sum(counts) == 100


def test_a_code_with_a_typing_error_is_noticed_on_the_page(context: Any, served: tuple[RunningServer, Store]) -> None:
    server, store = served
    survey = store.named("coded")
    code = new_code()
    from tacit.survey.codes import code_token

    store.add_codes(survey, [token_hash(survey, code_token(survey.fingerprint, code))])
    page = open_page(context, server, survey)
    page.check("#consent")
    wrong = ("2" if code[0] != "2" else "3") + code[1:]
    page.fill("#code", wrong)
    page.click("button[type=submit]")
    assert "typing error" in page.inner_text(".problem")
    page.fill("#code", print_code(code).lower())
    page.click("button[type=submit]")
    page.wait_for_selector("fieldset")
    for choice in ("#age-0", "#smokes-0", "#drinks-0"):
        page.check(choice)
    send(page)
    assert page.get_attribute("#survey", "data-state") == "stored"


def served_instead(page: Any, address: str, document: dict[str, Any]) -> None:
    """Answer every survey's address with the page at `address` and another definition, as a tampering server would."""
    from tacit.survey.site import inert_json

    def fulfil(route: Any) -> None:
        response = route.fetch(url=address)
        text = response.text()
        begin = text.index('id="definition">') + len('id="definition">')
        end = text.index("</script>", begin)
        route.fulfill(response=response, body=text[:begin] + inert_json(document) + text[end:])

    page.route("**/s/*", fulfil)


def test_a_tampered_definition_is_refused_by_the_page(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    page = context.new_page()
    document = json.loads(json.dumps(fresh_survey.definition.document))
    document["programs"][0][0]["toss"] += 1
    served_instead(page, f"{server.url}/s/{fresh_survey.fingerprint}", document)
    page.goto(f"{server.url}/s/{fresh_survey.fingerprint}")
    assert "not the one your link was made for" in page.inner_text("[role=alert]")
    assert page.locator("form").count() == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (copy_in_the_clear, "must be reported exactly once, and here it is not"),
        (copies, "must be reported exactly once, and here it is not"),
        (in_no_group, "What is called disguised would be sent without disguise"),
        (flattering_prior, "could change the odds of a guess 11,000,000 times; at most 19 is allowed: drinks"),
        (lambda document: program(document, "smokes", warner(0.96)), "would not protect these answers: smokes"),
        (rule_out, "rule out some answers"),
        (read_elsewhere, "cannot be followed or checked"),
        (many, "All answers together could change the odds of a guess about you"),
        # Nine in ten are known to say no: seven in ten honest reports then make a "no" 95.5% sure.
        (lambda document: document["scheme"].update(prior={"smokes": [0.9, 0.1]}), "95.5% sure"),
    ],
)  # fmt: skip
def test_a_definition_that_breaks_its_promise_is_refused_by_the_page(
    context: Any,
    served: tuple[RunningServer, Store],
    fresh_survey: StoredSurvey,
    change: Callable[[Document], None],
    reason: str,
) -> None:
    server, _ = served
    page = context.new_page()
    document = changed(change)
    served_instead(page, f"{server.url}/s/{fresh_survey.fingerprint}", document)
    page.goto(f"{server.url}/s/{Definition(document).fingerprint}")
    page.wait_for_selector("[role=alert]")
    assert reason in " ".join(page.locator("[role=alert]").all_inner_texts())
    assert page.locator("form").count() == 0


def test_the_label_says_where_answers_are_ruled_out(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    page = context.new_page()

    def unbound(document: Document) -> None:
        document["allow_unbounded"] = True
        rule_out(document)

    document = changed(unbound)
    served_instead(page, f"{server.url}/s/{fresh_survey.fingerprint}", document)
    page.goto(f"{server.url}/s/{Definition(document).fingerprint}")
    page.wait_for_selector("#begin, #consent")
    read_on(page)
    label = page.inner_text("dl.label")
    assert "Some answers are ruled out by what is sent." in label
    assert "does not hold against someone who knows how your answers go together" in label


def test_the_respondent_is_told_what_all_answers_together_tell(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    page = context.new_page()
    # 34 questions more would be refused; eighteen at 7/3 each are above a million.
    document = changed(lambda made: many(made, 17))
    served_instead(page, f"{server.url}/s/{fresh_survey.fingerprint}", document)
    small = open_page(context, server, fresh_survey)
    read_on(small)
    assert "can become 5.5 to 1" in small.inner_text("p.whole")
    page.goto(f"{server.url}/s/{Definition(document).fingerprint}")
    page.wait_for_selector("#begin, #consent")
    read_on(page)
    said = " ".join(page.locator("p.whole").all_inner_texts())
    assert "can become 9,900,000 to 1" in said
    assert "could learn a lot about you" in said


DRAWS = 40_000
# The sampler as the page has it: joined, out of the same modules. The survey's own page would refuse to run it again.
[SAMPLER] = join_scripts(page_modules(), ["program"])
IN_BROWSER = """([script, group, draws]) => {
  const { WordDraws, compile, split } = new Function(`${script} return programModule;`)();
  const words = new Uint32Array(16384);
  let used = words.length;
  const next = () => {
    if (used === words.length) { crypto.getRandomValues(words); used = 0; }
    return words[used++];
  };
  const source = new WordDraws(next);
  const node = compile(group.program, group.radices);
  return Array.from({ length: node.size }, (_, truth) => {
    const counts = {};
    for (let index = 0; index < draws; index += 1) {
      const key = node.run(split(truth, node.radices), source).join(",");
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  });
}"""


@pytest.mark.parametrize("case", [case for case in CASES if math.prod(case[0]) <= 6], ids=lambda case: case[1]["kind"])
def test_in_chromium_reports_follow_the_declared_columns(
    blank_page: Any, case: tuple[tuple[int, ...], dict[str, Any]]
) -> None:
    channel = Recipe.from_document(case[1]).build(case[0])
    tallies = blank_page.evaluate(IN_BROWSER, [SAMPLER, group_document(*case), DRAWS])
    rows = [",".join(map(str, row)) for row in report_rows(channel)]
    for truth, counts in enumerate(tallies):
        expected = DRAWS * channel.matrix[:, truth]
        seen = np.array([counts.get(row, 0) for row in rows])
        assert seen.sum() == DRAWS
        assert not seen[expected == 0].any()
        # Reports side by side, about as many as are expected 500 times together; those with hashes are thousands.
        pools = (np.cumsum(expected) / max(500, DRAWS / 200)).astype(np.int64)
        pooled, wanted = np.bincount(pools, seen), np.bincount(pools, expected)
        common = wanted >= 100
        pooled = [*pooled[common], pooled[~common].sum()]
        wanted = [*wanted[common], wanted[~common].sum()]
        if wanted[-1] == 0:
            pooled, wanted = pooled[:-1], wanted[:-1]
        assert len(pooled) > 1
        assert chisquare(pooled, wanted).pvalue >= FALSE_ALARM


@pytest.fixture
def blank_page(context: Any, served: tuple[RunningServer, Store]) -> Any:
    server, _ = served
    page = context.new_page()
    page.route(
        "**/blank", lambda route: route.fulfill(body="<!doctype html><title>blank</title>", content_type="text/html")
    )
    page.goto(f"{server.url}/blank")
    return page


def test_the_page_is_small_and_needs_nothing_else(context: Any, served: tuple[RunningServer, Store]) -> None:
    server, store = served
    fetched: list[tuple[str, int]] = []
    context.on("requestfinished", lambda request: fetched.append((request.url, request.sizes()["responseBodySize"])))
    page = open_page(context, server, store.named("rich"), "#test")
    page.wait_for_load_state("networkidle")
    ((address, size),) = [(url, size) for url, size in fetched if not url.startswith("data:")]
    assert address.startswith(f"{server.url}/s/")
    assert 1_000 < size <= 60_000


def test_a_closed_survey_says_so(context: Any, served: tuple[RunningServer, Store]) -> None:
    server, store = served
    text = SMALL.replace("name: health", "name: finished")
    survey = store.add(Definition.from_yaml(text), text)
    store.close_survey(survey)
    page = context.new_page()
    page.goto(f"{server.url}/s/{survey.fingerprint}")
    page.wait_for_selector("[role=alert]")
    assert "closed" in page.inner_text("main")


def test_a_survey_that_closes_while_somebody_answers_refuses_the_report(
    context: Any, served: tuple[RunningServer, Store]
) -> None:
    server, store = served
    text = SMALL.replace("name: health", "name: closing")
    survey = store.add(Definition.from_yaml(text), text)
    page = open_page(context, server, survey)
    start(page)
    store.close_survey(survey)
    for choice in ("#age-1", "#smokes-1", "#drinks-1"):
        page.check(choice)
    send(page)
    assert page.get_attribute("#survey", "data-state") == "refused"
    assert "not open" in page.inner_text("main")
