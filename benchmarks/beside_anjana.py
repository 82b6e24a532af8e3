"""What releases of Adult are good for: Tacit's beside anjana's and Mondrian's at the same k, all by the same functions.

anjana generalizes along hierarchies: it gets the order of answers that Tacit cuts, ages in steps of 5, 10 and 20 years, and
everything else merged with its neighbours by twos, fours, eights. One line gives Tacit the same hierarchies and the same limit
of suppressed rows, so that only the levels differ.

anjana pins numpy and pandas, so it lives in an environment of its own, which TACIT_ANJANA_PYTHON names (see publish.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from benchmarks.held_out import mondrian_of_persons
from benchmarks.ratio import Ratio
from benchmarks.release_scores import by_widths, recoding_of_rows, show
from tacit import bundled
from tacit.publish import Effort, Preferences, Protection, anonymize
from tacit.publish.hierarchies import Hierarchy
from tacit.publish.publication import Publication
from tacit.publish.recoding import Recoding, recode_by_classes
from tacit.publish.tally import QuasiTally
from tacit.schema import Attribute

TARGET = "salary-class"
SUPPRESS = 0.04
EFFORT = Effort(seed=1)  # the proof is not what is compared


def run() -> list[Ratio]:
    if "TACIT_ANJANA_PYTHON" not in os.environ:
        print("anjana is left out: TACIT_ANJANA_PYTHON does not name its interpreter")
    ratios = []
    for k in (5, 10):
        lines = {line.name: line for line in show(f"k = {k}", [], releases(k, []))}
        ours = lines["Tacit, default"]
        for name, theirs in lines.items():
            if not name.startswith("Tacit"):
                detail = f"loss {ours.loss:.4f} against {theirs.loss:.4f} on nine attributes"
                ratios.append(
                    Ratio(f"default against {name}, k = {k}", ours.loss / theirs.loss, 1, "times the loss", detail)
                )
    show("k = 5", [TARGET], releases(5, [TARGET]))
    return ratios


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
    for result, way in zip(default.methods, default.compared.ways, strict=True):
        yield f"Tacit, {'default' if result.written else result.method}", way.publication, way.answer().recoding
    classes = mondrian_of_persons(codes, np.arange(len(codes)), tally.sizes, k)
    of_combination = np.empty(len(tally.counts), np.int64)
    of_combination[place] = classes  # cuts are between answers, so rows that show the same stay together
    yield "Mondrian", publication, recode_by_classes(tally, of_combination)


def hierarchy(attribute: Attribute) -> Hierarchy:
    """Neighbours merged by twos, fours, eights and so on; ages, which come in steps of 5 years, by two, four and all."""
    widths = [1, 2, 4] if attribute.name == "age" else [2**level for level in range(8) if 2**level < attribute.size]
    return by_widths(attribute, widths)


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
