"""`tacit devices`, `tacit plan --device` and `tacit design scheme --device`, as the shell sees them."""

from __future__ import annotations

import pytest

from tacit import Scheme
from tacit.channel.devices import DEVICES
from tacit.channel.moment_devices import MOMENT_DEVICES
from tests.cli.run import refused, tacit


def test_all_devices_are_listed():
    listed = tacit("devices", "--json").json["devices"]
    assert [device["name"] for device in listed] == [*DEVICES, *MOMENT_DEVICES]
    assert all(device["error"] > 0 for device in listed[: len(DEVICES)])
    lines = tacit("devices").out.splitlines()
    # A name can be copied: it stands on one line, in a terminal of 80 columns too.
    assert all(any(f" {name} " in line for line in lines) for name in DEVICES)


def test_one_device_is_a_page_to_print(tmp_path):
    shown = tacit("devices", "forced-response", "--parameters", "truth=2/3,yes=1/6", "--question", "Did you copy?")
    assert "If it shows 5 (chance 1/6): say yes." in shown.out
    assert "Did you copy?" in shown.out
    written = tmp_path / "page.md"
    tacit("devices", "crosswise", "--out", written)
    assert "say 'same'" in written.read_text(encoding="utf-8")
    printed = tmp_path / "page.html"
    tacit("devices", "warner", "--question", "Is 1 < 2 & <b>true</b>?", "--out", printed)
    html = printed.read_text(encoding="utf-8")
    assert "Is 1 &lt; 2 &amp; &lt;b&gt;true&lt;/b&gt;?" in html
    assert "<script" not in html
    assert "takes 4,269 respondents (asked directly: 1,068)" in html


def test_a_plan_without_data():
    answer = tacit("plan", "--device", "crosswise", "--parameters", "p=.25", "--margin", ".04", "--json").json
    assert answer["respondents"] == 2401
    assert answer["direct_questioning"] == 601
    assert answer["power"] is None
    assert answer["per_attribute"] == {"item": 2401}


def test_the_published_power():
    forced = ("--device", "forced-response", "--parameters", "truth=2/3,yes=1/6")
    test = ("--respondents", 200, "--share", ".2", "--against", 0, "--level", ".99", "--one-sided")
    answer = tacit("plan", *forced, *test, "--json").json
    assert round(answer["power"], 4) == 0.9869
    assert "score test" in answer["wanted"]
    assert "power 0.9869" in tacit("plan", *forced, *test).out


@pytest.mark.slow
def test_power_gives_respondents_and_a_plot(tmp_path):
    plot = tmp_path / "power.svg"
    outcome = tacit(
        "plan", "--device", "warner", "--parameters", "p=3/4", "--share", ".2", "--difference", ".1", "--power", ".8",
        "--plot", plot, "--beside", "crosswise p=1/4", "--beside", "kuk p1=3/4,p2=1/4,k=3", "--json",
    )  # fmt: skip
    assert outcome.json["power"] >= 0.8
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_a_scheme_from_answers_and_a_device(tmp_path):
    out = tmp_path / "scheme.json"
    made = tacit(
        "design", "scheme", "--answers", "cheated=no,yes; age=young,old", "--public", "age", "--device", "crosswise",
        "--parameters", "p=25%", "--out", out, "--json",
    )  # fmt: skip
    assert made.json["gamma"] == pytest.approx(3)
    assert Scheme.read(out).groups[0].report_attributes[0].answers == ("different", "same")
    assert Scheme.read(out).public_names == ("age",)


SCHEME = ("design", "scheme", "--out", "s")
REFUSALS = [
    (("devices", "crosswice"), "Did you mean 'crosswise'"),
    (("devices", "warner", "--parameters", "p=1/2"), "carry nothing"),
    (("plan", "--margin", ".1"), "What is planned for?"),
    (("plan", "--device", "warner", "--parameters", "p=.7"), "How sure should it be?"),
    (("plan", "--device", "warner", "--parameters", "p=.7", "--margin", ".1", "--power", ".8"), "Give one of them"),
    (("plan", "--device", "warner", "--parameters", "p=.7", "--margin", ".1", "--prior", ".5,.5"), "belong to a scheme"),
    (("plan", "--device", "warner", "--parameters", "p=.7", "--power", ".8"), "needs the share that is expected"),
    (("plan", "--device", "warner", "--parameters", "p=.7", "--margin", ".1", "--plot", "x.svg"), "(--share, --against"),
    (("plan", "s.json", "--power", ".8"), "planned for a --device"),
    ((*SCHEME, "--answers", "a", "--device", "warner"), "'a' is not like that"),
    ((*SCHEME, "--answers", "a=yes,no", "--device", "mangat", "--parameters", "p=.7"), "List them as no, yes"),
    ((*SCHEME, "--answers", "a=no,yes", "--device", "warner", "--gamma", "3"), "--gamma cannot be given"),
    ((*SCHEME, "--answers", "a=no,yes", "--parameters", "p=.7"), "give --device NAME"),
    ((*SCHEME, "--answers", "a=no,yes", "--schema", "x", "--gamma", "3"), "Give one of them"),
    ((*SCHEME, "--answers", "a=x,y,z", "--device", "kuk", "--parameters", "p1=.2,p2=.4"), "there are 3 answers"),
    ((*SCHEME, "--gamma", "3"), "--answers"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), REFUSALS)
def test_what_cannot_be_done_is_said_in_one_sentence(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused(*arguments)
    assert not list(tmp_path.iterdir())
