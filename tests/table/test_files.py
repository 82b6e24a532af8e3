"""Files are read in parts and written whole or not at all."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import InvalidInput
from tacit.table import read_batches, read_metadata, read_table, written_whole
from tacit.table.files import BATCH_ROWS, column_names, data_files, n_cells, sidecar, table_writer


def files_in(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fail_while_writing(target, failure: BaseException) -> None:
    with written_whole(target) as temporary:
        temporary.write_text("new")
        raise failure


@pytest.fixture
def csv(tmp_path):
    def write(content: str | bytes, name: str = "data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_values_of_a_csv_file_stay_text(csv):
    table = read_table(csv("a,b\n007,1.50\nNA,true\n"))
    assert table.to_pydict() == {"a": ["007", "NA"], "b": ["1.50", "true"]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\r\n1,2\r\n", {"a": ["1"], "b": ["2"]}),
        ("\ufeffa,b\n1,2\n", {"a": ["1"], "b": ["2"]}),
        ('a,b\n"x\ny, ""z""",2\n', {"a": ['x\ny, "z"'], "b": ["2"]}),
        ("a,b\n1,2\n\n3,4", {"a": ["1", "3"], "b": ["2", "4"]}),
        ("a\nx\n\ny\n", {"a": ["x", "", "y"]}),
        ("a,b\n", {"a": [], "b": []}),
        ("a,b", {"a": [], "b": []}),
        ("größe,b\ngroß,2\n", {"größe": ["groß"], "b": ["2"]}),
    ],
    ids=["crlf", "byte-order mark", "quoted", "empty line", "one column", "header", "header without end", "umlauts"],
)
def test_csv_files_of_many_makes_are_read(csv, content, expected):
    assert read_table(csv(content)).to_pydict() == expected


def test_only_the_wanted_columns_are_read(csv, tmp_path):
    path = csv("a,b,c\n1,2,3\n")
    assert read_table(path, ["c", "a"]).to_pydict() == {"c": ["3"], "a": ["1"]}
    pq.write_table(read_table(path), tmp_path / "data.parquet")
    assert set(read_table(tmp_path / "data.parquet", ["c", "a"]).column_names) == {"a", "c"}
    assert column_names(tmp_path / "data.parquet") == column_names(path) == ["a", "b", "c"]


def test_large_files_come_in_parts(tmp_path):
    rows = BATCH_ROWS * 2 + 5
    pq.write_table(pa.table({"x": pa.array(range(rows))}), tmp_path / "x.parquet")
    parts = [part.num_rows for part in read_batches(tmp_path / "x.parquet")]
    assert len(parts) >= 3
    assert max(parts) <= BATCH_ROWS
    assert sum(parts) == rows


def test_an_empty_parquet_table_keeps_its_columns(tmp_path):
    pq.write_table(pa.table({"x": pa.array([], pa.string())}), tmp_path / "x.parquet")
    assert read_table(tmp_path / "x.parquet").column_names == ["x"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", r"cannot be read as CSV: .*Expected 2 columns, got 1.* Is the file truncated, ragged"),
        ("a,b\n1,2\n3,4,5\n", "Expected 2 columns, got 3"),
        ("a,b\n" + "1,2\n" * 300_000 + "1", "Expected 2 columns, got 1"),
        (b"a,b\n1,\x81\n", "is not UTF-8 text"),
        (b"a,b\n" + b"1,2\n" * 300_000 + b"1,\xff\n", "cannot be read as CSV: .*invalid UTF8 data"),
        ("a,b,a\n1,2,3\n", "There are two columns called 'a'"),
        ("", "is empty: not even a line of column names"),
        ("\n\n", "has no line of column names"),
    ],
    ids=["short", "long", "truncated late", "latin-1", "latin-1 late", "repeated", "empty", "blank"],
)
def test_broken_csv_files_are_refused(csv, content, message):
    with pytest.raises(InvalidInput, match=message):
        read_table(csv(content))


def parquet_bytes(tmp_path) -> bytes:
    pq.write_table(pa.table({"x": [str(i) for i in range(5000)]}), tmp_path / "whole.parquet")
    return (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.parametrize("keep", [3, 100, -4, -100])
def test_truncated_parquet_files_are_refused(csv, tmp_path, keep):
    path = csv(parquet_bytes(tmp_path)[:keep], "cut.parquet")
    with pytest.raises(InvalidInput, match=r"cannot be read as Parquet: .* Is the file truncated"):
        read_table(path)
    with pytest.raises(InvalidInput, match="cannot be read as Parquet"):
        column_names(path)


def test_parquet_files_with_broken_pages_are_refused(csv, tmp_path):
    whole = bytearray(parquet_bytes(tmp_path))
    whole[4:60] = b"\xff" * 56
    with pytest.raises(InvalidInput, match="cannot be read as Parquet"):
        read_table(csv(bytes(whole), "broken.parquet"))


def test_a_repeated_column_in_parquet_is_refused(tmp_path):
    pq.write_table(pa.table([["x"], ["y"]], names=["a", "a"]), tmp_path / "x.parquet")
    with pytest.raises(InvalidInput, match="two columns called 'a'"):
        read_table(tmp_path / "x.parquet")


def test_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"There is no file '.*none.csv'"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InvalidInput, match=r"The folder .* holds no Parquet or CSV file"):
        read_table(tmp_path)


def test_a_file_that_may_not_be_read_is_refused(csv, monkeypatch):
    path = csv("a\nx\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the mode of a file does not stop the superuser
    with pytest.raises(InvalidInput, match="may not be read: permission denied"):
        read_table(path)


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    target = tmp_path / "out.txt"
    with written_whole(target) as temporary:
        temporary.write_text("half")
        assert not target.exists()
    assert target.read_text() == "half"
    assert files_in(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit, RuntimeError, InvalidInput])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, failure):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(failure):
        fail_while_writing(target, failure())
    assert target.read_text() == "old"
    assert files_in(tmp_path) == ["out.txt"]


def test_the_final_file_has_the_permissions_of_the_umask(tmp_path):
    mask = os.umask(0o027)
    try:
        with written_whole(tmp_path / "out.txt"):
            pass
    finally:
        os.umask(mask)
    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o640


def test_folders_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match=r"There is no folder '.*nowhere' to write 'out.csv' into. Make it first"):
        written_whole(tmp_path / "nowhere" / "out.csv").__enter__()
    with pytest.raises(InvalidInput, match=r"Nothing can be written into '.*file': Not a directory"):
        written_whole(tmp_path / "file" / "out.csv").__enter__()
    with pytest.raises(InvalidInput, match=r"is a folder. Give the name of a file"):
        written_whole(tmp_path).__enter__()


def test_a_folder_that_refuses_even_the_superuser_is_refused():
    with pytest.raises(InvalidInput, match="Nothing can be written into '/proc'"):
        written_whole("/proc/out.csv").__enter__()


def test_a_full_disk_is_a_refusal_that_leaves_nothing(tmp_path):
    with pytest.raises(InvalidInput, match="could not be written: No space left"):
        fail_while_writing(tmp_path / "out.txt", OSError(28, "No space left on device"))
    assert not files_in(tmp_path)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.PQ"])
def test_metadata_come_back(tmp_path, name):
    with table_writer(tmp_path / name, {"scheme": "abc"}) as writer:
        writer.write(pa.table({"x": ["a", "b"]}))
        writer.write(pa.table({"x": ["c"]}))
    # Beside a CSV file the note also says how long the file is, by which an output is known again.
    length = {"format": "tacit-note/1", "bytes": 16} if name == "out.csv" else {}
    assert read_metadata(tmp_path / name) == {"scheme": "abc"} | length
    assert read_table(tmp_path / name)["x"].to_pylist() == ["a", "b", "c"]
    assert sidecar(tmp_path / name).exists() == (name == "out.csv")


def test_a_file_without_metadata_has_none(csv, tmp_path):
    assert read_metadata(csv("a\nx\n")) is None
    parquet_bytes(tmp_path)
    assert read_metadata(tmp_path / "whole.parquet") is None


@pytest.mark.parametrize("content", ["{", "[1]", "null", b"\xff"])
def test_a_broken_sidecar_is_refused(csv, content):
    path = csv("a\nx\n")
    csv(content, "data.csv.json")
    with pytest.raises(InvalidInput, match=r"data.csv.json' is not a JSON object. Restore it, or remove it"):
        read_metadata(path)


def test_a_broken_note_in_parquet_is_refused(tmp_path):
    table = pa.table({"x": ["a"]}).replace_schema_metadata({"tacit": "{"})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(InvalidInput, match=r"note about its scheme in .* is not a JSON object"):
        read_metadata(tmp_path / "x.parquet")


def test_a_folder_and_a_pattern_are_read_as_one_table(tmp_path):
    for day, town in ((1, "a"), (2, "b")):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(pa.table({"town": [town, town]}), tmp_path / f"day={day}" / "x.parquet")
    (tmp_path / "day=2" / "_log.csv").write_text("what\n")
    whole = {"town": ["a", "a", "b", "b"], "day": ["1", "1", "2", "2"]}
    assert read_table(tmp_path).to_pydict() == whole
    assert read_table(f"{tmp_path}/day=*/*.parquet").to_pydict() == whole
    assert column_names(tmp_path) == ["town", "day"]
    assert read_table(tmp_path, ["day"]).to_pydict() == {"day": whole["day"]}
    # The folders above a single file are no columns of it.
    assert column_names(tmp_path / "day=1" / "x.parquet") == ["town"]


def test_files_of_different_tables_in_one_folder_are_refused(tmp_path):
    pq.write_table(pa.table({"town": ["a"], "age": ["1"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"town": ["a"]}), tmp_path / "2.parquet")
    for read in (read_table, column_names):
        with pytest.raises(InvalidInput, match=r"2\.parquet' and .*1\.parquet' .* differ in the column\(s\) 'age'"):
            read(tmp_path)
    pq.write_table(pa.table({"town": ["a"], "age": [1]}), tmp_path / "2.parquet")
    with pytest.raises(InvalidInput, match="values of different types"):
        read_table(tmp_path)


@pytest.mark.parametrize("answer", ["y", "a very long answer that takes many bytes indeed"])
def test_the_cells_of_a_csv_file_are_its_rows_times_its_columns(tmp_path, answer):
    """Whatever the length of an answer: the route goes by rows and columns, not by bytes."""
    file = tmp_path / "x.csv"
    file.write_text("one,two,three\n" + f"{answer},{answer},{answer}\n" * 40_000)
    assert n_cells(file) == pytest.approx(120_000, rel=0.01)
    file.write_text("one\n")
    assert n_cells(file) == 0


def test_a_long_note_is_compressed_and_kept_once(tmp_path):
    short, long = {"scheme": "abc"}, {"answers": [f"answer {i}" for i in range(100_000)]}
    for name, note in (("short", short), ("long", long)):
        with table_writer(tmp_path / f"{name}.parquet", note) as writer:
            writer.write(pa.table({"a": [1, 2]}))
        assert read_metadata(tmp_path / f"{name}.parquet") == note
        assert read_table(tmp_path / f"{name}.parquet").column("a").to_pylist() == [1, 2]
    kept = pq.read_metadata(tmp_path / "short.parquet").metadata
    assert json.loads(kept[b"tacit"]) == short  # plain, for whoever reads it without Tacit
    assert (tmp_path / "long.parquet").stat().st_size < len(json.dumps(long)) / 3


@pytest.mark.parametrize("note", [b"zlib:not base64", b"zlib:AAAA", b"{"])
def test_a_broken_note_is_refused_in_a_sentence(note, tmp_path):
    file = tmp_path / "broken.parquet"
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({b"tacit": note}), file)
    with pytest.raises(InvalidInput, match="is not a JSON object"):
        read_metadata(file)


@pytest.mark.parametrize("above", ["../{}", "{}", "../{}/*.csv", "{}/*", "{}/**/*.csv"])
@pytest.mark.parametrize("folder", ["days", ".hidden/days", "_work/days"])
def test_what_a_place_names_itself_is_not_hidden(above, folder, tmp_path, monkeypatch):
    (tmp_path / folder / "_temporary").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    for name in ("1.csv", "1.csv.json", ".2.csv", "_3.csv", "_temporary/4.csv", "_SUCCESS"):
        (tmp_path / folder / name).write_text("a\n1\n")
    monkeypatch.chdir(tmp_path / "work" if above.startswith("..") else tmp_path)
    assert [file.name for file in data_files(above.format(folder))] == ["1.csv"]
    assert read_table(Path(above.format(folder)) if "*" not in above else above.format(folder)).to_pydict() == {
        "a": ["1"]
    }


def test_a_compressed_csv_file_is_read_as_it_is(csv, tmp_path):
    plain = csv("a;b\n" + "007;x\n" * 5000)
    packed = csv(gzip.compress(plain.read_bytes()), "data.csv.gz")
    assert read_table(packed).equals(read_table(plain))
    assert n_cells(packed) == pytest.approx(n_cells(plain), rel=0.5)
    plain.unlink()
    assert column_names(tmp_path) == ["a", "b"]  # it is found in a folder
    packed.write_bytes(packed.read_bytes()[:40])
    with pytest.raises(InvalidInput, match=r"data.csv.gz' cannot be read as CSV: .* truncated"):
        read_table(packed)
    packed.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(InvalidInput, match="Not a gzipped file"):
        column_names(packed)
    with pytest.raises(InvalidInput, match="written as CSV or as Parquet"), table_writer(packed, {}):
        pass
