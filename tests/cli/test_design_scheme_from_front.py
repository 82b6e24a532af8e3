"""A front becomes a scheme: a point is picked by what its user needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit import Attribute, Scheme
from tests.cli.run import refused, tacit


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Scheme.of([Attribute("a", ("x", "y", "z")), Attribute("b", ("no", "yes"))]).write("schema.json")
    for prior, answers, out in (("0.5,0.3,0.2", "x,y,z", "a.json"), ("0.7,0.3", "no,yes", "b.json")):
        size = ("--records", 1000, "--delta", 0.9, "--points", 5, "--answers", answers)
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
        (
            ("--from", "b=a.json", "--privacy", "0.2", "--public", "a"),
            "made for the answers x, y, z, but 'b' has no, yes",
        ),
        (("--from", "a=a.json", "--privacy", "0.2"), "'b' is neither in a group nor public"),
        (("--from", "a=a.json", "--public", "b"), "Pick a point by one demand"),
        (("--from", "a=a.json", "--public", "b", "--privacy", "0.9"), "No channel of this front has privacy 0.9"),
        (("--from", "a=schema.json", "--public", "b", "--privacy", "0.2"), "front"),
        (("--from", "a=a.json", "--method", "warner", "--public", "b", "--privacy", "0.2"), "warner"),
        (("--from", "a=none.json", "--public", "b", "--privacy", "0.2"), "There is no file"),
    ],
)
def test_bad_input(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in refused("design", "scheme", "--schema", "schema.json", *arguments, "--out", "s.json")
    assert not (folder / "s.json").exists()


def test_a_front_serves_an_attribute_that_lists_its_answers_in_another_order(folder: Path) -> None:
    """Attached by position, the rare answer got the common one's chances: .957 where .75 was printed."""
    tacit(
        "design", "front", "--method", "exact", "--prior", "0.7,0.25,0.05", "--answers", "never,once,often",
        "--records", 1000, "--delta", 0.75, "--points", 4, "--out", "front.json",
    )  # fmt: skip
    Scheme.of([Attribute("stole", ("often", "once", "never"))]).write("other-order.json")
    made = tacit(
        "design", "scheme", "--schema", "other-order.json", "--from", "front.json", "--privacy", 0.27, "--out", "s.json",
    )  # fmt: skip
    assert made.code == 0, made.err
    channel, truth = Scheme.read("s.json").groups[0].channel, {"never": 0.7, "once": 0.25, "often": 0.05}
    prior = np.array([truth[answer] for answer in ("often", "once", "never")])
    joint = channel.matrix * prior
    assert (joint / joint.sum(axis=1, keepdims=True)).max() <= 0.75 + 1e-6
    measured = tacit("measure", "s.json", "--prior", "0.05,0.25,0.7", "--json").json
    assert measured["groups"][0]["worst_posterior"] <= 0.75 + 1e-6


def test_square_channels_keep_answers_and_reports_together(folder: Path) -> None:
    tacit(
        "design", "front", "--method", "warner", "--prior", "0.7,0.2,0.1", "--answers", "never,once,often",
        "--records", 1000, "--delta", 0.9, "--out", "front.json",
    )  # fmt: skip
    Scheme.of([Attribute("stole", ("often", "never", "once"))]).write("other-order.json")
    tacit("design", "scheme", "--schema", "other-order.json", "--from", "front.json", "--mse", 1, "--out", "s.json")
    matrix = Scheme.read("s.json").groups[0].channel.matrix
    assert matrix[0, 0] == matrix[1, 1] == matrix[2, 2]  # Warner's: one chance of the truth, whatever the order


def test_a_front_without_names_is_not_attached_by_position(folder: Path) -> None:
    tacit(
        "design", "front", "--prior", "0.5,0.3,0.2", "--records", 1000, "--delta", 0.9, "--points", 3, "--out", "n.json"
    )
    message = refused(
        "design", "scheme", "--schema", "schema.json", "--public", "b", "--from", "a=n.json", "--privacy", 0.2,
        "--out", "s.json",
    )  # fmt: skip
    assert "made for the answers 1, 2, 3" in message
    assert "--answers 'x,y,z'" in message


def test_data_that_differ_from_the_prior_of_the_front_are_named(folder: Path) -> None:
    Path("truths.csv").write_text("a,b\n" + "x,no\n" * 10 + "y,yes\n" * 10 + "z,no\n" * 80)
    made = tacit(
        "design", "scheme", "--schema", "schema.json", "--data", "truths.csv", "--public", "b", "--from", "a=a.json",
        "--privacy", 0.2, "--out", "s.json", "--json",
    )  # fmt: skip
    (said,) = [warning for warning in made.json["warnings"] if "assumes" in warning]
    assert "0.200 answer 'z'; in the data 0.800 do" in said
    worst = made.json["groups"][0]["worst_posterior"]
    assert f"the worst posterior is {worst:.3f}, not" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--prior", "0.5,0.5", "--answers", "a,a"), "named twice"),
        (("--prior", "0.5,0.5", "--answers", "a,b,c"), "3 answers but 2 prior"),
        (("--data", "t.csv", "--attribute", "a", "--answers", "x,y"), "--data has names of its own"),
    ],
)
def test_answers_that_do_not_fit_the_prior(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    Path("t.csv").write_text("a\nx\ny\n")
    assert message in refused("design", "front", *arguments, "--records", 100, "--delta", 0.9)
