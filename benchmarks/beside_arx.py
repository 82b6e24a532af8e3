"""Releases that ARX made beside Tacit's at the same k, all scored by the same functions.

ARX is Java and is run by hand. TACIT_ARX_FOLDER names a folder; into it go, once, the tables as ``TABLE/data.csv`` and two kinds
of hierarchies over the order that Tacit cuts: ``TABLE/twos/NAME.csv`` merges neighbours by twos, fours, eights, and
``TABLE/halves/NAME.csv`` cuts groups where both halves hold most nearly the same number of rows. Further folders with
hierarchies of the same answers may be added. What ARX exports (the column "row" insensitive, suppressed rows as ``*``) is
scored when it lies at ``TABLE/k5 KIND local anything.csv``, ``k5 KIND global 0%.csv`` or ``k5 KIND global 4%.csv``, where KIND is
the folder of its hierarchies and the share that of rows that may be suppressed; separators are semicolons.
"""

from __future__ import annotations

import csv
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from benchmarks.held_out import dates_and_codes, households, twenty
from benchmarks.ratio import Ratio
from benchmarks.release_scores import Line, by_widths, named, recoding_of_rows, show
from tacit import bundled
from tacit.publish import Effort, Preferences, Protection, Release, anonymize
from tacit.publish.hierarchies import Hierarchy, read_hierarchies
from tacit.publish.publication import Publication
from tacit.publish.recoding import Recoding
from tacit.publish.release_input import CodedInput
from tacit.publish.tally import QuasiTally
from tacit.schema import Attribute

EFFORT = Effort(seed=1, seconds=1)  # the proof is not what is compared
SUPPRESSED, SUPPRESS = "*", 0.04


def run() -> list[Ratio]:
    if "TACIT_ARX_FOLDER" not in os.environ:
        print("ARX is left out: TACIT_ARX_FOLDER does not name a folder with its releases")
        return []
    folder = Path(os.environ["TACIT_ARX_FOLDER"])
    ratios = []
    for name, case in CASES.items():
        prepare(folder / name, case)
        files = sorted((folder / name).glob("k* *.csv"))
        for k in sorted({int(file.name[1:].split()[0]) for file in files}):
            own = [file for file in files if file.name.startswith(f"k{k} ")]
            lines = show(f"{name}, k = {k}", case.kept, releases(case, k, own))
            ratios += beside(f"{name}, k = {k}", lines)
    return ratios


def beside(title: str, lines: list[Line]) -> list[Ratio]:
    """The loss of Tacit's local recoding against the least that ARX reached."""
    ours = next(line.loss for line in lines if line.name == "Tacit, local")
    best = min((line for line in lines if not line.name.startswith("Tacit")), key=lambda line: line.loss)
    detail = f"loss {ours:.4f} against {best.loss:.4f} ({best.name})"
    return [Ratio(f"local recoding against ARX, {title}", ours / best.loss, 1, "times the loss", detail)]


@dataclass(frozen=True, eq=False)
class Case:
    """A table, what somebody may know of it, and what is published as it is."""

    make: Callable[[], Any]
    known: list[str]
    kept: list[str]
    person: str | None = None

    @cached_property
    def source(self) -> Any:
        return self.make()

    def release(self, k: int, person: str | None = None, suppress: float = 0, **preferences: Any) -> Release:
        protection = Protection(k=k, attributes=self.known, keep=self.kept, person=person, suppress=suppress)
        return anonymize(self.source, protection=protection, preferences=Preferences(**preferences), effort=EFFORT)

    @cached_property
    def publication(self) -> Publication:
        return self.release(2, self.person, method="local").publication

    @property
    def tally(self) -> QuasiTally:
        return self.publication.rows

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """[row, quasi-identifier], as Tacit reads the table."""
        assert isinstance(self.publication.input, CodedInput)
        batches = self.publication.input.batches()
        return np.concatenate([np.stack([batch[name] for name in self.known], axis=1) for batch in batches]).astype(
            np.int64
        )


def _adult(kept: list[str]) -> Case:
    table = bundled.adult_nine().table
    return Case(lambda: table, [name for name in table.schema.names if name not in kept], kept)


CASES = {
    "adult": _adult([]),
    "adult, salary class kept": _adult(["salary-class"]),
    "dates and codes": Case(dates_and_codes, ["birth", "postcode", "visit", "income", "sex"], []),
    "twenty attributes": Case(twenty, [f"q{j}" for j in range(20)], []),
    "households": Case(households, ["region", "age", "sex", "income"], [], "household"),
}


def prepare(folder: Path, case: Case) -> None:
    """Write the table and both kinds of hierarchies, where they are not there yet."""
    if (folder / "data.csv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    texts = [np.array(own.answers)[case.codes[:, j]].tolist() for j, own in enumerate(case.tally.attributes)]
    _write(folder / "data.csv", [("row", *case.known), *zip(range(len(case.codes)), *texts, strict=True)])
    for j, attribute in enumerate(case.tally.attributes):
        widths = [2**level for level in range(12) if 2**level < attribute.size]
        counts = np.bincount(case.codes[:, j], minlength=attribute.size)
        for kind, own in (("twos", by_widths(attribute, widths)), ("halves", halves(attribute, counts))):
            levels = [np.array(names)[blocks] for names, blocks in zip(own.names[::-1], own.blocks[::-1], strict=True)]
            (folder / kind).mkdir(exist_ok=True)
            _write(folder / kind / f"{attribute.name}.csv", zip(*levels, strict=True))


def _write(path: Path, rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows(rows)


def halves(attribute: Attribute, counts: NDArray[np.int64]) -> Hierarchy:
    """Every group cut in two where both sides hold most nearly the same number of rows, as often as twos have levels."""
    levels = [np.zeros(attribute.size, np.int64)]
    for _ in range(math.ceil(math.log2(attribute.size)) - 1):
        cuts = np.diff(levels[-1], prepend=-1) > 0
        for start, stop in itertools.pairwise([*np.flatnonzero(cuts), attribute.size]):
            if stop - start > 1:
                below = np.cumsum(counts[start:stop])
                cuts[start + 1 + np.argmin(np.abs(2 * below[:-1] - below[-1]))] = True
        levels.append(np.cumsum(cuts) - 1)
    return named(attribute, np.stack([*levels, np.arange(attribute.size)]))


def releases(case: Case, k: int, files: list[Path]) -> Iterator[tuple[str, Publication, Recoding]]:
    """What ARX released, then Tacit along the same hierarchies by the same kind of recoding, then Tacit's local recoding."""
    place = case.tally.combinations.places(list(case.codes.T))
    persons = case.publication.persons
    along: dict[tuple[str, str], dict[str, Any]] = {}
    for file in files:
        kind, sort = file.stem.split()[1:3]
        hierarchies = read_hierarchies(file.parent / kind, case.tally.attributes)
        recoding = recoding_of_rows(case.tally, hierarchies, place, released_rows(file, case.known), k)
        fewest = f", at least {persons.sizes_by_set(recoding)[0].min()} {case.person}s" if persons else ""
        yield f"ARX, {file.stem}{fewest}", case.publication, recoding
        limit = SUPPRESS if file.stem.endswith("4%") else 0.0
        method = "local" if sort == "local" else "search" if limit else "exact"
        along[kind, method] = {"method": method, "hierarchies": hierarchies, "suppress": limit}
    for (kind, method), wishes in along.items():
        own = case.release(k, case.person, cells=False, **wishes)
        yield f"Tacit, {method}, along {kind}", own.publication, own.recoding
    if case.person:
        of_rows = case.release(k, method="local")
        yield f"Tacit, local, k rows instead of {case.person}s", of_rows.publication, of_rows.recoding
    local = case.release(k, case.person, method="local")
    yield "Tacit, local", local.publication, local.recoding


def released_rows(file: Path, known: list[str]) -> pa.Table:
    """The rows that ARX released: those that do not show ``*`` everywhere."""
    rows = arrow_csv.read_csv(
        file,
        parse_options=arrow_csv.ParseOptions(delimiter=";"),
        convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(known, pa.string())),
    )
    shown = np.zeros(len(rows), np.bool_)
    for name in known:
        shown |= np.array(rows[name].to_pylist()) != SUPPRESSED
    return rows.filter(pa.array(shown))
