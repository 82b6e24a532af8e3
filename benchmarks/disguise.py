"""Disguising ten million answers against numpy and DuckDB, and files of any length in the same memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians
from tacit import channels
from tacit.randomness import SystemRandomness

ROWS = 10_000_000
ANSWERS = 10
KEEP = 0.6
SHORT_FILE, LONG_FILE = 20_000_000, 100_000_000

# Run in a process of its own, which then says how much memory it took at most.
STREAM = """
import json, resource, sys
from tacit import Scheme, estimate
from tacit.count.stored import StoredReports
from tacit.disguising import disguise_file
truths, reports, scheme = sys.argv[1], sys.argv[2], Scheme.read(sys.argv[3])
rows = disguise_file(truths, scheme, reports)
estimated = estimate(StoredReports.open(reports, scheme), ["smokes", "drinks"])
assert abs(estimated.probabilities.sum() - 1) < 1e-6
print(json.dumps({"rows": rows, "kilobytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def run() -> list[Ratio]:
    return [*speeds(), memory()]


def speeds(rows: int = ROWS) -> list[Ratio]:
    import duckdb

    truth = np.random.default_rng(1).integers(0, ANSWERS, rows, dtype=np.uint8)
    channel = channels.uniform_perturbation(KEEP).build((ANSWERS,))
    randomness = SystemRandomness()
    generator = np.random.Generator(np.random.PCG64(2))
    database = duckdb.connect()
    database.register("truths", {"answer": truth})
    database.execute("CREATE TABLE truth AS SELECT answer FROM truths")

    def with_numpy() -> Any:
        kept = generator.random(rows, dtype=np.float32) < np.float32(KEEP)
        return np.where(kept, truth, generator.integers(0, ANSWERS, rows, dtype=np.uint8))

    def with_duckdb() -> None:
        database.execute(
            f"CREATE OR REPLACE TABLE reports AS SELECT CASE WHEN random() < {KEEP} THEN answer "
            f"ELSE CAST(floor(random() * {ANSWERS}) AS UTINYINT) END AS answer FROM truth"
        )

    seconds = cpu_medians(
        {"tacit": lambda: channel.sample([truth], randomness), "numpy": with_numpy, "DuckDB": with_duckdb}
    )
    ratios = []
    for peer, target in (("numpy", 5.0), ("DuckDB", 10.0)):
        detail = f"{seconds['tacit']:.3f} (cryptographic) against {seconds[peer]:.3f} CPU seconds"
        name = f"disguising {rows:,} answers, against {peer}"
        ratios.append(Ratio(name, seconds[peer] / seconds["tacit"], target, "times faster", detail))
    return ratios


def memory(short: int = SHORT_FILE, long: int = LONG_FILE) -> Ratio:
    """Peak memory of disguising, counting and estimating a long Parquet file, over that of a short one."""
    with tempfile.TemporaryDirectory() as folder:
        peaks = {rows: _peak_kilobytes(Path(folder), rows) for rows in (short, long)}
    detail = ", ".join(f"{rows:,} rows in {peak / 1024:.0f} MB" for rows, peak in peaks.items())
    name = f"peak memory at {long / short:g} times the rows"
    return Ratio(name, peaks[long] / peaks[short], 1.2, "times the memory", detail)


def _peak_kilobytes(folder: Path, rows: int) -> int:
    truths, reports, scheme = folder / "truths.parquet", folder / "reports.parquet", folder / "scheme.json"
    _write_truths(truths, scheme, rows)
    command = [sys.executable, "-c", STREAM, str(truths), str(reports), str(scheme)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert said["rows"] == rows
    return int(said["kilobytes"])


def _write_truths(path: Path, scheme_path: Path, rows: int, part: int = 1 << 20) -> None:
    import pyarrow as pa

    from tacit import Attribute, Scheme
    from tacit.table.files import table_writer

    attributes = [Attribute(name, ("no", "yes", "at times")) for name in ("smokes", "drinks")]
    recipe = channels.gamma_diagonal(19)
    Scheme.of(attributes, [(["smokes", "drinks"], recipe)]).write(scheme_path)
    generator = np.random.default_rng(1)
    answers = pa.array(list(attributes[0].answers))
    with table_writer(path, {}) as writer:
        for start in range(0, rows, part):
            size = min(part, rows - start)
            codes = [generator.integers(0, 3, size, dtype=np.int8) for _ in attributes]
            columns = [pa.DictionaryArray.from_arrays(pa.array(column), answers) for column in codes]
            writer.write(pa.table(columns, names=[attribute.name for attribute in attributes]))
