"""What columns hold, found from their values: dates, codes, numbers or names; and how each becomes a few hundred answers.

Generalizing merges neighbouring answers, so every kind is first brought to ordered answers that read well: months or years of
dates, prefixes of codes, steps of numbers, the frequent ones of many names.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.publish.column_readings import (
    MOST_AS_THEY_ARE,
    OTHER,
    CodeReading,
    FrequentReading,
    PseudonymReading,
    Reading,
    unused_label,
)
from tacit.publish.column_values import ColumnValues
from tacit.publish.dates import MOST_STEPS, DateReading, date_format
from tacit.publish.labels import range_ends
from tacit.publish.number_bins import bin_rule, binned_attribute
from tacit.schema import Attribute, numeric
from tacit.table.columns import as_numpy, as_text, missing_values, plain
from tacit.table.infer import MissingPolicy, infer_schema

ColumnType = Literal["date", "code", "number", "nominal"]

MISSING = "missing"
CODE_WORDS = {
    "zip",
    "zipcode",
    "postal",
    "postcode",
    "plz",
    "icd",
    "naics",
    "sic",
    "isco",
    "soc",
    "code",
    "fips",
    "nuts",
}


@dataclass(frozen=True)
class TypedColumn:
    """A column as an attribute, and how its values are read where they are not its answers."""

    attribute: Attribute
    reading: Reading | None = None


def words_of(name: str) -> set[str]:
    """The words in a column's name: ``HomeZipCode`` and ``home_zip_code`` hold the same."""
    parts = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return set(re.split(r"[^a-z0-9]+", parts.lower())) - {""}


def found_type(name: str, column: pa.ChunkedArray) -> ColumnType:
    """What a column holds, by its values and, for codes, by its name."""
    column = plain(column)
    if pa.types.is_temporal(column.type):
        return "date"
    present = column.filter(~missing_values(column))
    texts = as_text(present).unique()
    numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or _all_numbers(texts)
    if not numbers and date_format(name, texts) is not None:
        return "date"
    whole = not pa.types.is_floating(column.type)
    if words_of(name) & CODE_WORDS and whole and len(texts) > 20:
        return "code"
    if numbers:
        return "code" if _has_leading_zeros(texts) else "number"
    return "nominal"


def _all_numbers(texts: pa.Array) -> bool:

    try:
        numbers = pc.utf8_trim_whitespace(texts).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return bool(np.isfinite(as_numpy(numbers)).all())


def _has_leading_zeros(texts: pa.Array) -> bool:
    """Whether texts of one length begin with zeros, as no number does."""
    lengths = pc.utf8_length(texts)
    return bool(
        len(texts) > 1 and pc.min(lengths).as_py() == pc.max(lengths).as_py() >= 3
        and pc.any(pc.starts_with(texts, "0")).as_py() and pc.all(pc.utf8_is_digit(texts)).as_py()
    )  # fmt: skip


def typed_column(
    name: str,
    counted: ColumnValues,
    kind: ColumnType | None,
    missing: MissingPolicy,
    granularity: float | str | None = None,
) -> TypedColumn:
    """A quasi-identifier of any kind and with any number of values, as an attribute with a few hundred answers."""
    column = counted.values
    kind = kind or found_type(name, column)
    if isinstance(granularity, str) and kind == "number":
        return _stepped_column(name, counted, missing, granularity)
    if isinstance(granularity, str) and kind != "date":
        raise InvalidInput(f"{name!r} holds no dates, so it has no step {granularity!r}. Give a number, such as 5.")
    if kind == "date":
        step: Any = granularity
        if granularity is not None and not isinstance(granularity, str):
            raise InvalidInput(f"{name!r} holds dates: give a step such as month, not {granularity:g}.")
        return _read_column(name, counted, DateReading.found(name, column, step), missing, ordered=True)
    if granularity is not None:
        return _stepped_column(name, counted, missing, float(granularity))
    distinct = len(as_text(plain(column)).unique())
    if kind == "number" and distinct > MOST_AS_THEY_ARE:
        return _stepped_column(name, counted, missing, None)
    if distinct > MOST_AS_THEY_ARE and kind == "code":
        return _read_column(name, counted, CodeReading.found(column), missing, ordered=False)
    if distinct > MOST_AS_THEY_ARE:
        return _read_column(name, counted, FrequentReading.found(counted), missing, ordered=False)
    return TypedColumn(_in_order_of_ranges(listed_column(name, counted, missing).attribute))


def listed_column(name: str, counted: ColumnValues, missing: MissingPolicy) -> TypedColumn:
    """A column whose values are its answers, however many."""
    texts = as_text(counted.values).unique().to_pylist() if len(counted.times) == 1 else []
    if texts and not counted.missing:  # it says the same of everybody, which is no reason not to publish it
        return TypedColumn(Attribute(name, (texts[0], unused_label(OTHER, texts))))
    alone = pa.table({name: counted.values})
    return TypedColumn(infer_schema(alone, missing=missing, most_answers=max(1, alone.num_rows))[name])


def pseudonym_column(name: str, counted: ColumnValues) -> TypedColumn:
    """An identifier that is published under random pseudonyms."""
    reading = PseudonymReading.drawn(name, counted)
    answers = sorted(reading.read(counted.values).to_pylist())
    return TypedColumn(Attribute(name, tuple(answers)), reading)


def _in_order_of_ranges(attribute: Attribute) -> Attribute:
    """Answers that are ranges, such as "5-9" and "10-14", by their numbers: as texts they would be out of order."""
    ends = {answer: place for answer in attribute.answers if (place := range_ends(answer))}
    if len(ends) < attribute.size:
        return attribute
    return replace(attribute, answers=tuple(sorted(ends, key=ends.__getitem__)), ordered=True)


def _read_column(
    name: str, counted: ColumnValues, reading: Reading, missing: MissingPolicy, *, ordered: bool
) -> TypedColumn:
    answers = reading.answers()
    if counted.missing and missing == "answer":
        label = unused_label(MISSING, answers)
        return TypedColumn(Attribute(name, (*answers, label), missing=label), reading)
    return TypedColumn(Attribute(name, answers, ordered=ordered), reading)


def _stepped_column(name: str, counted: ColumnValues, missing: MissingPolicy, width: float | str | None) -> TypedColumn:
    """Numbers in steps of one width (without one, the smallest round one that makes few enough), or by a rule."""
    absent = missing_values(counted.values)
    if absent.any() and missing in ("refuse", "answer"):
        way = "Drop the rows" if missing == "answer" else "State what they mean, such as to drop the rows"
        raise InvalidInput(
            f"{name!r} is cut in steps and has {counted.missing:,} missing value(s). {way} (--missing drop, missing='drop')."
        )
    try:
        values = pc.utf8_trim_whitespace(as_text(counted.values.filter(~absent))).cast(pa.float64())
    except pa.ArrowInvalid:
        raise InvalidInput(f"{name!r} holds values that are not numbers, so it cannot be cut.") from None
    if isinstance(width, str):
        numbers = np.repeat(as_numpy(values), counted.times[~absent])
        return TypedColumn(binned_attribute(name, numbers, *bin_rule(name, width)))
    return TypedColumn(stepped_attribute(name, as_numpy(values), width))


def stepped_attribute(name: str, numbers: NDArray[np.float64], width: float | None = None) -> Attribute:
    """An attribute whose answers are steps of numbers: "40 to 44" where all are whole, "40 up to 45" elsewhere."""
    low, high = float(numbers.min()), float(numbers.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InvalidInput(f"{name!r} holds numbers that are not finite. Name what stands for missing values.")
    if width is None:
        width = round_width((high - low) / MOST_STEPS)
    if not (math.isfinite(width) and width > 0):
        raise InvalidInput(f"A granularity must be a number above 0, not {width!r}.")
    first, last = math.floor(low / width), math.floor(high / width)
    if last - first >= 2_000:
        raise InvalidInput(
            f"Steps of {width:g} make {last - first + 1:,} intervals of {name!r}, more than 2,000. Widen them."
        )
    if first == last:
        raise InvalidInput(f"All numbers of {name!r} lie in one step of {width:g}. Give a finer granularity.")
    starts = np.arange(first, last + 1) * width
    whole = float(width).is_integer() and bool((numbers == np.floor(numbers)).all())
    ends = starts + width - 1 if whole else starts + width
    between = " to " if whole else " up to "
    labels = [f"{a:.10g}{between}{b:.10g}" if a != b else f"{a:.10g}" for a, b in zip(starts, ends, strict=True)]
    return numeric(name, starts[1:].tolist(), closed="left", labels=labels)


def round_width(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, ... (and their tenths) that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return next(step * power for step in (1, 2, 5, 10, 20) if step * power >= least * (1 - 1e-12))
