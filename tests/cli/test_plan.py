import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tacit import Attribute, Scheme, channels
from tacit.cli.plan import plan
from tacit.cli.private_prior import read_scheme_with_prior
from tacit.errors import InvalidInput
from tests.cli.run import tacit

app = typer.Typer()
app.command()(plan)


@pytest.fixture
def scheme(tmp_path):
    path = tmp_path / "scheme.json"
    attributes = [Attribute("smokes", ("no", "yes")), Attribute("age", tuple("abcdefgh"))]
    Scheme.of(attributes, [(["smokes"], channels.warner(0.75)), (["age"], channels.uniform_perturbation(0.5))]).write(
        path
    )
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_the_json_answer(scheme):
    answer = json.loads(run(scheme, "--margin", 0.03, "--json").stdout)
    assert answer["direct_questioning"] == 1068
    assert answer["per_attribute"]["smokes"] == 4269
    assert answer["respondents"] == max(answer["per_attribute"].values())


def test_the_answer_for_people(scheme):
    text = run(scheme, "--margin", 0.03, "--level", 0.99).stdout
    assert "respondents give every share a margin of error of 0.03 at 99% confidence" in text
    assert "asked directly" in text
    assert "! age:" in text


def test_a_prior_changes_the_number(scheme):
    answer = json.loads(run(scheme, "--margin", 0.03, "--prior", "smokes=0.95,0.05", "--json").stdout)
    assert answer["per_attribute"]["smokes"] < 4269
    assert answer["prior"] == "given"


def test_a_margin_of_nothing_is_refused(scheme):
    with pytest.raises(InvalidInput, match=r"margin of error must lie strictly between 0 and 1, not 0\.0"):
        run(scheme, "--margin", 0)


@pytest.mark.parametrize("how", [("--gamma", 5), ("--for", "itemsets:2", "--gamma", 5)])
def test_a_scheme_designed_for_data_is_planned_for_them(tmp_path: Path, how: tuple[object, ...]) -> None:
    truth, scheme = tmp_path / "truth.csv", tmp_path / "scheme.json"
    truth.write_text("smokes,drinks\n" + "no,no\n" * 90 + "yes,no\n" * 4 + "yes,yes\n" * 6)
    made = tacit("design", "scheme", "--data", truth, *how, "--out", scheme, "--json")
    assert made.code == 0, made.err
    assert Scheme.read(scheme).prior is None
    assert read_scheme_with_prior(scheme).prior == {"smokes": (0.9, 0.1), "drinks": (0.94, 0.06)}
    needed = tacit("plan", scheme, "--margin", 0.03, "--json").json
    assert needed["prior"] == "design"
    assert (
        needed["per_attribute"]
        == tacit("plan", scheme, "--margin", 0.03, "--data", truth, "--json").json["per_attribute"]
    )


def test_shares_are_understood_as_percent_and_fractions(scheme):
    wanted = run(scheme, "--margin", 0.04, "--level", 0.9, "--json").stdout
    assert run(scheme, "--margin", "4%", "--level", "90%", "--json").stdout == wanted
    assert run(scheme, "--margin", "1/25", "--level", "9/10", "--json").stdout == wanted
    refused = tacit("plan", scheme, "--margin", "four")
    assert refused.code == 2
    assert "'four' is no share: give a number such as .04, 4% or 1/25." in refused.err


def test_respondents_give_margins_and_a_mean_its_own(tmp_path):
    path = tmp_path / "scale.json"
    attribute = Attribute("stress", tuple(map(str, range(11))), ordered=True)
    Scheme.of([attribute], [(["stress"], channels.threshold(7 / 3))]).write(path)
    needed = json.loads(run(path, "--margin", 0.05, "--for", "mean:stress", "--json").stdout)
    assert needed["respondents"] == 2297
    back = json.loads(run(path, "--respondents", 2297, "--for", "mean:stress", "--json").stdout)
    assert back["margin"] == pytest.approx(0.05, rel=1e-3)
    assert "a share of the range of its numbers" in run(path, "--margin", 0.05, "--for", "mean:stress").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--for", "mean"), "such as mean:stress"),
        (("--for", "median:smokes"), "shares, mean or both"),
        (("--for", "mean:smokes"), "are no numbers"),
        (("--for", "mean:mood"), "'mood'"),
    ],
)
def test_a_purpose_that_cannot_be_planned_is_refused(scheme, arguments, message):
    with pytest.raises(InvalidInput, match=message):
        run(scheme, "--margin", 0.03, *arguments)


def test_a_device_says_the_margin_of_its_respondents():
    found = json.loads(run("--device", "crosswise", "--parameters", "p=.25", "--respondents", 2401, "--json").stdout)
    assert found["margin"] == pytest.approx(0.04, abs=1e-4)
    with pytest.raises(InvalidInput, match="has one item"):
        run("--device", "crosswise", "--parameters", "p=.25", "--respondents", 10, "--for", "mean:x")
