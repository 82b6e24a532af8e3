"""One person's answers being disguised, the crowd that is estimated from all reports, and the links between answers."""

from __future__ import annotations

import numpy as np

from tacit.count import sources
from tacit.estimation import estimate
from tacit.report.demo_data import GAMMA, PRIVATE, PUBLIC, DemoData
from tacit.report.page import Bars, Chapter, Marks, Text, WrittenTable

PERSON = 0


def one_person(data: DemoData) -> Chapter:
    """What a single person answers, what is sent, and what the sent report tells."""
    truth, sent = (table.slice(PERSON, 1).to_pylist()[0] for table in (data.truth.to_arrow(), data.reports.to_arrow()))
    channels = {group.names[0]: group.channel for group in data.scheme.groups}
    rows = [(name, truth[name], sent[name], "always: it is public") for name in PUBLIC]
    for name in PRIVATE:
        chance = float(channels[name].matrix[0, 0])
        rows.append((name, truth[name], sent[name], f"{chance:.0%} of the time"))
    code = data.truth.schema["income"].encode(truth["income"])
    chances = channels["income"].matrix[:, code]
    bars = [
        (answer, float(chance), "") for answer, chance in zip(data.truth.schema["income"].answers, chances, strict=True)
    ]
    return Chapter(
        "One person's answers are disguised",
        (
            Text(
                f"Somebody is asked six questions. Sex and age are public. Each of the other four answers goes through chance "
                f"before it leaves the person's hands: the true answer is {GAMMA:g} times as likely to be sent as any one other. "
                "(35,45] stands for above 35 and up to 45."
            ),
            WrittenTable(("question", "true answer", "what is sent", "the truth is sent"), rows),
            Bars(bars, f"What is sent about income if {truth['income']} is true."),
            Text(
                f"Whoever reads one sent answer can multiply the odds of a guess about it by {GAMMA:g} at most. Of something "
                f"that one person in five has, nobody can become more than {GAMMA / (GAMMA + 4):.0%} sure. The four answers "
                f"together allow {GAMMA:g} to the fourth, {GAMMA ** len(PRIVATE):,.0f}: many answers of one person say more than "
                "one of them."
            ),
        ),
    )


def the_crowd(data: DemoData) -> Chapter:
    """Shares of answers, estimated from all reports."""
    blocks: list[Text | Marks] = [
        Text(
            f"{data.reports.n_reports:,} people answered. One report says little. But the chances are known, so what chance "
            "added to the counts can be subtracted again. Each estimate comes with an interval that holds the truth 95 times "
            "out of 100. The truth is shown beside it only because this data set is public."
        )
    ]
    inside = total = 0
    (source,) = sources(data.reports)
    for name in ("income", "hours-per-week", "education"):
        estimated, truth = estimate(data.reports, [name]), data.true_shares([name])
        interval = estimated.interval()
        shares = estimated.distribution()
        reported = source.engine.tally([name]) / data.reports.n_reports
        inside += int(((interval.low <= truth) & (truth <= interval.high)).sum())
        total += truth.size
        asked = data.truth.schema[name]
        # Answers without an order of their own stand by their size.
        order = np.arange(asked.size) if asked.ordered else np.argsort(-shares, kind="stable")
        low, high = interval.low[order], interval.high[order]
        blocks.append(
            Marks.of(
                [asked.answers[at] for at in order],
                shares[order],
                low,
                high,
                truth[order],
                f"Shares of {name}.",
                reported[order],
            )
        )
    blocks.append(Text(f"{inside} of the {total} intervals shown hold the true share.", "note"))
    return Chapter("From all reports to the shares of the crowd", tuple(blocks))


def links(data: DemoData) -> Chapter:
    """Income within each marital status: a link between two answers that were disguised separately."""
    estimated = estimate(data.reports, ["income", "marital-status"]).given("marital-status")
    table = data.true_shares(["income", "marital-status"])
    truth = (table / table.sum(axis=0))[1]
    rows = [row for row in estimated.shown_rows() if row["income"] == ">50K"]
    order = [data.truth.schema["marital-status"].encode(row["marital-status"]) for row in rows]
    numbers = {key: np.array([row[key] for row in rows]) for key in ("constrained", "low", "high")}
    return Chapter(
        "Links between answers",
        (
            Text(
                "Income and marital status were disguised separately, each by its own chance. How the two go together can be "
                "estimated all the same, because both chances are known. Who earns more than 50K?"
            ),
            Marks.of(
                [row["marital-status"] for row in rows],
                numbers["constrained"],
                numbers["low"],
                numbers["high"],
                truth[order],
                "Share with more than 50K within each marital status.",
            ),
            Text("Where a group has few people, the interval is wide: the price of the disguise.", "note"),
        ),
    )
