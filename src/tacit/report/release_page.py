"""A page about a release for its publisher: the methods compared, the alternatives, before and after, what is at risk.

It names answers that only suppressed people gave, so it is not for the readers of the release.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish.comparison import lost_groups, side_by_side
from tacit.publish.release import Release
from tacit.report.page import Chapter, Picture, Text, WrittenTable, write
from tacit.report.plots import BLUE, GREY, front_figure, plain_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
MOST_BARS = 40
TICKS = 6  # answers that are written under a chart of many
MOST_OF_A_WAY = 12
SMALL_CLASSES = (2, 3, 5, 10, 20, 50)


def write_release_page(release: Release, path: Path) -> Path:
    """Write the page of a release, whole or not at all; only its owner can read it."""
    introduction = (
        release.describe().splitlines()[0] + " For the publisher: it names answers that may not be published."
    )
    write(path, "A k-anonymous release", introduction, [*_chapters(release)])
    path.chmod(0o600)
    return path


def _chapters(release: Release) -> list[Chapter]:
    return [
        Chapter("Which method", (Text(release.why or f"Only {release.method} was asked for."), *_methods(release))),
        Chapter(
            "The alternatives", (Picture(front_figure(release), "Loss against effective k."), _alternatives(release))
        ),
        Chapter("Before and after", tuple(_before_and_after(release))),
        Chapter("The largest losses", (_losses(release),)),
        Chapter(
            "Rows at risk",
            (_risk(release), _at_risk(release), *(Text(warning, "warning") for warning in release.warnings)),
        ),
    ]


def _methods(release: Release) -> tuple[WrittenTable | Text, ...]:
    columns, rows = side_by_side(release.methods)
    note = "Errors are medians over random queries, and means over tables of two attributes."
    names = release.recoding.tally.names
    labels = [(name, *(method.labels[name] for method in release.methods)) for name in names]
    return (
        WrittenTable(columns, [row for row in rows if row[0] != "labels"], note),
        WrittenTable(columns, labels, "How many different labels each attribute shows."),
        *map(Text, lost_groups(release.methods)),
    )


def _alternatives(release: Release) -> WrittenTable:
    numbers = _spread_over_ways([entry.way for entry in release.front])
    rows = [
        (
            number,
            entry.way,
            f"{entry.nwp:.4f}",
            f"{entry.necd:.4f}",
            entry.effective_k,
            entry.suppressed,
            entry.hidden_cells,
        )
        for number, entry in ((number, release.front[number]) for number in numbers)
    ]
    columns = ("pick", "method", "NWP", "NECD", "effective k", "rows suppressed", "cells hidden")
    more = "" if len(rows) == len(release.front) else "; --json lists all"
    return WrittenTable(columns, rows, f"{len(rows)} of {len(release.front)} alternatives{more}.")


def _spread_over_ways(ways: list[str]) -> list[int]:
    """The places of some alternatives of each way: its first and last, and others evenly between them."""
    chosen: list[int] = []
    for way in dict.fromkeys(ways):
        places = [place for place, name in enumerate(ways) if name == way]
        steps = np.linspace(0, len(places) - 1, min(len(places), MOST_OF_A_WAY)).round().astype(int)
        chosen += [places[step] for step in steps]
    return chosen


def _before_and_after(release: Release) -> list[Picture | Text]:
    """The distribution of every quasi-identifier in the input, and as the release shows it."""
    pictures: list[Picture | Text] = []
    for j, attribute in enumerate(release.recoding.tally.attributes):
        before = release.recoding.tally.marginal(j)
        after = _class_weights(release, j)
        if attribute.size > MOST_BARS:
            pictures.append(
                Picture(
                    _lines(attribute.answers, before, after),
                    f"{attribute.name}: {attribute.size} answers in their order.",
                )
            )
        else:
            pictures.append(Picture(_bars(attribute.answers, before, after), f"{attribute.name}."))
    return pictures


def _class_weights(release: Release, j: int) -> Floats:
    labels, counts = release.recoding.by_class
    members = release.recoding.members[j]
    rows = np.bincount(labels[:, j], counts, len(members))
    return np.asarray((rows / members.sum(axis=1)) @ members)


def _lines(answers: tuple[str, ...], before: Floats, after: Floats) -> Figure:
    figure, axes = plain_figure(height=2.4)
    axes.step(np.arange(len(before)), before, color=GREY, label="input")
    axes.step(np.arange(len(after)), after, color=BLUE, label="release, labels spread evenly")
    axes.set_ylabel("rows")
    places = np.unique(np.linspace(0, len(answers) - 1, TICKS).round().astype(int)).tolist()
    axes.set_xticks(places, [answers[place][:14] for place in places], fontsize=7)
    _legend_above(axes)
    return figure


def _bars(answers: tuple[str, ...], before: Floats, after: Floats) -> Figure:
    figure, axes = plain_figure(height=0.8 + 0.22 * len(answers))
    places = np.arange(len(answers))[::-1]
    axes.barh(places + 0.2, before, 0.38, color=GREY, label="input")
    axes.barh(places - 0.2, after, 0.38, color=BLUE, label="release, labels spread evenly")
    axes.set_yticks(places, [answer[:30] for answer in answers], fontsize=7)
    axes.set_xlabel("rows")
    _legend_above(axes)
    return figure


def _legend_above(axes: Any) -> None:
    """The key over the chart, where it hides no bar."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2, frameon=False, fontsize=8)


def _losses(release: Release) -> WrittenTable:
    ordered = sorted(release.losses.items(), key=lambda entry: -entry[1] * release.weights[entry[0]])
    rows = [
        (name, f"{loss:.1%}", f"{release.weights[name]:.3g}", f"{loss * release.weights[name]:.4f}")
        for name, loss in ordered
    ]
    return WrittenTable(("attribute", "detail lost", "weight", "part of the NWP"), rows)


def _risk(release: Release) -> WrittenTable:
    return WrittenTable(("risk", "chance"), list(release.risk.measures()))


def _at_risk(release: Release) -> WrittenTable:
    sizes = release.class_sizes
    rows = [(f"at most {size}", int((sizes <= size).sum()), int(sizes[sizes <= size].sum())) for size in SMALL_CLASSES]
    return WrittenTable(
        ("class size", "classes", "in them"), rows, "Who knows a person's attributes guesses the row among so many."
    )
