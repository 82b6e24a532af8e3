"""How results show themselves: as a sentence, a table of text or HTML, a picture, a data frame of any library."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_ROWS = 60  # of a table in text or HTML; what is left out is counted
PLOTTED_ROWS = 40


class Shown(ABC):
    """A result that is a table of rows under one sentence."""

    # The column that is drawn; ends of intervals, where there are some, are the columns `low` and `high`.
    plotted = "probability"

    @abstractmethod
    def headline(self) -> str:
        """What this is, in one line."""

    @abstractmethod
    def shown_rows(self) -> list[dict[str, Any]]:
        """One entry for each row of the table; texts come first, numbers after them."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline()}>"

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """The headline and the table, as text."""
        return told_rows(self.headline(), self.shown_rows())

    def _repr_html_(self) -> str:
        rows = self.shown_rows()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0]) if rows else ""
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_text(value))}</td>" for value in row.values()) + "</tr>"
            for row in rows[:SHOWN_ROWS]
        )
        left = "".join(f"<p>{html.escape(line)}</p>" for line in _left_out(rows))
        title = html.escape(self.headline())
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left}"

    def to_arrow(self) -> Any:
        """The rows as an Arrow table."""
        import pyarrow as pa

        rows = self.shown_rows()
        return pa.table({name: [row[name] for row in rows] for name in (rows[0] if rows else {})})

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The rows as a polars data frame."""
        import polars

        return polars.DataFrame(self.to_arrow())

    def plot(self, ax: Axes | None = None) -> Axes:
        """The rows as points, with their intervals where there are some."""
        from tacit.extras import require

        require("report")
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(
                figsize=(7, 1 + 0.3 * min(len(self.shown_rows()), PLOTTED_ROWS)), layout="constrained"
            ).subplots()
        rows = [row for row in self.shown_rows() if isinstance(row.get(self.plotted), int | float)][:PLOTTED_ROWS]
        places = range(len(rows))
        if rows and "low" in rows[0]:
            ax.hlines(places, [row["low"] for row in rows], [row["high"] for row in rows])
        ax.plot([row[self.plotted] for row in rows], places, "o")
        ax.set_yticks(list(places), [_label(row) for row in rows])
        ax.invert_yaxis()
        ax.set_xlabel(self.plotted.replace("_", " "))
        ax.set_title(self.headline(), fontsize="medium", loc="left", wrap=True)
        return ax


class Told(ABC):
    """A result that is said in a few lines of text, the most important first."""

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {str(self).split(chr(10), 1)[0]}>"

    def _repr_html_(self) -> str:
        # Sentences wrap; what stands in columns keeps them.
        return f'<pre style="white-space: pre-wrap">{html.escape(str(self))}</pre>'


def told_rows(headline: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """A table under its headline, as text."""
    return "\n".join([headline, *_lines(rows), *_left_out(rows)])


def told_lines(lines: Sequence[str], end: str) -> str:
    """Lines of one kind and what is said of all of them; of very many the first, and how many more there are."""
    return "\n".join([*lines[:SHOWN_ROWS], *_left_out(lines), end])


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [list(rows[0])] + [[_text(value) for value in row.values()] for row in rows[:SHOWN_ROWS]] if rows else []
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [isinstance(value, int | float) for value in rows[0].values()] if rows else []
    return [
        "  ".join(f"{cell:>{width}}" if right else f"{cell:{width}}" for cell, width, right in aligned).rstrip()
        for aligned in (zip(line, widths, numeric, strict=True) for line in cells)
    ]


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}" if value == 0 or abs(value) >= 5e-5 else f"{value:.1e}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _label(row: dict[str, Any]) -> str:
    return ", ".join(str(value) for value in row.values() if isinstance(value, str))


def _left_out(rows: Sequence[Any]) -> list[str]:
    return [f"({len(rows) - SHOWN_ROWS:,} more rows)"] if len(rows) > SHOWN_ROWS else []
