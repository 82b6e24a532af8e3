"""Bursts and copies are noticed, and honest surveys are left in peace."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.channel.scheme import Scheme
from tacit.randomness import SeededRandomness
from tacit.reports import Reports
from tacit.survey.alarms import FEWEST_AT_ONCE, Arrivals, Copies, copies, largest_chance
from tacit.survey.definition import Definition
from tacit.table import Table

QUESTIONS = 10
ASKED = """\
name: many
title: Many
introduction: We ask.
contact: research@example.org
privacy: strong
pages:
  - questions:
      - {name: age, kind: number, text: How old are you?, ranges: [30, 60], sensitive: false}
""" + "".join(
    f"      - {{name: q{n}, kind: yes-no, text: Question {n}?, sensitive: true, prefer_not_to_say: false}}\n"
    for n in range(QUESTIONS)
)


@pytest.fixture(scope="module")
def scheme() -> Scheme:
    return Definition.from_yaml(ASKED).scheme


def disguised(scheme: Scheme, n: int, seed: int) -> dict[str, np.ndarray]:
    """Honest reports of people who all have the same true answers: the hardest case, because they are as alike as can be."""
    randomness = SeededRandomness(seed)
    columns = {
        group.names[0]: group.channel.sample([np.ones(n, dtype=np.uint8)], randomness)[0] for group in scheme.groups
    }
    return columns | {"age": np.random.default_rng(seed).integers(0, 3, n).astype(np.uint8)}


def reports(scheme: Scheme, columns: dict[str, np.ndarray]) -> Reports:
    return Reports(scheme, (Table(scheme.report_schema, columns),))


def test_honest_people_with_the_same_answers_are_not_called_copies(scheme: Scheme) -> None:
    assert largest_chance(scheme.questionnaires[0]) == pytest.approx(0.7**QUESTIONS)
    for seed in range(20):
        assert copies(reports(scheme, disguised(scheme, 3_000, seed))) is None


def test_copies_are_noticed_whatever_people_answer(scheme: Scheme) -> None:
    columns = disguised(scheme, 3_000, seed=1)
    for name in columns:
        columns[name][:120] = columns[name][0]  # four in a hundred are one report, sent again and again
    noticed = copies(reports(scheme, columns))
    assert noticed is not None
    assert noticed.times >= 120
    assert "somebody sends copies" in str(noticed)


def test_an_alarm_does_not_tell_how_few_share_their_public_answers() -> None:
    few, ten = str(Copies(4, 5, 1e-9)), str(Copies(4, 10, 1e-9))
    assert "came several times among fewer than 10 with" in few
    assert "p < 1e-06" in few  # p would tell the two numbers
    assert "came 4 times among 10 with" in ten
    assert "p < 1e-09" in ten


def test_what_people_type_themselves_has_no_law_that_copies_could_break(scheme: Scheme) -> None:
    columns = disguised(scheme, 3_000, seed=1)
    for name in columns:
        columns[name][:120] = columns[name][0]
    own = frozenset(f"q{n}" for n in range(QUESTIONS))
    assert copies(reports(scheme, columns), lambda version: own) is None


def test_a_burst_is_noticed_after_quiet_hours_and_a_steady_stream_is_none() -> None:
    now = 0.0
    arrivals = Arrivals(lambda: now)
    for minute in range(0, 600, 2):
        now = 60.0 * minute
        arrivals.note("steady")
        if minute % 60 == 0:
            arrivals.note("quiet")
    assert arrivals.burst("steady") is None
    assert arrivals.burst("quiet") is None
    for _ in range(2 * FEWEST_AT_ONCE):
        arrivals.note("quiet")
    burst = arrivals.burst("quiet")
    assert burst is not None
    assert burst.reports == 2 * FEWEST_AT_ONCE
    assert "Within ten minutes 60 reports came" in str(burst)
    now += 25 * 3600
    arrivals.note("quiet")
    assert arrivals.burst("quiet") is None  # forgotten after a day


def test_the_first_hour_alarms_nobody() -> None:
    arrivals = Arrivals(lambda: 0.0)
    for _ in range(1_000):
        arrivals.note("new")
    assert arrivals.burst("new") is None
    assert arrivals.burst("unknown") is None
