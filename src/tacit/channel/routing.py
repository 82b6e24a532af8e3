"""Which questions are asked only after which answers, and the records that this leaves possible.

A follow-up that is asked only after a sensitive answer tells that answer again. So questions connected by routing are
disguised together, on their *legal records*: a filter with five yes/no follow-ups has 33, not 2 x 3^5.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownAnswer
from tacit.schema import Attribute

Weights = NDArray[np.float64]
Mask = NDArray[np.bool_]

NOT_ASKED = "not asked"
# More legal records than this are not listed.
MOST_RECORDS = 1 << 16
# Beyond so many records the pairs that differ in one answer are not listed either.
MOST_COMPARED = 1 << 11
# Questions whose being asked is decided outside the group: every combination of them is looked at.
MOST_OUTSIDE = 4


@dataclass(frozen=True, eq=False)
class Records:
    """The records that a group of attributes can have: a code for each attribute, and whether it was asked."""

    attributes: tuple[Attribute, ...]
    codes: NDArray[np.int64]  # [record, attribute]

    @classmethod
    def every(cls, attributes: Sequence[Attribute]) -> Records:
        """Every combination of answers: nothing within the group decides what is asked."""
        shape = tuple(attribute.size for attribute in attributes)
        grid = np.indices(shape).reshape(len(shape), -1).T
        return cls(tuple(attributes), np.ascontiguousarray(grid))

    @classmethod
    def from_document(cls, attributes: Sequence[Attribute], listed: Any) -> Records:
        """The records of a scheme document: lists of answers, null where a question was not asked."""
        names = [attribute.name for attribute in attributes]
        if not isinstance(listed, list) or len(listed) < 2:
            raise InvalidInput(f"The records of the group {', '.join(names)} must be a list of at least two records.")
        codes = np.array([_codes(attributes, record) for record in listed], dtype=np.int64)
        if len(np.unique(codes, axis=0)) < len(codes):
            raise InvalidInput(f"The records of the group {', '.join(names)} name one of them twice. List each once.")
        return cls(tuple(attributes), codes)

    def to_document(self) -> list[list[str | None]]:
        return [
            [
                None if _is_not_asked(attribute, code) else attribute.answers[code]
                for attribute, code in self._cells(row)
            ]
            for row in self.codes.tolist()
        ]

    def _cells(self, row: Sequence[int]) -> Iterator[tuple[Attribute, int]]:
        return zip(self.attributes, row, strict=True)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(attribute.size for attribute in self.attributes)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where each record stands in the table of all combinations of answers."""
        return np.ravel_multi_index(tuple(self.codes.T), self.shape).astype(np.int64)

    @cached_property
    def asked_mask(self) -> Mask:
        """``[record, attribute]``: whether the question was asked."""
        missing = [attribute.answers.index(NOT_ASKED) if may_skip(attribute) else -1 for attribute in self.attributes]
        return self.codes != np.array(missing)

    @cached_property
    def answers(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            tuple(attribute.answers[code] for attribute, code in self._cells(row)) for row in self.codes.tolist()
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple("+".join(answers) for answers in self.answers)

    def table(self, weights: Weights) -> Weights:
        """A number for each record, as a table over all combinations of answers."""
        table = np.zeros(math.prod(self.shape))
        table[self.places] = weights
        return table.reshape(self.shape)

    def even(self, among: Mask | None = None) -> Weights:
        """The even prior: question by question, every answer that is then possible equally likely."""
        codes = self.codes if among is None else self.codes[among]
        weights = np.ones(len(codes))
        for before, children, _ in _steps(codes, self.shape):
            weights /= children[before]
        if among is None:
            return weights
        spread = np.zeros(len(self.codes))
        spread[among] = weights
        return spread

    @cached_property
    def situations(self) -> tuple[Mask, ...]:
        """Which records are possible in each situation that is known from outside the group.

        Where after the same answers a question is sometimes asked and sometimes not, something public decides it, and
        everybody who reads the report knows which.
        """
        decided_outside = self._decided_outside()
        outside = np.flatnonzero(decided_outside.any(axis=0))
        if not len(outside):
            return (np.ones(len(self), dtype=bool),)
        if len(outside) > MOST_OUTSIDE:  # too many to go through: as if nobody knew who was asked what
            return (np.ones(len(self), dtype=bool),)
        made: dict[bytes, Mask] = {}
        for state in np.ndindex((2,) * len(outside)):
            free = ~decided_outside[:, outside] | (self.asked_mask[:, outside] == np.array(state, dtype=bool))
            possible = free.all(axis=1)
            if possible.any():
                made[possible.tobytes()] = possible
        return tuple(made.values())

    def _decided_outside(self) -> Mask:
        """``[record, attribute]``: whether, after the same earlier answers, the question may be asked or not."""
        mixed = np.zeros(self.codes.shape, dtype=bool)
        for axis, (before, _, _) in enumerate(_steps(self.codes, self.shape)):
            prefixes = int(before.max()) + 1
            asked = np.bincount(before, self.asked_mask[:, axis], prefixes) > 0
            skipped = np.bincount(before, ~self.asked_mask[:, axis], prefixes) > 0
            mixed[:, axis] = (asked & skipped)[before]
        return mixed

    def differing(self, axis: int, among: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Ordered pairs of records that differ in one answer and in what routing then forces, and agree elsewhere.

        Both were asked the question: not being asked is the answer to another one.
        """
        candidates = np.flatnonzero(among & self.asked_mask[:, axis])
        codes = self.codes[candidates]
        powers = 1 << np.arange(codes.shape[1])
        first, second = [], []
        for position, record in zip(candidates, codes, strict=True):
            agreement = (codes == record) @ powers
            for answer in np.unique(codes[:, axis]):
                if answer != record[axis]:
                    there = np.flatnonzero(codes[:, axis] == answer)
                    near = candidates[there[_largest_sets(agreement[there])]]
                    first.append(np.full(len(near), position))
                    second.append(near)
        if not first:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        return np.concatenate(first), np.concatenate(second)


def _largest_sets(sets: NDArray[np.int64]) -> Mask:
    """Which of these bit sets no other one strictly contains."""
    union = np.bitwise_or.reduce(sets)
    if (sets == union).any():  # one contains all others
        return sets == union
    distinct = np.unique(sets)
    contained = (distinct[:, None] & distinct[None, :]) == distinct[:, None]
    np.fill_diagonal(contained, False)
    return np.asarray(np.isin(sets, distinct[~contained.any(axis=1)]))


def _steps(
    codes: NDArray[np.int64], shape: Sequence[int]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """For each attribute: the earlier answers of each record as a number, and how many answers may follow them."""
    before = np.zeros(len(codes), dtype=np.int64)
    for axis, size in enumerate(shape):
        distinct, after = np.unique(before * size + codes[:, axis], return_inverse=True)
        yield before, np.bincount(distinct // size), after
        before = after.astype(np.int64)


def _codes(attributes: Sequence[Attribute], record: Any) -> list[int]:
    names = ", ".join(attribute.name for attribute in attributes)
    if not isinstance(record, list) or len(record) != len(attributes):
        raise InvalidInput(f"A record of the group {names} needs one entry for each attribute, not {record!r}.")
    codes = []
    for attribute, answer in zip(attributes, record, strict=True):
        if answer is None and not may_skip(attribute):
            raise InvalidInput(
                f"A record of the group {names} leaves {attribute.name!r} out (null), but {attribute.name!r} has no answer "
                f"{NOT_ASKED!r}. Add it to its answers."
            )
        given = NOT_ASKED if answer is None else str(answer)
        if given not in attribute.answers:
            raise UnknownAnswer(attribute.name, given, attribute.answers)
        codes.append(attribute.answers.index(given))
    return codes


def may_skip(attribute: Attribute) -> bool:
    """Whether the question need not be asked."""
    return NOT_ASKED in attribute.answers


def _is_not_asked(attribute: Attribute, code: int) -> bool:
    return attribute.answers[code] == NOT_ASKED


@dataclass(frozen=True)
class Ways:
    """Every way to answer a question: any of `each` attribute's own answers, or one of `special` for all of them at once.

    Forty options have 2^40 ways, so they are counted and not listed until somebody needs each.
    """

    each: tuple[tuple[str, ...], ...]
    special: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return math.prod(map(len, self.each)) + len(self.special)

    @property
    def is_product(self) -> bool:
        """Whether the attributes can be answered independently of each other."""
        return not self.special or len(self.each) == 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        yield from itertools.product(*self.each)
        yield from ((answer,) * len(self.each) for answer in self.special)


Condition = tuple[str, frozenset[str]]  # an attribute, and the answers after which a question is asked


@dataclass(frozen=True)
class Asked:
    """One question of a questionnaire: the attributes it is reported as, and every way to answer it.

    It is asked where all conditions of `when` hold and, if there are `alternatives`, all of at least one of them.
    """

    name: str
    attributes: tuple[str, ...]
    ways: Ways
    when: tuple[Condition, ...] = ()
    is_public: bool = False
    alternatives: tuple[tuple[Condition, ...], ...] = ()

    @property
    def earlier(self) -> tuple[str, ...]:
        """The attributes that decide whether it is asked."""
        every = (*self.when, *(condition for alternative in self.alternatives for condition in alternative))
        return tuple(dict.fromkeys(name for name, _ in every))

    def is_asked(self, record: Mapping[str, str]) -> bool:
        """Whether it is asked after these answers; a question without an answer was not asked."""

        def holds(conditions: Sequence[Condition]) -> bool:
            return all(record.get(name, NOT_ASKED) in answers for name, answers in conditions)

        return holds(self.when) and (not self.alternatives or any(map(holds, self.alternatives)))


@dataclass(frozen=True)
class Routing:
    """The questions in the order in which they are asked; each may depend on earlier answers."""

    questions: tuple[Asked, ...]

    def blocks(self) -> list[tuple[Asked, ...]]:
        """The sensitive questions, those together that routing connects; in the order of their first questions."""
        home = {name: index for index, question in enumerate(self.questions) for name in question.attributes}
        block = list(range(len(self.questions)))
        for index, question in enumerate(self.questions):
            for earlier in question.earlier:
                if not question.is_public and not self.questions[home[earlier]].is_public:
                    old, new = block[index], block[home[earlier]]
                    block = [new if number == old else number for number in block]
        sensitive = [index for index, question in enumerate(self.questions) if not question.is_public]
        heads = list(dict.fromkeys(block[index] for index in sensitive))
        return [tuple(self.questions[index] for index in sensitive if block[index] == head) for head in heads]

    def public_situations(self, block: Sequence[Asked]) -> list[dict[str, str]]:
        """Every combination of the public answers that decide what is asked in a block."""
        public = {name: question for question in self.questions if question.is_public for name in question.attributes}
        needed: list[Asked] = []
        waiting = [name for question in block for name in question.earlier if name in public]
        while waiting:
            question = public[waiting.pop()]
            if question not in needed:
                needed.append(question)
                waiting.extend(earlier for earlier in question.earlier if earlier in public)
        chosen = [question for question in self.questions if question in needed]
        return [dict(record) for record in _walk(chosen, {})]

    def _legal(self, block: Sequence[Asked], known: Mapping[str, str]) -> list[tuple[str, ...]]:
        names = [name for question in block for name in question.attributes]
        return [tuple(record[name] for name in names) for record in _walk(block, known)]

    def possible(self, block: Sequence[Asked], known: Mapping[str, str], records: Records) -> Mask:
        """Which records are legal after these public answers."""
        if len(block) == 1 and len(records.attributes) == 1:  # however many answers it has
            (question,), (attribute,) = block, records.attributes
            choices = question.ways.each[question.attributes.index(attribute.name)]
            allowed = {*choices, *question.ways.special} if question.is_asked(known) else {NOT_ASKED}
            return np.array([attribute.answers[code] in allowed for code in records.codes[:, 0]])
        names = [name for question in block for name in question.attributes]
        order = [names.index(attribute.name) for attribute in records.attributes]
        legal = {tuple(record[place] for place in order) for record in self._legal(block, known)}
        return np.array([answers in legal for answers in records.answers])

    def records(self, block: Sequence[Asked], attributes: Sequence[Attribute]) -> Records:
        """The legal records of a block, whatever the public answers are."""
        legal = {record for situation in self.public_situations(block) for record in self._legal(block, situation)}
        codes = [[a.answers.index(answer) for a, answer in zip(attributes, record, strict=True)] for record in legal]
        return Records(tuple(attributes), np.array(sorted(codes), dtype=np.int64))


def _walk(questions: Sequence[Asked], known: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Every way through these questions, given some answers."""
    partial = [dict(known)]
    for question in questions:
        not_asked = Ways(((NOT_ASKED,),) * len(question.attributes))
        after = [(record, question.ways if question.is_asked(record) else not_asked) for record in partial]
        if sum(ways.count for _, ways in after) > MOST_RECORDS:
            raise InvalidInput(
                f"The questions {', '.join(question.name for question in questions)} can be answered in more than "
                f"{MOST_RECORDS:,} ways. Ask fewer questions after one answer, or offer fewer answers."
            )
        partial = [
            {**record, **dict(zip(question.attributes, way, strict=True))} for record, ways in after for way in ways
        ]
    yield from partial
