"""The demonstration tells the truth: every chapter is there, its intervals cover, and it is read on any screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.report.chapters.design import design
from tacit.report.chapters.mining import _far_off
from tacit.report.chapters.people import links, one_person, the_crowd
from tacit.report.chapters.study import study
from tacit.report.demo import CHAPTERS, write_demo
from tacit.report.demo_data import PRIVATE, PUBLIC, DemoData
from tacit.report.page import Curves, Marks, Picture, WrittenTable
from tests.cli.run import tacit


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    told: list[str] = []
    written = write_demo(tmp_path_factory.mktemp("demo"), seed=1965, on_chapter=told.append)
    assert told == list(CHAPTERS)
    return written


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
def test_the_demonstration_has_every_chapter(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("<section") == len(CHAPTERS)
    inside, total = map(int, re.search(r"(\d+) of the (\d+) intervals", text).groups())
    assert inside >= 0.8 * total
    assert not re.search(r"-\d+(\.\d+)?%", text)  # no share below none
    assert not re.search(r"± 0(\.0+)?%", text)  # no error that reads as none
    assert len(text) < 1_000_000
    assert re.search(r"marital-status: .*?: [\d.]+ ± [\d.]+% earn more than 50K \([\d.]+ ± [\d.]+% of all\)", text)
    assert not re.search(r'(?:src|href)="(?!#)', text.replace('xlink:href="#', ""))


def test_one_person_is_a_row_of_the_data_and_its_report() -> None:
    data = DemoData(7)
    (rows,) = (block for block in one_person(data).blocks if isinstance(block, WrittenTable))
    truth, sent = (table.slice(0, 1).to_pylist()[0] for table in (data.truth.to_arrow(), data.reports.to_arrow()))
    assert [(row[1], row[2]) for row in rows.rows] == [(truth[name], sent[name]) for name in (*PUBLIC, *PRIVATE)]
    assert all(truth[name] == sent[name] for name in PUBLIC)


def test_charts_show_the_truth_that_is_counted() -> None:
    data = DemoData(7)
    marks = [block for block in the_crowd(data).blocks if isinstance(block, Marks)]
    income = {row[0]: row[4] for row in marks[0].rows}
    counted = data.truth.to_arrow()["income"].to_pylist()
    assert income[">50K"] == pytest.approx(counted.count(">50K") / len(counted))
    (linked,) = (block for block in links(data).blocks if isinstance(block, Marks))
    pairs = list(zip(data.truth.to_arrow()["marital-status"].to_pylist(), counted, strict=True))
    divorced = [income for status, income in pairs if status == "Divorced"]
    shown = {row[0]: row[4] for row in linked.rows}
    assert shown["Divorced"] == pytest.approx(divorced.count(">50K") / len(divorced))


def test_answers_without_an_order_stand_by_their_size() -> None:
    marks = [block for block in the_crowd(DemoData(7)).blocks if isinstance(block, Marks)]
    shares = [row[1] for row in marks[2].rows]  # education
    assert shares == sorted(shares, reverse=True)
    assert [row[0] for row in marks[1].rows] == ["<=34", "(34,40]", "(40,50]", ">50"]


def test_an_estimate_far_from_the_truth_is_explained() -> None:
    (told,) = _far_off([("naive Bayes", 2.6)])
    assert "2.6 standard errors" in told.text
    assert "one estimate in 107" in told.text  # two-sided, normal


def test_the_design_chart_shows_the_errors_of_its_table_without_a_drawing_library() -> None:
    blocks = design(DemoData(7)).blocks
    assert not any(isinstance(block, Picture) for block in blocks)
    (curves,) = (block for block in blocks if isinstance(block, Curves))
    (table,) = (block for block in blocks if isinstance(block, WrittenTable))
    drawn = {f"{privacy:.0%}": f"{error:.2%}" for privacy, error in curves.first}
    assert all(drawn[row[0]] == row[1] for row in table.rows)
    for privacy, error in curves.second:  # nothing lies below what is possible
        assert error > min(least for other, least in curves.first if other <= privacy)


def test_the_study_is_near_the_regression_on_the_truth() -> None:
    (marks,) = (block for block in study(DemoData(7)).blocks if isinstance(block, Marks))
    errors = [abs(estimate - truth) / ((high - low) / 3.92) for _, estimate, low, high, truth, _ in marks.rows]
    assert max(errors) < 4.5


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = tacit("demo", "--out", tmp_path / "file" / "out")
    assert outcome.code == 2
    assert "file" in outcome.err
