"""Plain arrays, the way scikit-learn passes them: undisguised data, coded for a miner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownAnswer
from tacit.reports import Reports
from tacit.schema import Attribute, Cut, Schema
from tacit.table import Table
from tacit.table.coded import code_type

# A numeric column with more different values than this is cut at its quantiles.
MOST_VALUES = 20
INTERVALS = 10


@dataclass(frozen=True, eq=False)
class PlainCoding:
    """How the columns of an array become attributes ``x0, x1, ...``; a column with one value is left out."""

    attributes: tuple[Attribute | None, ...]

    @classmethod
    def of(cls, X: NDArray[Any]) -> PlainCoding:
        return cls(tuple(_attribute(f"x{position}", X[:, position]) for position in range(X.shape[1])))

    def columns(self, X: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Codes of every column; values never seen before are refused, numbers beyond the cuts are not."""
        named = zip(self.attributes, X.T, strict=True)
        return {attribute.name: _codes(attribute, column) for attribute, column in named if attribute is not None}

    def table(self, X: NDArray[Any]) -> Table:
        return Table(Schema(tuple(a for a in self.attributes if a is not None)), self.columns(X))


def plain_reports(X: NDArray[Any], y: NDArray[Any], classes: NDArray[Any]) -> tuple[PlainCoding, Reports]:
    """Undisguised reports of an array and its classes; the class is called ``y``."""
    coding = PlainCoding.of(X)
    target = Attribute("y", tuple(map(str, classes)))
    schema = Schema((*(a for a in coding.attributes if a is not None), target))
    columns = {**coding.columns(X), "y": np.searchsorted(classes, y).astype(code_type(len(classes)))}
    return coding, Reports.from_truth(Table(schema, columns))


def _attribute(name: str, column: NDArray[Any]) -> Attribute | None:
    values = np.unique(column)
    if len(values) < 2:
        return None
    if np.issubdtype(column.dtype, np.number) and len(values) > MOST_VALUES:
        edges = np.unique(np.quantile(column, np.arange(1, INTERVALS) / INTERVALS, method="inverted_cdf"))
        edges = edges[edges < values[-1]]
        cut = Cut(tuple(float(edge) for edge in edges))
        return Attribute(name, tuple(f"interval {code}" for code in range(len(edges) + 1)), ordered=True, cut=cut)
    return Attribute(name, tuple(map(str, values)), ordered=bool(np.issubdtype(column.dtype, np.number)))


def _codes(attribute: Attribute, column: NDArray[Any]) -> NDArray[Any]:
    if attribute.cut is not None:
        try:
            numbers = column.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"{attribute.name!r} held numbers when the model was fitted; now it holds text. Turn the column into numbers."
            ) from None
        codes = np.searchsorted(np.array(attribute.cut.edges), numbers, side=attribute.cut.side)
        return codes.astype(code_type(attribute.size))
    answers = np.array(attribute.answers)
    order = np.argsort(answers)
    text = column.astype(str)
    codes = order[np.minimum(np.searchsorted(answers[order], text), len(order) - 1)]
    unknown = answers[codes] != text
    if unknown.any():
        raise UnknownAnswer(attribute.name, str(text[unknown][0]), attribute.answers, int(np.argmax(unknown)))
    return codes.astype(code_type(attribute.size))
