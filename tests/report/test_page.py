"""The report page: self-contained, escaped, whole."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tacit.errors import InvalidInput
from tacit.report.page import HIGH, WIDE, Chapter, Curves, Marks, Picture, Text, WrittenTable, render, write
from tacit.report.plots import plain_figure


class Balanced(HTMLParser):
    """Notices a tag that is closed out of order."""

    void = frozenset({"meta", "br", "path", "use", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.void:
            assert self.open.pop() == tag


def page() -> str:
    figure, axes = plain_figure()
    axes.plot([0, 1], [0, 1])
    blocks = (
        Text("a < b & c", "warning"),
        WrittenTable(("x", "y"), [("<script>", 1), ("long " * 10, 2)]),
        Picture(figure, 'a "plot"'),
    )
    return render("Title <b>", "Introduction", [Chapter("One", blocks), Chapter("Two", ())])


def test_words_start_on_the_left_and_numbers_line_up_on_the_right() -> None:
    rows = [
        ("a", "Never-married", "0.80 ± 0.03", "< 0.0001", "(35,45]"),
        ("b", "Divorced", "-", "0.16", ">65"),
        ("c", "-", "5%", "1", "<=25"),
    ]
    table = WrittenTable(("name", "status", "lift", "p", "age"), rows).render()
    assert re.findall(r'<th scope="col" class="words">(.*?)</th>', table) == ["status", "age"]
    assert '<td class="words">Never-married</td>' in table
    assert "<td>0.80 ± 0.03</td>" in table
    assert "<td>&lt; 0.0001</td>" in table


def test_curves_lie_within_their_chart_and_say_their_numbers() -> None:
    curves = Curves(
        [(0.2, 0.004), (0.53, 0.009)], [(0.42, 0.01), (0.54, 0.06)], ("best", "other"), ("wrong", "error"), "a < b"
    ).render()
    places = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', curves)]
    assert len(places) == 4
    assert all(0 < x < WIDE and 0 < y < HIGH for x, y in places)
    (left, low), (right, high), (third, _), (_, top) = places
    assert left < third < right  # 0.2, 0.42, 0.53
    assert top < high < low  # a larger error stands higher
    assert "<title>best: wrong 20.0%, error 0.40%</title>" in curves
    assert re.findall(r">([\d.]+%)</text>", curves) == ["0.5%", "1%", "2%", "5%", "20%", "30%", "40%", "50%"]
    assert "a &lt; b" in curves
    parser = Balanced()
    parser.feed(curves)
    assert parser.open == []


def test_no_difference_is_marked_where_estimates_lie_on_both_sides_of_it() -> None:
    both = Marks.of(["a", "b"], [-1.0, 2.0], [-2.0, 1.0], [0.0, 3.0], [-1.0, 2.0], "Coefficients").render()
    assert both.count('class="zero" style="left:38.83%"') == 2  # -2 to 3, and 3% more
    assert 'class="zero"' not in Marks.of(["a"], [0.4], [0.3], [0.5], [0.4], "Shares").render()


def test_the_page_needs_nothing_from_elsewhere() -> None:
    text = page()
    assert not re.search(r'(src|href)="(?!#)', re.sub(r'xlink:href="#', "", text))
    assert "<script" not in text
    assert "http" not in re.sub(
        r'xmlns(:\w+)?="[^"]+"', "", re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    )


def test_texts_are_escaped_and_tags_balanced() -> None:
    text = page()
    assert "&lt;script&gt;" in text
    assert "a &lt; b &amp; c" in text
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []


def test_the_same_page_is_written_again() -> None:
    assert page() == page()


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be made"):
        write(tmp_path / "file" / "report.html", "t", "i", [])
    assert write(tmp_path / "new" / "report.html", "t", "i", []).read_text().startswith("<!doctype html>")


def test_a_table_of_sentences_names_each_cell_for_a_narrow_screen():
    rendered = WrittenTable(("what", "<here>"), [("loss", "a & b")], is_sentences=True).render()
    assert '<td data-name="&lt;here&gt;">a &amp; b</td>' in rendered
    assert "scroll" not in rendered
