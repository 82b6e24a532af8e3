from __future__ import annotations

import re

import numpy as np

from tacit.bundled import load_adult
from tacit.report.release_page import MOST_OF_A_WAY, _bars, _lines, _spread_over_ways, write_release_page
from tests.publish.wishes import anonymize

ATTRIBUTES = ["age", "sex", "race", "marital-status"]


def test_the_menu_shows_alternatives_of_every_way_its_ends_included():
    ways = ["search"] * 40 + ["search, up to 4% of the cells hidden"] * 3 + ["local"]
    shown = _spread_over_ways(ways)
    assert len(shown) == MOST_OF_A_WAY + 3 + 1
    assert {0, 39, 40, 41, 42, 43} <= set(shown)
    assert shown == sorted(set(shown))


def test_the_page_compares_methods_in_columns_that_fit(tmp_path):
    people = load_adult().select(ATTRIBUTES).to_arrow().slice(0, 600)
    release = anonymize(people, 3, ATTRIBUTES, method="compare", evaluations=300, seed=1)
    text = write_release_page(release, tmp_path / "page.html").read_text(encoding="utf-8")
    first, labels, alternatives = re.findall(r"<table>.*?</table>", text, re.DOTALL)[:3]
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', first)
    assert heads[0] == ""
    assert [head.removesuffix(" (written)") for head in heads[1:]] == [one.title for one in release.methods]
    assert "query error" in first
    assert all(f"<td>{name}</td>" in labels for name in ATTRIBUTES)
    assert all(way in alternatives for way in {entry.way for entry in release.front})


def test_the_key_of_a_chart_stands_over_it_and_many_answers_are_named_below():
    answers, rows = tuple(f"answer {i}" for i in range(60)), np.arange(60.0)
    for figure in (_bars(answers[:2], rows[:2], rows[:2]), _lines(answers, rows, rows)):
        figure.canvas.draw()
        axes = figure.axes[0]
        assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert ticks[0] == "answer 0"
    assert ticks[-1] == "answer 59"
