"""Any classifier, asked for the class codes of true records: what it predicts, and where it is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.codes import grid
from tacit.count.protocol import Source
from tacit.errors import InvalidInput, NotEstimable, SchemeMismatch, UnknownAnswer
from tacit.estimation.record_weights import row_weights
from tacit.schema import Attribute, Schema
from tacit.table import Table, decode

# Times that each report is turned back where not all records can be gone through.
DRAWS = 4


@dataclass(frozen=True, eq=False)
class Predictor:
    """What a prediction needs, and how it is made: a table of these attributes in, class codes out."""

    inputs: Schema
    target: Attribute
    codes: Callable[[Table], NDArray[np.int64]]
    constant: int | None = None  # what is always predicted, where nothing needs to be known

    def class_codes(self, columns: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.int64]:
        """The class codes of records that are given column by column."""
        if self.constant is not None:
            return np.full(rows, self.constant)
        return self.codes(Table(self.inputs, {name: columns[name] for name in self.inputs.names}))


@dataclass(frozen=True, eq=False)
class Confusion:
    """Records by their class and what is predicted of them: cells of a confusion matrix, row by row."""

    asked: Predictor

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.asked.inputs.names, self.asked.target.name)

    @property
    def n_cells(self) -> int:
        return self.asked.target.size**2

    @property
    def n_records(self) -> int:
        return math.prod(self.asked.inputs.shape()) * self.asked.target.size

    def cells(self, records: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.int64]:
        classes = records[self.asked.target.name].astype(np.int64)
        return classes * self.asked.target.size + self.asked.class_codes(records, rows)

    def table(self) -> Array:
        predictions, size = _predict_all(self.asked), self.asked.target.size
        joint = np.einsum("up,ct->uctp", np.eye(size)[predictions], np.eye(size))
        return joint.reshape(*self.asked.inputs.shape(), size, size**2)


class RightRecords(Confusion):
    """Records of which the class is predicted: a single cell."""

    @property
    def n_cells(self) -> int:
        return 1

    def cells(self, records: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.int64]:
        is_right = self.asked.class_codes(records, rows) == records[self.asked.target.name]
        return np.where(is_right, 0, -1)

    def table(self) -> Array:
        right = _predict_all(self.asked)[:, None] == np.arange(self.asked.target.size)
        return right.astype(np.float64).reshape(*self.asked.inputs.shape(), self.asked.target.size, 1)


def _predict_all(asked: Predictor) -> NDArray[np.int64]:
    """What is predicted of every record of the inputs."""
    shape = asked.inputs.shape()
    every = dict(zip(asked.inputs.names, grid(shape), strict=True)) if len(asked.inputs) else {}
    return asked.class_codes(every, math.prod(shape))


def right_weights(source: Source, asked: Predictor, seed: int = 0) -> Array:
    """What every report of a source whose rows lie in memory adds to the accuracy: weights whose mean is unbiased.

    With the weights of several classifiers for the same reports, their differences have errors far below those of either.
    """
    right = RightRecords(asked)
    if not set(right.names) <= set(source.questionnaire.attributes):
        raise NotEstimable(
            f"{', '.join(map(repr, right.names))} are never asked together, so whether a prediction is right cannot be "
            "estimated."
        )
    return row_weights(source, right, draws=DRAWS, seed=seed)[0]


def predictor(classifier: Any, schema: Schema, target: str | None, attributes: Sequence[str] | None) -> Predictor:
    """The predictions of a classifier of ours, of any object with `predict`, or of a function of a table.

    Ours say themselves which class and which attributes they mean. Others get the attributes in the order of the scheme,
    or in the order that is given, and answer with the predicted answers.
    """
    if getattr(classifier, "schema_", None) is not None and getattr(classifier, "_coding", None) is None:
        return _own(classifier, schema)
    if target is None:
        raise InvalidInput("Say which attribute the classifier predicts: target='...'.")
    asked = schema[target]
    named = getattr(classifier, "feature_names_in_", None)
    names = list(attributes or (named if named is not None else [n for n in schema.names if n != target]))
    if target in names:
        raise InvalidInput(
            f"The classifier uses {target!r}, which is the class it should predict. Leave it out of the attributes."
        )
    inputs = schema.select(names)
    if hasattr(classifier, "predict"):
        return Predictor(
            inputs, asked, lambda table: _code_predictions(asked, classifier.predict(_frame(table, named is not None)))
        )
    if callable(classifier):
        return Predictor(inputs, asked, lambda table: _code_predictions(asked, classifier(table)))
    raise InvalidInput(f"A classifier has a method `predict` or is a function of a table; {classifier!r} is neither.")


def _own(classifier: Any, schema: Schema) -> Predictor:
    needed = classifier.needed_names_
    checked_attributes(schema, [*(classifier.schema_[name] for name in needed), classifier.target_])
    constant = None if needed else int(classifier.constant_code_)
    return Predictor(schema.select(needed), classifier.target_, classifier.predicted_codes, constant)


def checked_attributes(schema: Schema, needed: Sequence[Attribute]) -> None:
    """Refuses a table that does not hold what a classifier needs, or lists the answers differently."""
    for attribute in needed:
        if attribute.name not in schema:
            raise SchemeMismatch(
                f"The classifier needs {attribute.name!r}, for which this table does not ask. Use one with the same "
                "attributes."
            )
        if schema[attribute.name].answers != attribute.answers:
            raise SchemeMismatch(
                f"This table lists the answers of {attribute.name!r} differently from the reports that the classifier was "
                "fitted on. Read it with the schema of those."
            )


def _frame(table: Table, named: bool) -> Any:
    """The answers as scikit-learn takes them: an array of texts, or a data frame where names were seen in fitting."""
    if named:
        return decode(table).to_pandas()
    columns = [np.array(attribute.answers, dtype=object)[table[attribute.name]] for attribute in table.schema]
    return np.stack(columns, axis=1)


def _code_predictions(target: Attribute, predictions: Any) -> NDArray[np.int64]:
    values, places = np.unique(np.asarray(predictions).astype(str), return_inverse=True)
    codes = {answer: code for code, answer in enumerate(target.answers)}
    for value in values:
        if str(value) not in codes:
            raise UnknownAnswer(target.name, str(value), target.answers)
    return np.array([codes[str(value)] for value in values], dtype=np.int64)[places]
