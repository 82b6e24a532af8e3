from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import tacit
from tacit import Scheme, channels
from tacit.cli.mine_rules import rules
from tacit.errors import InvalidInput, SchemeMismatch
from tests.mine.itemset_checks import dataset

app = typer.Typer()
app.command()(rules)
DATA = dataset((3, 2, 4), 5000, 1)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    scheme = Scheme.of(DATA.schema, [(DATA.schema.names, channels.gamma_diagonal(100))])
    scheme.write(tmp_path / "scheme.json")
    tacit.disguise(DATA, scheme, seed=1).write(tmp_path / "reports.parquet")
    return tmp_path / "reports.parquet", tmp_path / "scheme.json"


def run(*arguments: object) -> str:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False).stdout


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_answer_has_itemsets_and_rules(files: tuple[Path, Path]) -> None:
    reports, scheme = files
    answer = json.loads(run(reports, "--scheme", scheme, "--min-support", 0.1, "--min-threshold", 0.5, "--json"))
    assert set(answer["itemsets"][0]) == {"items", "support", "standard_error", "low", "high", "unbiased"}
    assert {"if", "then", "support", "confidence", "lift", "leverage", "conviction"} <= set(answer["rules"][0])
    assert all(entry["support"] >= 0.1 for entry in answer["itemsets"])
    assert all(rule["confidence"] >= 0.5 for rule in answer["rules"])
    assert answer["n_reports"] == 5000


def test_people_get_two_tables(files: tuple[Path, Path]) -> None:
    reports, scheme = files
    options = ("--min-support", 0.1, "--slack", 1, "--top", 2, "--min-threshold", 0.3)
    shown = words(run(reports, "--scheme", scheme, *options))
    assert "itemsets frequent with 95% certainty in 5,000 reports; the 2 largest" in shown
    assert "rules with confidence of at least 0.3 with 95% certainty" in shown


def test_an_infinite_conviction_is_null_and_said(tmp_path: Path) -> None:
    truth = tacit.Dataset.from_arrow({"a": ["x"] * 6 + ["y"] * 4, "b": ["x"] * 7 + ["y"] * 3})
    Scheme.of(truth.schema).write(tmp_path / "clear.json")
    tacit.Reports.from_truth(truth).write(tmp_path / "clear.csv")
    answer = json.loads(
        run(tmp_path / "clear.csv", "--scheme", tmp_path / "clear.json", "--min-support", 0.5, "--json")
    )
    assert answer["rules"][0]["conviction"] is None
    assert "infinite" in answer["warnings"][0]


def test_no_itemset_is_an_answer_for_people_and_programs_alike(files: tuple[Path, Path]) -> None:
    reports, scheme = files
    assert "No itemset reaches a support of 0.99" in run(reports, "--scheme", scheme, "--min-support", 0.99)
    assert json.loads(run(reports, "--scheme", scheme, "--min-support", 0.99, "--json"))["itemsets"] == []


def test_bad_input_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    reports, scheme = files
    with pytest.raises(InvalidInput, match=r"above 0 and at most at 1, not 2\.0"):
        run(reports, "--scheme", scheme, "--min-support", 2)
    other = tmp_path / "other.json"
    Scheme.of(DATA.schema, [(DATA.schema.names, channels.mask(0.7))]).write(other)
    with pytest.raises(SchemeMismatch, match="was disguised under the scheme"):
        run(reports, "--scheme", other)


@pytest.mark.slow
def test_noise_is_not_called_found(tmp_path: Path) -> None:
    """All of House Votes in one gamma-diagonal group once gave 270 itemsets, a support of 308,202 among them."""
    from tacit.bundled import binary_votes

    truth = binary_votes()
    scheme = Scheme.of(truth.schema, [(truth.schema.names, channels.gamma_diagonal(19))])
    scheme.write(tmp_path / "s.json")
    tacit.disguise(truth, scheme, seed=1).write(tmp_path / "r.parquet")
    options = (tmp_path / "r.parquet", "--min-support", 0.2, "--max-length", 2)
    answer = json.loads(run(*options, "--json"))
    assert answer["itemsets"] == []
    assert answer["rules"] == []
    assert any("It would take about" in warning and "respondents" in warning for warning in answer["warnings"])
    assert "No itemset reaches a support of 0.2 with 95% certainty" in run(*options)
    rough = json.loads(run(*options, "--certainty", 0, "--json"))
    # What is asked for as published is given so, but no support beyond everybody is called one.
    assert max(itemset["unbiased"] for itemset in rough["itemsets"]) > 1
    assert max(itemset["support"] for itemset in rough["itemsets"]) <= 1


def test_no_certain_rule_is_said(files: tuple[Path, Path]) -> None:
    reports, scheme = files
    shown = words(run(reports, "--scheme", scheme, "--min-support", 0.1, "--min-threshold", 0.999))
    assert "No rule has a confidence of at least 0.999 with 95% certainty" in shown
