"""The bundled sets as tables of truths, ready for a first try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pyarrow.compute as pc

from tacit.bundled.answers import ADULT, DIAGNOSES, GRADES, NURSERY, PARTIES, VOTES
from tacit.bundled.raw import FROM_TEST, raw_adult, raw_breast_cancer, raw_nursery, raw_votes
from tacit.dataset import Dataset
from tacit.errors import UnknownName
from tacit.schema import Attribute, Schema, numeric

if TYPE_CHECKING:
    import pyarrow as pa

Part = Literal["all", "train", "test"]
PARTS = ("all", "train", "test")
NOT_STATED = "not stated"


def load_adult(part: Part = "all") -> Dataset:
    """UCI Adult, 13 attributes with at most 42 answers; what people did not state is an answer of its own.

    The sampling weight and the number of years of education (`education` again) are left out. `part` chooses the rows
    of ``adult.data`` ("train"), of ``adult.test`` ("test"), or both.

    Parameters
    ----------
    part : {"all", "train", "test"}
        Which rows.

    Returns
    -------
    Dataset
        Becker and Kohavi 1996, UCI Machine Learning Repository, CC BY 4.0.

    Examples
    --------
    >>> from tacit import load_adult
    >>> load_adult("train").n_rows
    32561
    """
    schema = Schema(
        (
            numeric("age", (25, 35, 45, 55, 65)),
            *(_adult_attribute(name) for name in ADULT if name != "income"),
            numeric("capital-gain", (0,), labels=("none", "some")),
            numeric("capital-loss", (0,), labels=("none", "some")),
            numeric("hours-per-week", (34, 40, 50)),
            Attribute("income", ADULT["income"], ordered=True),
        )
    )
    return Dataset.from_arrow(adult_rows(part), schema, drop_others=True)


def adult_rows(part: Part) -> pa.Table:
    """The rows of one of Adult's two files, or of both."""
    if part not in PARTS:
        raise UnknownName("Part of Adult", str(part), PARTS)
    table = raw_adult()
    if part == "all":
        return table
    return table.filter(table[FROM_TEST] if part == "test" else pc.invert(table[FROM_TEST]))


def _adult_attribute(name: str) -> Attribute:
    """An attribute of Adult; three of them have missing values."""
    if name in ("workclass", "occupation", "native-country"):
        return Attribute(name, (*ADULT[name], NOT_STATED), missing=NOT_STATED)
    return Attribute(name, ADULT[name])


def load_breast_cancer() -> Dataset:
    """UCI Breast Cancer Wisconsin (Original): nine grades and the diagnosis; a missing grade is read as the most frequent.

    The number of the sample is left out: it would single everybody out.

    Returns
    -------
    Dataset
        Wolberg 1992, UCI Machine Learning Repository, CC BY 4.0.

    Examples
    --------
    >>> from tacit import load_breast_cancer
    >>> load_breast_cancer().n_rows
    699
    """
    table = raw_breast_cancer().drop_columns(["Id"])
    grades = (
        Attribute(name, GRADES, ordered=True, missing=most_frequent(table, name) if table[name].null_count else None)
        for name in table.column_names[:-1]
    )
    return Dataset.from_arrow(table, Schema((*grades, Attribute("Class", DIAGNOSES))))


def load_votes() -> Dataset:
    """UCI Congressional Voting Records 1984: the party and sixteen votes; "not stated" is an answer of its own.

    Returns
    -------
    Dataset
        Schlimmer 1987, UCI Machine Learning Repository, CC BY 4.0.

    Examples
    --------
    >>> from tacit import load_votes
    >>> load_votes().n_rows
    435
    """
    table = raw_votes()
    votes = (Attribute(name, (*VOTES, NOT_STATED), missing=NOT_STATED) for name in table.column_names[1:])
    return Dataset.from_arrow(table, Schema((Attribute("Class", PARTIES), *votes)))


def load_nursery() -> Dataset:
    """UCI Nursery: eight attributes of an application, and how it was ranked; every combination of answers once.

    Returns
    -------
    Dataset
        Rajkovic 1989, UCI Machine Learning Repository, CC BY 4.0.

    Examples
    --------
    >>> from tacit import load_nursery
    >>> load_nursery().schema.shape()
    (3, 5, 4, 4, 3, 2, 3, 3, 5)
    """
    return Dataset.from_arrow(raw_nursery(), Schema(tuple(Attribute(name, NURSERY[name]) for name in NURSERY)))


def most_frequent(table: pa.Table, name: str) -> str:
    """The value that most rows have; of several, the one that comes first."""
    counts = table[name].drop_null().value_counts()
    return str(counts.field("values")[pc.index(counts.field("counts"), pc.max(counts.field("counts"))).as_py()].as_py())
