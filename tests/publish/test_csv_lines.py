from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from tacit.publish import csv_lines
from tacit.publish.csv_lines import CSVLines

TEXTS = ["x", 'q"u"o', "", "é, \n", "𝄞", "two words"]


@pytest.mark.parametrize("at_a_time", [1 << 13, 3])
def test_lines_are_those_of_arrows_own_writer(tmp_path, monkeypatch, at_a_time):
    monkeypatch.setattr(csv_lines, "LINES_AT_A_TIME", at_a_time)
    rng = np.random.default_rng(1)
    columns = {name: np.sort(rng.integers(0, len(TEXTS), 50)) for name in ("a", 'na"me', "c")}
    coded = pa.table(
        {name: pa.DictionaryArray.from_arrays(pa.array(own), pa.array(TEXTS)) for name, own in columns.items()}
    )
    plain = coded.cast(pa.schema([(name, pa.string()) for name in columns]))
    plain = plain.append_column("with none", pa.array([None, "y"] * 25))
    coded = coded.append_column("with none", plain["with none"])
    ours, theirs = CSVLines(tmp_path / "ours.csv", coded.column_names), csv.CSVWriter(tmp_path / "a.csv", plain.schema)
    for start, stop in ((0, 20), (20, 20), (20, 50)):
        ours.write_table(coded.slice(start, stop - start))
        theirs.write_table(plain.slice(start, stop - start))
    ours.close()
    theirs.close()
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
