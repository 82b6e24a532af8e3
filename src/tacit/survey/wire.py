"""How a report travels: as many characters for each digit as its largest value needs, so that length says nothing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tacit.channel.scheme import Questionnaire
from tacit.errors import InvalidInput
from tacit.schema import RESERVED, Attribute
from tacit.survey.definition import Definition
from tacit.table.columns import file_columns
from tacit.table.hashed import Hashing

WIDTH = 2  # at least
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class InvalidReport(InvalidInput):
    """What arrived cannot be a report of this survey."""


def spell_digits(digit: int, size: int) -> str:
    """A digit of `size` possible values, in the width that the largest of them needs."""
    text = ""
    while size > 1 or len(text) < WIDTH:
        text, digit, size = _DIGITS[digit % 36] + text, digit // 36, -(-size // 36)
    return text


@dataclass(frozen=True)
class Column:
    """A column of the stored table: `table` spells its digit out, or `members` digits make a set.

    A seed has no table: its digits, of the given `radices`, are read as one number, the last digit fastest.
    """

    name: str
    table: dict[str, Any]
    members: int = 0
    radices: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        return len(next(iter(self.table))) if self.table else sum(map(len, self._largest))

    @property
    def is_whole_number(self) -> bool:
        """Whether its values are whole numbers: bits, buckets and seeds."""
        return not self.members and all(isinstance(value, int) for value in self.table.values())

    @property
    def _largest(self) -> list[str]:
        return [spell_digits(radix - 1, radix) for radix in self.radices]

    def number(self, text: str) -> int:
        """The number whose digits these are; anything that is none is refused."""
        number = start = 0
        for radix, largest in zip(self.radices, self._largest, strict=True):
            digits = text[start : start + len(largest)]
            # Characters compare as the digits they stand for, and nothing else may be among them.
            if digits > largest or not set(digits) <= set(_DIGITS):
                raise InvalidReport(f"{self.name!r} has no digit {digits!r}.")
            number = number * radix + int(digits, 36)
            start += len(largest)
        return number

    def spelled_number(self, number: int) -> str:
        """The digits of a number."""
        texts = []
        for radix in reversed(self.radices):
            number, digit = divmod(number, radix)
            texts.append(spell_digits(digit, radix))
        return "".join(reversed(texts))


@dataclass(frozen=True)
class Wire:
    """The fixed shape of a survey's reports.

    Columns hold the answers as texts, bits as 0 and 1, sets as a JSON list of the members.
    """

    columns: tuple[Column, ...]
    # Where chance deals several questionnaires: the shape of each, behind a digit that says which.
    dealt: tuple[tuple[str, Wire], ...] = ()

    @classmethod
    def of(cls, definition: Definition) -> Wire:
        scheme = definition.scheme
        shapes = [
            (questionnaire.name, cls(tuple(_questionnaire_columns(questionnaire))))
            for questionnaire in scheme.questionnaires
        ]
        if not scheme.is_dealt:
            return shapes[0][1]
        names = {spell_digits(number, len(shapes)): name for number, (name, _) in enumerate(shapes)}
        columns: dict[str, Column] = {RESERVED: Column(RESERVED, names)}
        for _, shape in shapes:
            for column in shape.columns:
                earlier = columns.setdefault(column.name, column)
                if (earlier.members, earlier.radices) != (column.members, column.radices):
                    raise InvalidInput(
                        f"Two versions of the questionnaire report {column.name!r} with different digits. Disguise it in "
                        "the same way in both."
                    )
        return cls(tuple(columns.values()), tuple(shapes))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def length(self) -> int:
        """Characters of every report."""
        return sum(column.width * (column.members or 1) for column in self.columns)

    @cached_property
    def _places(self) -> tuple[tuple[slice, Column], ...]:
        """Where each column stands in a report: worked out once, because everybody sends at once."""
        ends = list(itertools.accumulate((column.width * (column.members or 1) for column in self.columns), initial=0))
        return tuple(
            (slice(start, stop), column)
            for (start, stop), column in zip(itertools.pairwise(ends), self.columns, strict=True)
        )

    @cached_property
    def _tables(self) -> tuple[tuple[slice, dict[str, Any]], ...] | None:
        """Where each column stands, with its table of digits; None where a column is more than one looked-up digit."""
        if any(column.members or column.radices for column in self.columns):
            return None
        return tuple((place, column.table) for place, column in self._places)

    @cached_property
    def _digits(self) -> tuple[dict[Any, str], ...]:
        """How each column spells its values."""
        return tuple({value: digit for digit, value in column.table.items()} for column in self.columns)

    @cached_property
    def _shapes(self) -> dict[str, Wire]:
        return dict(self.dealt)

    def decode(self, text: str) -> tuple[Any, ...]:
        """The columns of a report, None where one was not dealt; anything that no honest page sends is refused."""
        if self.dealt:
            return self._decode_dealt(text)
        if len(text) != self.length:
            raise InvalidReport(f"A report of this survey has {self.length} characters, not {len(text)}.")
        if self._tables is not None:
            try:
                return tuple([table[text[place]] for place, table in self._tables])
            except KeyError:
                pass  # the slow way says which column it is
        return tuple(self._value(column, text[place]) for place, column in self._places)

    def _value(self, column: Column, text: str) -> Any:
        if column.members:
            width = column.width
            return _set(column, [text[at : at + width] for at in range(0, len(text), width)])
        if column.radices:
            return column.number(text)
        if text not in column.table:
            raise InvalidReport(f"{column.name!r} has no digit {text!r}.")
        return column.table[text]

    def _decode_dealt(self, text: str) -> tuple[Any, ...]:
        first = self.columns[0]
        if text[: first.width] not in first.table:
            raise InvalidReport(f"No questionnaire of this survey begins with {text[: first.width]!r}.")
        name = first.table[text[: first.width]]
        shape = self._shapes[name]
        given = dict(zip(shape.names, shape.decode(text[first.width :]), strict=True)) | {first.name: name}
        return tuple(given.get(column.name) for column in self.columns)

    def encode(self, values: Sequence[Any]) -> str:
        """The text of a report, given the values of its columns."""
        if self.dealt:
            given = dict(zip(self.names, values, strict=True))
            shape = self._shapes[given[RESERVED]]
            return self._digits[0][given[RESERVED]] + shape.encode([given[name] for name in shape.names])
        digits: list[str] = []
        for column, back, value in zip(self.columns, self._digits, values, strict=True):
            if column.radices:
                digits.append(column.spelled_number(value))
                continue
            digits.extend([back[answer] for answer in json.loads(value)] if column.members else [back[value]])
        return "".join(digits)


def _questionnaire_columns(questionnaire: Questionnaire) -> Iterator[Column]:
    for group in questionnaire.groups:
        for attribute in group.report_attributes:
            yield from _columns(attribute, group.channel.report_members)
    for attribute in questionnaire.public:
        yield from _columns(attribute, 0)


def _columns(attribute: Attribute, members: int) -> list[Column]:
    if attribute.shows == "bits":
        bits = {spell_digits(bit, 2): bit for bit in (0, 1)}
        return [Column(f"{attribute.name}={answer}", bits) for answer in attribute.answers]
    if attribute.shows == "hashed":
        bucket, seed = file_columns(attribute)
        word = 1 << Hashing.of(attribute).width
        buckets = {spell_digits(number, attribute.buckets): number for number in range(attribute.buckets)}
        return [Column(bucket, buckets), Column(seed, {}, radices=(word, word))]
    table = {spell_digits(code, attribute.size): answer for code, answer in enumerate(attribute.answers)}
    return [Column(attribute.name, table, members)]


def _set(column: Column, digits: list[str]) -> str:
    # Ascending in the alphabet of the digits is ascending in their numbers.
    if any(a >= b for a, b in itertools.pairwise(digits)) or any(digit not in column.table for digit in digits):
        raise InvalidReport(f"{column.name!r} must be a set of {column.members} answers in ascending order.")
    return json.dumps([column.table[digit] for digit in digits], ensure_ascii=False)
