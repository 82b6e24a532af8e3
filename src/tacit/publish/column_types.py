"""What columns hold, found from their values: dates, codes, numbers or names; and how each becomes a few hundred answers.

Generalizing merges neighbouring answers, so every kind is first brought to ordered answers that read well: months or years of
dates, prefixes of codes, steps of numbers, the frequent ones of many names.
"""

from __future__ import annotations

import hmac
import math
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.publish.number_bins import bin_rule, binned_attribute
from tacit.schema import Attribute, numeric
from tacit.table.columns import as_numpy, as_text, missing_values, plain
from tacit.table.infer import MissingPolicy, infer_schema

if TYPE_CHECKING:
    import pyarrow as pa

ColumnType = Literal["date", "code", "number", "nominal"]
DateStep = Literal["day", "week", "four weeks", "month", "quarter", "year", "decade"]
LADDER: tuple[DateStep, ...] = ("day", "month", "quarter", "year", "decade")

MOST_AS_THEY_ARE = 200  # different values that are answers as they are
MOST_STEPS = 250  # answers that a longer column is brought to
MISSING = "missing"
OTHER = "other"
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)(?:-| to )-?\d+(?:\.\d+)?$")

DATE_FORMATS = {
    "%Y-%m-%d": re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?"),
    "%Y/%m/%d": re.compile(r"\d{4}/\d\d?/\d\d?"),
    "%d.%m.%Y": re.compile(r"\d\d?\.\d\d?\.\d{4}"),
    "%d/%m/%Y": re.compile(r"\d\d?/\d\d?/\d{4}"),
    "%m/%d/%Y": re.compile(r"\d\d?/\d\d?/\d{4}"),
}
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
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class Reading(Protocol):
    """How the values of a column become answers, where they are not answers themselves."""

    def answers(self) -> tuple[str, ...]:
        """All answers, in order."""

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """The answer that each value becomes; null where it is missing."""

    def to_document(self) -> dict[str, Any]: ...


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
    import pyarrow as pa

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
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.utf8_trim_whitespace(texts).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return bool(np.isfinite(as_numpy(numbers)).all())


def _has_leading_zeros(texts: pa.Array) -> bool:
    """Whether texts of one length begin with zeros, as no number does."""
    import pyarrow.compute as pc

    lengths = pc.utf8_length(texts)
    return bool(
        len(texts) > 1 and pc.min(lengths).as_py() == pc.max(lengths).as_py() >= 3
        and pc.any(pc.starts_with(texts, "0")).as_py() and pc.all(pc.utf8_is_digit(texts)).as_py()
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
    import pyarrow.compute as pc

    return bool(pc.all(pc.is_valid(_parsed(texts, form))).as_py())


def _parsed(texts: Any, form: str) -> Any:
    import pyarrow.compute as pc

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
        import pyarrow as pa

        if step is not None and step not in get_args(DateStep):
            raise UnknownName("Step of dates", step, get_args(DateStep))
        column = plain(column)
        present = column.filter(~missing_values(column))
        form = None
        if not pa.types.is_temporal(column.type):
            form = date_format(name, as_text(present).unique())
            if form is None:
                raise InvalidInput(f"{name!r} holds values that are no dates, such as {_not_a_date(present)!r}.")
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
        import pyarrow as pa

        column = plain(column)
        absent = missing_values(column)
        numbers = np.zeros(len(column), np.int64)
        if not absent.all():
            days, months = _days_and_months(column.filter(~absent), self.form)
            numbers[~absent] = _STEPS[self.step](days, months) - self.first
        outside = ~absent & ((numbers < 0) | (numbers > self.last - self.first))
        if outside.any():
            raise InvalidInput(
                f"{column[int(outside.argmax())].as_py()!r} is no date between those that were found first."
            )
        return pa.chunked_array([pa.array(self.answers(), pa.string()).take(pa.array(numbers, mask=absent))])

    def to_document(self) -> dict[str, Any]:
        return {"type": "date", "step": self.step, "form": self.form, "first": self.first, "last": self.last}


def _not_a_date(present: pa.ChunkedArray) -> str:
    values = as_text(present).unique().to_pylist()
    return next((v for v in values if not any(p.fullmatch(v) for p in DATE_FORMATS.values())), values[0])


def _days_and_months(column: pa.ChunkedArray, form: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Days since 1970 and months since year 0."""
    import pyarrow as pa

    moments = column.cast(pa.timestamp("s")) if form is None else _parsed(as_text(column), form)
    if moments.null_count:
        raise InvalidInput(f"{as_text(column)[int(as_numpy(moments.is_null()).argmax())].as_py()!r} is no date here.")
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


@dataclass(frozen=True)
class CodeReading:
    """Codes by their first characters: "101**"."""

    length: int
    kept: int
    prefixes: tuple[str, ...]

    @classmethod
    def found(cls, column: pa.ChunkedArray) -> CodeReading:
        """The longest prefix that makes few enough answers."""
        texts = _padded(column).drop_null().unique().to_pylist()
        length = max(map(len, texts))
        for kept in range(length, 0, -1):
            prefixes = sorted({text[:kept] for text in texts})
            if len(prefixes) <= MOST_STEPS:
                break
        return cls(length, kept, tuple(prefixes))

    def answers(self) -> tuple[str, ...]:
        return tuple(self._label(prefix) for prefix in self.prefixes)

    def _label(self, prefix: str) -> str:
        return prefix + "*" * (self.length - self.kept) if len(prefix) == self.kept else prefix

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = _padded(column, self.length)
        place = pc.index_in(pc.utf8_slice_codeunits(texts, 0, self.kept), value_set=pa.array(self.prefixes))
        return _taken(self.answers(), place, texts, OTHER)

    def to_document(self) -> dict[str, Any]:
        return {"type": "code", "length": self.length, "kept": self.kept, "prefixes": list(self.prefixes)}


def _padded(column: pa.ChunkedArray, length: int | None = None) -> pa.ChunkedArray:
    """Codes as text, null where missing; whole numbers with the zeros that a number loses."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = plain(column)
    texts = pc.utf8_trim_whitespace(as_text(column))
    texts = pc.if_else(pa.array(missing_values(column)), None, texts)
    if pa.types.is_integer(column.type):
        texts = pc.utf8_lpad(texts, length or pc.max(pc.utf8_length(texts)).as_py() or 1, "0")
    return texts


def _taken(answers: Sequence[str], place: Any, texts: Any, otherwise: str | None) -> pa.ChunkedArray:
    """Answers by their places; texts without one are `otherwise` where that is an answer, refused elsewhere."""
    import pyarrow as pa
    import pyarrow.compute as pc

    unknown = as_numpy(pc.and_(pc.is_null(place), pc.is_valid(texts)))
    if unknown.any() and otherwise not in answers:
        raise InvalidInput(f"{texts[int(unknown.argmax())].as_py()!r} was not among the values that were found first.")
    labels = pa.array(answers, pa.string()).take(pa.array(as_numpy(pc.fill_null(place, 0)).astype(np.int64)))
    labels = pc.if_else(pa.array(unknown), otherwise, labels)
    shown = pc.if_else(pc.is_valid(texts), labels, None)
    return shown if isinstance(shown, pa.ChunkedArray) else pa.chunked_array([shown])


@dataclass(frozen=True)
class FrequentReading:
    """The frequent ones of many names; all others together."""

    names: tuple[str, ...]

    @classmethod
    def found(cls, column: pa.ChunkedArray) -> FrequentReading:
        column = plain(column)
        counts = as_text(column.filter(~missing_values(column))).value_counts()
        ordered = sorted(counts.to_pylist(), key=lambda entry: (-entry["counts"], entry["values"]))
        return cls(tuple(sorted(str(entry["values"]) for entry in ordered[: MOST_AS_THEY_ARE - 1])))

    def answers(self) -> tuple[str, ...]:
        return (*self.names, _unused(OTHER, self.names))

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = plain(column)
        texts = pc.if_else(pa.array(missing_values(column)), None, as_text(column))
        return _taken(self.answers(), pc.index_in(texts, value_set=pa.array(self.names)), texts, self.answers()[-1])

    def to_document(self) -> dict[str, Any]:
        return {"type": "nominal", "names": list(self.names)}


@dataclass(frozen=True)
class PseudonymReading:
    """Identifiers as random pseudonyms: without the key nobody can tell whose one is."""

    key: str  # hexadecimal

    @classmethod
    def drawn(cls, name: str, column: pa.ChunkedArray) -> PseudonymReading:
        """A fresh key; refused for a column that repeats, because a repeated pseudonym links the rows of a person."""
        texts = as_text(plain(column))
        if missing_values(plain(column)).any():
            raise InvalidInput(
                f"{name!r} has missing values, so it cannot become a pseudonym. Give it the role identifier."
            )
        if len(texts.unique()) < len(texts):
            raise InvalidInput(
                f"{name!r} repeats: its pseudonyms would link the rows of a person. Give it the role identifier (it is then left "
                "out), or person."
            )
        return cls(secrets.token_hex(32))

    def answers(self) -> tuple[str, ...]:
        raise InvalidInput("Pseudonyms are known only with the values they stand for.")

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        import pyarrow as pa

        key = bytes.fromhex(self.key)
        texts = as_text(plain(column)).to_pylist()
        return pa.chunked_array([pa.array([hmac.digest(key, text.encode(), "sha256")[:8].hex() for text in texts])])

    def to_document(self) -> dict[str, Any]:
        return {"type": "pseudonym", "key": self.key}


def pseudonym_column(name: str, column: pa.ChunkedArray) -> TypedColumn:
    """An identifier that is published under random pseudonyms."""
    reading = PseudonymReading.drawn(name, column)
    answers = sorted(reading.read(column).to_pylist())
    return TypedColumn(Attribute(name, tuple(answers)), reading)


def reading_from_document(document: Mapping[str, Any]) -> Reading:
    """A reading that a private manifest keeps."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}
    kinds: dict[str, Any] = {"date": DateReading, "code": CodeReading, "nominal": FrequentReading}
    kinds["pseudonym"] = PseudonymReading
    reading: Reading = kinds[str(fields.pop("type"))](**fields)
    return reading


def typed_column(
    name: str,
    column: pa.ChunkedArray,
    kind: ColumnType | None,
    missing: MissingPolicy,
    granularity: float | str | None = None,
) -> TypedColumn:
    """A quasi-identifier of any kind and with any number of values, as an attribute with a few hundred answers."""
    import pyarrow as pa

    kind = kind or found_type(name, column)
    if isinstance(granularity, str) and kind == "number":
        return _stepped(name, column, missing, granularity)
    if isinstance(granularity, str) and kind != "date":
        raise InvalidInput(f"{name!r} holds no dates, so it has no step {granularity!r}. Give a number, such as 5.")
    if kind == "date":
        step: Any = granularity
        if granularity is not None and not isinstance(granularity, str):
            raise InvalidInput(f"{name!r} holds dates: give a step such as month, not {granularity:g}.")
        return _read_column(name, column, DateReading.found(name, column, step), missing, ordered=True)
    if granularity is not None:
        return _stepped(name, column, missing, float(granularity))
    distinct = len(as_text(plain(column)).unique())
    if kind == "number" and distinct > MOST_AS_THEY_ARE:
        return _stepped(name, column, missing, None)
    if distinct > MOST_AS_THEY_ARE and kind == "code":
        return _read_column(name, column, CodeReading.found(column), missing, ordered=False)
    if distinct > MOST_AS_THEY_ARE:
        return _read_column(name, column, FrequentReading.found(column), missing, ordered=False)
    return TypedColumn(_in_order_of_ranges(infer_schema(pa.table({name: column}), missing=missing)[name]))


def _in_order_of_ranges(attribute: Attribute) -> Attribute:
    """Answers that are ranges, such as "5-9" and "10-14", by their numbers: as texts they would be out of order."""
    lows = {answer: float(match[1]) for answer in attribute.answers if (match := _RANGE.match(answer))}
    if len(lows) < attribute.size:
        return attribute
    return replace(attribute, answers=tuple(sorted(lows, key=lows.__getitem__)), ordered=True)


def _read_column(
    name: str, column: pa.ChunkedArray, reading: Reading, missing: MissingPolicy, *, ordered: bool
) -> TypedColumn:
    absent = int(missing_values(plain(column)).sum())
    if absent and missing == "refuse":
        raise InvalidInput(
            f"{name!r} has {absent:,} missing value(s). State what they mean: 'answer' (one of its own), or 'drop' the rows."
        )
    answers = reading.answers()
    if absent and missing == "answer":
        own = _unused(MISSING, answers)
        return TypedColumn(Attribute(name, (*answers, own), missing=own), reading)
    return TypedColumn(Attribute(name, answers, ordered=ordered), reading)


def _stepped(name: str, column: pa.ChunkedArray, missing: MissingPolicy, width: float | str | None) -> TypedColumn:
    """Numbers in steps of one width (without one, the smallest round one that makes few enough), or by a rule."""
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = missing_values(plain(column))
    if absent.any() and missing in ("refuse", "answer"):
        way = "Drop the rows" if missing == "answer" else "State what they mean, such as to 'drop' the rows"
        raise InvalidInput(f"{name!r} is cut in steps and has {int(absent.sum()):,} missing value(s). {way}.")
    try:
        values = pc.utf8_trim_whitespace(as_text(plain(column).filter(~absent))).cast(pa.float64())
    except pa.ArrowInvalid:
        raise InvalidInput(f"{name!r} holds values that are not numbers, so it cannot be cut.") from None
    if isinstance(width, str):
        return TypedColumn(binned_attribute(name, as_numpy(values), *bin_rule(name, width)))
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


def _unused(label: str, answers: Sequence[str]) -> str:
    while label in answers:
        label += "_"
    return label
