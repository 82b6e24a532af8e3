"""The table itself, released so that everyone in it is hidden among others."""

from __future__ import annotations

from tacit.publish import Effort, Preferences, anonymize
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Picture, Rows, Text
from tacit.report.plots import front_figure

K = 25
IDENTIFYING = ("age", "education", "marital-status", "sex")


def publish(data: DemoData) -> Chapter:
    table = data.truth.select(IDENTIFYING)
    release = anonymize(
        table,
        K,
        preferences=Preferences(method="search"),
        effort=Effort(evaluations=10_000, seconds=5, seed=data.seed),
    )
    local = anonymize(table, K, preferences=Preferences(method="local"))
    proven = (
        "and no release of its kind loses less"
        if release.is_proven
        else f"at least {release.lower_bound or 0:.1%} must be"
    )
    rows = [
        (name, " | ".join("/".join(block) if len(block) < 4 else f"{block[0]}..{block[-1]}" for block in blocks))
        for name, blocks in release.partitions.items()
    ]
    return Chapter(
        "Publish: a table one already holds, with everyone hidden among others",
        (
            Text(
                f"Whoever holds the true table can release it k-anonymously. With k = {K}, every row is alike to at least "
                f"{release.effective_k - 1} others in {', '.join(IDENTIFYING)}; {release.nwp:.1%} of the detail is lost, "
                f"{proven}. "
                f"Recoding different rows differently (local recoding) loses {local.nwp:.1%}."
            ),
            Rows(("attribute", "answers that were joined"), rows),
            Picture(front_figure(release), "The alternatives: detail lost against unevenness of protection."),
        ),
    )
