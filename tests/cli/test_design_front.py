"""``tacit design front`` as its users meet it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from tacit import Attribute, Scheme
from tacit.channel.dense import expected_mse, map_privacy
from tacit.cli import design_options
from tacit.design import priors, settings
from tacit.schema import numeric
from tests.cli.run import refused, tacit


def test_the_json_answer_can_be_recomputed() -> None:
    answer = tacit("design", "front", "--prior", "0.5,0.3,0.2", "--delta", "0.8", "--points", "4", "--json").json
    assert answer["method"] == "exact"
    assert answer["records"] == 10_000
    assert len(answer["points"]) == 4
    assert any("infinite" in warning for warning in answer["warnings"])
    prior = np.array(answer["prior"])
    for point in answer["points"]:
        matrix = np.array(point["matrix"])
        assert point["privacy"] == pytest.approx(map_privacy(matrix, prior))
        assert point["mse"] == pytest.approx(expected_mse(matrix, prior, 10_000))
        assert point["lower_bound"] <= point["mse"] * (1 + 1e-9)
        assert len(point["reports"]) == len(matrix)
        assert point["gamma"] is None or point["gamma"] > 1


@pytest.mark.slow
def test_several_methods_come_together_with_a_picture(tmp_path: Path) -> None:
    out, plot = tmp_path / "front.json", tmp_path / "front.png"
    outcome = tacit(
        "design", "front", "--distribution", "normal", "--categories", "4", "--delta", "0.8", "--method",
        "exact,warner,optrr", "--generations", "30", "--no-polish", "--seed", "1", "--out", out, "--plot", plot,
    )  # fmt: skip
    assert outcome.code == 0
    assert "optrr: " in outcome.out
    assert "If the prior was wrong" in outcome.out
    methods = json.loads(out.read_text())["methods"]
    assert [each["method"] for each in methods] == ["exact", "warner", "optrr"]
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["front.json", "front.png"]


def test_amplification_gives_one_point_each() -> None:
    answer = tacit("design", "front", "--prior", "0.6,0.4", "--epsilon", "0.5,1", "--json").json
    assert sorted(point["gamma"] for point in answer["points"]) == pytest.approx([np.exp(0.5), np.exp(1)], rel=1e-6)
    assert answer["delta"] is None
    assert answer["warnings"] == []


def test_the_prior_can_be_counted_from_data(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("smokes,age\n" + "no,1\n" * 60 + "yes,2\n" * 40)
    answer = tacit("design", "front", "--data", data, "--attribute", "smokes", "--gamma", "3", "--json").json
    assert answer["answers"] == ["no", "yes"]
    assert answer["prior"] == [0.6, 0.4]
    assert answer["records"] == 100
    assert set(answer["points"][0]["reports"]) == {"rather no", "rather yes"}


def test_a_schema_says_how_the_data_are_read(tmp_path: Path) -> None:
    data, schema = tmp_path / "people.csv", tmp_path / "schema.json"
    data.write_text("age,smokes\n" + "20,no\n" * 60 + "50,yes\n" * 40)
    Scheme.of([Attribute("smokes", ("yes", "no")), numeric("age", [35], labels=["young", "old"])]).write(schema)
    for attribute, answers, prior in (("smokes", ["yes", "no"], [0.4, 0.6]), ("age", ["young", "old"], [0.6, 0.4])):
        answer = tacit(
            "design", "front", "--data", data, "--attribute", attribute, "--schema", schema, "--gamma", "3", "--json"
        ).json
        assert answer["answers"] == answers
        assert answer["prior"] == prior


def test_a_picture_of_an_unknown_kind_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    out, plot = tmp_path / "front.json", tmp_path / "front.txt"
    assert "Use .png" in refused("design", "front", "--prior", "0.5,0.5", "--out", out, "--plot", plot)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "in one way"),
        (("--prior", "0.5,0.5", "--distribution", "normal"), "in one way"),
        (("--prior", "0.5,0.6"), "sums to 1.1"),
        (("--prior", "0.5,0.5,0"), "number 3 is 0"),
        (("--prior", "a,b"), "numbers separated by commas"),
        (("--prior", "1"), "at least two answers"),
        (("--prior", ""), "numbers separated by commas"),
        (("--distribution", "normal", "--gamma", ""), "--gamma is ''; it must be numbers"),
        (("--distribution", "normal", "--schema", "s.json"), "give --data FILE"),
        (("--distribution", "normal", "--delta", "0.1"), "theorem 5"),
        (("--distribution", "normal", "--delta", "1.1"), "at most 1"),
        (("--distribution", "uniform", "--categories", "1000"), "no certified bound"),
        (("--distribution", "normal", "--method", "optrr", "--generations", "0"), "generations is 0"),
        (("--distribution", "normal", "--method", "wrner"), "Did you mean 'warner'"),
        (("--distribution", "normal", "--method", ","), "No method is named"),
        (("--distribution", "normal", "--out", "/no/such/folder/f.json"), "Make it first"),
        (("--distribution", "normal", "--plot", "/"), "is a folder"),
        (("--distribution", "normal", "--method", "warner", "--plot", "front.txt"), "Use .png"),
        (("--distribution", "normal", "--gamma", "2", "--epsilon", "1"), "not both"),
        (
            ("--distribution", "normal", "--gamma", "2", "--method", "warner"),
            "exact method only, not for warner",
        ),
        (("--distribution", "normal", "--privacy", "0.3", "--method", "warner"), "exact method only, not for warner"),
        (("--distribution", "normal", "--privacy", "0.3", "--method", "warner,optrr"), "exact method only, not for"),
        (("--distribution", "normal", "--closeness"), "nearness (accuracy, --closeness) is not for it"),
        (("--distribution", "normal", "--closeness", "--method", "warner,exact"), "Use the method optrr"),
        (("--distribution", "normal", "--gamma", "0.5"), "above 1"),
        (("--distribution", "normal", "--records", "0"), "at least 1"),
        (("--data", "/no/such/file.csv", "--attribute", "a"), "There is no file"),
        (("--data", "x.csv"), "needs --attribute"),
    ],
)
def test_bad_input_gets_one_clear_message(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused("design", "front", *arguments)


def test_an_unwritable_folder_is_refused_before_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    message = refused("design", "front", "--distribution", "normal", "--method", "warner", "--out", tmp_path / "f.json")
    assert "permission denied" in message


def test_a_set_of_priors_gives_one_channel_that_is_safe_for_all() -> None:
    arguments = ("--prior", "0.5,0.3,0.2", "--prior", "0.4,0.3,0.3", "--ball", "0.02", "--delta", "0.8", "--json")
    answer = tacit("design", "front", *arguments).json
    (point,) = answer["points"]
    assert answer["method"] == "safe"
    assert point["gap"] <= 1e-6
    assert "over all" in answer["warnings"][0]
    joint = np.array(point["matrix"]) * np.array([0.4, 0.3, 0.3])
    assert (joint.max(axis=1) / joint.sum(axis=1)).max() <= 0.8 + 1e-9


def test_a_set_of_priors_is_for_delta_alone() -> None:
    message = refused("design", "front", "--prior", "0.5,0.5", "--ball", "0.1", "--gamma", "3")
    assert "is for the method exact with delta" in message
    message = refused("design", "front", "--prior", "0.5,0.5", "--ball", "0.1", "--delta", ".8", "--privacy", ".3")
    assert "privacy cannot be given with it" in message


def test_privacies_are_for_the_exact_method_and_classic_families_show_all_of_theirs() -> None:
    arguments = ("--prior", "0.5,0.3,0.2", "--delta", "0.8", "--method", "exact,warner", "--privacy", "0.3", "--json")
    exact, warner = tacit("design", "front", *arguments).json["methods"]
    assert [point["privacy"] for point in exact["points"]] == pytest.approx([0.3], abs=1e-9)
    assert len(warner["points"]) > 10


def test_the_command_and_python_offer_the_same_methods() -> None:
    assert design_options.METHODS == settings.METHODS
    assert get_args(design_options.DistributionName) == get_args(priors.Distribution) == tuple(priors.DISTRIBUTIONS)
