"""How the answers were disguised, and what one person's report gives away."""

from __future__ import annotations

import math

from tacit.report.demo_data import GAMMA, DemoData
from tacit.report.page import Chapter, Rows, Text


def collect(data: DemoData) -> Chapter:
    channels = {group.names[0]: group.channel for group in data.scheme.groups}
    rows = []
    for attribute in data.truth.schema:
        channel = channels.get(attribute.name)
        truthful = 1.0 if channel is None else float(channel.matrix[0, 0])
        gamma = math.inf if channel is None else channel.amplification
        said = "public, not disguised" if channel is None else f"{truthful:.0%}"
        rows.append((attribute.name, attribute.size, said, "-" if channel is None else f"{gamma:.2f}"))
    people = f"{data.truth.n_rows:,}"
    return Chapter(
        "Collect: answers are disguised before they leave people's hands",
        (
            Text(
                f"{people} people answer six questions. Sex is public; each of the other five answers is replaced by chance: "
                f"the true answer is at most {GAMMA:g} times as likely to be reported as any one other answer. Whoever sees "
                f"one reported answer can multiply the odds of any guess about it by at most {GAMMA:g}."
            ),
            Rows(("question", "answers", "reported as it is", "amplification"), rows),
            Text(
                f"Five answers of one person together allow an amplification of {GAMMA:g}^5 = {GAMMA**5:,.0f} about the "
                "whole record: the promise for each answer is stronger than the promise for everything at once.",
                "warning",
            ),
        ),
    )
