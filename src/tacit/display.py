"""How results show themselves: as a sentence, a table of text or HTML, a picture, a data frame of any library."""

from __future__ import annotations

import functools
import html
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacit.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_ROWS = 60  # of a table in text or HTML; what is left out is counted
PLOTTED_ROWS = 40
# Columns beside an error that are not in its unit.
UNITLESS = ("p", "z")


class AsFrame(ABC):
    """What goes out as an Arrow table goes out as a frame of pandas or polars, with its ordered categories."""

    @abstractmethod
    def to_arrow(self) -> Any:
        """The rows as an Arrow table."""

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The rows as a polars data frame."""
        import polars

        table = self.to_arrow()
        categories = {
            field.name: polars.Enum(table.column(field.name).combine_chunks().dictionary.to_pylist())
            for field in table.schema
            if pa.types.is_dictionary(field.type)
        }
        return polars.DataFrame(table).cast(categories)


class Shown(AsFrame):
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
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in texts) + "</tr>" for texts in _texts(rows)
        )
        left = "".join(f"<p>{html.escape(line)}</p>" for line in _left_out(rows))
        title = html.escape(self.headline())
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left}"

    def to_arrow(self) -> Any:
        """The rows as an Arrow table."""
        rows = self.shown_rows()
        return pa.table({name: [row[name] for row in rows] for name in (rows[0] if rows else {})})

    def plot(self, ax: Axes | None = None) -> Axes:
        """The rows as points, with their intervals where there are some.

        A notebook shows what is returned. In a script give the `ax` of a pyplot figure, or save ``axes.figure``.
        """
        if ax is None:
            _, ax = new_figure(7, 1 + 0.3 * min(len(self.shown_rows()), PLOTTED_ROWS))
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


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure that shows itself in a notebook, with its axes; where matplotlib is missing, the sentence that says so."""
    require("report")
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    # A notebook asks for this name. Pyplot would show the figure too, but keeps every figure for good.
    figure._repr_png_ = axes._repr_png_ = functools.partial(_png, figure)
    return figure, axes


def _png(figure: Figure) -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    return picture.getvalue()


def told_rows(headline: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """A table under its headline, as text."""
    return "\n".join([headline, *_lines(rows), *_left_out(rows)])


def decimals(errors: Iterable[float | None]) -> int:
    """How many decimals show two digits of the smallest error, or of a tenth of the largest where they differ more."""
    positive = [error for error in errors if error is not None and 0 < error < math.inf]
    if not positive:
        return 4
    return min(max(1 - math.floor(math.log10(max(min(positive), max(positive) / 10))), 2), 6)


def fixed_decimals(value: float | None, places: int) -> str:
    """A number with so many decimals, without the sign of a zero; "-" for none."""
    return "-" if value is None else f"{round(value, places) + 0.0:.{places}f}"


def rounded_error(error: float | None, places: int) -> str:
    """An error with so many decimals, or with one digit where it would read as none at all."""
    if error is not None and 0 < error < 0.5 * 10**-places:
        return f"{error:.1e}" if error < 5e-7 else f"{error:.{-math.floor(math.log10(error))}f}"
    return fixed_decimals(error, places)


def with_error(value: float, error: float) -> str:
    """``0.841 ± 0.037``: as many digits as the error leaves."""
    places = decimals([error])
    return f"{fixed_decimals(value, places)} ± {rounded_error(error, places)}"


def told_errors(rows: Sequence[tuple[str, float, float]]) -> list[str]:
    """A line for each label with its estimate and error, in as many digits as the errors leave."""
    places = decimals(error for _, _, error in rows)
    width = max(len(label) for label, _, _ in rows)
    return [
        f"{label:{width}} {fixed_decimals(value, places):>{places + 3}} ± {rounded_error(error, places)}"
        for label, value, error in rows
    ]


def told_lines(lines: Sequence[str], end: str) -> str:
    """Lines of one kind and what is said of all of them; of very many the first, and how many more there are."""
    return "\n".join([*lines[:SHOWN_ROWS], *_left_out(lines), end])


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [list(rows[0]), *_texts(rows)] if rows else []
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [isinstance(value, int | float) for value in rows[0].values()] if rows else []
    return [
        "  ".join(f"{cell:>{width}}" if right else f"{cell:{width}}" for cell, width, right in aligned).rstrip()
        for aligned in (zip(line, widths, numeric, strict=True) for line in cells)
    ]


def _texts(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The cells of the rows that are shown; beside an error, numbers have as many digits as it leaves."""
    first_rows = rows[:SHOWN_ROWS]
    if not rows or "standard_error" not in rows[0]:
        return [[_text(value) for value in row.values()] for row in first_rows]
    places = decimals(row["standard_error"] for row in first_rows)

    def text(name: str, value: object) -> str:
        if not isinstance(value, float) or name in UNITLESS:
            return _text(value)
        return rounded_error(value, places) if name == "standard_error" else fixed_decimals(value, places)

    return [[text(name, value) for name, value in row.items()] for row in first_rows]


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
