"""Devices of the literature: their law, what they refuse, and pages whose instructions have that very law."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import tacit
from tacit import Attribute, Scheme, TacitError, devices
from tacit.channel.device_pages import _outcomes, page
from tacit.channel.device_parameters import chance_rows, exact_chance, read_parameters, same_value
from tacit.channel.devices import DEVICES, design

# pi = .3; the chance of the second report as the literature states it
PI = 0.3
LAWS = {
    "warner": ("p=.7", 0.7 * PI + 0.3 * (1 - PI)),
    "unrelated-question": ("p=.6,y=1/12", 0.6 * PI + 0.4 / 12),
    "forced-response": ("truth=2/3,yes=1/6", PI * 2 / 3 + 1 / 6),
    "crosswise": ("p=25%", 0.25 * PI + 0.75 * (1 - PI)),
    "triangular": ("p=.25", PI + (1 - PI) * 0.25),
    "mangat": ("p=.6", PI + (1 - PI) * 0.4),
    "mirrored-question": ("p=.7", 0.7 * PI + 0.3 * (1 - PI)),
    "disguised-response": ("p=.7", 0.7 * PI + 0.3 * (1 - PI)),
    "matrix": ("rows=.9,.2;.1,.8", 0.1 * (1 - PI) + 0.8 * PI),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_second_report_has_the_chance_of_the_literature(name):
    parameters, chance = LAWS[name]
    made = design(name, parameters)
    assert made.samples[0].matrix[1] @ [1 - PI, PI] == pytest.approx(chance)
    built = made.build((2,))
    np.testing.assert_allclose(built.matrix, made.samples[0].matrix, atol=2**-31)


def _left_open(made, name, classes):
    """What a device leaves open, if people are of its classes in these shares."""
    part, whole = made.opens[name]
    return (part @ classes) / (whole @ classes)


def test_kuk_counts_red_cards():
    made = devices.kuk("3/4", "1/4", k=2)
    np.testing.assert_allclose(made.samples[0].matrix, [[9 / 16, 1 / 16], [6 / 16, 6 / 16], [1 / 16, 9 / 16]])
    assert made.reports == ("0", "1", "2")


@pytest.mark.parametrize(("sample", "p"), [(0, 1 / 4), (1, 3 / 4)])
def test_cheaters_say_no_whatever_is_asked(sample, p):
    made = devices.cheating_detection({"1": 0.25, "2": 0.75})
    no, yes, cheaters = 0.5, 0.3, 0.2
    assert made.samples[sample].matrix[1] @ [no, yes, cheaters] == pytest.approx(yes + no * p)
    np.testing.assert_allclose(made.samples[sample].matrix.sum(axis=0), 1)
    assert _left_open(made, "cheaters", [no, yes, cheaters]) == pytest.approx(cheaters)


@pytest.mark.parametrize(("sample", "p"), [(0, 1 / 6), (1, 5 / 6)])
def test_carriers_are_honest_with_chance_t(sample, p):
    made = design("stochastic-lie-detector", "p=a:1/6,b:5/6")
    t = 0.8
    law = made.samples[sample].matrix[1] @ [1 - PI, PI * t, PI * (1 - t)]
    assert law == pytest.approx(PI * t + (1 - PI) * (1 - p))
    assert _left_open(made, "t", [1 - PI, PI * t, PI * (1 - t)]) == pytest.approx(t)


def test_an_unknown_harmless_share_takes_two_samples():
    made = devices.unrelated_question("1:.7,2:.3")
    classes = np.outer([1 - PI, PI], [0.6, 0.4]).ravel()
    assert made.samples[0].matrix[1] @ classes == pytest.approx(0.7 * PI + 0.3 * 0.4)
    assert made.samples[1].matrix[1] @ classes == pytest.approx(0.3 * PI + 0.7 * 0.4)
    np.testing.assert_allclose(made.samples[0].matrix.sum(axis=0), 1)
    assert _left_open(made, "y", classes) == pytest.approx(0.4)


def test_more_than_two_answers_where_the_device_has_them():
    answers = ("never", "once", "often")
    np.testing.assert_allclose(
        devices.warner(0.6, answers).build((3,)).matrix, np.full((3, 3), 0.2) + 0.4 * np.eye(3), atol=1e-9
    )
    forced = devices.forced_response(0.7, [0.1, 0.1, 0.1], answers)
    np.testing.assert_allclose(forced.build((3,)).matrix, np.full((3, 3), 0.1) + 0.7 * np.eye(3), atol=1e-9)
    unrelated = devices.unrelated_question(0.5, [0.2, 0.3, 0.5], answers)
    np.testing.assert_allclose(unrelated.samples[0].matrix[:, 0], [0.6, 0.15, 0.25])


def test_a_device_goes_where_a_channel_goes():
    scheme = Scheme.of([Attribute("cheated", ("no", "yes"))], [(["cheated"], devices.crosswise("1/4").recipe)])
    assert scheme.groups[0].report_attributes[0].answers == ("different", "same")
    assert Scheme.from_document(scheme.to_document()).hash == scheme.hash


@pytest.mark.parametrize(
    ("text", "chance"),
    [
        ("2/3", Fraction(2, 3)),
        ("25%", Fraction(1, 4)),
        (".1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        ("1 / 4", Fraction(1, 4)),
    ],
)
def test_chances_as_people_write_them(text, chance):
    assert exact_chance("p", text) == chance


def test_a_piece_without_an_equals_sign_belongs_to_the_parameter_before_it():
    assert read_parameters("p=1:2/12,2:10/12,direct=0") == {"p": "1:2/12,2:10/12", "direct": "0"}
    assert read_parameters("rows=.9,.2;.1,.8")["rows"] == ".9,.2;.1,.8"


def test_numbers_compare_as_numbers():
    assert same_value("1.0") == same_value(1) == same_value(" 1 ")
    assert same_value("1.5") != same_value("1")
    assert same_value("YES") == same_value("yes")


REFUSALS = [
    ("warner", "p=1/2", "With p = 1/2 every report is as likely whatever is true"),
    ("crosswise", "p=.5", "the reports carry nothing"),
    ("kuk", "p1=.3,p2=30%", "the reports carry nothing"),
    ("triangular", "p=1", "the reports carry nothing"),
    ("unrelated-question", "p=0,y=.5", "the reports carry nothing"),
    ("forced-response", "truth=0,yes=.5", "the reports carry nothing"),
    ("matrix", "rows=.5,.5;.5,.5", "the reports carry nothing"),
    ("cheating-detection", "p=1:.3,2:.3", "both samples are asked alike"),
    ("cheating-detection", "p=.3", "compares two samples"),
    ("stochastic-lie-detector", "p=.3", "compares two samples"),
    ("stochastic-lie-detector", "p=1:.3,2:.4,3:.5", r"3 sample\(s\) are named"),
    ("unrelated-question", "p=.5", "without y compares two samples"),
    ("extended-crosswise", "p=1:.3,2:.6", "do not sum to 1"),
    ("warner", "q=.7", "no parameter 'q'. It takes p"),
    ("forced-response", "yes=.1", "needs truth"),
    ("forced-response", "truth=.8", "needs yes"),
    ("forced-response", "truth=.8,yes=.5", "leaves 1/5 for forced answers"),
    ("unrelated-question", "p=.5,y=.2,.3", "y is '.2,.3'"),
    ("warner", "p=75", "Did you mean 75%"),
    ("warner", "p=3/2", "Did you mean 2/3"),
    ("warner", "p=two thirds", "must be a chance"),
    ("warner", "p=1/0", "must be a chance"),
    ("warner", "p", "has no name"),
    ("warner", "p=.1,p=.2", "names 'p' twice"),
    ("kuk", "p1=.7,p2=.3,k=1.5", "whole number"),
    ("cheating-detection", "p=1:.3,.4", "each sample its own chance"),
    ("matrix", "rows=.5,.5;.6,.5", "Column 0 of the matrix sums to 1.1"),
    ("crosswice", "p=.3", "Did you mean 'crosswise'"),
]


@pytest.mark.parametrize(("name", "parameters", "message"), REFUSALS)
def test_what_cannot_be_used_is_refused_in_one_sentence(name, parameters, message):
    with pytest.raises(TacitError, match=message):
        design(name, parameters)


def test_three_answers_are_refused_where_the_device_asks_yes_or_no():
    with pytest.raises(TacitError, match="there are 3 answers"):
        design("crosswise", "p=.25", ("a", "b", "c"))


@pytest.mark.parametrize("answers", [["yes"], ["yes", "yes"], []])
def test_a_question_needs_two_different_answers(answers):
    with pytest.raises(TacitError, match="at least two different answers"):
        design("warner", "p=.7", answers)


def test_two_chances_need_not_sum_to_one_beyond_a_thousandth():
    assert len(design("extended-crosswise", "p=1:.3,2:.701").samples) == 2
    with pytest.raises(TacitError, match="do not sum to 1"):
        design("extended-crosswise", "p=1:.3,2:.7011")


def test_a_page_says_what_each_report_means_and_prints_as_html():
    """Of somebody as likely to carry the trait as not: Warner's yes means yes with chance p."""
    shown = page(design("warner", "p=.7"), "Q <now>?")
    assert "'yes' of somebody as likely to be either before means 'yes' with chance 0.7." in shown.to_text()
    assert "'no' of somebody as likely to be either before means 'no' with chance 0.7." in shown.to_text()
    assert "Sample" not in shown.to_text()
    of_samples = page(design("cheating-detection", "p=a:1/4,b:3/4")).to_text()
    assert all(f"1. Sample a: {what}" in of_samples for what in ("", "'no'"))
    assert "Sample b: " in of_samples
    html = shown.to_html()
    for heading in ("What is needed", "The interviewer", "The respondent", "What a report tells"):
        assert f"<h2>{heading}</h2><ol><li>" in html
    assert "<now>" not in html


def test_rows_of_a_matrix_may_be_written_one_after_the_other():
    """As many in a row as there are truths."""
    assert chance_rows(".9,.2;.1,.8", 2) == chance_rows(".9,.2,.1,.8", 2) == [[0.9, 0.2], [0.1, 0.8]]
    assert chance_rows(".5,.2,.2,.8,.3", 2) == [[0.5, 0.2, 0.2, 0.8, 0.3]]
    assert chance_rows([[0.5, 0.5]], 2) == [[0.5, 0.5]]


def test_two_samples_are_no_channel():
    with pytest.raises(TacitError, match="goes into no scheme"):
        devices.cheating_detection("1:.2,2:.7").build((2,))


@pytest.mark.parametrize("name", DEVICES)
def test_every_device_has_a_page_with_both_sides_and_what_reports_tell(name):
    made = design(name, DEVICES[name].example)
    text = page(made, "Have you copied in an exam?").to_text()
    assert "Have you copied in an exam" in text or name == "matrix"
    for heading in ("What is needed", "The interviewer", "The respondent", "What a report tells"):
        assert f"## {heading}" in text
    assert ("proves the other one" in text) == math.isinf(made.amplification)
    assert ("can come only from" in text) == math.isinf(made.amplification)


@pytest.mark.parametrize(
    "name",
    ["warner", "unrelated-question", "forced-response", "mirrored-question", "mangat", "stochastic-lie-detector"],
)
def test_following_the_page_gives_the_law(name):
    made = design(name, DEVICES[name].example)
    for sample in made.samples:
        law = made.honest_law(sample)[1]
        carriers_always_say_yes = name in ("mangat", "stochastic-lie-detector")
        for truth in (0, 1):
            yes = Fraction(int(carriers_always_say_yes and truth == 1))
            for chance, what in () if yes else _outcomes(made, sample, "Q"):
                says_yes = {"say yes": Fraction(1), "say no": Fraction(0), "answer truthfully: Q": Fraction(truth)}
                if what.startswith("answer the opposite"):
                    yes += chance * (1 - truth)
                elif what.startswith("answer the harmless"):
                    yes += chance * sample.chances["y"]
                else:
                    yes += chance * says_yes[what]
            assert float(yes) == pytest.approx(law[truth])


def test_a_die_has_the_chances_of_sixths_and_cards_those_of_others():
    assert "If it shows 1 to 4 (chance 2/3)" in page(devices.forced_response("2/3", "1/6")).to_text()
    assert "10 cards, numbered 1 to 10" in page(devices.warner(0.7)).to_text()
    assert "252.4 degrees" in page(devices.warner(0.701)).to_text()


def test_the_symmetric_form_of_cheating_detection_is_its_law_and_protects_both_answers():
    """Closed form of Ostapczuk and others 2009: pi = (p2 l1 - p1 l2) / (p2 (1-no1) - p1 (1-no2))."""
    made = devices.cheating_detection("1:.2,2:.5", no="1:.1,2:.3")
    classes = np.array([0.5, 0.3, 0.2])  # others, carriers, cheaters
    yes = [float(sample.matrix[1] @ classes) for sample in made.samples]
    assert yes == pytest.approx([0.3 * 0.9 + 0.5 * 0.2, 0.3 * 0.7 + 0.5 * 0.5])
    assert (0.5 * yes[0] - 0.2 * yes[1]) / (0.5 * 0.9 - 0.2 * 0.7) == pytest.approx(0.3)
    assert made.amplification < np.inf
    assert devices.cheating_detection("1:.2,2:.5").amplification == np.inf
    n = 10_000
    table = {"x": [], "s": []}
    for sample, share in zip(("1", "2"), yes, strict=True):
        table["x"] += [1] * round(share * n) + [0] * (n - round(share * n))
        table["s"] += [sample] * n
    found = tacit.prevalence(table, "x", made, sample="s")
    assert found["yes"].share == pytest.approx(0.3, abs=1e-9)
    assert found.parameters["cheaters"].estimate == pytest.approx(0.2, abs=1e-9)
    with pytest.raises(TacitError, match="sum to more than 1"):
        devices.cheating_detection("1:.2,2:.5", no="1:.9,2:.3")

    assert "say no" in page(made).to_text()
