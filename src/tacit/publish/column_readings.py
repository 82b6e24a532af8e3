"""How the values of a column become answers: codes by their first characters, the frequent ones of many names, pseudonyms.

Dates have a module of their own (`dates`); what is read here is found from the data once, and kept in the private manifest.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.errors import InvalidInput
from tacit.publish.column_values import ColumnValues
from tacit.publish.dates import MOST_STEPS, DateReading
from tacit.table.columns import as_numpy, as_text, missing_values, plain

MOST_AS_THEY_ARE = 200  # different values that are answers as they are
OTHER = "other"


class Reading(Protocol):
    """How the values of a column become answers, where they are not answers themselves."""

    def answers(self) -> tuple[str, ...]:
        """All answers, in order."""

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """The answer that each value becomes; null where it is missing."""

    def to_document(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class CodeReading:
    """Codes by their first characters: "101**"."""

    length: int
    kept: int
    prefixes: tuple[str, ...]

    @classmethod
    def found(cls, column: pa.ChunkedArray) -> CodeReading:
        """The longest prefix that makes few enough answers."""
        texts = _padded_texts(column).drop_null().unique().to_pylist()
        length = max(map(len, texts))
        for length_kept in range(length, 0, -1):
            prefixes = sorted({text[:length_kept] for text in texts})
            if len(prefixes) <= MOST_STEPS:
                break
        return cls(length, length_kept, tuple(prefixes))

    def answers(self) -> tuple[str, ...]:
        return tuple(self._label(prefix) for prefix in self.prefixes)

    def _label(self, prefix: str) -> str:
        return prefix + "*" * (self.length - self.kept) if len(prefix) == self.kept else prefix

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:

        texts = _padded_texts(column, self.length)
        place = pc.index_in(pc.utf8_slice_codeunits(texts, 0, self.kept), value_set=pa.array(self.prefixes))
        return _answers_at(self.answers(), place, texts, OTHER)

    def to_document(self) -> dict[str, Any]:
        return {"type": "code", "length": self.length, "kept": self.kept, "prefixes": list(self.prefixes)}


def _padded_texts(column: pa.ChunkedArray, length: int | None = None) -> pa.ChunkedArray:
    """Codes as text, null where missing; whole numbers with the zeros that a number loses."""
    column = plain(column)
    texts = pc.utf8_trim_whitespace(as_text(column))
    texts = pc.if_else(pa.array(missing_values(column)), None, texts)
    if pa.types.is_integer(column.type):
        texts = pc.utf8_lpad(texts, length or pc.max(pc.utf8_length(texts)).as_py() or 1, "0")
    return texts


def _answers_at(answers: Sequence[str], place: Any, texts: Any, otherwise: str | None) -> pa.ChunkedArray:
    """Answers by their places; texts without one are `otherwise` where that is an answer, refused elsewhere."""
    unknown = as_numpy(pc.and_(pc.is_null(place), pc.is_valid(texts)))
    if unknown.any() and otherwise not in answers:
        raise InvalidInput(
            f"The table holds {texts[int(unknown.argmax())].as_py()!r}, which was not there when its values were listed. "
            "Publish it while nobody writes to it."
        )
    labels = pa.array(answers, pa.string()).take(pa.array(as_numpy(pc.fill_null(place, 0)).astype(np.int64)))
    labels = pc.if_else(pa.array(unknown), otherwise, labels)
    answers_read = pc.if_else(pc.is_valid(texts), labels, None)
    return answers_read if isinstance(answers_read, pa.ChunkedArray) else pa.chunked_array([answers_read])


@dataclass(frozen=True)
class FrequentReading:
    """The frequent ones of many names; all others together."""

    names: tuple[str, ...]

    @classmethod
    def found(cls, counted: ColumnValues) -> FrequentReading:
        present = ~missing_values(counted.values)
        names = as_text(counted.values.filter(present)).to_pylist()
        ordered = sorted(zip((-counted.times[present]).tolist(), names, strict=True))
        return cls(tuple(sorted(str(name) for _, name in ordered[: MOST_AS_THEY_ARE - 1])))

    def answers(self) -> tuple[str, ...]:
        return (*self.names, unused_label(OTHER, self.names))

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:

        column = plain(column)
        texts = pc.if_else(pa.array(missing_values(column)), None, as_text(column))
        return _answers_at(
            self.answers(), pc.index_in(texts, value_set=pa.array(self.names)), texts, self.answers()[-1]
        )

    def to_document(self) -> dict[str, Any]:
        return {"type": "nominal", "names": list(self.names)}


@dataclass(frozen=True)
class PseudonymReading:
    """Identifiers as random pseudonyms: without the key nobody can tell whose one is."""

    key: str  # hexadecimal

    @classmethod
    def drawn(cls, name: str, counted: ColumnValues) -> PseudonymReading:
        """A fresh key; refused for a column that repeats, because a repeated pseudonym links the rows of a person."""
        if counted.missing:
            raise InvalidInput(
                f"{name!r} has missing values, so it cannot become a pseudonym. Give it the role identifier."
            )
        if len(as_text(counted.values).unique()) < counted.times.sum():
            raise InvalidInput(
                f"{name!r} repeats: its pseudonyms would link the rows of a person. Give it the role identifier (it is then left "
                "out), or person."
            )
        return cls(secrets.token_hex(32))

    def answers(self) -> tuple[str, ...]:
        raise InvalidInput(
            "A column of pseudonyms has no list of answers before it is read. Give it a role in --roles instead of "
            "answers in a schema."
        )

    def read(self, column: pa.ChunkedArray) -> pa.ChunkedArray:

        key = bytes.fromhex(self.key)
        texts = as_text(plain(column)).to_pylist()
        return pa.chunked_array([pa.array([hmac.digest(key, text.encode(), "sha256")[:8].hex() for text in texts])])

    def to_document(self) -> dict[str, Any]:
        return {"type": "pseudonym", "key": self.key}


def reading_from_document(document: Mapping[str, Any]) -> Reading:
    """A reading that a private manifest keeps."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}
    kinds: dict[str, Any] = {"date": DateReading, "code": CodeReading, "nominal": FrequentReading}
    kinds["pseudonym"] = PseudonymReading
    reading: Reading = kinds[str(fields.pop("type"))](**fields)
    return reading


def unused_label(label: str, answers: Sequence[str]) -> str:
    while label in answers:
        label += "_"
    return label
