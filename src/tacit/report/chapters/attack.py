"""What a guesser gets from the demonstration's reports, and from a disguise that only looks safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.attacks import AttackResult
from tacit.attacks import attack as attacked
from tacit.bundled import binary_adult
from tacit.channel import flip
from tacit.channel.scheme import Scheme
from tacit.disguising import disguise
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Picture, Rows, Text
from tacit.report.plots import BLUE, GREY, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THETA = 0.7
FLIPPED_ROWS = 10_000
EACH, FLIPPED = "each answer disguised by itself", f"the whole record flipped, theta = {THETA:g}"


def attack(data: DemoData) -> Chapter:
    truth = binary_adult(FLIPPED_ROWS)
    scheme = Scheme.of(truth.schema, [(truth.schema.names, flip(THETA))])
    found = {
        EACH: attacked(data.reports, truth=data.truth),
        FLIPPED: attacked(disguise(truth, scheme, seed=data.seed), truth=truth),
    }
    records = found[FLIPPED].records.with_reports
    return Chapter(
        "Attack: what the best guesser learns about single people",
        (
            Text(
                "Someone who has nothing but the reports estimates how true answers hang together and then guesses what is "
                "likeliest for every single person. The bars compare this with guessing the most frequent answers without "
                "looking at any report."
            ),
            Picture(
                _bars(found),
                "Shares of single answers and of whole records guessed right, with and without the reports.",
            ),
            Rows(("disguise", "guessed", "right with the reports", "right without"), _rows(found)),
            Text(
                f"Reporting a record of yes/no answers or its exact opposite, the truth with chance {THETA:g}, looks as if "
                f"nobody could be surer than {THETA:.0%}. In fact {records:.1%} of the whole records are guessed right: people "
                "are not like their opposites, so the report itself tells which of the two it is. Trust amplification, "
                "not a coin.",
                "warning",
            ),
        ),
    )


def _rows(found: dict[str, AttackResult]) -> list[tuple[str, str, str, str]]:
    rows = []
    for name, result in found.items():
        for what, share in (("single answers", result.answers), ("whole records", result.records)):
            rows.append((name, what, f"{share.with_reports:.1%}", f"{share.without_reports:.1%}"))
    return rows


def _bars(found: dict[str, AttackResult]) -> Figure:
    figure, axes = new_figure(height=2.8)
    labels: list[str] = []
    for name, result in found.items():
        for what, share in (("single answers", result.answers), ("whole records", result.records)):
            place = -len(labels)
            axes.barh(place + 0.2, share.with_reports, height=0.36, color=BLUE, label="with the reports")
            axes.barh(place - 0.2, share.without_reports, height=0.36, color=GREY, label="without")
            labels.append(f"{name}:\n{what}")
    axes.set_yticks([-place for place in range(len(labels))], labels, fontsize=8)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share guessed right")
    handles, names = axes.get_legend_handles_labels()
    axes.legend(
        handles[:2], names[:2], loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize=8
    )
    return figure
