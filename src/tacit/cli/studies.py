"""Options that the commands for studies share: how a file is read, and what is written for a paper."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.output import print_text
from tacit.cli.writing import check_picture, check_writable

if TYPE_CHECKING:
    from tacit.display import Shown


OutOption = Annotated[Path | None, typer.Option(help="Write the table into this file (.csv, .tex, .html or .xlsx).")]


def check_table(out: Path | None) -> None:
    """Refuse, before the work, a name under which no table can be written."""
    check_writable(out)
    if out is not None:
        from tacit.report.tables import check_table_name

        check_table_name(out)


def write_result(result: Shown, out: Path | None) -> None:
    """The rows of a result as a file, where one is named."""
    if out is not None:
        from tacit.report.tables import write_table

        write_table(result, out)


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How the columns of a study's file are read."""

    missing_mark: Annotated[
        list[str] | None,
        typer.Option(help="Value that means no answer; repeatable; if not said NA, a dot and -99."),
    ] = None
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file, by name or number.")] = None
    skip_rows: Annotated[int, typer.Option(help="Number of title rows above the line of column names.")] = 0

    def keywords(self) -> dict[str, Any]:
        return {"missing_marks": tuple(self.missing_mark or ()), "sheet": self.sheet, "skip_rows": self.skip_rows}


AS_IT_IS = ReadingOptions()


@dataclass(frozen=True, kw_only=True)
class PaperOptions:
    """What is written of a result: its table, and the paragraph of a methods section."""

    out: Annotated[Path | None, typer.Option(help="Write the table into this file (.csv, .tex, .html or .xlsx).")] = (
        None
    )
    methods: Annotated[
        bool, typer.Option("--methods", help="Print only a paragraph for the methods section of a paper.")
    ] = False

    def check(self, plot: Path | None) -> None:
        """Refuse, before the work, names under which nothing can be written."""
        check_picture(plot)
        check_table(self.out)

    def write(self, result: Any) -> bool:
        """Write the table; print the methods, and say whether they were asked for."""
        write_result(result, self.out)
        if self.methods:
            print_text(result.methods_text())
        return self.methods


UNWRITTEN = PaperOptions()


def draw_result(result: Shown, plot: Path | None) -> None:
    """The picture of a result's rows with their intervals."""
    if plot is None:
        return
    from tacit.display import new_figure
    from tacit.report.page import write_picture

    figure, axes = new_figure(7, 1 + 0.3 * min(len(result.shown_rows()), 40))
    result.plot(axes)
    write_picture(figure, plot)
