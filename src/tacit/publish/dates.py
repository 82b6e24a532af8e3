"""Dates of a column: how they are written, and the steps of days, months or years that they are read in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.table.columns import as_numpy, as_text, missing_values, plain

DateStep = Literal["day", "week", "four weeks", "month", "quarter", "year", "decade"]
LADDER: tuple[DateStep, ...] = ("day", "month", "quarter", "year", "decade")
MOST_STEPS = 250  # answers that a longer column of dates, codes or numbers is brought to

DATE_FORMATS = {
    "%Y-%m-%d": re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?"),
    "%Y/%m/%d": re.compile(r"\d{4}/\d\d?/\d\d?"),
    "%d.%m.%Y": re.compile(r"\d\d?\.\d\d?\.\d{4}"),
    "%d/%m/%Y": re.compile(r"\d\d?/\d\d?/\d{4}"),
    "%m/%d/%Y": re.compile(r"\d\d?/\d\d?/\d{4}"),
}
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def date_format(name: str, texts: pa.Array) -> str | None:
    """The format of a column of dates; None where it holds none, refused where it holds two."""
    values = texts.to_pylist()
    fitting = {form for form, pattern in DATE_FORMATS.items() if values and pattern.fullmatch(values[0])}
    every = {form for form, pattern in DATE_FORMATS.items() if any(pattern.fullmatch(value) for value in values)}
    if not values or not all(any(DATE_FORMATS[form].fullmatch(v) for form in every) for v in values):
        return None
    if not all(DATE_FORMATS[form].fullmatch(value) for form in fitting for value in values):
        other = next(v for v in values if not any(DATE_FORMATS[form].fullmatch(v) for form in fitting))
        raise InvalidInput(
            f"{name!r} holds dates in two formats, such as {values[0]!r} and {other!r}. Write them in one, best as 2024-03-31."
        )
    possible = [form for form in DATE_FORMATS if form in fitting and _parses(texts, form)]
    if len(possible) > 1:
        raise InvalidInput(
            f"{name!r} holds dates like {values[0]!r}, of which day and month cannot be told apart. Write them as 2024-03-31."
        )
    return possible[0] if possible else None


def _parses(texts: pa.Array, form: str) -> bool:

    return bool(pc.all(pc.is_valid(_parsed_dates(texts, form))).as_py())


def _parsed_dates(texts: Any, form: str) -> Any:

    day = pc.utf8_slice_codeunits(texts, 0, 10) if form == "%Y-%m-%d" else texts
    return pc.strptime(day, format=form, unit="s", error_is_null=True)


# Steps of dates: the number of the step that a day lies in. Months count from year 0, so that quarters, years and decades
# are whole divisions of them.
_STEPS: Mapping[DateStep, Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]] = {
    "day": lambda days, months: days,
    "week": lambda days, months: (days + 3) // 7,  # day 0 was a Thursday; weeks begin on Mondays
    "four weeks": lambda days, months: (days + 3) // 28,
    "month": lambda days, months: months,
    "quarter": lambda days, months: months // 3,
    "year": lambda days, months: months // 12,
    "decade": lambda days, months: months // 120,
}


@dataclass(frozen=True)
class DateReading:
    """Dates as the steps they lie in, from the first to the last that occurs."""

    step: DateStep
    form: str | None  # None where the column holds dates as such
    first: int
    last: int

    @classmethod
    def found(cls, name: str, column: pa.ChunkedArray, step: DateStep | None = None) -> DateReading:
        """The finest step that makes few enough answers, or the wanted one."""
        if step is not None and step not in get_args(DateStep):
            raise UnknownName("Step of dates", step, get_args(DateStep))
        column = plain(column)
        present = column.filter(~missing_values(column))
        form = None
        if not pa.types.is_temporal(column.type):
            form = date_format(name, as_text(present).unique())
            if form is None:
                raise InvalidInput(
                    f"{name!r} holds values that are not dates, such as {_not_a_date(present)!r}. Write dates as "
                    "2024-03-31, or give the column another type: nominal."
                )
        days, months = _days_and_months(present, form)
        steps: Sequence[DateStep] = LADDER if step is None else (step,)
        for each in steps:
            numbers = _STEPS[each](days, months)
            first, last = int(numbers.min()), int(numbers.max())
            if last - first < MOST_STEPS or each == steps[-1]:
                break
        return cls(each, form, first, last)

    def answers(self) -> tuple[str, ...]:
        return tuple(date_label(self.step, number) for number in range(self.first, self.last + 1))

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:

        column = plain(column)
        absent = missing_values(column)
        numbers = np.zeros(len(column), np.int64)
        if not absent.all():
            days, months = _days_and_months(column.filter(~absent), self.form)
            numbers[~absent] = _STEPS[self.step](days, months) - self.first
        outside = ~absent & ((numbers < 0) | (numbers > self.last - self.first))
        if outside.any():
            raise InvalidInput(
                f"The table holds the date {column[int(outside.argmax())].as_py()!r}, which was not there when its dates "
                "were listed. Publish it while nobody writes to it."
            )
        return pa.chunked_array([pa.array(self.answers(), pa.string()).take(pa.array(numbers, mask=absent))])

    def to_document(self) -> dict[str, Any]:
        return {"type": "date", "step": self.step, "form": self.form, "first": self.first, "last": self.last}


def _not_a_date(present: pa.ChunkedArray) -> str:
    values = as_text(present).unique().to_pylist()
    return next((v for v in values if not any(p.fullmatch(v) for p in DATE_FORMATS.values())), values[0])


def _days_and_months(column: pa.ChunkedArray, form: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Days since 1970 and months since year 0."""
    moments = column.cast(pa.timestamp("s")) if form is None else _parsed_dates(as_text(column), form)
    if moments.null_count:
        wrong = as_text(column)[int(as_numpy(moments.is_null()).argmax())].as_py()
        raise InvalidInput(
            f"{wrong!r} is not a date in the format of its column. Write all dates alike, best as 2024-03-31."
        )
    days = as_numpy(moments.cast(pa.int64())) // 86_400
    return days, days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 1970 * 12


def date_label(step: DateStep, number: int) -> str:
    """The name of a step: "2024-03-31", "March 2024", "Q1 2024", "2024", "2020s"."""
    if step == "day":
        return str(np.datetime64(number, "D"))
    if step in ("week", "four weeks"):
        length = 7 if step == "week" else 28
        return f"{step} from {np.datetime64(number * length - 3, 'D')}"
    if step == "month":
        return f"{MONTHS[number % 12]} {number // 12}"
    if step == "quarter":
        return f"Q{number % 4 + 1} {number // 4}"
    return str(number) if step == "year" else f"{number * 10}s"
