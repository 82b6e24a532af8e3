"""Tables of results as files for a paper: CSV, LaTeX, HTML, Excel, by the name of the file."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.display import Shown
from tacit.errors import InvalidInput
from tacit.extras import require
from tacit.table.outputs import GENERATOR, written_whole

_TEX = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"}


def check_table_name(path: Path) -> None:
    """Refuse a name whose ending says no kind of table."""
    if path.suffix.lower() not in WRITERS:
        raise InvalidInput(f"A table cannot be written as {path.suffix!r}. Use {', '.join(WRITERS)}.")


def write_table(result: Shown, path: Path) -> None:
    """The rows of a result with every digit, in the format that the file's name asks for; whole or not at all."""
    check_table_name(path)
    with written_whole(path) as temporary:
        temporary.write_bytes(WRITERS[path.suffix.lower()](result))


def _rows(result: Shown) -> list[list[Any]]:
    rows = result.shown_rows()
    return [list(rows[0]), *(list(row.values()) for row in rows)] if rows else []


def _csv(result: Shown) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [["" if value is None else value for value in row] for row in _rows(result)]
    )
    return text.getvalue().encode()


def _tex(result: Shown) -> bytes:
    """A table of the package booktabs."""
    head, *rows = _rows(result)
    columns = "".join("r" if isinstance(value, int | float) else "l" for value in rows[0])
    lines = [" & ".join(map(_tex_cell, row)) + r" \\" for row in (head, *rows)]
    begin = [r"\begin{tabular}{" + columns + "}", r"\toprule", lines[0], r"\midrule"]
    return "\n".join(["% " + result.headline(), *begin, *lines[1:], r"\bottomrule", r"\end{tabular}", ""]).encode()


def _tex_cell(value: Any) -> str:
    if isinstance(value, float):
        return f"${value:.4g}$" if math.isfinite(value) else r"--"
    text = "" if value is None else str(value).replace("\\", r"\textbackslash ")
    return "".join(_TEX.get(letter, letter) for letter in text)


def _html(result: Shown) -> bytes:
    title = html.escape(result.headline())
    head = f'<!doctype html><html lang="en"><head>{GENERATOR}<meta charset="utf-8"><title>{title}</title></head>'
    return f"{head}<body>{result._repr_html_()}</body></html>\n".encode()


def _excel(result: Shown) -> bytes:
    require("files")
    import openpyxl

    book = openpyxl.Workbook()
    for row in _rows(result):
        # A text that begins like a formula stays a text.
        book.active.append([None if isinstance(v, float) and not math.isfinite(v) else v for v in row])
    for row in book.active.iter_rows():
        for cell in row:
            if cell.data_type == "f":
                cell.data_type = "s"
    book.properties.creator = "Tacit"
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


WRITERS: dict[str, Callable[[Shown], bytes]] = {".csv": _csv, ".tex": _tex, ".html": _html, ".xlsx": _excel}
