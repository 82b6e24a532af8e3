"""Tables of the sizes people hold, published by the command within a stated memory; the full sizes under TACIT_SOAK."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SOAK = "TACIT_SOAK" in os.environ
MEASURED = """
import resource, sys
from tacit.cli import main
sys.argv = ["tacit", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("kilobytes", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
SIZES = {"age": 100, "area": 500, "job": 400, "sex": 2, "school": 16}


def write_people(path, rows: int) -> None:
    """Five attributes of middling domains, written in parts."""
    rng, writer = np.random.default_rng(11), None
    for start in range(0, rows, 1_000_000):
        part = min(1_000_000, rows - start)
        shares = {name: rng.beta(2, 4, part) for name in SIZES}
        columns = {
            name: pa.array([f"{name} {i:03d}" for i in range(size)]).take(pa.array((shares[name] * size).astype(int)))
            for name, size in SIZES.items()
        }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def megabytes(folder, rows: int, *options: str) -> float:
    """The most memory that publishing so many people took."""
    people, out = folder / f"{rows}.parquet", folder / str(rows) / "out.parquet"
    write_people(people, rows)
    out.parent.mkdir()
    files = [str(people), "--attributes", ",".join(SIZES), "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "publish", *files, "--k", "5", *options],
        capture_output=True,
        text=True,
        check=True,
    )
    assert pq.read_metadata(out).num_rows == rows
    return int(done.stdout.split("kilobytes")[1]) / 1024


@pytest.mark.slow
def test_rows_take_few_bytes(tmp_path):
    few = megabytes(tmp_path, 5_000)
    many = megabytes(tmp_path, 50_000)
    assert many - few < 45_000 * 600 / 2**20


@pytest.mark.soak
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="minutes each")
@pytest.mark.parametrize(
    ("rows", "options", "most"),
    [(1_000_000, (), 1_000), (10_000_000, (), 1_800)],
)
def test_the_full_sizes_stay_within_their_memory(tmp_path, rows, options, most):
    """Ten times the rows have seven times the combinations, and these are held in memory."""
    assert megabytes(tmp_path, rows, *options) < most
