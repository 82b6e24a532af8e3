from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.survey.accounts import Accounts
from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.questionnaires import CANARY
from tests.survey.page import required
from tests.survey.questionnaires import CODES, RICH, SMALL
from tests.survey.server import RunningServer, running_server

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip
PASSWORD = "a long enough password"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    chromium = required("chromium", "Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Store]]:
    """A running server with every questionnaire of these tests, and an administrator called ana."""
    folder = tmp_path_factory.mktemp("served")
    url = str(folder / "survey.db")
    store = Store.open(url)
    for text in (SMALL, RICH, CODES.replace("name: health", "name: coded"), CANARY):
        store.add(Definition.from_yaml(text), text)
    Accounts(store.database).set_password("ana", PASSWORD)
    with running_server(url, folder / "server.log") as server:
        yield server, store
    store.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A fresh profile on a phone-sized screen."""
    made = browser.new_context(viewport={"width": 390, "height": 844}, locale="en")
    made.set_default_timeout(20_000)
    yield made
    made.close()


_waves = itertools.count(2)


@pytest.fixture
def fresh_survey(served: tuple[RunningServer, Store]) -> StoredSurvey:
    """A survey that no other test answers."""
    _, store = served
    text = SMALL.replace("name: health", f'name: health\nwave: "{next(_waves)}"')
    return store.add(Definition.from_yaml(text), text)


def screenshots() -> Path:
    folder = Path("out/screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
