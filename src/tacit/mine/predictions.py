"""Any classifier, asked for the class codes of true records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, SchemeMismatch, UnknownAnswer
from tacit.schema import Attribute, Schema
from tacit.table import Table, decode


@dataclass(frozen=True, eq=False)
class Predictor:
    """What a prediction needs, and how it is made: a table of these attributes in, class codes out."""

    inputs: Schema
    target: Attribute
    codes: Callable[[Table], NDArray[np.int64]]
    constant: int | None = None  # what is always predicted, where nothing needs to be known

    def predicted(self, columns: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.int64]:
        """The class codes of records that are given column by column."""
        if self.constant is not None:
            return np.full(rows, self.constant)
        return self.codes(Table(self.inputs, {name: columns[name] for name in self.inputs.names}))


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
        raise InvalidInput(f"The classifier is given {target!r}, the very class it should predict. Leave it out.")
    inputs = schema.select(names)
    if hasattr(classifier, "predict"):
        return Predictor(
            inputs, asked, lambda table: _coded(asked, classifier.predict(_frame(table, named is not None)))
        )
    if callable(classifier):
        return Predictor(inputs, asked, lambda table: _coded(asked, classifier(table)))
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


def _coded(target: Attribute, predictions: Any) -> NDArray[np.int64]:
    values, places = np.unique(np.asarray(predictions).astype(str), return_inverse=True)
    known = {answer: code for code, answer in enumerate(target.answers)}
    for value in values:
        if str(value) not in known:
            raise UnknownAnswer(target.name, str(value), target.answers)
    return np.array([known[str(value)] for value in values], dtype=np.int64)[places]
