"""Disguising through the whole pipeline: its law, its files, and what it refuses."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from tacit import Attribute, Dataset, Reports, Schema, Scheme, channels, disguise
from tacit.disguising import disguise_file
from tacit.errors import InvalidInput, SchemeMismatch, UnknownAnswer
from tacit.table import Missing, files, read_metadata
from tests.statistics import assert_drawn_from, power_against

SMOKES, AGE = Attribute("smokes", ("no", "yes")), Attribute("age", ("young", "middle", "old"))
WARNER = Scheme.of([SMOKES, AGE], [(["smokes"], channels.warner(0.7))])
LAWS = {
    "warner": channels.warner(0.6),
    "uniform-perturbation": channels.uniform_perturbation(0.4),
    "gamma-diagonal": channels.gamma_diagonal(5),
    "mixture": channels.mixture(0.5, [[0.25, 0.75], [0.5, 0.25, 0.25]]),
    "subset": channels.subset(2, 5),
    "mask": channels.mask(0.7),
    "cut-and-paste": channels.cut_and_paste(2, 0.4),
    "randomized-gamma-diagonal": channels.randomized_gamma_diagonal(5, 0.1),
}
ROWS = 100_000


def write_truths(path, rows: dict[str, list[str]]) -> None:
    (pq.write_table if path.suffix == ".parquet" else csv.write_csv)(pa.table(rows), path)


def report_counts(reports: Reports, scheme: Scheme) -> np.ndarray:
    """How often each possible report of the one group was sent, in the order of the channel's matrix."""
    (group,) = scheme.groups
    names = [column.name for column in group.report_attributes]
    keys = {report: position for position, report in enumerate(_keys(group.channel.reports()))}
    found, counts = np.unique(_rows([reports.table[name] for name in names]), axis=0, return_counts=True)
    result = np.zeros(len(keys), dtype=np.int64)
    for row, count in zip(found, counts, strict=True):
        result[keys[tuple(row.tolist())]] += count
    return result


def _rows(columns) -> np.ndarray:
    # A set has no order, so its members are compared sorted; bits are compared as they stand.
    parts = [np.sort(column, axis=1) if column.ndim == 2 and column.dtype != np.bool_ else column for column in columns]
    return np.concatenate([part.reshape(len(part), -1).astype(np.int64) for part in parts], axis=1)


def _keys(columns) -> list[tuple[int, ...]]:
    return [tuple(row) for row in _rows(columns).tolist()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "suffix"),
    [*((kind, "parquet") for kind in LAWS), ("gamma-diagonal", "csv"), ("subset", "csv"), ("mask", "csv")],
)
def test_a_disguised_file_follows_the_declared_channel_for_every_truth(tmp_path, kind, suffix):
    scheme = Scheme.of([SMOKES, AGE], [(["smokes", "age"], LAWS[kind])])
    (group,) = scheme.groups
    for truth in range(6):
        smokes, age = SMOKES.answers[truth // 3], AGE.answers[truth % 3]
        source, out = tmp_path / "truths.parquet", tmp_path / f"reports.{suffix}"
        write_truths(source, {"smokes": [smokes] * ROWS, "age": [age] * ROWS})
        disguise_file(source, scheme, out, seed=1965 + truth)
        assert_drawn_from(report_counts(Reports.read(out, scheme), scheme), group.channel.matrix[:, truth])


def test_the_law_is_also_that_of_the_operating_systems_randomness(tmp_path):
    scheme = Scheme.of([SMOKES, AGE], [(["smokes", "age"], LAWS["gamma-diagonal"])])
    write_truths(tmp_path / "truths.parquet", {"smokes": ["yes"] * ROWS, "age": ["old"] * ROWS})
    disguise_file(tmp_path / "truths.parquet", scheme, tmp_path / "reports.parquet")
    reports = Reports.read(tmp_path / "reports.parquet", scheme)
    assert_drawn_from(report_counts(reports, scheme), scheme.groups[0].channel.matrix[:, 5])


def test_the_check_notices_a_chance_that_is_wrong_by_one_point(tmp_path):
    stated, actual = (Scheme.of([SMOKES], [(["smokes"], channels.warner(p))]) for p in (0.60, 0.61))
    laws = [scheme.groups[0].channel.matrix[:, 1] for scheme in (actual, stated)]
    assert power_against(*laws, draws=ROWS) > 0.9
    write_truths(tmp_path / "truths.parquet", {"smokes": ["yes"] * ROWS})
    disguise_file(tmp_path / "truths.parquet", actual, tmp_path / "reports.parquet", seed=1965)
    counts = report_counts(Reports.read(tmp_path / "reports.parquet", actual), actual)
    with pytest.raises(AssertionError, match="p-value"):
        assert_drawn_from(counts, stated.groups[0].channel.matrix[:, 1])


def test_groups_are_disguised_independently_of_each_other():
    scheme = Scheme.of([SMOKES, AGE], [(["smokes"], channels.warner(0.7)), (["age"], channels.warner(0.6))])
    truth = Dataset.from_arrow({"smokes": ["no"] * ROWS, "age": ["old"] * ROWS}, scheme.schema)
    reports = disguise(truth, scheme, seed=3).table
    joint = np.outer(scheme.groups[0].channel.matrix[:, 0], scheme.groups[1].channel.matrix[:, 2])
    assert_drawn_from(np.bincount(reports["smokes"] * 3 + reports["age"], minlength=6), joint.ravel())


def test_questionnaires_are_dealt_with_their_probabilities():
    deals = [
        ("a", 0.5, [(["smokes"], channels.warner(0.7))]),
        ("b", 0.3, [(["age"], channels.warner(0.6))]),
        ("c", 0.2, [(["smokes", "age"], channels.gamma_diagonal(5))]),
    ]
    scheme = Scheme.dealt([SMOKES, AGE], deals)
    truth = Dataset.from_arrow({"smokes": ["no"] * ROWS, "age": ["old"] * ROWS}, scheme.schema)
    reports = disguise(truth, scheme, seed=3)
    assert_drawn_from([part.n_rows for part in reports.parts], [0.5, 0.3, 0.2])
    assert_drawn_from(np.bincount(reports.parts[1]["age"]), scheme.questionnaires[1].groups[0].channel.matrix[:, 2])


@pytest.fixture
def truths(tmp_path):
    path = tmp_path / "truths.csv"
    write_truths(path, {"smokes": ["no", "yes"] * 500, "age": ["young", "old"] * 500})
    return path


def content(path) -> str:
    return path.read_text()


def test_a_seed_repeats_a_run_and_marks_it_as_a_simulation(truths, tmp_path):
    one, two, other = (tmp_path / f"{name}.csv" for name in ("one", "two", "other"))
    for out, seed in ((one, 7), (two, 7), (other, 8)):
        assert disguise_file(truths, WARNER, out, seed=seed) == 1000
        assert read_metadata(out) == {
            "format": "tacit-note/1",
            "bytes": out.stat().st_size,
            "scheme": WARNER.hash,
            "scheme_document": WARNER.to_document(),
            "simulation": True,
        }
    assert content(one) == content(two) != content(other)


def test_a_run_without_a_seed_is_no_simulation_and_never_repeats(truths, tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    for out in (one, two):
        disguise_file(truths, WARNER, out)
        assert "simulation" not in read_metadata(out)  # the mark belongs to simulations alone
        assert not Reports.read(out, WARNER).is_simulation
    assert content(one) != content(two)


def test_data_and_files_are_disguised_alike(truths, tmp_path):
    disguise_file(truths, WARNER, tmp_path / "out.parquet", seed=7)
    in_memory = disguise(Dataset.read(truths, WARNER.schema), WARNER, seed=7)
    assert Reports.read(tmp_path / "out.parquet", WARNER).table["smokes"].tolist() == in_memory.table["smokes"].tolist()


def test_public_attributes_go_out_as_they_are_and_are_named(truths, tmp_path):
    assert WARNER.public_names == ("age",)
    disguise_file(truths, WARNER, tmp_path / "out.parquet", seed=7)
    reports, clear = Reports.read(tmp_path / "out.parquet", WARNER), Dataset.read(truths, WARNER.schema)
    assert reports.table["age"].tolist() == clear.table["age"].tolist()
    assert reports.table["smokes"].tolist() != clear.table["smokes"].tolist()


def test_columns_in_another_order_and_other_columns(tmp_path):
    source, out = tmp_path / "truths.csv", tmp_path / "out.csv"
    write_truths(source, {"age": ["old"], "name": ["Eve"], "smokes": ["no"]})
    with pytest.raises(InvalidInput, match=r"does not name the column\(s\) 'name'"):
        disguise_file(source, WARNER, out)
    assert disguise_file(source, WARNER, out, drop_others=True) == 1
    assert "Eve" not in content(out)
    assert "name" not in content(out)


def test_missing_values_follow_the_policy(tmp_path):
    source, out = tmp_path / "truths.csv", tmp_path / "out.csv"
    write_truths(source, {"smokes": ["no", "?", "yes"], "age": ["old", "old", ""]})
    with pytest.raises(UnknownAnswer):
        disguise_file(source, WARNER, out)
    with pytest.raises(InvalidInput, match="missing value"):
        disguise_file(source, WARNER, out, missing=Missing(("?",)))
    assert disguise_file(source, WARNER, out, missing=Missing(("?",), drop=True)) == 1


def test_progress_is_told_batch_by_batch(tmp_path):
    source, told = tmp_path / "truths.parquet", []
    rows = files.BATCH_ROWS + 10
    write_truths(source, {"smokes": ["no"] * rows, "age": ["old"] * rows})
    disguise_file(source, WARNER, tmp_path / "out.parquet", on_rows=told.append)
    assert len(told) >= 2
    assert sum(told) == rows


def test_batches_of_a_seeded_run_are_disguised_independently_of_each_other(tmp_path, monkeypatch):
    """Drawn anew for each batch from the same seed, the second batch would be disguised exactly as the first."""
    monkeypatch.setattr(files, "BATCH_ROWS", 5_000)
    source, out = tmp_path / "truths.parquet", tmp_path / "out.parquet"
    write_truths(source, {"smokes": ["yes"] * 10_000, "age": ["old"] * 10_000})
    disguise_file(source, WARNER, out, seed=7)
    reported = Reports.read(out, WARNER).table["smokes"].astype(np.int64)
    column = WARNER.groups[0].channel.matrix[:, 1]
    pairs = np.bincount(2 * reported[:5_000] + reported[5_000:], minlength=4)
    assert_drawn_from(pairs, np.outer(column, column).ravel())


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_is_dealt_batch_by_batch(tmp_path, suffix):
    rows = files.BATCH_ROWS + 10
    source, out = tmp_path / "truths.parquet", tmp_path / f"out.{suffix}"
    write_truths(source, {"smokes": ["no"] * rows, "age": ["old"] * rows})
    deals = [("a", 0.5, [(["smokes"], channels.mask(0.7))]), ("b", 0.5, [(["age"], channels.subset(2, 5))])]
    scheme = Scheme.dealt([SMOKES, AGE], deals)
    assert disguise_file(source, scheme, out, seed=1) == rows
    reports = Reports.read(out, scheme)
    assert reports.n_reports == rows
    assert_drawn_from([part.n_rows for part in reports.parts], [0.5, 0.5])


def test_reports_of_a_file_are_written_under_their_scheme_only(truths, tmp_path):
    disguise_file(truths, WARNER, tmp_path / "out.csv", seed=7)
    other = Scheme.of([SMOKES, AGE], [(["smokes"], channels.warner(0.71))])
    with pytest.raises(SchemeMismatch):
        Reports.read(tmp_path / "out.csv", other)


BAD_SOURCES = {
    "ragged": ("smokes,age\nno,old\nyes\n", "Expected 2 columns, got 1"),
    "empty": ("", "is empty"),
    "header only": ("smokes,age\n", "has no rows to disguise"),
    "missing column": ("smoke,age\nno,old\n", "The column 'smokes' is missing. Did you mean 'smoke'?"),
    "repeated column": ("smokes,age,age\nno,old,old\n", "two columns called 'age'"),
    "unknown answer": ("smokes,age\nno,old\nno,odl\n", "'age' has no answer 'odl' (row 2). Did you mean 'old'?"),
    "missing value": ("smokes,age\nno,\n", "'age' has 1 missing value(s), the first in row 1"),
    "another encoding": (b"smokes,age\nno,\x81lter\n", "is not UTF-8 text"),
}


@pytest.mark.parametrize("existing", [False, True], ids=["new", "overwriting"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("kind", BAD_SOURCES)
def test_a_refused_file_leaves_the_target_untouched(tmp_path, kind, suffix, existing):
    text, message = BAD_SOURCES[kind]
    source, out = tmp_path / "truths.csv", tmp_path / "out" / f"reports.{suffix}"
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    out.parent.mkdir()
    if existing:
        out.write_text("what was there")
    with pytest.raises(InvalidInput, match=re.escape(message)):
        disguise_file(source, WARNER, out)
    assert [path.name for path in out.parent.iterdir()] == ([out.name] if existing else [])
    if existing:
        assert content(out) == "what was there"


def test_a_truncated_parquet_file_is_refused(truths, tmp_path):
    whole = tmp_path / "whole.parquet"
    write_truths(whole, {"smokes": ["no"] * 5000, "age": ["old"] * 5000})
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[:-20])
    with pytest.raises(InvalidInput, match="cannot be read as Parquet"):
        disguise_file(cut, WARNER, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_an_error_late_in_a_stream_names_the_row_of_the_file(tmp_path):
    rows = files.BATCH_ROWS + 10
    source = tmp_path / "truths.parquet"
    write_truths(source, {"smokes": ["no"] * (rows - 1) + ["maybe"], "age": ["old"] * rows})
    with pytest.raises(UnknownAnswer, match=rf"'maybe' \(row {rows:,}\)"):
        disguise_file(source, WARNER, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_interrupted_run_leaves_nothing_behind(tmp_path, suffix):
    source, out = tmp_path / "truths.parquet", tmp_path / "out" / f"reports.{suffix}"
    rows = files.BATCH_ROWS + 10
    write_truths(source, {"smokes": ["no"] * rows, "age": ["old"] * rows})
    out.parent.mkdir()

    def interrupt(rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        disguise_file(source, WARNER, out, on_rows=interrupt)
    assert not list(out.parent.iterdir())


@pytest.mark.parametrize("spelling", ["truths.csv", "../{folder}/truths.csv"])
def test_the_truths_are_never_overwritten(truths, spelling):
    before = content(truths)
    with pytest.raises(InvalidInput, match="The reports would overwrite the truths"):
        disguise_file(truths, WARNER, truths.parent / spelling.format(folder=truths.parent.name))
    assert content(truths) == before


def test_folders_that_cannot_be_written_are_refused(truths, tmp_path):
    for folder in (truths, "/proc"):  # below a file, and where even the superuser may not write
        with pytest.raises(InvalidInput, match="Nothing can be written into"):
            disguise_file(truths, WARNER, f"{folder}/out.csv")
    with pytest.raises(InvalidInput, match="There is no folder"):
        disguise_file(truths, WARNER, tmp_path / "nowhere" / "out.csv")


def test_data_that_do_not_fit_the_scheme_are_refused():
    with pytest.raises(InvalidInput, match="The scheme asks for 'age', which the data do not have"):
        disguise(Dataset.from_arrow({"smokes": ["no", "yes"]}), WARNER)
    other = Schema((Attribute("smokes", ("yes", "no")), AGE))
    with pytest.raises(InvalidInput, match="list the answers of 'smokes' differently"):
        disguise(Dataset.from_arrow({"smokes": ["no"], "age": ["old"]}, other), WARNER)


def test_a_negative_seed_is_refused():
    with pytest.raises(InvalidInput, match="A seed must be a whole number from 0 up, not -1"):
        disguise(Dataset.from_arrow({"smokes": ["no"], "age": ["old"]}, WARNER.schema), WARNER, seed=-1)


PEAK = """
    import sys
    from pathlib import Path
    from tacit import Dataset, Scheme, disguise
    from tacit.disguising import disguise_file
    way, source, scheme, out = sys.argv[1:]
    scheme = Scheme.read(scheme)
    if way == "streaming":
        disguise_file(source, scheme, out, seed=1)
    else:
        disguise(Dataset.read(source, scheme.schema), scheme, seed=1).write(out)
    # Not ru_maxrss, which a child inherits from the process that started it.
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


def peak_megabytes(way: str, source, folder) -> float:
    arguments = [way, source, folder / "scheme.json", folder / "out.parquet"]
    command = [sys.executable, "-c", textwrap.dedent(PEAK), *map(str, arguments)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1000


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to tell the peak of a process")
def test_memory_does_not_grow_with_the_file(tmp_path):
    WARNER.write(tmp_path / "scheme.json")
    generator = np.random.default_rng(1)
    columns = {
        attribute.name: generator.choice(attribute.answers, files.BATCH_ROWS).tolist() for attribute in WARNER.schema
    }
    batch, sources = pa.table(columns), {}
    for batches in (2, 12):
        sources[batches] = tmp_path / f"truths-{batches}.parquet"
        with pq.ParquetWriter(sources[batches], batch.schema) as writer:
            for _ in range(batches):
                writer.write_table(batch)
    few = peak_megabytes("streaming", sources[2], tmp_path)
    assert peak_megabytes("streaming", sources[12], tmp_path) - few < 20
    assert peak_megabytes("whole", sources[12], tmp_path) - few > 40  # what the check would notice


@pytest.mark.parametrize(
    "frame", [pa.table, pl.DataFrame, pd.DataFrame, dict], ids=["arrow", "polars", "pandas", "dict"]
)
def test_data_frames_go_in_and_are_read_with_the_schema_of_the_scheme(frame) -> None:
    rows = {"age": ["old", "young", "old"], "smokes": ["no", "yes", "no"]}
    scheme = Scheme.of([SMOKES, AGE], [(["smokes"], channels.warner(1.0))])
    reports = disguise(frame(rows), scheme, seed=1)
    assert reports.to_arrow().select(["age", "smokes"]).to_pydict() == rows


def test_a_data_frame_with_other_answers_or_columns_is_refused() -> None:
    with pytest.raises(UnknownAnswer, match="'smokes' has no answer 'maybe'"):
        disguise({"smokes": ["maybe"], "age": ["old"]}, WARNER)
    with pytest.raises(InvalidInput, match="does not name the column"):
        disguise({"smokes": ["no"], "age": ["old"], "name": ["Ann"]}, WARNER)
    with pytest.raises(InvalidInput, match="A str cannot be read as a table"):
        disguise("people.csv", WARNER)


def test_a_key_stands_beside_the_reports_of_its_own_people(tmp_path, monkeypatch):
    """Row by row: also in a second batch, and where rows are left out."""
    monkeypatch.setattr(files, "BATCH_ROWS", 4)
    source, out = tmp_path / "truths.parquet", tmp_path / "out.parquet"
    ages = ["old", "young", None, "old", "young", "young", "old", None, "old", "young"]
    write_truths(source, {"smokes": ["no"] * 10, "age": ages, "id": [f"p{at}" for at in range(10)], "name": ["x"] * 10})
    with pytest.raises(InvalidInput, match="does not name the column"):
        disguise_file(source, WARNER, out, key="id")
    wishes = {"key": "id", "missing": Missing(drop=True), "drop_others": True}
    assert disguise_file(source, WARNER, out, **wishes) == 8
    table = pq.read_table(out)
    assert table.column_names == ["smokes", "age", "id"]
    beside = dict(zip(table["id"].to_pylist(), table["age"].to_pylist(), strict=True))  # the age is public
    assert beside == {f"p{at}": age for at, age in enumerate(ages) if age is not None}


@pytest.mark.parametrize(
    ("rows", "key", "message"),
    [
        ("smokes,age,id\nno,old,\n", "id", "The key 'id' is missing in 1 row"),
        ("smokes,age,id\nno,old,1\n", "age", "'age' is an attribute of the scheme"),
        ("smokes,age\nno,old\n", "id", "The column 'id' is missing"),
    ],
)
def test_what_is_no_key_is_refused(tmp_path, rows, key, message):
    (tmp_path / "truths.csv").write_text(rows)
    with pytest.raises(InvalidInput, match=message):
        disguise_file(tmp_path / "truths.csv", WARNER, tmp_path / "out.csv", key=key)
    assert [path.name for path in tmp_path.iterdir()] == ["truths.csv"]


def test_reports_that_are_dealt_take_no_key(tmp_path):
    dealt = Scheme.dealt([SMOKES, AGE], [("a", 0.5, [(["smokes"], channels.warner(0.7))]), ("b", 0.5, [])])
    with pytest.raises(InvalidInput, match="several questionnaires"):
        disguise_file(tmp_path / "truths.csv", dealt, tmp_path / "out.csv", key="id")
