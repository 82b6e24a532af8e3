"""The dashboard as a researcher sees it: words instead of codes, a chart per question, and nothing about a few people."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tacit.randomness import SeededRandomness
from tacit.reports import Reports
from tacit.survey import kept_counts
from tacit.survey.accounts import Accounts
from tacit.survey.answer_tables import FEWEST_IN_CELL, FEWEST_REPORTS, AnswerTables, too_few, too_few_crossed
from tacit.survey.app import SurveyServer
from tacit.survey.dashboard import dashboard, results_document
from tacit.survey.definition import Definition
from tacit.survey.group_differences import group_tables, holm
from tacit.survey.headers import ServerSettings
from tacit.survey.kept_counts import KeptCounts
from tacit.survey.store.submissions import Submission, store_batch, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.statistics import FALSE_ALARM

ASKED = """\
name: work
title: Work
introduction: We ask about work.
contact: research@example.org
privacy: strong
pages:
  - questions:
      - {name: region, kind: choice, text: Where do you live?, answers: {n: North, s: South, o: Overseas}, sensitive: false}
      - {name: shift, kind: choice, text: When do you work?, answers: {d: By day, x: By night}, sensitive: false}
      - {name: pills, kind: yes-no, text: Do you take pills?, sensitive: true, prefer_not_to_say: false}
      - name: mood
        kind: choice
        text: How are you?
        answers: {g: Good, b: Bad, w: Worse}
        sensitive: true
        prefer_not_to_say: false
      - name: coin
        kind: yes-no
        text: Did your coin show heads?
        sensitive: true
        prefer_not_to_say: false
        known: {"yes": 0.5}
"""
PASSWORD = "a long enough password"


def rows(survey: StoredSurvey, n: int, seed: int, *, coin: float = 0.5, overseas: int = 4) -> list[tuple[str, ...]]:
    """Reports of people of whom those in the south take pills far more often; a few live overseas."""
    random = np.random.default_rng(seed)
    region = random.integers(0, 2, n)
    region[:overseas] = 2
    shift = random.integers(0, 2, n)
    truths = {
        "pills": random.random(n) < np.array([0.1, 0.8, 0.5])[region],
        "mood": random.integers(0, 3, n),
        "coin": random.random(n) < coin,
    }
    shown: dict[str, Any] = {"region": np.array(["n", "s", "o"])[region], "shift": np.array(["d", "x"])[shift]}
    randomness = SeededRandomness(1000 + seed)
    for group in survey.definition.scheme.groups:
        name = group.names[0]
        (codes,) = group.channel.sample([truths[name].astype(np.uint8)], randomness)
        shown[name] = np.array(group.attributes[0].answers)[codes]
    return [tuple(row) for row in zip(*(shown[name].tolist() for name in survey.wire.names), strict=True)]


def fill(store: Store, survey: StoredSurvey, reports: list[tuple[str, ...]], start: int = 0) -> None:
    batch = [Submission(survey, "reports", token_hash(survey, str(n)), row) for n, row in enumerate(reports, start)]
    store_batch(store.database, batch)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SurveyServer]:
    made = SurveyServer(tmp_path / "s.db", ServerSettings(rate=0))
    yield made
    made.close()


@pytest.fixture
def survey(server: SurveyServer) -> StoredSurvey:
    return server.store.add(Definition.from_yaml(ASKED), ASKED)


@pytest.fixture
def client(server: SurveyServer) -> TestClient:
    Accounts(server.store.database).set_password("ana", PASSWORD)
    client = TestClient(server, base_url="http://survey.test", follow_redirects=False)
    client.post("/admin/login", data={"name": "ana", "password": PASSWORD})
    return client


def page_of(client: TestClient, survey: StoredSurvey, query: str = "") -> str:
    answer = client.get(f"/admin/surveys/{survey.fingerprint}{query}")
    assert answer.status_code == 200
    return str(answer.text)


def test_every_question_has_words_a_chart_and_a_place_in_the_navigation(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    fill(server.store, survey, rows(survey, 800, seed=1))
    page = page_of(client, survey, "?by=region&class=mood&fakes=7")
    # Each form passes on what the others asked for.
    assert page.count('type="hidden" name="by" value="region"') == 3
    assert page.count('type="hidden" name="class" value="mood"') == 3
    assert page.count('type="hidden" name="fakes" value="7"') == 3
    names = survey.definition.scheme.schema.names
    for name in names:
        assert f'id="q-{name}"' in page
        assert f'href="#q-{name}"' in page
        chart = re.search(rf'<section class="question" id="q-{name}".*?</section>', page, re.DOTALL)
        assert chart is not None
        assert "<svg" in chart[0]
    for label in ("By night", "Worse", "Where do you live?", "Control items", "Do you take pills? = Yes"):
        assert label in page
    shown = re.sub(r"<[^>]*>", " ", page)  # codes stand in addresses and options only
    assert not re.search(r"\b(mood|shift)\b(?!\?)", shown)
    for fragment in re.findall(r'href="#([\w-]+)"', page):
        assert f'id="{fragment}"' in page
    assert not re.findall(r'(?:src|href)="https?:', page)


def test_nothing_is_shown_below_thirty_reports(client: TestClient, server: SurveyServer, survey: StoredSurvey) -> None:
    reports = rows(survey, FEWEST_REPORTS, seed=2)
    fill(server.store, survey, reports[:-1])
    page = page_of(client, survey, "?by=region&class=pills")
    assert f"Only {FEWEST_REPORTS - 1} reports: estimates are shown from {FEWEST_REPORTS} on." in page
    assert "<svg" not in page
    assert "%" not in re.sub(r"(?s)<style>.*?</style>|<h2 id=.promise.>.*", "", page)
    document = results_document(server.store, survey, by="region")
    assert (document["questions"], document["crossed"], document["groups"], document["fit"]) == ([], [], [], [])
    fill(server.store, survey, reports[-1:], start=FEWEST_REPORTS - 1)
    assert "<svg" in page_of(client, survey)


def test_public_cells_below_ten_are_hidden_and_cannot_be_worked_out(server: SurveyServer, survey: StoredSurvey) -> None:
    fill(server.store, survey, rows(survey, 400, seed=3))
    view = dashboard(server.store, survey, by="region")
    tables = {table.attribute: table for table in view.tables}
    # Four live overseas: hidden, and with them the smaller of the two others, or the total would tell.
    assert [row.label for row in tables["region"].rows] in (["North"], ["South"])
    assert tables["region"].hidden == 2
    assert tables["pills"].hidden == 0
    for table in (*view.crossed, *view.groups):
        assert not any(row.group == "o" for row in table.rows)
    document = results_document(server.store, survey, by="shift")
    assert all(
        cell["answer"] != "o"
        for table in document["crossed"]
        for cell in table["cells"]
        if table["attribute"] == "region"
    )


def test_hidden_cells_are_never_alone() -> None:
    assert too_few([50, 60]).tolist() == [False, False]
    assert too_few([50, 9]).tolist() == [True, True]
    assert too_few([50, 60, 0]).tolist() == [True, False, True]
    assert too_few([50, 60, 4, 5]).tolist() == [True, False, True, True]  # 9 people together are too few as well
    hidden = too_few_crossed(np.array([[50.0, 40.0, 30.0], [20.0, 3.0, 60.0], [70.0, 80.0, 90.0]]))
    assert hidden[1, 1]
    for line in (*hidden, *hidden.T):
        assert line.sum() != 1
    random = np.random.default_rng(4)
    for _ in range(50):
        counts = random.integers(0, 40, (4, 3)).astype(float)
        hidden = too_few_crossed(counts)
        assert hidden[counts < FEWEST_IN_CELL].all()
        assert all(line.sum() != 1 for line in (*hidden, *hidden.T))


def test_no_sums_of_rows_and_columns_together_give_a_hidden_cell_away() -> None:
    # Every line hides two cells at least, and yet 3 = (5 + 6) + (6 + 5 + 3) - (5 + 6) - (6 + 5).
    crafted = np.array([[5, 6, 100, 100], [6, 5, 3, 100], [100, 100, 5, 6], [100, 100, 6, 5]], dtype=float)
    random = np.random.default_rng(18)
    drawn = [random.choice([3.0, 6, 50, 200, 300], (5, 6), p=[0.1, 0.1, 0.3, 0.3, 0.2]) for _ in range(200)]
    for counts in (crafted, *drawn):
        rows, columns = np.nonzero(hidden := too_few_crossed(counts))
        sums = np.array(
            [*(rows == one for one in range(len(counts))), *(columns == one for one in range(counts.shape[1]))]
        )
        for place in np.flatnonzero(counts[hidden] < FEWEST_IN_CELL):
            alone = np.vstack([sums, np.arange(len(rows)) == place])
            assert np.linalg.matrix_rank(alone) > np.linalg.matrix_rank(sums)


def test_true_differences_are_certain_and_noise_is_no_finding(server: SurveyServer, survey: StoredSurvey) -> None:
    fill(server.store, survey, rows(survey, 3_000, seed=5))
    groups = {table.attribute: table for table in dashboard(server.store, survey, by="region").groups}
    assert groups["pills"].differs
    (more,) = [
        one for one in groups["pills"].certain if one.answer == "Yes" and "Overseas" not in (one.group, one.against)
    ]
    assert more.low < -0.7 < more.high  # ten in a hundred against eighty
    assert not groups["mood"].differs
    assert groups["mood"].certain == ()
    assert "no certain difference" in groups["mood"].verdict


@pytest.mark.slow
def test_noise_is_called_a_difference_in_few_surveys(tmp_path: Path) -> None:
    """No question depends on the shift: of 40 surveys at most so many may show any certain difference."""
    from scipy.stats import binom

    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(ASKED), ASKED)
    names, shown = survey.definition.scheme.schema.names, 0
    for seed in range(40):
        columns = dict(
            zip(survey.wire.names, zip(*rows(survey, 300, 100 + seed, overseas=0), strict=True), strict=True)
        )
        reports = Reports.from_arrow({name: list(column) for name, column in columns.items()}, survey.definition.scheme)
        tables = AnswerTables(survey.definition, reports, 10)
        shown += any(table.differs for table in group_tables(tables, names, "shift"))
    store.close()
    assert binom.sf(shown - 1, 40, 0.05) > FALSE_ALARM


def test_holm_holds_each_test_against_all_others() -> None:
    assert list(holm([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert list(holm([])) == []


def test_control_items_are_held_against_what_is_known(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    fill(server.store, survey, rows(survey, 2_000, seed=6))
    assert "Control items: estimates against what is known" in page_of(client, survey)
    honest = dashboard(server.store, survey).controls
    assert min(one.p for one in honest) > 1e-6
    text = ASKED.replace("name: work", "name: careless")
    careless = server.store.add(Definition.from_yaml(text), text)
    fill(server.store, careless, rows(careless, 2_000, seed=7, coin=0.9))
    section = page_of(client, careless).split('id="controls"')[1].split("<h2")[0]
    assert "differs" in section
    assert max(one.p for one in dashboard(server.store, careless).controls) < 1e-6


def test_bursts_and_copies_stand_at_the_top(client: TestClient, server: SurveyServer, survey: StoredSurvey) -> None:
    fill(server.store, survey, rows(survey, 300, seed=8))
    now = 0.0
    arrivals = server.receiving.arrivals
    arrivals._clock = lambda: now
    arrivals.note(survey.fingerprint)
    now = 7_200.0
    for _ in range(40):
        arrivals.note(survey.fingerprint)
    page = page_of(client, survey)
    assert "Within ten minutes 40 reports came" in page
    copied = dict(zip(survey.wire.names, rows(survey, 1, seed=9)[0], strict=True))
    fill(server.store, survey, [tuple(copied[name] for name in survey.wire.names)] * 400, start=1_000)
    assert "somebody sends copies" in page_of(client, survey)


def test_weights_are_shown_beside_the_plain_shares_and_nonsense_is_refused(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    fill(server.store, survey, rows(survey, 1_000, seed=10, overseas=50))
    page = page_of(client, survey, "?population=region:%20{n:%200.2,%20s:%200.7,%20o:%200.1}")
    assert "Weighted to the population" in page
    assert "1,000 reports count as" in page
    document = results_document(server.store, survey, population={"region": {"n": 0.2, "s": 0.7, "o": 0.1}})
    (pills,) = [one for one in document["weighted"]["questions"] if one["attribute"] == "pills"]
    assert pills["cells"][1]["low"] < 0.2 * 0.1 + 0.7 * 0.8 + 0.1 * 0.5 < pills["cells"][1]["high"]
    refused = client.get(f"/admin/surveys/{survey.fingerprint}?population=pills:%20{{no:%201}}")
    assert refused.status_code == 400
    assert "is sensitive" in refused.text


def test_reports_are_read_again_only_when_they_changed(
    server: SurveyServer, survey: StoredSurvey, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    countable = kept_counts.countable
    monkeypatch.setattr(kept_counts, "countable", lambda *given: read.append(1) or countable(*given))
    kept = KeptCounts()
    fill(server.store, survey, rows(survey, 40, seed=11))
    assert kept.of(server.store, survey).counts.reports == 40
    assert kept.of(server.store, survey).counts.reports == 40
    assert len(read) == 1
    other = Store.open(server.store.database.url)  # as another process writes
    fill(other, survey, rows(survey, 5, seed=12), start=40)
    other.close()
    assert kept.of(server.store, survey).counts.reports == 45
    server.store.close_survey(survey)
    server.store.delete_reports(survey)
    assert kept.of(server.store, server.store.named("work")).counts.reports == 0


def test_of_very_many_the_last_reading_is_shown_while_the_next_is_made(
    server: SurveyServer, survey: StoredSurvey
) -> None:
    kept = KeptCounts(fresh_up_to=30)
    fill(server.store, survey, rows(survey, 40, seed=13))
    first = kept.of(server.store, survey)
    fill(server.store, survey, rows(survey, 5, seed=14), start=40)
    assert kept.of(server.store, survey) is first
    for _ in range(200):
        time.sleep(0.02)
        if kept.of(server.store, survey).counts.reports == 45:
            break
    assert kept.of(server.store, survey).counts.reports == 45


def test_two_stores_that_hold_one_survey_are_read_apart(
    server: SurveyServer, survey: StoredSurvey, tmp_path: Path
) -> None:
    """One survey in a store and in its copy has one fingerprint: reading the one must not keep the other from being read."""
    kept = KeptCounts(fresh_up_to=0)
    copied = Store.open(str(tmp_path / "copy.db"))
    other = copied.add(survey.definition, survey.source)
    fill(server.store, survey, rows(survey, 4, seed=15))
    fill(copied, other, rows(other, 6, seed=16))
    assert (kept.of(server.store, survey).counts.reports, kept.of(copied, other).counts.reports) == (4, 6)
    fill(copied, other, rows(other, 5, seed=17), start=6)
    kept._reading.add((server.store, survey.fingerprint))  # as long as the first is being read
    kept.of(copied, other)
    for _ in range(200):
        time.sleep(0.02)
        if kept.of(copied, other).counts.reports == 11:
            break
    assert kept.of(copied, other).counts.reports == 11
    copied.close()
