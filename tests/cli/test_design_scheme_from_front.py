"""A front becomes a scheme: a point is picked by what its user needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit import Attribute, Scheme
from tests.cli.run import refused, tacit


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Scheme.of([Attribute("a", ("x", "y", "z")), Attribute("b", ("no", "yes"))]).write("schema.json")
    for prior, out in (("0.5,0.3,0.2", "a.json"), ("0.7,0.3", "b.json")):
        size = ("--records", 1000, "--delta", 0.9, "--points", 5)
        done = tacit("design", "front", "--method", "exact", "--prior", prior, *size, "--out", out)
        assert done.code == 0, done.err
    return tmp_path


def test_every_attribute_gets_its_own_channel(folder: Path) -> None:
    made = tacit(
        "design", "scheme", "--schema", "schema.json", "--from", "a=a.json", "--from", "b=b.json", "--privacy", 0.2,
        "--out", "s.json", "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    scheme = Scheme.read(folder / "s.json")
    assert [group.channel.kind for group in scheme.groups] == ["matrix", "matrix"]
    assert scheme.prior is not None
    measured = tacit("measure", "s.json", "--json").json
    assert measured["gamma"] is None  # the exact channels contain zeros
    for group in measured["groups"]:
        assert group["map_privacy"] >= 0.2 - 1e-6
        assert group["worst_posterior"] <= 0.9 + 1e-6
    assert measured["warnings"]


def test_one_private_attribute_needs_no_name(folder: Path) -> None:
    made = tacit(
        "design",
        "scheme",
        "--schema",
        "schema.json",
        "--public",
        "b",
        "--from",
        "a.json",
        "--mse",
        1,
        "--out",
        "s.json",
    )
    assert made.code == 0, made.err
    assert Scheme.read("s.json").public_names == ("b",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "a.json", "--privacy", "0.2"), "Which attribute is 'a.json' for"),
        (("--from", "b=a.json", "--privacy", "0.2", "--public", "a"), "made for 3 answers, but 'b' has 2"),
        (("--from", "a=a.json", "--privacy", "0.2"), "'b' is neither in a group nor public"),
        (("--from", "a=a.json", "--public", "b"), "Pick a point by one demand"),
        (("--from", "a=a.json", "--public", "b", "--privacy", "0.9"), "No channel of this front has privacy 0.9"),
        (("--from", "a=schema.json", "--public", "b", "--privacy", "0.2"), "front"),
        (("--from", "a=none.json", "--public", "b", "--privacy", "0.2"), "There is no file"),
    ],
)
def test_bad_input(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in refused("design", "scheme", "--schema", "schema.json", *arguments, "--out", "s.json")
    assert not (folder / "s.json").exists()
