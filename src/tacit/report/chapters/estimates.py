"""What the reports say about the crowd, beside the truth."""

from __future__ import annotations

import numpy as np

from tacit.channel.base import Array
from tacit.count import sources
from tacit.estimation import estimate
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Picture, Rows, Text
from tacit.report.plots import estimates_beside_truth
from tacit.reports import Reports


def _truth(data: DemoData, names: list[str]) -> Array:
    (source,) = sources(Reports.from_truth(data.truth))
    return source.engine.tally(names) / data.truth.n_rows


def estimates(data: DemoData) -> Chapter:
    blocks: list[Text | Picture] = [
        Text(
            "A single report says little, but the chances are known, so the distribution of the reports can be inverted. "
            "Every estimate comes with an interval that holds the truth 95 times out of 100."
        )
    ]
    inside = total = 0
    for name in ("income", "hours-per-week", "education"):
        found = estimate(data.reports, [name])
        interval, truth = found.interval(), _truth(data, [name])
        inside += int(((interval.low <= truth) & (truth <= interval.high)).sum())
        total += truth.size
        (source,) = sources(data.reports)
        reported = source.engine.tally([name]) / data.reports.n_reports
        figure = estimates_beside_truth(
            data.truth.schema[name].answers, found.probabilities, interval.low, interval.high, truth, reported=reported
        )
        blocks.append(Picture(figure, f"{name}: estimated shares with 95% intervals, the truth, and the raw reports."))
    blocks.append(Text(f"{inside} of the {total} intervals shown hold the true share.", "note"))
    return Chapter("Estimate: the crowd's distribution comes back", tuple(blocks))


def joint_estimates(data: DemoData) -> Chapter:
    names = ["sex", "income", "marital-status"]
    found = estimate(data.reports, names)
    interval, truth = found.interval(), _truth(data, names)
    attributes = found.attributes
    rows = []
    for index in np.ndindex(truth.shape):
        answers = [attribute.answers[code] for attribute, code in zip(attributes, index, strict=True)]
        rows.append(
            (
                ", ".join(answers),
                f"{found.probabilities[index]:.4f}",
                f"{interval.low[index]:.4f} to {interval.high[index]:.4f}",
                f"{truth[index]:.4f}",
            )
        )
    return Chapter(
        "Estimate: links between answers come back too",
        (
            Text(
                "The answers were disguised separately, each with its own chance, and still the joint table of several "
                "questions can be estimated: one inverse for each question, applied along its own axis."
            ),
            Rows((", ".join(names), "estimate", "95% interval", "truth"), rows),
        ),
    )
