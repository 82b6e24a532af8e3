"""Adult as published studies prepared it, so that their numbers can be compared."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.bundled.answers import ADULT
from tacit.bundled.general import NOT_STATED, adult_rows
from tacit.bundled.raw import adult_nine_document, raw_adult
from tacit.dataset import Dataset
from tacit.schema import Attribute, Cut, Schema, numeric
from tacit.table import equal_width

NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")


def census() -> Dataset:
    """CENSUS of FRAPP (Agrawal and Haritsa, ICDE 2005): all 48,842 rows, six attributes, 2000 cells.

    Their table of frequent itemsets pins down what the text leaves open: hours are closed on the left, age and weight
    on the right, and an unknown country counts as "other".
    """
    country = Attribute("native-country", ("United-States", "other"), missing="other")
    schema = Schema(
        (
            numeric("age", (35, 55, 75), labels=("(15-35]", "(35-55]", "(55-75]", ">75")),
            numeric(
                "fnlwgt",
                (1e5, 2e5, 3e5, 4e5),
                labels=("(0-1e5]", "(1e5-2e5]", "(2e5-3e5]", "(3e5-4e5]", ">4e5"),
            ),
            numeric(
                "hours-per-week",
                (20, 40, 60, 80),
                closed="left",
                labels=("[0-20)", "[20-40)", "[40-60)", "[60-80)", ">=80"),
            ),
            Attribute("race", ADULT["race"]),
            Attribute("sex", ADULT["sex"]),
            country,
        )
    )
    table = raw_adult()
    countries = dict.fromkeys(ADULT["native-country"], "other") | {"United-States": "United-States"}
    return Dataset.from_arrow(renamed_answers(table, "native-country", countries), schema, drop_others=True)


def adult_nine() -> Dataset:
    """The nine attributes of Dewri et al. (2009): the 30,162 complete rows of ``adult.data``, every answer in order.

    Ages are right-closed steps of five years from 0 to 100. Cutting every domain into intervals takes 105 bits.
    """
    first, *others = (Attribute.from_document(entry) for entry in adult_nine_document()["attributes"])
    age = dataclasses.replace(first, cut=Cut(tuple(float(edge) for edge in range(5, 100, 5))))
    table = adult_rows("train").drop_null()
    table = table.rename_columns({"income": "salary-class"})
    return Dataset.from_arrow(table, Schema((age, *others)), drop_others=True)


def adult_fourteen() -> Dataset:
    """The fourteen attributes of Adult one by one, as OptRR (Huang and Du, ICDE 2008) took their distributions.

    Numbers fall into ten intervals of equal width; an empty one is merged into the neighbour below. What was not stated
    is an answer of its own, as in the published file.
    """
    table = raw_adult()
    attributes = [
        _filled_intervals(name, table[name].to_numpy().astype(np.float64))
        if name in NUMBERS
        else _as_listed(table, name)
        for name in table.column_names[:14]
    ]
    return Dataset.from_arrow(table, Schema(tuple(attributes)), drop_others=True)


def adult_attribute_priors() -> dict[str, NDArray[np.float64]]:
    """The distribution of each attribute of `adult_fourteen`, in the order of its answers; none is zero."""
    data = adult_fourteen()
    return {
        attribute.name: np.bincount(data.table[attribute.name], minlength=attribute.size) / data.n_rows
        for attribute in data.schema
    }


def _filled_intervals(name: str, numbers: NDArray[np.float64], intervals: int = 10) -> Attribute:
    """Intervals of equal width without the empty ones."""
    cut = equal_width(intervals)(numbers)
    edges = np.array(cut.edges)
    counts = np.bincount(np.searchsorted(edges, numbers, side=cut.side), minlength=intervals)
    # The first interval holds the least number; dropping the lower edge of an empty one joins it to the one below.
    return numeric(name, edges[counts[1:] > 0].tolist(), closed=cut.closed)


def _as_listed(table: pa.Table, name: str) -> Attribute:
    """The answers that occur, in the documentation's order."""
    present = set(table[name].unique().to_pylist())
    answers = tuple(answer for answer in ADULT[name] if answer in present)
    return Attribute(name, (*answers, NOT_STATED), missing=NOT_STATED) if None in present else Attribute(name, answers)


def renamed_answers(table: pa.Table, name: str, names: dict[str, str]) -> pa.Table:
    """The table with the answers of one column replaced, several perhaps by one; what is missing stays missing."""
    positions = pc.index_in(table[name], value_set=pa.array(list(names)))
    return table.set_column(table.column_names.index(name), name, pa.array(list(names.values())).take(positions))
