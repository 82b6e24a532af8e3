"""Options that the commands for studies share: how a file is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How the columns of a study's file are read."""

    missing_mark: Annotated[
        list[str] | None,
        typer.Option(help="Value that means no answer; repeatable. Without it NA, a dot and -99 are recognised."),
    ] = None
    sheet: Annotated[str | None, typer.Option(help="Sheet of an Excel file, by name or number.")] = None
    skip_rows: Annotated[int, typer.Option(help="Title rows above the line of column names.")] = 0

    def keywords(self) -> dict[str, Any]:
        return {"missing_marks": tuple(self.missing_mark or ()), "sheet": self.sheet, "skip_rows": self.skip_rows}


AS_IT_IS = ReadingOptions()
