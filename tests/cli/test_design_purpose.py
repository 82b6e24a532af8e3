"""``tacit design scheme --for``: channels for wanted numbers, compared in one table."""

import pytest

from tacit import Scheme
from tests.cli.run import tacit

SCALE = "stress=0,1,2,3,4,5,6,7,8,9,10"


def designed(tmp_path, *arguments, answers=SCALE, gamma="2.3333333333"):
    out = tmp_path / "scheme.json"
    run = tacit("design", "scheme", "--answers", answers, "--gamma", gamma, *arguments, "--out", str(out), "--json")
    return run, out


def test_a_mean_compares_every_channel_and_writes_thresholds(tmp_path):
    run, out = designed(tmp_path, "--for", "mean:stress")
    rows = run.json["compared"]["stress"]
    assert [row["channel"] for row in rows][:3] == ["thresholds", "exact", "two-point"]
    assert {"subsets of 4", "gamma-diagonal"} <= {row["channel"] for row in rows}
    by_name = {row["channel"]: row for row in rows}
    assert by_name["thresholds"]["respondents_mean"] == 2297
    assert by_name["two-point"]["respondents_shares"] is None
    assert by_name["two-point"]["can_answer"] == "mean"
    assert by_name["exact"]["respondents_mean"] <= by_name["thresholds"]["respondents_mean"]
    assert Scheme.read(out).groups[0].channel.kind == "threshold"


def test_another_channel_of_the_comparison_is_taken_by_name(tmp_path):
    run, out = designed(tmp_path, "--for", "mean:stress", "--kind", "exact")
    assert run.json["compared"]["stress"][0]["channel"] == "exact"
    assert Scheme.read(out).groups[0].channel.kind == "matrix"


def test_the_amplification_is_shared_and_kept(tmp_path):
    answers = f"{SCALE}; smokes=no,yes"
    run, out = designed(tmp_path, "--for", "2*mean:stress + cumulative:stress", answers=answers, gamma="9")
    groups = Scheme.read(out).groups
    assert max(group.channel.amplification for group in groups) <= 3
    assert run.json["gamma"] <= 9 * (1 + 1e-9)
    assert run.json["compared"]["stress"][0]["channel"] == "exact"


def test_people_read_a_table_of_eighty_columns(tmp_path):
    out = tmp_path / "scheme.json"
    text = tacit(
        "design",
        "scheme",
        "--answers",
        SCALE,
        "--gamma",
        "4",
        "--for",
        "shares:stress + mean:stress",
        "--out",
        str(out),
    ).out
    assert "by channel" in text
    table = text.split("by channel")[1].split("A dash")[0]
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--for", "mean:mood"), "'mood'"),
        (("--for", "mean:smokes"), "are no numbers"),
        (("--for", "mean"), "Which attribute is 'mean' for?"),
        (("--for", "average:stress"), "A purpose is one of itemsets:3"),
        (("--for", "mean:stress", "--public", "stress"), "is public"),
        (("--for", "mean:stress", "--kind", "magic"), "'magic'"),
        (("--for", "mean:stress", "--groups", "stress"), "--groups"),
    ],
)
def test_a_purpose_that_cannot_be_designed_for_is_refused(tmp_path, arguments, message):
    run, out = designed(tmp_path, *arguments, answers=f"{SCALE}; smokes=no,yes")
    assert run.code == 2
    assert message in run.json["error"]
    assert not out.exists()
