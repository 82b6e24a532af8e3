"""One self-contained HTML page: text, tables and pictures, nothing from elsewhere."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.table.files import made_folder, written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #ffffff; --mark: #0b5394; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --line: #30363d; --paper: #0d1117; --mark: #79b8ff; }
  figure svg { background: #ffffff; border-radius: 6px; }
}
body { font: 17px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; padding: 2rem 1rem;
  max-width: 46rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.6rem; border-top: 1px solid var(--line); padding-top: 1.2rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .92em; display: block; overflow-x: auto; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; white-space: normal; }
td.text { text-align: left; white-space: normal; }
figure { margin: 1.2rem 0; }
figure svg { max-width: 100%; height: auto; } figcaption, .note { color: var(--soft); font-size: .92em; }
.warning { border-left: 4px solid #c9510c; padding-left: 1rem; } nav li { margin: .1rem 0; } a { color: var(--mark); }
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
class Rows:
    """A table of texts and numbers that are already written as they should read."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""

    def render(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in self.columns)
        body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in self.rows)
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    text = str(value)
    # Long texts wrap and start on the left; numbers and short words line up on the right.
    mark = ' class="text"' if len(text) > 30 else ""
    return f"<td{mark}>{html.escape(text)}</td>"


@dataclass(frozen=True, eq=False)
class Picture:
    """A plot, as vectors inside the page; `description` is what a screen reader says."""

    figure: Figure
    description: str

    def render(self) -> str:
        text = html.escape(self.description)
        return f'<figure role="img" aria-label="{text}">{svg(self.figure)}<figcaption>{text}</figcaption></figure>'


Block = Text | Rows | Picture


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
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
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
