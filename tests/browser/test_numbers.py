"""Surveys whose group is reported as numbers (Hadamard response, local hashing), answered in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tacit.channel.scheme import Scheme
from tacit.estimation import estimate
from tacit.reports import Reports
from tacit.survey.store.surveys import Store
from tests.browser.answering import answer_small, open_page
from tests.browser.test_end_to_end import csv_columns, tacit_survey
from tests.survey.questionnaires import SMALL
from tests.survey.server import running_server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TOGETHER = SMALL + "groups:\n  - questions: [smokes, drinks]\n    channel: {kind: KIND, gamma: 9}\n"


@pytest.mark.parametrize("kind", ["hadamard", "local-hashing"])
def test_a_browser_sends_numbers_for_a_whole_group(browser: Any, tmp_path: Path, kind: str) -> None:
    store_url = tmp_path / "survey.db"
    (tmp_path / "survey.yaml").write_text(TOGETHER.replace("KIND", kind))
    opened = tacit_survey("open", tmp_path / "survey.yaml", "--store", store_url)
    assert "error" not in opened
    store = Store.open(store_url)
    survey = store.named("health")
    with running_server(str(store_url), tmp_path / "log") as server:
        for smokes in (True, False):
            context = browser.new_context(locale="en")
            page = open_page(context, server, survey)
            answer_small(page, smokes=smokes, drinks=True)
            assert page.get_attribute("#survey", "data-state") == "stored"
            context.close()
    store.close()
    tacit_survey("export", "health", "--out", tmp_path / "exported", "--store", store_url)
    exported = tmp_path / "exported"
    reports = csv_columns(exported / "reports.csv")
    assert set(reports["smokes+drinks"]) <= {str(number) for number in range(8)}
    scheme = Scheme.read(exported / "scheme.json")
    found = estimate(Reports.from_arrow(reports, scheme), ["smokes", "drinks"])
    assert found.n_reports == 2
    assert ("smokes+drinks:seed" in reports) == (kind == "local-hashing")
    assert found.probabilities.shape == (2, 3)  # drinking may be kept to oneself
