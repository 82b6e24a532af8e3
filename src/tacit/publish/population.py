"""The people that a table was drawn from: a table of them, or their number.

People whose answers no row of the release could show, such as a town that does not occur in it, match no class and are
counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput, TacitError
from tacit.publish.column_readings import Reading
from tacit.publish.combinations import Combinations
from tacit.publish.labels import is_within
from tacit.publish.tally import QuasiTally
from tacit.schema import Attribute, Schema
from tacit.table import encode
from tacit.table.columns import as_text

Codes = NDArray[np.int64]
COUNT = "people who show it"


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody that the rows may belong to; `codes` are the combinations of quasi-identifiers that people show."""

    size: int
    codes: NDArray[np.int32] | None = (
        None  # [combination, quasi-identifier]; None where only the number of people is known
    )
    counts: Codes | None = None
    outside: int = 0  # people with an answer that the released table does not know

    @property
    def is_table(self) -> bool:
        return self.codes is not None


def people_number(people: Any) -> int | None:
    """The number of people, where `people` is one; None where it is a table."""
    if isinstance(people, str) and people.strip().replace("_", "").isdigit():
        people = int(people)
    if isinstance(people, bool) or not isinstance(people, int | np.integer):
        return None
    if people < 1:
        raise InvalidInput(f"A population has at least one person, not {people}.")
    return int(people)


def open_population(people: Any, attributes: Sequence[Attribute], readings: Mapping[str, Reading]) -> Population:
    """A number of people, or a file, data frame or database table of them, read in the answers of the released table."""
    number = people_number(people)
    if number is not None:
        return Population(number)
    names = [attribute.name for attribute in attributes]
    counted = counted_people(people, names)
    columns = [answer_codes(counted.column(each.name), each, readings.get(each.name)) for each in attributes]
    counts = counted.column(COUNT).to_numpy().astype(np.int64)
    inside = np.logical_and.reduce([column >= 0 for column in columns])
    if not inside.any():
        raise InvalidInput(
            "Nobody in the table of people shows answers that the released table knows. Give a table with the same columns "
            f"({', '.join(names)}), coded in the same way."
        )
    combinations = Combinations([column[inside] for column in columns], [each.size for each in attributes])
    totals = np.bincount(combinations.number, counts[inside]).astype(np.int64)
    return Population(int(counts.sum()), combinations.codes, totals, int(counts[~inside].sum()))


def counted_people(people: Any, names: Sequence[str]) -> pa.Table:
    """The combinations that people show, with their numbers."""
    from tacit.publish.counted_rows import counted_table

    counted = counted_table(people, names, what="Column of the table of people")
    if not counted.num_rows:
        raise InvalidInput("The table of people has no rows. Give everybody whom the rows may belong to.")
    together: pa.Table = counted.rename_columns([*names, COUNT]).group_by(list(names)).aggregate([(COUNT, "sum")])
    return together.rename_columns([*names, COUNT])


def answer_codes(column: pa.ChunkedArray, attribute: Attribute, reading: Reading | None) -> Codes:
    """The code of every value; -1 where it is none of the attribute's answers."""
    values = column.combine_chunks().dictionary_encode(null_encoding="encode")
    codes_of_values = _codes_of_values(values.dictionary, attribute, reading)
    return codes_of_values[values.indices.to_numpy()]


def _codes_of_values(values: pa.Array, attribute: Attribute, reading: Reading | None) -> Codes:
    """Codes of different values; a part with unknown ones is halved until they are alone."""
    try:
        column = pa.chunked_array([values])
        table = pa.table({attribute.name: column if reading is None else reading.read(column)})
        return encode(table, Schema((attribute,)))[attribute.name].astype(np.int64)
    except TacitError:
        if len(values) == 1:
            return np.array([-1], np.int64)
    half = len(values) // 2
    return np.concatenate(
        [_codes_of_values(values[:half], attribute, reading), _codes_of_values(values[half:], attribute, reading)]
    )


def with_population(tally: QuasiTally, population: Population) -> QuasiTally:
    """The tally with the people of every combination beside its rows; combinations that only people show have no rows.

    Where sensitive answers tell rows of one combination apart, its people are counted with the first of them.
    """
    if population.codes is None or population.counts is None:
        return tally
    sizes = tally.sizes.tolist()
    combinations = Combinations(list(tally.codes.T), sizes)
    both = Combinations(list(np.concatenate([combinations.codes, population.codes]).T), sizes)
    people = np.bincount(both.number[len(combinations) :], population.counts, len(both)).astype(np.int64)
    place = both.places(list(tally.codes.T))
    beside = np.zeros(len(tally.counts), np.int64)
    first = np.unique(place, return_index=True)[1]
    beside[first] = people[place[first]]
    alone = np.setdiff1d(np.arange(len(both)), place)
    sensitive = np.concatenate([tally.sensitive_codes, np.tile(_any_answer(tally), (len(alone), 1))])
    return replace(
        tally,
        codes=np.ascontiguousarray(np.concatenate([tally.codes, both.codes[alone]]), dtype=tally.codes.dtype),
        counts=np.concatenate([tally.counts, np.zeros(len(alone), np.int64)]),
        sensitive_codes=np.ascontiguousarray(sensitive.astype(np.int64)),
        people=np.concatenate([beside, people[alone]]),
    )


def _any_answer(tally: QuasiTally) -> Codes:
    """The first answer of every sensitive attribute: what stands beside no rows counts for nothing."""
    sizes = [attribute.size for attribute in tally.sensitive]
    return np.cumsum([0, *sizes])[:-1].astype(np.int64)


def people_in_classes(
    codes: NDArray[Any],
    counts: Codes,
    labels: NDArray[Any],
    members: Sequence[NDArray[np.bool_]],
    chosen: Sequence[int],
) -> tuple[Codes, int]:
    """How many people each row of `labels` could be: those whose answers stand behind all of its labels; and who is none.

    ``members[j][label, answer]`` says what a label of attribute j stands for; only the attributes `chosen` are known.
    """
    widest = max(chosen, key=lambda j: len(members[j]))
    order = [j for j in chosen if j != widest]
    behind = [np.flatnonzero(answers[codes[:, widest]]) for answers in members[widest]]
    totals, matched = np.empty(len(labels), np.int64), np.zeros(len(codes), np.bool_)
    for c, row in enumerate(labels):
        inside = behind[row[widest]]
        for j in order:
            inside = inside[members[j][row[j]][codes[inside, j]]]
        totals[c] = counts[inside].sum()
        matched[inside] = True
    return totals, int(counts[~matched].sum())


def people_behind_labels(
    counted: pa.Table, shown: pa.Table, behind: Mapping[str, Mapping[str, Sequence[str]]], ranges: Sequence[str] = ()
) -> tuple[Codes, int]:
    """The people behind every row of labels `shown`: who shows the same texts, or answers that `behind` gives a label.

    In the columns `ranges` a label stands for every number that lies in it. Returns also how many people no row could be.
    """
    codes, labels, members = [], [], []
    for name in shown.column_names:
        answers, code = _texts(counted.column(name))
        texts, label = _texts(shown.column(name))
        place = {answer: position for position, answer in enumerate(answers)}
        stands_for = np.zeros((len(texts), len(answers)), np.bool_)
        for position, text in enumerate(texts):
            for answer in (text, *behind.get(name, {}).get(text or "", ())):
                if answer in place:
                    stands_for[position, place[answer]] = True
            if name in ranges:
                stands_for[position] |= [is_within(answer, text) for answer in answers]
        codes.append(code)
        labels.append(label)
        members.append(stands_for)
    counts = counted.column(COUNT).to_numpy().astype(np.int64)
    return people_in_classes(np.stack(codes, axis=1), counts, np.stack(labels, axis=1), members, range(len(members)))


def _texts(column: pa.ChunkedArray) -> tuple[list[str | None], Codes]:
    """The different texts of a column, and which of them each entry is."""
    encoded = pc.dictionary_encode(as_text(column), null_encoding="encode").combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)
