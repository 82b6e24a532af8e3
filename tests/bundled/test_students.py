"""The bundled study adds up, and gives what its published counts give by hand."""

from __future__ import annotations

import pytest

import tacit
from tacit import TacitError
from tacit.bundled import STUDENT_ITEMS, student_pairs, student_reports
from tacit.bundled.students import COPIED_FOUGHT, POPULATION


def test_the_two_published_tables_agree():
    assert sum(COPIED_FOUGHT) == 710
    assert COPIED_FOUGHT[2] + COPIED_FOUGHT[3] == sum(STUDENT_ITEMS["copied"].yes)
    assert COPIED_FOUGHT[1] + COPIED_FOUGHT[3] == sum(STUDENT_ITEMS["fought"].yes)
    assert student_pairs().column("fought").to_pylist().count("yes") == 180


@pytest.mark.parametrize("name", STUDENT_ITEMS)
def test_shares_are_those_of_the_formula(name):
    item = STUDENT_ITEMS[name]
    found = tacit.prevalence(student_reports(name), name, "unrelated-question", {"p": 0.5, "y": item.harmless})
    assert found["yes"].share == pytest.approx((sum(item.yes) / 710 - float(item.harmless) / 2) / 0.5)


def test_a_finite_population_takes_a_little_off_the_error():
    asked = (student_reports("copied"), "copied", "unrelated-question", "p=1/2,y=1/12")
    endless, finite = tacit.prevalence(*asked)["yes"], tacit.prevalence(*asked, sampled=710 / POPULATION)["yes"]
    share, f, n = endless.share, 710 / POPULATION, 710
    # (1 - f) of the whole variance and f of the device's own.
    reported = 328 / 710
    device = reported * (1 - reported) / 0.25 - share * (1 - share)
    expected = (1 - f) * reported * (1 - reported) / 0.25 / (n - 1) + f * device / n
    assert finite.standard_error == pytest.approx(expected**0.5, rel=1e-9)
    assert finite.standard_error < endless.standard_error


def test_a_question_that_was_not_asked():
    with pytest.raises(TacitError, match="Did you mean 'copied'"):
        student_reports("copy")
