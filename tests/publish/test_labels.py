from __future__ import annotations

import pytest

from tacit.publish.labels import block_label, label
from tacit.schema import Attribute, numeric

WORK = Attribute("work", ("Private", "Self-employed", "State", "Unpaid", "None"))


@pytest.mark.parametrize(
    ("attribute", "low", "high", "expected"),
    [
        (WORK, 1, 1, "Self-employed"),
        (WORK, 0, 1, "Private or Self-employed"),
        (WORK, 0, 3, "Private ... Unpaid (4 answers)"),
        (WORK, 0, 4, "*"),
        (Attribute("age", ("30-35", "35-40", "40-45")), 0, 1, "30-40"),
        (Attribute("age", ("30", "31", "32", "33")), 1, 3, "31-33"),
        (Attribute("gain", ("-3", "-2", "1", "2")), 0, 2, "-3 to 1"),
        (numeric("age", (20, 30, 40)), 1, 2, "(20,40]"),
        (numeric("age", (20, 30, 40)), 0, 1, "<=30"),
        (numeric("age", (20, 30, 40)), 2, 3, ">30"),
        (numeric("age", (20, 30, 40), closed="left"), 1, 2, "[20,40)"),
    ],
)
def test_labels_read_well(attribute, low, high, expected):
    assert label(attribute, low, high) == expected


def test_blocks_of_strangers_are_listed():
    assert block_label(WORK, [0, 2]) == "Private or State"
