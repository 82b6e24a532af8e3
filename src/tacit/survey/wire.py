"""How a report travels: as many characters for each digit as its largest value needs, so that length says nothing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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


def spelled(digit: int, size: int) -> str:
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
        return [spelled(radix - 1, radix) for radix in self.radices]

    def number(self, text: str) -> int:
        """The number whose digits these are; anything that is none is refused."""
        number = start = 0
        for radix, largest in zip(self.radices, self._largest, strict=True):
            part = text[start : start + len(largest)]
            # Characters compare as the digits they stand for, and nothing else may be among them.
            if part > largest or not set(part) <= set(_DIGITS):
                raise InvalidReport(f"{self.name!r} has no digit {part!r}.")
            number = number * radix + int(part, 36)
            start += len(largest)
        return number

    def spelled_number(self, number: int) -> str:
        """The digits of a number."""
        texts = []
        for radix in reversed(self.radices):
            number, digit = divmod(number, radix)
            texts.append(spelled(digit, radix))
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
        shapes = [(one.name, cls(tuple(_questionnaire_columns(one)))) for one in scheme.questionnaires]
        if not scheme.is_dealt:
            return shapes[0][1]
        names = {spelled(number, len(shapes)): name for number, (name, _) in enumerate(shapes)}
        columns: dict[str, Column] = {RESERVED: Column(RESERVED, names)}
        for _, shape in shapes:
            for column in shape.columns:
                known = columns.setdefault(column.name, column)
                if (known.members, known.radices) != (column.members, column.radices):
                    raise InvalidInput(
                        f"Two versions report {column.name!r} in different shapes. Disguise it alike in both."
                    )
        return cls(tuple(columns.values()), tuple(shapes))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def length(self) -> int:
        """Characters of every report."""
        return sum(column.width * (column.members or 1) for column in self.columns)

    def decode(self, text: str) -> tuple[Any, ...]:
        """The columns of a report, None where one was not dealt; anything that no honest page sends is refused."""
        if self.dealt:
            return self._decode_dealt(text)
        if len(text) != self.length:
            raise InvalidReport(f"A report of this survey has {self.length} characters, not {len(text)}.")
        values: list[Any] = []
        start = 0
        for column in self.columns:
            width = column.width
            if column.members:
                stop = start + width * column.members
                values.append(_set(column, [text[at : at + width] for at in range(start, stop, width)]))
            elif column.radices:
                stop = start + width
                values.append(column.number(text[start:stop]))
            else:
                stop = start + width
                try:
                    values.append(column.table[text[start:stop]])
                except KeyError:
                    raise InvalidReport(f"{column.name!r} has no digit {text[start:stop]!r}.") from None
            start = stop
        return tuple(values)

    def _decode_dealt(self, text: str) -> tuple[Any, ...]:
        first = self.columns[0]
        if text[: first.width] not in first.table:
            raise InvalidReport(f"No questionnaire of this survey begins with {text[: first.width]!r}.")
        name = first.table[text[: first.width]]
        shape = dict(self.dealt)[name]
        given = dict(zip(shape.names, shape.decode(text[first.width :]), strict=True)) | {first.name: name}
        return tuple(given.get(column.name) for column in self.columns)

    def encode(self, values: Sequence[Any]) -> str:
        """The text of a report, given the values of its columns."""
        if self.dealt:
            given = dict(zip(self.names, values, strict=True))
            shape = dict(self.dealt)[given[RESERVED]]
            place = {name: digit for digit, name in self.columns[0].table.items()}
            return place[given[RESERVED]] + shape.encode([given[name] for name in shape.names])
        digits: list[str] = []
        for column, value in zip(self.columns, values, strict=True):
            if column.radices:
                digits.append(column.spelled_number(value))
                continue
            back = {shown: digit for digit, shown in column.table.items()}
            digits.extend([back[one] for one in json.loads(value)] if column.members else [back[value]])
        return "".join(digits)


def _questionnaire_columns(questionnaire: Questionnaire) -> Iterator[Column]:
    for group in questionnaire.groups:
        for attribute in group.report_attributes:
            yield from _columns(attribute, group.channel.report_members)
    for attribute in questionnaire.public:
        yield from _columns(attribute, 0)


def _columns(attribute: Attribute, members: int) -> list[Column]:
    if attribute.shows == "bits":
        bits = {spelled(bit, 2): bit for bit in (0, 1)}
        return [Column(f"{attribute.name}={answer}", bits) for answer in attribute.answers]
    if attribute.shows == "hashed":
        bucket, seed = file_columns(attribute)
        word = 1 << Hashing.of(attribute).width
        buckets = {spelled(number, attribute.buckets): number for number in range(attribute.buckets)}
        return [Column(bucket, buckets), Column(seed, {}, radices=(word, word))]
    table = {spelled(code, attribute.size): answer for code, answer in enumerate(attribute.answers)}
    return [Column(attribute.name, table, members)]


def _set(column: Column, digits: list[str]) -> str:
    # Ascending in the alphabet of the digits is ascending in their numbers.
    if any(a >= b for a, b in itertools.pairwise(digits)) or any(one not in column.table for one in digits):
        raise InvalidReport(f"{column.name!r} must be a set of {column.members} answers in ascending order.")
    return json.dumps([column.table[one] for one in digits], ensure_ascii=False)
