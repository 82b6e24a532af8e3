"""Pictures of the screens that the tutorials speak of, made anew by every build from the tutorials' own files.

A page says where one belongs: `<!-- screen: survey-question: What it shows -->`. Where Chromium is not at hand the site is built
without them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tacit.randomness import SeededRandomness
from tacit.survey.accounts import Accounts
from tacit.survey.definition import Definition
from tacit.survey.store.submissions import Submission, store_batch, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey

HERE = Path(__file__).parent
SCREEN = re.compile(r"^<!-- screen: ([a-z-]+): (.+) -->$", re.MULTILINE)
CHROMIUM = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip
PHONES = {"survey-introduction", "survey-questions", "survey-review"}
PEOPLE = 1_200
PASSWORD = "only for this picture"


def named_file(page: str, name: str) -> str:
    """The text of a file that a tutorial tells its reader to save."""
    text = (HERE / page).read_text(encoding="utf-8")
    block = re.search(rf'^```\w+ title="{re.escape(name)}"\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    if block is None:
        raise SystemExit(f"{page} no longer has the file {name}, of which the build makes a picture.")
    return block[1]


@contextlib.contextmanager
def browser_at_hand() -> Iterator[Any]:
    """Chromium, or None where it is not installed and need not be."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        if os.environ.get("TACIT_REQUIRE_ALL") == "1":
            raise SystemExit("The site's build needs Chromium, which is not installed.")
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM))
        try:
            yield browser
        finally:
            browser.close()


def make_screens() -> dict[str, bytes]:
    """Every picture by its name; none without Chromium."""
    with tempfile.TemporaryDirectory() as folder, browser_at_hand() as browser:
        if browser is None:
            return {}
        return survey_screens(browser, Path(folder)) | release_screens(browser, Path(folder))


def check_search(site: Path, word: str, patience: float = 60.0) -> None:
    """Stop the build where the search of a site on disk finds no page for a word that it surely has."""
    with browser_at_hand() as browser:
        if browser is None:
            return
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto((site / "index.html").as_uri())
        page.click("input[name=query]")
        page.keyboard.type(word)
        try:
            page.wait_for_selector(".md-search-result__link", timeout=1000 * patience)
        except Exception as error:
            raise SystemExit(f"Searching for {word!r} in the site opened from disk found no page.") from error


def survey_screens(browser: Any, folder: Path) -> dict[str, bytes]:
    """The tutorial's survey as a respondent's phone and its researcher's dashboard show it."""
    text = named_file("tutorials/survey.md", "health.yaml")
    store = Store.open(str(folder / "survey.db"))
    try:
        survey = store.add(Definition.from_yaml(text), text)
        answer_by_chance(store, survey)
        Accounts(store.database).set_password("owner", PASSWORD)
        with served(str(folder / "survey.db"), folder / "server.log") as address:
            return respondent_screens(browser, f"{address}/s/{survey.fingerprint}") | {
                "survey-dashboard": dashboard_screen(browser, address, survey.fingerprint)
            }
    finally:
        store.close()


def answer_by_chance(store: Store, survey: StoredSurvey) -> None:
    """Reports of people of whom a quarter smoke and a tenth took pills; the older, the more pills."""
    truth, chance = np.random.default_rng(1965), SeededRandomness(1848)
    age = truth.integers(0, 3, PEOPLE)
    answers = {"smokes": truth.random(PEOPLE) < 0.25, "pills": truth.random(PEOPLE) < 0.05 + 0.06 * age}
    columns = []
    for group in survey.definition.scheme.groups:
        shown = group.channel.sample(
            [answers[attribute.name].astype(np.uint8) for attribute in group.attributes], chance
        )
        columns += [
            [attribute.answers[code] for code in codes]
            for attribute, codes in zip(group.attributes, shown, strict=True)
        ]
    ages = survey.definition.scheme.schema["age"].answers
    columns.append([ages[code] for code in age])
    rows = zip(*columns, strict=True)
    store_batch(
        store.database, [Submission(survey, "reports", token_hash(survey, str(n)), row) for n, row in enumerate(rows)]
    )


@contextlib.contextmanager
def served(store: str, log: Path) -> Iterator[str]:
    """A server of its own on a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "tacit", "survey", "serve", "--store", store, "--port", str(port)]
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, stdout=output, stderr=output, env=os.environ | {"PYTHONPATH": str(HERE.parent / "src")}
        )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
                break
            time.sleep(0.1)
        else:
            raise SystemExit(f"The survey's server did not answer: {log.read_text()}")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def respondent_screens(browser: Any, address: str) -> dict[str, bytes]:
    context = browser.new_context(viewport={"width": 390, "height": 780}, locale="en", device_scale_factor=2)
    try:
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("#begin")
        introduction = page.screenshot()
        page.click("#begin")
        page.check("#consent")
        page.click(".entrance button[type=submit]")
        page.wait_for_selector("fieldset")
        for answer in ("#age-1", "#smokes-1", "#pills-0"):
            page.check(answer)
        questions = page.screenshot()
        page.click("button[type=submit]")
        page.wait_for_selector("#review")
        review = page.screenshot()
        return {"survey-introduction": introduction, "survey-questions": questions, "survey-review": review}
    finally:
        context.close()


def dashboard_screen(browser: Any, address: str, fingerprint: str) -> bytes:
    context = browser.new_context(viewport={"width": 1100, "height": 1000}, locale="en")
    try:
        page = context.new_page()
        page.goto(f"{address}/admin")
        page.fill("#name", "owner")
        page.fill("#password", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_load_state()
        page.goto(f"{address}/admin/surveys/{fingerprint}", timeout=120_000)
        picture: bytes = page.screenshot()
        return picture
    finally:
        context.close()


def release_screens(browser: Any, folder: Path) -> dict[str, bytes]:
    """The report that the tutorial's release comes with."""
    tutorial = "tutorials/release.md"
    for name in ("people.py", "roles.yaml"):
        (folder / name).write_text(named_file(tutorial, name), encoding="utf-8")
    text = (HERE / tutorial).read_text(encoding="utf-8").replace("\\\n", " ")
    told = re.search(r"^\$ tacit (publish .*)$", text, re.MULTILINE)
    if told is None:
        raise SystemExit(f"{tutorial} no longer publishes anything.")
    surroundings = os.environ | {"PYTHONPATH": str(HERE.parent / "src")}
    for command in (["people.py"], ["-m", "tacit", *told[1].split()]):
        subprocess.run([sys.executable, *command], cwd=folder, env=surroundings, check=True, capture_output=True)
    page = browser.new_page(viewport={"width": 1100, "height": 1000})
    page.goto((folder / "report.html").as_uri())
    return {"release-report": page.locator("section:has(h2:text('Before and after'))").screenshot()}


def with_pictures(markdown: str, pictures: set[str], to_images: str) -> str:
    """A page's text with its pictures where it asks for them."""

    def picture(asked: re.Match[str]) -> str:
        name, shows = asked.groups()
        if not pictures:
            return ""
        if name not in pictures:
            raise SystemExit(f"There is no screen {name!r}; there are {', '.join(sorted(pictures))}.")
        width = ".screen" if name in PHONES else ".screen .wide"
        return f"![{shows}]({to_images}{name}.png){{ {width} }}"

    return SCREEN.sub(picture, markdown)
