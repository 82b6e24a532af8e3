"""Dates are read in the steps that hold them, and the steps say which days they are."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pyarrow as pa
import pytest

from tacit.publish.column_readings import reading_from_document
from tacit.publish.dates import DateReading, date_label


def column(values) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("day", "2024-03-31"),
        ("week", "week from 2024-03-25"),
        ("four weeks", "four weeks from 2024-03-25"),
        ("month", "March 2024"),
        ("quarter", "Q1 2024"),
        ("year", "2024"),
        ("decade", "2020s"),
    ],
)
def test_steps_of_dates_read_well(step, expected):
    reading = DateReading.found("day", column(["2024-03-31", "2025-05-01"]), step)
    shown = reading.read(column(["2024-03-31", None])).to_pylist()
    assert shown[1] is None
    if step == "four weeks":
        assert re.fullmatch(r"four weeks from 2024-\d\d-\d\d", shown[0])
        first = np.datetime64(shown[0][-10:])
        assert first <= np.datetime64("2024-03-31") < first + 28
    else:
        assert shown[0] == expected
    assert shown[0] in reading.answers()
    assert reading_from_document(reading.to_document()) == reading


def test_every_day_of_a_century_lies_in_its_step():
    days = np.datetime64("1924-02-27") + np.arange(0, 40_000, 13)
    texts = column([str(day) for day in days])
    for step in ("week", "month", "quarter", "year", "decade"):
        shown = DateReading.found("day", texts, step).read(texts).to_pylist()
        for day, text in zip(days, shown, strict=True):
            python = day.item()
            number = {
                "month": python.year * 12 + python.month - 1,
                "quarter": python.year * 4 + (python.month - 1) // 3,
                "year": python.year,
                "decade": python.year // 10,
            }.get(step)
            if number is None:
                monday = python - datetime.timedelta(days=python.weekday())
                assert text == f"week from {monday}"
            else:
                assert text == date_label(step, number)
