from __future__ import annotations

from pathlib import Path

import pytest

from tacit import Attribute, Scheme
from tacit.cli.names import listed_groups, listed_names
from tests.cli.run import tacit


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b", ["a", "b"]),
        (" a , b ", ["a", "b"]),
        ("a,,b,", ["a", "b"]),
        ("", []),
        (None, []),
        ('"income, net",b', ["income, net", "b"]),
        (' " a" ,b', [" a", "b"]),
        ('"say ""hi"""', ['say "hi"']),
        ('say "hi",b', ['say "hi"', "b"]),
        ('"half,b', ['"half', "b"]),
        ("two\nlines,b", ["two\nlines", "b"]),
        ("a;b,c", ["a;b", "c"]),
    ],
)
def test_names_are_separated_by_commas_unless_quoted(text: str | None, names: list[str]) -> None:
    assert listed_names(text) == names


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("a,b;c", [["a", "b"], ["c"]]),
        (' "a;b" , c ; d', [["a;b", "c"], ["d"]]),
        ("a;", [["a"], []]),
        ("", [[]]),
    ],
)
def test_groups_are_separated_by_semicolons_unless_quoted(text: str, groups: list[list[str]]) -> None:
    assert listed_groups(text) == groups


def test_a_name_with_a_comma_goes_all_the_way(tmp_path: Path) -> None:
    attributes = [Attribute("income, net", ("low", "high")), Attribute(" spaced", ("no", "yes"))]
    Scheme.of(attributes).write(tmp_path / "schema.json")
    scheme, truths, reports = (tmp_path / name for name in ("scheme.json", "truths.csv", "reports.csv"))
    truths.write_text('"income, net", spaced\n' + "low,yes\nhigh,no\n" * 20, encoding="utf-8")
    designed = tacit(
        "design", "scheme", "--schema", tmp_path / "schema.json", "--gamma", 9, "--groups", '"income, net"', "--public",
        '" spaced"', "--out", scheme,
    )  # fmt: skip
    assert designed.code == 0, designed.err
    assert [group.names for group in Scheme.read(scheme).groups] == [("income, net",)]
    assert tacit("disguise", truths, "--scheme", scheme, "--out", reports, "--seed", 1).code == 0
    answer = tacit("estimate", reports, "--scheme", scheme, "--attributes", '"income, net"," spaced"', "--json").json
    assert list(answer["cells"][0]["answers"]) == ["income, net", " spaced"]
    checked = tacit("check", truths, "--attributes", '"income, net"', "--json").json
    assert checked["k"] == 20
