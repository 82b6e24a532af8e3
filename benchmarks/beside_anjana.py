"""What releases of Adult are good for: Tacit's beside anjana's and Mondrian's at the same k, all by the same functions.

Whatever made a release, it is turned into the labels of every combination of answers and the answers behind each label. Loss,
queries, tables, coefficients, classifiers and risk are computed from that alone. anjana generalizes along hierarchies: it gets
the order of answers that Tacit cuts, ages in steps of 5, 10 and 20 years, and everything else merged with its neighbours by twos,
fours, eights. One line gives Tacit the same hierarchies and the same limit of suppressed rows, so that only the levels differ.

anjana pins numpy and pandas, so it lives in an environment of its own, which TACIT_ANJANA_PYTHON names (see publish.py). ARX is
Java and is not run.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from benchmarks.held_out import mondrian_of_persons
from benchmarks.ratio import Ratio
from tacit import bundled
from tacit.publish import Effort, Preferences, Protection, anonymize
from tacit.publish.combinations import Combinations
from tacit.publish.hierarchies import Hierarchy
from tacit.publish.publication import Publication
from tacit.publish.recoding import Recoding, recode_by_classes
from tacit.publish.risk import risk_of
from tacit.publish.tally import QuasiTally
from tacit.publish.usefulness import CLASSIFIERS, linear_survival, query_error, survival_in, table_error
from tacit.schema import Attribute

TARGET = "salary-class"
SUPPRESS = 0.04
QUERIES, QUERY_SEED = 2_000, 11  # not those by which the default chooses its method
EFFORT = Effort(seed=1, seconds=0)  # the proof is not what is compared


def run() -> list[Ratio]:
    if "TACIT_ANJANA_PYTHON" not in os.environ:
        print("anjana is left out: TACIT_ANJANA_PYTHON does not name its interpreter")
    ratios = []
    for k in (5, 10):
        lines = {line.name: line for line in show(k, [])}
        ours = lines["Tacit, default"]
        for name, theirs in lines.items():
            if not name.startswith("Tacit"):
                detail = f"loss {ours.loss:.4f} against {theirs.loss:.4f} on nine attributes"
                ratios.append(
                    Ratio(f"default against {name}, k = {k}", ours.loss / theirs.loss, 1, "times the loss", detail)
                )
    show(5, [TARGET])
    return ratios


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
        cells = [f"{self.suppressed:.1%}", *(f"{share:.3f}" for share in (*shares, *self.accuracies))]
        return f"| {self.name} | {' | '.join(cells)} |"


def show(k: int, kept: list[str]) -> list[Line]:
    """The lines of one table, printed; with a `kept` column the others are the quasi-identifiers and classifiers learn it."""
    models = CLASSIFIERS if kept else ()
    head = ["suppressed", "loss", "queries", "tables", "coefficients", "highest risk", "mean risk", *models]
    print(f"\n| k = {k} | {' | '.join(head)} |\n|---|{'---:|' * len(head)}")
    lines = []
    publication: Publication
    for name, publication, recoding in releases(k, kept):
        lines.append(Line.of(name, publication, recoding, kept))
        print(lines[-1], flush=True)
    if kept:
        before = [own[0] for own in survival_in(publication, recoding, kept[0]).models.values()]
        print("classifiers of the original rows:", " ".join(f"{own:.3f}" for own in before), flush=True)
    return lines


def releases(k: int, kept: list[str]) -> Iterator[tuple[str, Publication, Recoding]]:
    table = bundled.adult_nine().table
    known = [name for name in table.schema.names if name not in kept]
    protection = Protection(k=k, attributes=known, keep=kept)
    default = anonymize(table, protection=protection, effort=EFFORT)
    publication, tally = default.publication, default.recoding.tally
    hierarchies = {attribute.name: hierarchy(attribute) for attribute in tally.attributes}
    cut = Protection(k=k, attributes=known, keep=kept, suppress=SUPPRESS)
    codes = np.stack([table[name] for name in known], axis=1).astype(np.int64)
    place = tally.combinations.places(list(codes.T))
    if "TACIT_ANJANA_PYTHON" in os.environ:
        for share in (0.0, SUPPRESS):
            rows = anjana_rows(codes, tally, hierarchies, k, share)
            name = f"anjana, at most {share:.0%} suppressed"
            yield name, publication, recoding_of_rows(tally, hierarchies, place, rows, k)
    same = Preferences(method="search", hierarchies=hierarchies, cells=False)
    levels = anonymize(table, protection=cut, preferences=same, effort=EFFORT)
    yield f"Tacit, search, the same hierarchies, at most {SUPPRESS:.0%}", publication, levels.recoding
    along = anonymize(
        table, protection=protection, preferences=Preferences(method="local", hierarchies=hierarchies), effort=EFFORT
    )
    yield "Tacit, local, the same hierarchies", publication, along.recoding
    for result, (own, answer) in zip(default.methods, default.compared.answers, strict=True):
        yield f"Tacit, {'default' if result.written else result.method}", own, answer.recoding
    classes = mondrian_of_persons(codes, np.arange(len(codes)), tally.sizes, k)
    of_combination = np.empty(len(tally.counts), np.int64)
    of_combination[place] = classes  # cuts are between answers, so rows that show the same stay together
    yield "Mondrian", publication, recode_by_classes(tally, of_combination)


def hierarchy(attribute: Attribute) -> Hierarchy:
    """Neighbours merged by twos, fours, eights and so on; ages, which come in steps of 5 years, by two, four and all."""
    widths = [1, 2, 4] if attribute.name == "age" else [2**level for level in range(8) if 2**level < attribute.size]
    blocks = np.stack([np.arange(attribute.size) // width for width in (attribute.size, *widths[::-1])])
    return Hierarchy(blocks, tuple(_names(attribute, own) for own in blocks))


def _names(attribute: Attribute, blocks: NDArray[np.int64]) -> tuple[str, ...]:
    ends = [np.flatnonzero(blocks == block)[[0, -1]] for block in range(int(blocks.max()) + 1)]
    texts = [tuple(dict.fromkeys(attribute.answers[code] for code in own)) for own in ends]
    return tuple(" to ".join(own) for own in texts)  # the same text stands for the same answers on every level


ANJANA = """
import json, sys
import pandas as pd
from anjana.anonymity import k_anonymity
data, levels, k, percent, out = sys.argv[1:]
rows = pd.read_csv(data, dtype=str, keep_default_na=False)
with open(levels) as file:
    hierarchies = {name: dict(enumerate(own)) for name, own in json.load(file).items()}
k_anonymity(rows, [], list(hierarchies), int(k), float(percent), hierarchies).to_csv(out, index=False)
"""


def anjana_rows(
    codes: NDArray[np.int64], tally: QuasiTally, hierarchies: dict[str, Hierarchy], k: int, suppress: float
) -> pa.Table:
    """The rows that anjana releases: their labels, and in the column "row" which of the given rows each of them is."""
    texts = {own.name: np.array(own.answers)[codes[:, j]] for j, own in enumerate(tally.attributes)}
    levels = {
        name: [
            np.array(names)[blocks].tolist() for names, blocks in zip(own.names[::-1], own.blocks[::-1], strict=True)
        ]
        for name, own in hierarchies.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        data, file, out = (Path(folder) / name for name in ("data.csv", "levels.json", "out.csv"))
        csv.write_csv(pa.table({"row": np.arange(len(codes)), **texts}), data)
        file.write_text(json.dumps(levels))
        command = [os.environ["TACIT_ANJANA_PYTHON"], "-W", "ignore", "-c", ANJANA]
        subprocess.run([*command, data, file, str(k), str(100 * suppress), out], check=True, stdout=subprocess.DEVNULL)
        return csv.read_csv(out, convert_options=csv.ConvertOptions(column_types={name: pa.string() for name in texts}))


def recoding_of_rows(
    tally: QuasiTally, hierarchies: dict[str, Hierarchy], place: NDArray[np.int64], rows: pa.Table, k: int
) -> Recoding:
    """The recoding that released rows show; stops where it is not one, or where a label does not hold its row's answer."""
    own = place[rows["row"].to_numpy()]
    labels = np.zeros(tally.codes.shape, np.int32)
    names, members = [], []
    for j, attribute in enumerate(tally.attributes):
        answers = answers_behind(hierarchies[attribute.name])
        names.append(tuple(dict.fromkeys(rows[attribute.name].to_pylist())))
        members.append(np.stack([answers[name] for name in names[j]]))
        shown = np.array([names[j].index(text) for text in rows[attribute.name].to_pylist()])
        labels[own, j] = shown
        if not (labels[own, j] == shown).all() or not members[j][shown, tally.combinations.codes[own, j]].all():
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
    """Of every name on every level: which answers it stands for."""
    return {
        name: blocks == block
        for names, blocks in zip(hierarchy.names, hierarchy.blocks, strict=True)
        for block, name in enumerate(names)
    }
