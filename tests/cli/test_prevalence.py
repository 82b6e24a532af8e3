"""`tacit prevalence` on files as they lie."""

from __future__ import annotations

import pytest

from tests.cli.run import refused, tacit


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.csv"
    rows = ["id,copied,sex,stratum,school,w,note"]
    rows += [f"{n},{'yes' if n % 3 else 'no'},{n % 2},{n % 2},{n % 20},{1 + n % 3},free; text" for n in range(600)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


ASKED = ("--item", "copied", "--device", "unrelated-question", "--parameters", "p=1/2,y=1/12")


def test_a_file_with_other_columns_is_taken_as_it_lies(study):
    answer = tacit("prevalence", study, *ASKED, "--json").json
    yes = next(share for share in answer["shares"] if share["answer"] == "yes")
    assert answer["n_reports"] == 600
    assert yes["share"] == pytest.approx((2 / 3 - 1 / 24) / 0.5)
    assert yes["constrained"] == 1
    assert set(yes) == {"answer", "share", "constrained", "standard_error", "low", "high"}
    assert answer["parameters"] == {}
    assert answer["readings"] == []  # the device's own words


def test_groups_and_a_complex_sample(study):
    answer = tacit(
        "prevalence", study, *ASKED, "--by", "sex", "--weights", "w", "--strata", "stratum", "--clusters", "school",
        "--sampled", "600/10000", "--json",
    ).json  # fmt: skip
    assert [group["answers"] for group in answer["groups"]] == [{"sex": "0"}, {"sex": "1"}]
    assert answer["differences"][0]["answers"] == {"sex": "1"}
    assert "20 clusters in 2 strata" in answer["errors"]


def test_the_answer_for_people(study):
    shown = tacit("prevalence", study, *ASKED, "--by", "sex")
    assert "sex 1 against sex 0" in shown.out
    assert "outside of what the device can send" in shown.err


def test_refusals_are_one_sentence(study):
    assert "Did you mean 'copied'" in refused("prevalence", study, "--item", "copid", *ASKED[2:])
    assert "Did you mean 'crosswise'" in refused(
        "prevalence", study, "--item", "copied", "--device", "crosswize", "--parameters", "p=.2"
    )
    assert "a chance lies between 0 and 1" in refused("prevalence", study, *ASKED, "--sampled", "1.5")
    assert "There is no file" in refused("prevalence", "nowhere.csv", *ASKED)
    assert "only one cluster" in refused("prevalence", study, *ASKED, "--clusters", "note")


@pytest.mark.parametrize("address", ["spark:db.answers", "postgresql://localhost/db/answers"])
def test_a_table_of_a_database_is_told_from_a_file_that_is_missing(address: str) -> None:
    message = refused("prevalence", address, "--item", "x", "--device", "warner", "--parameters", "p=0.7")
    assert f"{address!r} is an address of a table" in message
    assert "There is no file" not in message
