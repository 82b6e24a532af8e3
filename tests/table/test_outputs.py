"""What is written takes a new name, or that of a regular file; nothing else is ever opened, renamed or replaced."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import InvalidInput
from tacit.table.outputs import is_earlier_output, output_file, replacing_only_outputs, written_whole


def _write(path: Path, text: str = "new") -> None:
    with written_whole(path) as temporary:
        temporary.write_text(text)


def test_a_pipe_is_named_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match=r"pipe' is a named pipe \(FIFO\)\. Give the name of a file"):
        _write(pipe)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_socket_is_named_and_stays(tmp_path: Path) -> None:
    place = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        with pytest.raises(InvalidInput, match="is a socket"):
            _write(place)
    assert stat.S_ISSOCK(place.lstat().st_mode)


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK])
def test_a_device_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    device = (
        tmp_path.resolve() / "device"
    )  # an ordinary file that says it is a device: no real one is ever near this test
    device.write_text("")
    true_stat = Path.stat

    def claimed(self: Path, **settings: Any) -> os.stat_result:
        about = true_stat(self, **settings)
        return os.stat_result((kind | 0o666, *about[1:])) if self == device else about

    monkeypatch.setattr(Path, "stat", claimed)
    monkeypatch.setattr("tempfile.mkstemp", lambda *_, **__: pytest.fail("a file was made beside a device"))
    monkeypatch.setattr(Path, "replace", lambda *_: pytest.fail("a file was renamed over a device"))
    with pytest.raises(InvalidInput, match="device' is a device"):
        _write(device)


def test_a_dangling_link_is_named_and_nothing_is_made_behind_it(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InvalidInput, match=r"link' is a link to '.*nowhere', where there is no file"):
        _write(link)
    assert list(tmp_path.iterdir()) == [link]


def test_a_link_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(InvalidInput, match="is a link to"):
        _write(link)
    assert link.is_symlink()


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "file").write_text("old")
    link = tmp_path / "link"
    link.symlink_to(folder / "file")
    _write(link)
    assert link.is_symlink()
    assert (folder / "file").read_text() == "new"
    assert list(folder.iterdir()) == [folder / "file"]


def test_a_pipe_that_takes_the_name_while_the_file_is_made_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    writing = written_whole(out)
    writing.__enter__().write_text("new")
    os.mkfifo(out)
    with pytest.raises(InvalidInput, match="FIFO"):
        writing.__exit__(None, None, None)
    assert stat.S_ISFIFO(out.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [out]


def test_python_replaces_regular_files_as_open_does(tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text("mine")
    _write(out)
    assert out.read_text() == "new"


def test_commands_replace_only_what_tacit_wrote(tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text("mine")
    with (
        replacing_only_outputs(),
        pytest.raises(InvalidInput, match=r"notes.txt' exists already and is not an output of Tacit .* or --force"),
    ):
        _write(out)
    assert out.read_text() == "mine"
    with replacing_only_outputs(force=True):
        _write(out)
    assert out.read_text() == "new"


def test_an_empty_file_may_be_filled(tmp_path: Path) -> None:
    out = tmp_path / "made-by-mktemp"
    out.touch()
    with replacing_only_outputs():
        assert output_file(out) == out.resolve()


@pytest.mark.parametrize(
    "content",
    [
        b'{"mine": {"format": "tacit-scheme/1"}}',  # somebody's own document about a scheme
        b"<!doctype html><html><head><title>About Tacit</title>",
        b"# Notes on Tacit\n",
        b"name,program\nan,Tacit\n",
        b"PAR1 but no table PAR1",
        b"SQLite format 3\0" + bytes(4000),
    ],
)
def test_files_that_merely_speak_of_tacit_are_not_its_outputs(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert not is_earlier_output(file)


def test_a_table_is_an_output_while_it_is_as_long_as_its_note_says(tmp_path: Path) -> None:
    table, beside = tmp_path / "t.csv", tmp_path / "t.csv.json"
    table.write_text("a\n1\n")
    assert not is_earlier_output(table)
    beside.write_text('{"format": "tacit-note/1", "bytes": 4}')
    assert is_earlier_output(table)
    table.write_text("a\n1\n2\n")  # changed by hand
    assert not is_earlier_output(table)
    beside.write_text('{"format": "other/1", "bytes": 6}')
    assert not is_earlier_output(table)
