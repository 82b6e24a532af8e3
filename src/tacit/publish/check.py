"""What any table reveals about the people in it: k, l, t, the sizes of its classes, the rows at risk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.count.backend import answer
from tacit.errors import InvalidInput, UnknownName
from tacit.publish.class_measures import Answers, SensitiveCheck, class_sizes, sensitive_check
from tacit.publish.opening import is_stored, stored_table
from tacit.publish.risk import Risk, risk_of
from tacit.schema import Schema
from tacit.table import as_arrow, read_batches

if TYPE_CHECKING:
    import pyarrow as pa

RISKY_SIZE = 5
COUNT = "rows that show it"


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """How well the rows of a table hide among each other.

    >>> from tacit.publish import check_release
    >>> check_release({"age": ["30-40", "30-40", "50"]}, ["age"]).k
    1
    """

    attributes: tuple[str, ...]
    rows: int
    class_sizes: NDArray[np.int64]  # ascending
    sensitive: tuple[SensitiveCheck, ...]
    threshold: int  # classes below this count as risky
    people: int | None = None  # of the population that the rows were drawn from

    @property
    def risk(self) -> Risk:
        """Prosecutor, journalist and marketer; population uniques where the number of people is known."""
        return risk_of(self.class_sizes, self.people)

    @property
    def k(self) -> int:
        return int(self.class_sizes[0])

    @property
    def rows_at_risk(self) -> int:
        """Rows in classes smaller than the threshold."""
        return int(self.class_sizes[self.class_sizes < self.threshold].sum())

    @property
    def unique_rows(self) -> int:
        return int((self.class_sizes == 1).sum())

    @property
    def highest_risk(self) -> float:
        """Chance to be re-identified by someone who knows the attributes, for whoever is worst hidden."""
        return 1 / self.k

    @property
    def mean_risk(self) -> float:
        return len(self.class_sizes) / self.rows

    def to_document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "k": self.k,
            "l": min((part.distinct for part in self.sensitive), default=None),
            "t": max((part.closeness for part in self.sensitive), default=None),
            "rows": self.rows,
            "classes": len(self.class_sizes),
            "class_sizes": size_spread(self.class_sizes),
            "unique_rows": self.unique_rows,
            "rows_at_risk": self.rows_at_risk,
            "threshold": self.threshold,
            "highest_risk": self.highest_risk,
            "mean_risk": self.mean_risk,
            "risk": self.risk.to_document(),
            "sensitive": [
                {"attribute": s.attribute, "l": s.distinct, "entropy_l": s.entropy, "t": s.closeness}
                for s in self.sensitive
            ],
        }


def size_spread(sizes: NDArray[np.int64]) -> dict[str, int]:
    """Least, quartiles and greatest of the class sizes."""
    points = np.quantile(sizes, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
    return dict(zip(("least", "quarter", "median", "three_quarters", "greatest"), map(int, points), strict=True))


def check_release(
    data: Any,
    attributes: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    schema: Schema | None = None,
    person: str | None = None,
    threshold: int = RISKY_SIZE,
    people: int | None = None,
) -> ReleaseCheck:
    """Measure a table (a file, a data frame, a database table) whose `attributes` somebody may know of a person.

    A `schema` says which sensitive attributes have ordered answers: their t counts how far answers are apart.
    With `person`, the column that says whose row it is, classes are counted in different persons.

    Parameters
    ----------
    data : path, address or data frame
        The table to be judged.
    attributes : sequence of str
        The quasi-identifiers: what somebody may know of a person.
    sensitive : sequence of str
        Columns whose answers must stay hidden.
    schema : Schema, optional
        Says which answers are ordered.
    person : str, optional
        The column that says whose row it is.
    threshold : int
        Classes below this size are counted as being at risk.
    people : int, optional
        The number of people the rows were drawn from: then uniques of the population are estimated.

    Returns
    -------
    ReleaseCheck

    Raises
    ------
    InvalidInput
        Where a column is missing.

    Examples
    --------
    >>> from tacit import check_release
    >>> check_release({"age": ["30-40", "30-40", "50"]}, ["age"]).k
    1
    """
    wanted = [attributes] if isinstance(attributes, str) else list(attributes)
    secret = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    if not wanted:
        raise InvalidInput("Name at least one attribute that somebody may know of a person.")
    if threshold < 1:
        raise InvalidInput(f"The threshold is a class size of at least 1, not {threshold}.")
    both = [name for name in secret if name in wanted]
    if both:
        raise InvalidInput(
            f"{both[0]!r} cannot be sensitive and known to an attacker at once. Name it on one side only."
        )
    names = [*wanted, *secret, *(() if person is None else (person,))]
    if len(set(names)) < len(names):
        raise InvalidInput(f"{person!r} says whose row it is: it cannot be known to an attacker or sensitive as well.")
    counted = counted_stored(stored_table(data), names) if is_stored(data) else counted_batches(_batches(data), names)
    found = measured(counted, tuple(wanted), tuple(secret), threshold, schema, person)
    if people is not None:
        risk_of(found.class_sizes, people)  # refuses a population smaller than its sample
    return replace(found, people=people)


def _batches(data: Any) -> Iterator[pa.Table]:
    if isinstance(data, str | Path):
        return read_batches(data)
    return iter([as_arrow(data)])


def counted_batches(batches: Iterable[pa.Table], names: Sequence[str]) -> pa.Table:
    """The combinations of columns in a table that comes in parts, with their numbers of rows; some may repeat."""
    import pyarrow as pa

    parts = []
    for batch in batches:
        _refuse_unknown(names, batch.column_names)
        counted = batch.select(names).group_by(names).aggregate([([], "count_all")])
        # Batches may spell the same answers with different dictionaries.
        types = [(n, _plain(counted.schema.field(n).type)) for n in names] + [(COUNT, pa.int64())]
        parts.append(counted.select([*names, "count_all"]).rename_columns([*names, COUNT]).cast(pa.schema(types)))
    return (
        pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({COUNT: pa.array([], pa.int64())})
    )


def counted_stored(table: Any, names: Sequence[str]) -> pa.Table:
    """The combinations of columns in an ibis table, counted by its database."""
    _refuse_unknown(names, table.columns)
    return answer(table.group_by(list(names)).agg(**{COUNT: table.count()}))


def _refuse_unknown(names: Sequence[str], present: Sequence[str]) -> None:
    for name in names:
        if name not in present:
            raise UnknownName("Column", name, present)


def measured(
    tally: pa.Table,
    attributes: tuple[str, ...],
    sensitive: tuple[str, ...],
    threshold: int = RISKY_SIZE,
    schema: Schema | None = None,
    person: str | None = None,
) -> ReleaseCheck:
    """The check of counted combinations."""
    if tally.num_rows == 0:
        raise InvalidInput("The table has no rows: there is nothing to check.")
    counts = tally.column(COUNT).to_numpy().astype(np.int64)
    classes = _numbers(tally, attributes)
    persons = None if person is None else _numbers(tally, (person,))
    checked = tuple(sensitive_check(classes, _answers(tally, name, schema), counts, persons) for name in sensitive)
    sizes = class_sizes(classes, counts, persons)
    return ReleaseCheck(attributes, int(counts.sum()), np.sort(sizes), checked, threshold)


def _answers(tally: pa.Table, name: str, schema: Schema | None) -> Answers:
    """The answers of a sensitive column; in the order of the schema where it has one."""
    import pyarrow.compute as pc

    texts = pc.dictionary_encode(tally.column(name), null_encoding="encode").combine_chunks()
    codes = texts.indices.to_numpy().astype(np.int64)
    if schema is None or name not in schema or not schema[name].ordered:
        return Answers(name, codes, ordered=False)
    place = np.array([schema[name].encode(str(text)) for text in texts.dictionary.to_pylist()], np.int64)
    return Answers(name, place[codes], ordered=True)


def _plain(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _numbers(tally: pa.Table, attributes: tuple[str, ...]) -> NDArray[np.int64]:
    """The class of every combination."""
    import pyarrow.compute as pc

    number = np.zeros(tally.num_rows, np.int64)
    for name in attributes:
        codes = pc.dictionary_encode(tally.column(name), null_encoding="encode").combine_chunks().indices.to_numpy()
        _, number = np.unique(number * (int(codes.max()) + 1) + codes, return_inverse=True)
    return number.ravel().astype(np.int64)
