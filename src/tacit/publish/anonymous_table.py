"""A table in which everyone hides among at least k, with what that cost: what a release writes and describes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.publish.comparison import MethodComparison, MethodResult
from tacit.publish.dimension import warnings_of_dimension
from tacit.publish.methods import Alternative, Answer
from tacit.publish.persons import ONE_ROW_KNOWN
from tacit.publish.publication import Publication
from tacit.publish.read_columns import ReadColumn, loss_of_file, read_columns
from tacit.publish.recoding import Recoding
from tacit.publish.release_input import CodedInput, ReleaseInput
from tacit.publish.risk import Risk, average_risk
from tacit.publish.settings import EVALUATIONS, Effort

INTERRUPTED = {
    "search": "The search was interrupted: this is the best release until then, and nothing is proven.",
    "proof": "The proof was interrupted: this is the best release until then, and its bound is the one reached by then.",
    "recoding": "Local recoding was interrupted: had it gone on, classes might be smaller and the release lose less.",
    "search by time": "The time for the search was spent: this is the best release until then, and nothing is proven.",
    "recoding by time": "The time for local recoding was spent: with more, classes might be smaller and the release lose less.",
}
KEPT_ORDER = (
    "The rows are in the order of the input. If that was sorted by anything, or if somebody knows who stood where, the places "
    "of the rows tell what the labels hide."
)


@dataclass(frozen=True, eq=False, repr=False)
class AnonymousTable:
    """A publication, what was found for it, and its measures. It knows no file and no database that it could be written to."""

    publication: Publication  # the table and what was asked of it
    answer: Answer  # what was found
    method: str
    k: int
    effective_k: int
    nwp: float
    necd: float
    ach: float
    lower_bound: float | None
    weights: dict[str, float]
    losses: dict[str, float]  # share of each attribute's detail that is lost
    front: tuple[Alternative, ...]
    methods: tuple[MethodResult, ...]  # what was compared, this release among it
    why: str | None  # it was taken, where several methods were compared
    warnings: tuple[str, ...]
    compared: MethodComparison  # all methods with what they found

    @classmethod
    def of(cls, publication: Publication, answer: Answer, compared: MethodComparison | None = None) -> Self:
        """The release that an answer makes of a publication."""
        compared = compared or MethodComparison.of_one(publication, answer)
        names = publication.rows.names
        nwp, necd = np.array([answer.nwp]), np.array([answer.necd])
        return cls(
            publication=publication,
            answer=answer,
            method=answer.method,
            k=int(publication.settings.protection.k),
            effective_k=min(int(sizes.min()) for sizes in publication.class_sizes(answer.recoding)),
            nwp=answer.nwp,
            necd=answer.necd,
            ach=float(publication.preference.achievement(nwp, necd)[0]),
            lower_bound=answer.lower_bound,
            weights=dict(zip(names, publication.problem.weights.tolist(), strict=True)),
            losses=dict(zip(names, answer.recoding.losses().tolist(), strict=True)),
            front=compared.front,
            methods=compared.methods,
            why=compared.why,
            warnings=tuple(_warnings(publication, answer)),
            compared=compared,
        )

    @property
    def recoding(self) -> Recoding:
        return self.answer.recoding

    @property
    def input(self) -> ReleaseInput:
        return self.publication.input

    @property
    def others(self) -> tuple[str, ...]:
        """Columns that are published as they are."""
        return self.publication.settings.protection.others

    @property
    def keep_order(self) -> bool:
        """Whether rows stand in the order of the input; a table of a database has none that could be kept."""
        return self.publication.settings.preferences.keep_order and isinstance(self.input, CodedInput)

    @property
    def complete(self) -> bool:
        """False when it was interrupted; `warnings` says in what."""
        return self.answer.interrupted is None

    @property
    def suppressed(self) -> int:
        return self.recoding.suppressed

    @property
    def suppressed_persons(self) -> int | None:
        """Persons of whom at least one row is suppressed; None where rows are persons."""
        persons = self.publication.persons
        return None if persons is None else persons.losers(self.recoding)

    @property
    def rows(self) -> int:
        return int(self.recoding.counts.sum())

    @cached_property
    def class_sizes(self) -> NDArray[np.int64]:
        """Rows (or persons) in each published class; of several sets of quasi-identifiers, all classes."""
        return np.concatenate(self.publication.class_sizes(self.recoding))

    @cached_property
    def risk(self) -> Risk:
        """Prosecutor, journalist and marketer."""
        return self.publication.risk(self.recoding)

    @cached_property
    def read_columns(self) -> list[ReadColumn]:
        """How each quasi-identifier was read, where its answers were found from its values."""
        return read_columns(self.publication, self.recoding)

    @property
    def nwp_of_file(self) -> float | None:
        """The loss on the file's own values, before dates became years and codes their first digits; None where unknown."""
        return loss_of_file(self.read_columns, self.weights)

    @property
    def mean_risk(self) -> float:
        """Chance to be re-identified by someone who knows the quasi-identifiers, on average over the rows (or persons)."""
        return average_risk(self.publication.class_sizes(self.recoding))

    @property
    def is_proven(self) -> bool:
        return self.lower_bound is not None and self.nwp - self.lower_bound < 1e-9

    @property
    def partitions(self) -> dict[str, list[list[str]]]:
        """The answers behind every label; in local recoding labels of different classes may overlap."""
        return self.recoding.partitions()

    def released_answers(self, name: str) -> set[str]:
        """The answers of a column published as it is that some released row shows."""
        answers = self.input.schema[name].answers
        if not self.suppressed:
            counts = self.input.tallies([[name]])[0]
            return {answers[code] for code in np.flatnonzero(counts).tolist()}

        return {text for batch in self.batches() for text in pc.unique(batch[name]).to_pylist()}

    def batches(self) -> Iterator[pa.Table]:
        """The published rows, sorted by their texts, or in the order of the input if that was asked for."""
        return self.input.published(self.recoding, self.others, keep_order=self.keep_order)

    def to_arrow(self) -> pa.Table:
        """The released rows as an Arrow table."""
        return pa.concat_tables(map(as_text_columns, self.batches()))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _warnings(publication: Publication, answer: Answer) -> Iterator[str]:
    preference, protection = publication.preference, publication.settings.protection
    if answer.interrupted is not None:
        yield INTERRUPTED[answer.interrupted]
    if answer.nwp > preference.loss or answer.necd > preference.bias:
        certain = answer.lower_bound is not None and answer.lower_bound > preference.loss
        yield (
            f"A loss of {preference.loss:g} with a bias of {preference.bias:g} "
            f"{'cannot be reached' if certain else 'was not reached'}; the nearest attained is a loss of {answer.nwp:.4f} "
            f"with a bias of {answer.necd:.4f}."
        )
    if publication.settings.preferences.keep_order and isinstance(publication.input, CodedInput):
        yield KEPT_ORDER
    if publication.persons is not None:
        yield ONE_ROW_KNOWN
    elif protection.person is not None:
        yield f"{protection.person!r} is different in every row, so rows are persons and were counted as such."
    if answer.lower_bound is None and publication.settings.protection.suppress > 0:
        yield "Where rows may be suppressed, nothing is proven: there is no lower bound of the loss."
    yield from _warnings_of_effort(publication)
    yield from _warnings_of_columns(publication)
    losses = dict(zip(publication.rows.names, answer.recoding.losses().tolist(), strict=True))
    yield from warnings_of_dimension(publication, losses, answer.nwp)


def _warnings_of_effort(publication: Publication) -> Iterator[str]:
    """Where a large table got a shorter search than a small one."""
    tally, evaluations = publication.problem.tally, publication.settings.effort.evaluations
    usual, method = Effort().fit_to(tally.codes.size).evaluations, publication.settings.preferences.method
    if evaluations == usual != EVALUATIONS and method in ("compare", "search") and publication.problem.can_be_searched:
        yield (
            f"The table has {len(tally.counts):,} combinations of {len(tally.names)} quasi-identifiers, so the search evaluated "
            f"{evaluations:,} generalizations in place of {EVALUATIONS:,} (Effort(evaluations=...) in Python)."
        )


def _warnings_of_columns(publication: Publication) -> Iterator[str]:
    """Columns that are published as they are and may tell more than the labels hide."""
    protection, schema = publication.settings.protection, publication.input.schema
    unprotected = () if protection.asks_diversity else protection.sensitive
    if unprotected:
        yield (
            f"Neither l nor t is asked of the sensitive {', '.join(unprotected)}: where a whole class shows one answer, it is "
            "told of everybody in the class."
        )
    rows = publication.rows.rows
    for name in (*protection.sensitive, *protection.keep):
        if schema[name].size > rows * NEARLY_UNIQUE:
            yield (
                f"{name!r} has {schema[name].size:,} different values in {rows:,} rows and is published as it is: whoever knows "
                "it finds the row. Drop it, or make it a quasi-identifier."
            )


NEARLY_UNIQUE = 0.5  # of the rows: different values of a column that tell most rows apart


def as_text_columns(batch: pa.Table) -> pa.Table:

    return batch.cast(pa.schema([(name, pa.string()) for name in batch.column_names]))
