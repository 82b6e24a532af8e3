"""``tacit design advise`` as its users meet it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import refused, tacit


def test_the_ways_stand_in_one_table() -> None:
    outcome = tacit("design", "advise", "--prior", "0.6,0.3,0.1", "--gamma", "5", "--generations", "20", "--seed", "1")
    assert outcome.code == 0
    for method in ("exact under gamma", "gamma-diagonal", "exact under delta", "optrr", "warner"):
        assert method in outcome.out
    assert outcome.out.index("exact under gamma") < outcome.out.index("exact under delta")
    assert "needs no prior holds whatever the truth is" in outcome.out


@pytest.mark.slow
def test_the_json_answer_is_for_the_data(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("smokes\n" + "no\n" * 60 + "yes\n" * 40)
    arguments = ("--data", data, "--attribute", "smokes", "--delta", "0.8", "--generations", "5", "--json")
    answer = tacit("design", "advise", *arguments).json
    assert answer["records"] == 100
    assert answer["answers"] == ["no", "yes"]
    assert [way["needs_prior"] for way in answer["channels"]] == [False, False, True, True, True]


def test_two_forms_of_one_demand_are_refused() -> None:
    message = refused("design", "advise", "--prior", "0.5,0.5", "--gamma", "3", "--epsilon", "1")
    assert "--gamma or --epsilon, not both" in message
