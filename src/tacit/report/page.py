"""One self-contained HTML page: text, tables and pictures, nothing from elsewhere."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, floor, log, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.channel.base import Array
from tacit.table.outputs import GENERATOR, PROGRAM, made_folder, written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #ffffff; --mark: #0b5394;
  --other: #c9510c; --shade: #00000026; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --line: #30363d; --paper: #0d1117; --mark: #79b8ff; --other: #ff9d5c;
    --shade: #ffffff40; }
  figure svg { background: #ffffff; border-radius: 6px; }
}
body { font: 17px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; padding: 2rem 1rem;
  max-width: 46rem; overflow-wrap: break-word; }
h1 { line-height: 1.2; } h2 { margin-top: 2.6rem; border-top: 1px solid var(--line); padding-top: 1.2rem; }
/* A wide table scrolls in its own frame; a shade at an edge says that there is more on that side. */
.scroll { overflow-x: auto; margin: 1rem 0; background:
  linear-gradient(to right, var(--paper) 30%, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 30%, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / .9rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) right / .9rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: .92em; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; white-space: normal; }
th.words, td.words { text-align: left; } td.text { text-align: left; white-space: normal; min-width: 11rem; }
/* Sentences fill the width, and on a phone each row is a paragraph for each column under its name. */
table.sentences { width: 100%; }
.sentences th, .sentences td { text-align: left; white-space: normal; min-width: 0; vertical-align: top; }
@media (max-width: 40rem) {
  .sentences thead { display: none; } .sentences tr { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .sentences td { display: block; border: 0; padding: .1rem 0; } .sentences td:first-child { font-weight: 600; }
  .sentences td + td::before { content: attr(data-name) ": "; color: var(--soft); }
}
figure { margin: 1.2rem 0; }
figure svg { max-width: min(100%, 36rem); height: auto; } figcaption, .note { color: var(--soft); font-size: .92em; }
.warning { border-left: 4px solid #c9510c; padding-left: 1rem; } nav li { margin: .1rem 0; } a { color: var(--mark); }
/* Charts made of text and boxes: they keep the page's type size on every screen. */
.chart { display: grid; grid-template-columns: minmax(5rem, max-content) 1fr 3.9rem; gap: .25rem .6rem; align-items: center;
  font-size: .88em; }
.chart .track { position: relative; height: 1.3em;
  background: linear-gradient(var(--line), var(--line)) center / 100% 1px no-repeat; }
.chart .track i { position: absolute; display: block; } .chart b { font-weight: 600; text-align: right; white-space: nowrap; }
.chart .bar { top: 15%; height: 70%; left: 0; background: var(--mark); border-radius: 2px; }
.chart .bar.second { background: var(--other); }
.chart .range { top: 50%; height: 3px; margin-top: -1.5px; background: var(--mark); min-width: 2px; }
.chart .dot { top: 50%; width: 9px; height: 9px; margin: -4.5px; border-radius: 50%; background: var(--mark); }
.chart .truth { top: 50%; width: 8px; height: 8px; margin: -4px; transform: rotate(45deg); background: var(--other); }
.chart .raw { top: 15%; height: 70%; width: 2px; margin-left: -1px; background: var(--soft); }
.chart .zero { top: 0; height: 100%; width: 1px; background: var(--soft); }
caption { text-align: left; } .key { margin-bottom: .5rem; } .key span { margin-right: 1rem; white-space: nowrap; }
figure svg.curves { display: block; width: 100%; max-width: 26rem; background: none; }
.curves text { font-size: 11px; fill: var(--soft); } .curves line { stroke: var(--line); }
.curves polyline { fill: none; stroke: var(--mark); stroke-width: 1.5; } .curves circle { fill: var(--mark); }
.curves .second polyline { stroke: var(--other); } .curves .second circle { fill: var(--other); }
.key i { display: inline-block; vertical-align: middle; margin-right: .35rem; }
.tree, .tree ul { list-style: none; padding-left: 1rem; border-left: 2px solid var(--line); margin: .2rem 0; font-size: .95em; }
@media (max-width: 30rem) { .chart { grid-template-columns: 6.2rem 1fr 3.6rem; } }
""".strip()


@dataclass(frozen=True)
class Text:
    """A paragraph; `kind` may be "warning" or "note"."""

    text: str
    kind: str = ""

    def render(self) -> str:
        mark = f' class="{self.kind}"' if self.kind else ""
        return f"<p{mark}>{html.escape(self.text)}</p>"


@dataclass(frozen=True)
class WrittenTable:
    """A table of texts and numbers that are already written as they should read."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    is_sentences: bool = False

    def render(self) -> str:
        if self.is_sentences:
            return self._sentences()
        # The first column always starts on the left.
        are_words = [at > 0 and _are_words([str(row[at]) for row in self.rows]) for at in range(len(self.columns))]
        head = "".join(
            f'<th scope="col"{_mark(name, words)}>{html.escape(name)}</th>'
            for name, words in zip(self.columns, are_words, strict=True)
        )
        body = "".join(
            "<tr>" + "".join(_cell(str(value), words) for value, words in zip(row, are_words, strict=True)) + "</tr>"
            for row in self.rows
        )
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f'<div class="scroll" role="region" tabindex="0" aria-label="Table, scrolls sideways">{table}</div>'

    def _sentences(self) -> str:
        names = [html.escape(name) for name in self.columns]
        rows = (
            "".join(f'<td data-name="{n}">{html.escape(str(value))}</td>' for n, value in zip(names, row, strict=True))
            for row in self.rows
        )
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f'<table class="sentences"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


LONG = 30  # characters, above which a cell wraps
NUMBER = re.compile(r"[-+±<>]{0,2}\s?[\d.,]*\d")


def _are_words(texts: Sequence[str]) -> bool:
    """Whether a column reads as words, which start on the left; numbers line up on the right."""
    return 2 * sum(NUMBER.match(text) is None for text in texts) > len(texts)


def _mark(text: str, words: bool) -> str:
    kinds = ["words"] * words + ["text"] * (len(text) > LONG)
    return f' class="{" ".join(kinds)}"' if kinds else ""


def _cell(text: str, words: bool) -> str:
    return f"<td{_mark(text, words)}>{html.escape(text)}</td>"


@dataclass(frozen=True, eq=False)
class Picture:
    """A plot, as vectors inside the page; `description` is what a screen reader says."""

    figure: Figure
    description: str

    def render(self) -> str:
        text = html.escape(self.description)
        return f'<figure role="img" aria-label="{text}">{svg(self.figure)}<figcaption>{text}</figcaption></figure>'


@dataclass(frozen=True)
class Bars:
    """Shares as bars; a second one below the first where it is given as ``(label, share, second)``."""

    bars: Sequence[tuple[str, float, float | str]]
    caption: str
    key: tuple[str, str] | None = None

    def render(self) -> str:
        rows = []
        for label, share, second in self.bars:
            marks = f'<i class="bar" style="width:{_percent(share)}"></i>'
            description = f"{label}: {share:.1%}"
            if not isinstance(second, str):
                marks += f'<i class="bar second" style="width:{_percent(second)};top:72%;height:26%"></i>'
                description += f", {second:.1%} {self.key[1] if self.key else ''}"
            rows.append(_track(label, marks, f"{share:.0%}", description))
        key = [("bar", self.key[0]), ("bar second", self.key[1])] if self.key else []
        return _chart(rows, self.caption, key)


@dataclass(frozen=True)
class Marks:
    """Estimates as dots with their intervals, beside the truth; each row says its numbers when it is pointed at."""

    rows: Sequence[tuple[str, float, float, float, float, float | None]]
    caption: str
    scale: tuple[float, float] = (0.0, 1.0)
    form: str = ".1%"

    @classmethod
    def of(
        cls,
        labels: Sequence[str],
        estimate: Sequence[float] | Array,
        low: Sequence[float] | Array,
        high: Sequence[float] | Array,
        truth: Sequence[float] | Array,
        caption: str,
        reported: Array | None = None,
        form: str = ".1%",
    ) -> Marks:
        """Rows of a chart whose scale holds all of them."""
        raw = [None] * len(labels) if reported is None else [float(share) for share in reported]
        numbers = [[float(number) for number in column] for column in (estimate, low, high, truth)]
        rows = list(zip(labels, *numbers, raw, strict=True))
        every = [number for row in rows for number in row[1:] if isinstance(number, float)]
        least, most = min(0.0, *every), max(every)
        return cls(rows, caption, (least, most + 0.03 * (most - least)), form)

    def render(self) -> str:
        rows = []
        for label, estimate, low, high, truth, raw in self.rows:
            left, right = self._at(low), self._at(high)
            marks = f'<i class="range" style="left:{_percent(left)};width:{_percent(right - left)}"></i>'
            if self.scale[0] < 0:
                marks += f'<i class="zero" style="left:{_percent(self._at(0))}"></i>'
            if raw is not None:
                marks += f'<i class="raw" style="left:{_percent(self._at(raw))}"></i>'
            marks += f'<i class="truth" style="left:{_percent(self._at(truth))}"></i>'
            marks += f'<i class="dot" style="left:{_percent(self._at(estimate))}"></i>'
            description = (
                f"{label}: estimate {estimate:{self.form}}, 95% interval {low:{self.form}} to {high:{self.form}}, "
            )
            rows.append(_track(label, marks, f"{estimate:{self.form}}", description + f"truth {truth:{self.form}}"))
        key = [("dot", "estimate with its 95% interval"), ("truth", "truth")]
        if any(row[5] is not None for row in self.rows):
            key.append(("raw", "share among the disguised reports"))
        return _chart(rows, self.caption, key)

    def _at(self, value: float) -> float:
        least, most = self.scale
        return (value - least) / (most - least)


@dataclass(frozen=True)
class Curves:
    """Two lines above a scale of shares, in steps of equal ratio; each point says its numbers when it is pointed at."""

    first: Sequence[tuple[float, float]]
    second: Sequence[tuple[float, float]]
    names: tuple[str, str]
    axes: tuple[str, str]  # across and upwards
    caption: str

    def render(self) -> str:
        points = [*self.first, *self.second]
        left, right = min(x for x, _ in points), max(x for x, _ in points)
        scale = (left, right, log(min(y for _, y in points)), log(max(y for _, y in points)))
        lines = [_level(y, scale) for y in _round_numbers(exp(scale[2]), exp(scale[3]))]
        lines += [_column(tenth / 10, scale) for tenth in range(ceil(10 * left), floor(10 * right) + 1)]
        for curve, name, kind in zip((self.first, self.second), self.names, ("first", "second"), strict=True):
            lines.append(f'<g class="{kind}">{_curve(curve, name, self.axes, scale)}</g>')
        across, upwards = map(html.escape, self.axes)
        lines.append(f'<text x="0" y="10">{upwards}</text>')
        lines.append(f'<text x="{WIDE}" y="{HIGH - 2}" text-anchor="end">{across}</text>')
        text = html.escape(self.caption)
        drawn = f'<svg class="curves" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{text}">{"".join(lines)}</svg>'
        key = [("bar", self.names[0]), ("bar second", self.names[1])]
        return f"<figure>{_key(key)}{drawn}<figcaption>{text}</figcaption></figure>"


# A phone shows it at its own size.
WIDE, HIGH, ASIDE, ABOVE, BELOW = 360, 220, 34, 18, 36
Scale = tuple[float, float, float, float]  # least and greatest share, and logarithms of the other numbers


def _place(x: float, y: float, scale: Scale) -> tuple[float, float]:
    left, right, low, high = scale
    across = (x - left) / (right - left) * (WIDE - ASIDE - 6)
    upwards = (log(y) - low) / (high - low) * (HIGH - ABOVE - BELOW - 10)
    return ASIDE + across, HIGH - BELOW - 5 - upwards


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between two numbers."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    return [times * 10.0**power for power in powers for times in (1, 2, 5) if low <= times * 10.0**power <= high]


def _level(y: float, scale: Scale) -> str:
    _, at = _place(scale[0], y, scale)
    return (
        f'<line x1="{ASIDE}" x2="{WIDE}" y1="{at:.1f}" y2="{at:.1f}"/>'
        f'<text x="{ASIDE - 4}" y="{at + 4:.1f}" text-anchor="end">{100 * y:g}%</text>'
    )


def _column(x: float, scale: Scale) -> str:
    at, _ = _place(x, exp(scale[2]), scale)
    return f'<text x="{at:.1f}" y="{HIGH - BELOW + 14}" text-anchor="middle">{x:.0%}</text>'


def _curve(points: Sequence[tuple[float, float]], name: str, axes: tuple[str, str], scale: Scale) -> str:
    places = [_place(x, y, scale) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(
        f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="2.5">'
        f"<title>{html.escape(f'{name}: {axes[0]} {x:.1%}, {axes[1]} {y:.2%}')}</title></circle>"
        for (at_x, at_y), (x, y) in zip(places, points, strict=True)
    )
    return f'<polyline points="{line}"/>{dots}'


@dataclass(frozen=True)
class OutlineNode:
    """A node of an outline: what leads to it, and what is below."""

    text: str
    below: tuple[OutlineNode, ...] = ()

    def render(self) -> str:
        inner = f"<ul>{''.join(branch.render() for branch in self.below)}</ul>" if self.below else ""
        return f"<li>{html.escape(self.text)}{inner}</li>"


@dataclass(frozen=True)
class Outline:
    """A tree as nested lines."""

    root: OutlineNode

    def render(self) -> str:
        return f'<ul class="tree">{self.root.render()}</ul>'


def _percent(share: float) -> str:
    return f"{100 * min(max(share, 0), 1):.2f}%"


def _track(label: str, marks: str, number: str, description: str) -> str:
    text = html.escape(description)
    return (
        f'<span title="{text}">{html.escape(label)}</span><span class="track" role="img" aria-label="{text}" title="{text}">'
        f"{marks}</span><b>{html.escape(number)}</b>"
    )


KEY_MARK = "position:static;width:10px;height:10px;margin:0 .35rem 0 0"
# A reported share is a stroke, in the chart and in its key.
KEY_MARKS = {"raw": "position:static;width:2px;height:14px;margin:0 .5rem 0 .2rem"}


def _key(key: Sequence[tuple[str, str]]) -> str:
    named = "".join(
        f'<span><i class="{mark}" style="{KEY_MARKS.get(mark, KEY_MARK)}"></i>{html.escape(text)}</span>'
        for mark, text in key
    )
    return f'<div class="chart key" style="display:block">{named}</div>' if key else ""


def _chart(rows: Sequence[str], caption: str, key: Sequence[tuple[str, str]]) -> str:
    text = html.escape(caption)
    return f'<figure>{_key(key)}<div class="chart">{"".join(rows)}</div><figcaption>{text}</figcaption></figure>'


Block = Text | WrittenTable | Picture | Bars | Marks | Curves | Outline


@dataclass(frozen=True)
class Chapter:
    """A titled part of the page."""

    title: str
    blocks: tuple[Block, ...]


def svg(figure: Figure) -> str:
    """The figure as an SVG element that does not depend on the date or on installed fonts."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "tacit", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def write_picture(figure: Figure, path: Path, **settings: Any) -> None:
    """Write a figure in the format that the file's name asks for, whole or not at all."""
    with written_whole(path) as temporary:
        save_picture(figure, temporary, picture_kind(path), **settings)


def save_picture(figure: Figure, file: Path, kind: str, **settings: Any) -> None:
    """Save a figure with Tacit named as its maker, by which the next run knows that the file may be replaced."""
    maker = {"png": "Software", "svg": "Creator", "pdf": "Creator"}.get(kind)
    figure.savefig(file, format=kind, dpi=150, metadata=None if maker is None else {maker: PROGRAM}, **settings)


def picture_kind(path: Path) -> str:
    """The format that a picture's name asks for."""
    return path.suffix.lower().lstrip(".") or "png"


def render(title: str, introduction: str, chapters: Sequence[Chapter]) -> str:
    """The whole page."""
    contents = "".join(
        f'<li><a href="#c{number}">{html.escape(chapter.title)}</a></li>' for number, chapter in enumerate(chapters, 1)
    )
    body = "".join(
        f'<section id="c{number}"><h2>{number}. {html.escape(chapter.title)}</h2>'
        + "".join(block.render() for block in chapter.blocks)
        + "</section>"
        for number, chapter in enumerate(chapters, 1)
    )
    return (
        '<!doctype html><html lang="en"><head>'
        f'{GENERATOR}<meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body><main><h1>{html.escape(title)}</h1>"
        f'<p>{html.escape(introduction)}</p><nav aria-label="Contents"><ol>{contents}</ol></nav>{body}</main></body></html>\n'
    )


def write(path: Path, title: str, introduction: str, chapters: Sequence[Chapter]) -> Path:
    """Write the page, whole or not at all."""
    made_folder(path.parent)
    with written_whole(path) as temporary:
        temporary.write_text(render(title, introduction, chapters), encoding="utf-8")
    return path
