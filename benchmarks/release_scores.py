"""What a release is good for, whatever made it: one line of figures from its labels and the answers behind each.

Rows that another tool released are turned into a recoding; loss, queries, tables, coefficients, classifiers and risk are then
computed by the functions that judge Tacit's own releases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.publish.combinations import Combinations
from tacit.publish.hierarchies import Hierarchy
from tacit.publish.publication import Publication
from tacit.publish.recoding import Recoding
from tacit.publish.risk import risk_of
from tacit.publish.tally import QuasiTally
from tacit.publish.usefulness import CLASSIFIERS, linear_survival, query_error, survival_in, table_error
from tacit.schema import Attribute

QUERIES, QUERY_SEED = 2_000, 11  # not those by which the default chooses its method


@dataclass(frozen=True)
class Line:
    """A release and what it is good for; suppressed rows lose everything, and queries ask for shares of the released rows."""

    name: str
    suppressed: float
    loss: float
    query_error: float
    table_error: float
    coefficient_error: float
    highest_risk: float
    mean_risk: float
    accuracies: tuple[float, ...]

    @classmethod
    def of(cls, name: str, publication: Publication, recoding: Recoding, kept: list[str]) -> Line:
        risk = risk_of(recoding.class_sizes)
        models = survival_in(publication, recoding, kept[0]).models if kept else {}
        return cls(
            name,
            recoding.suppressed / recoding.tally.rows,
            float(recoding.losses().mean()),
            query_error(recoding, QUERIES, QUERY_SEED),
            table_error(recoding),
            linear_survival(recoding).coefficient_error,
            risk.prosecutor_highest,
            risk.prosecutor_mean,
            tuple(models[model][1] for model in CLASSIFIERS if kept),
        )

    def __str__(self) -> str:
        shares = [
            self.loss,
            self.query_error,
            self.table_error,
            self.coefficient_error,
            self.highest_risk,
            self.mean_risk,
        ]
        cells = [f"{self.suppressed:.1%}", *(f"{share:.4f}" for share in (*shares, *self.accuracies))]
        return f"| {self.name} | {' | '.join(cells)} |"


def show(title: str, kept: list[str], releases: Iterable[tuple[str, Publication, Recoding]]) -> list[Line]:
    """The lines of one table, printed; with a `kept` column classifiers learn it from the others."""
    models = CLASSIFIERS if kept else ()
    head = ["suppressed", "loss", "queries", "tables", "coefficients", "highest risk", "mean risk", *models]
    print(f"\n| {title} | {' | '.join(head)} |\n|---|{'---:|' * len(head)}")
    lines = []
    publication: Publication
    for name, publication, recoding in releases:
        lines.append(Line.of(name, publication, recoding, kept))
        print(lines[-1], flush=True)
    if kept:
        before = [own[0] for own in survival_in(publication, recoding, kept[0]).models.values()]
        print("classifiers of the original rows:", " ".join(f"{own:.3f}" for own in before), flush=True)
    return lines


def by_widths(attribute: Attribute, widths: list[int]) -> Hierarchy:
    """Neighbours merged in groups of these widths, each a multiple of the one before, and all at last."""
    blocks = np.stack([np.arange(attribute.size) // width for width in (attribute.size, *widths[::-1])])
    return named(attribute, blocks)


def named(attribute: Attribute, blocks: NDArray[np.int64]) -> Hierarchy:
    """The hierarchy of these blocks, coarsest first; a block is named by its ends."""
    return Hierarchy(blocks, tuple(_names(attribute, own) for own in blocks))


def _names(attribute: Attribute, blocks: NDArray[np.int64]) -> tuple[str, ...]:
    ends = [np.flatnonzero(blocks == block)[[0, -1]] for block in range(int(blocks.max()) + 1)]
    texts = [tuple(dict.fromkeys(attribute.answers[code] for code in own)) for own in ends]
    return tuple(" to ".join(own) for own in texts)  # the same text stands for the same answers on every level


def recoding_of_rows(
    tally: QuasiTally, hierarchies: dict[str, Hierarchy], place: NDArray[np.int64], rows: pa.Table, k: int
) -> Recoding:
    """The recoding that released rows show; stops where it is not one, or where a label does not hold its row's answer.

    `place` is the combination of every given row, and the column "row" says which of these each released one is.
    """
    own = place[rows["row"].to_numpy()]
    labels = np.zeros(tally.codes.shape, np.int32)
    names, members = [], []
    for j, attribute in enumerate(tally.attributes):
        answers = answers_behind(hierarchies[attribute.name])
        shown = rows[attribute.name].combine_chunks().dictionary_encode()
        codes = shown.indices.to_numpy()
        names.append(tuple(shown.dictionary.to_pylist()))
        members.append(np.stack([answers[name] for name in names[j]]))
        labels[own, j] = codes
        if not (labels[own, j] == codes).all() or not members[j][codes, tally.combinations.codes[own, j]].all():
            raise ValueError(f"The labels of {attribute.name!r} are no recoding of the answers.")
    released = np.bincount(own, minlength=len(tally.counts))
    kept = released > 0
    if (released[kept] != tally.counts[kept]).any():
        raise ValueError("Rows that were alike are released in part.")
    classes = np.full(len(tally.counts), -1, np.int64)
    classes[kept] = Combinations(list(labels[kept].T), [len(texts) for texts in names]).number
    recoding = Recoding(tally, tally.combinations, classes, labels, tuple(names), tuple(members), tally.counts, None)
    if recoding.class_sizes.min() < k:
        raise ValueError(f"A class has {recoding.class_sizes.min()} rows, fewer than k = {k}.")
    return recoding


def answers_behind(hierarchy: Hierarchy) -> dict[str, NDArray[np.bool_]]:
    """Of every name on every level: which answers it stands for; stops where two levels use a name differently."""
    answers: dict[str, NDArray[np.bool_]] = {}
    for names, blocks in zip(hierarchy.names, hierarchy.blocks, strict=True):
        for block, name in enumerate(names):
            if (answers.setdefault(name, blocks == block) != (blocks == block)).any():
                raise ValueError(f"{name!r} stands for different answers on two levels of a hierarchy.")
    return answers
