"""The table itself, released so that everyone in it looks like others."""

from __future__ import annotations

from tacit.dataset import Dataset
from tacit.publish import Effort, Preferences, anonymize, check_release
from tacit.report.demo_data import DemoData
from tacit.report.page import Bars, Chapter, Text, WrittenTable

K = 10
PEOPLE = 5_000
IDENTIFYING = ("sex", "age", "education", "marital-status")
SHOWN = 6


def publish(data: DemoData) -> Chapter:
    table = Dataset(data.truth.select(IDENTIFYING).table.rows(slice(0, PEOPLE)))
    release = anonymize(table, K, preferences=Preferences(method="local"), effort=Effort(seed=data.seed))
    before = check_release(table.to_arrow(), list(IDENTIFYING))
    released = release.to_arrow()
    after = check_release(released, list(IDENTIFYING))
    rows = [
        tuple(row[name] for name in IDENTIFYING)
        for row in released.take(list(range(0, released.num_rows, released.num_rows // SHOWN))).to_pylist()
    ]
    bars: list[tuple[str, float, float | str]] = [
        ("the table as it is", before.risk.prosecutor_highest, ""),
        (f"the release, k = {K}", after.risk.prosecutor_highest, ""),
    ]
    return Chapter(
        "Publishing a table that one already holds",
        (
            Text(
                f"Whoever holds true records can release them so that nobody is told apart. Of the same census, the first "
                f"{PEOPLE:,} people: in the release everyone looks like at least {after.k - 1} others in "
                f"{', '.join(IDENTIFYING)}. {release.nwp:.1%} of the detail is lost."
            ),
            WrittenTable(IDENTIFYING, rows, "Some rows of the release"),
            Bars(
                bars, "The chance that somebody who knows these four answers of a person finds the right row, at worst."
            ),
            Text(
                "A release protects against being found in a table, and only against what was foreseen. A disguised report "
                "protects the answer itself, whatever an attacker knows.",
                "note",
            ),
        ),
    )
