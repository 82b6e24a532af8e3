"""Attacks on the bytes of a release: what they must not tell of suppressed people, and of the order of the input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit import bundled
from tests.publish.databases import ENGINES, Filled
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize

# An age whose digits no measure in a manifest has by chance.
STRANGER = {"age": "93517", "town": "Atlantis", "sex": "x", "illness": "leprosy"}
FILES = ["out.csv", "out.parquet"]


def with_a_stranger() -> dict[str, list[str]]:
    """The people, and one among them whom no release hides unless nearly everything is generalized."""
    return {name: [*values[:200], STRANGER[name], *values[200:]] for name, values in people().items()}


def dictionaries(path: Path) -> set[str]:
    """Every text in the dictionaries and the statistics of a Parquet file, used by a row or not."""
    names = pq.read_schema(path).names
    with pq.ParquetFile(path, read_dictionary=names) as file:
        chunks = [
            chunk
            for group in range(file.num_row_groups)
            for column in file.read_row_group(group).columns
            for chunk in column.chunks
        ]
        metadata = file.metadata
        statistics = [
            metadata.row_group(group).column(column).statistics
            for group in range(metadata.num_row_groups)
            for column in range(metadata.num_columns)
        ]
    told = {text for chunk in chunks for text in chunk.dictionary.to_pylist()}
    return told | {str(end) for own in statistics if own for end in (own.min, own.max)}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("engine", ["memory", *ENGINES])
def test_a_suppressed_person_is_in_no_byte_of_the_release(filled: Filled, engine, name, tmp_path):
    rows = pa.table(with_a_stranger())
    data = rows if engine == "memory" else filled(engine, rows)
    release = anonymize(data, 6, sensitive="illness", suppress=0.02, **QUICK)
    assert release.suppressed > 0
    folder = tmp_path / "out"
    folder.mkdir()
    path = release.write(folder / name)
    released = {text for column in release.to_arrow().columns for text in column.to_pylist()}
    secrets = [value for value in STRANGER.values() if len(value) > 1 and value not in released]
    assert "Atlantis" in secrets
    assert "leprosy" in secrets
    for file in [path, folder / f"{name}.manifest.json"]:
        assert not [value for value in secrets if value.encode() in file.read_bytes()], file.name
    if name.endswith("parquet"):
        assert dictionaries(path) <= released


@pytest.mark.parametrize("name", FILES)
def test_the_order_of_the_input_cannot_be_told_from_the_release(name, tmp_path):
    rows = pa.table(with_a_stranger())
    other = rows.take(np.random.default_rng(5).permutation(rows.num_rows))
    wishes = {"k": 6, "sensitive": "illness", "suppress": 0.02} | QUICK
    one, two = (anonymize(data, **wishes).write(tmp_path / f"{i}-{name}") for i, data in enumerate((rows, other)))
    assert one.read_bytes() == two.read_bytes()


def adult_sorted_by_age(rows: int = 3_000) -> dict[str, list[str]]:
    """Adult's ages in ascending order, each beside a mark that lets the test know whose row it is."""
    ages = np.sort(bundled.raw_adult().column("age").to_numpy()[:rows])
    ids = np.random.default_rng(3).permutation(rows)
    return {"age": [str(a) for a in ages], "mark": [str(i) for i in ids]}


def recovered(release, table: dict[str, list[str]]) -> float:
    """Share of the rows whose age the position tells: the i-th row is guessed to have the i-th smallest age."""
    age_of = dict(zip(table["mark"], table["age"], strict=True))
    shown = release.to_arrow()
    assert set(shown["age"].to_pylist()) == {"*"}
    truth = np.array([int(age_of[mark]) for mark in shown["mark"].to_pylist()])
    # The attacker knows the ages of other people of the same kind, not of these.
    others = bundled.raw_adult().column("age").to_numpy()[10_000:30_000]
    guesses = np.quantile(others, (np.arange(len(truth)) + 0.5) / len(truth), method="nearest")
    return float(np.mean(guesses == truth))


def test_ages_that_were_all_suppressed_are_not_recovered_from_positions():
    table = adult_sorted_by_age(900)
    sorted_rows = anonymize(table, 900, ["age"], keep=["mark"], **QUICK)
    assert recovered(sorted_rows, table) < 0.06
    # The attack itself works: asked to keep the order of the input, the release tells most ages.
    kept = anonymize(table, 900, ["age"], keep=["mark"], keep_order=True, **QUICK)
    assert recovered(kept, table) > 0.3
    assert any("order of the input" in warning for warning in kept.warnings)
