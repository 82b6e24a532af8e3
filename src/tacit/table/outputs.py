"""Files that are written: whole or not at all, under a new name or in place of an earlier output of Tacit."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import pyarrow as pa

from tacit.errors import InvalidInput

NOTE = b"tacit"  # the key of what a Parquet file says of itself
GENERATOR = '<meta name="generator" content="Tacit">'  # in the head of every page
PROGRAM = "Tacit"  # what pictures name as their maker
BACKUP = b"tacb"  # the application id in a backup's database header, bytes 68 to 71

# What an output of Tacit begins with: a document, a page, a picture (PNG, SVG).
_BEGINNING = re.compile(
    rb'\A\{\s*"format":\s*"tacit-|\A<!doctype html>.{0,60}'
    + re.escape(GENERATOR.encode())
    + rb"|\A\x89PNG.*Software\x00Tacit|\A<\?xml.*<dc:title>Tacit</dc:title>",
    re.DOTALL | re.IGNORECASE,
)
_PDF_MAKER = b"/Creator (Tacit)"
_READ = 4096  # bytes at either end of a file in which a mark is looked for

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
}

# Python replaces any regular file, as `open(path, "w")` does; commands only what Tacit wrote before.
_only_outputs: ContextVar[bool] = ContextVar("only_outputs", default=False)


@contextlib.contextmanager
def replacing_only_outputs(*, force: bool = False) -> Iterator[None]:
    """Let nothing be replaced that is not an earlier output of Tacit, unless `force` is given."""
    before = _only_outputs.set(not force)
    try:
        yield
    finally:
        _only_outputs.reset(before)


def output_file(path: str | Path) -> Path:
    """The file that is made or replaced by writing to `path`: through a symbolic link its target, never the link.

    Nothing is opened for writing here. Refused are devices, pipes, sockets, folders and dangling links, and for commands
    a file that Tacit did not write.
    """
    target, is_empty = _regular_file(path)
    if _only_outputs.get() and not is_empty and not is_earlier_output(Path(path)):
        raise InvalidInput(
            f"{str(path)!r} exists already and is not an output of Tacit as it was written, so it is not replaced. Give "
            "another name, or --force to replace it."
        )
    return target


def _regular_file(path: str | Path) -> tuple[Path, bool]:
    """The file behind `path`, and whether nothing is lost by replacing it: it is new or empty."""
    target = Path(os.path.realpath(path))
    if not target.parent.exists():
        raise InvalidInput(f"There is no folder {str(target.parent)!r} to write {target.name!r} into. Make it first.")
    try:
        about = target.stat()
    except OSError:
        if Path(path).is_symlink():
            raise InvalidInput(
                f"{str(path)!r} is a link to {str(target)!r}, where there is no file. Give that name, or remove the link."
            ) from None
        return target, True
    if not stat.S_ISREG(about.st_mode):
        kind = _KINDS.get(stat.S_IFMT(about.st_mode), "no regular file")
        raise InvalidInput(f"{str(path)!r} is {kind}. Give the name of a file.")
    return target, about.st_size == 0


def is_earlier_output(file: Path) -> bool:
    """Whether a file bears Tacit's mark, or has its length stated by a document of Tacit beside it (tables)."""
    with file.open("rb") as content:
        head = content.read(_READ)
        content.seek(max(0, file.stat().st_size - _READ))
        tail = content.read(_READ)
    if head.startswith(b"PAR1") and _is_noted_parquet(file):
        return True
    if head.startswith(b"%PDF"):
        return _PDF_MAKER in tail
    if head.startswith(b"SQLite format 3\0"):
        return head[68:72] == BACKUP
    return bool(_BEGINNING.search(head)) or any(
        _stated_size(Path(f"{file}{suffix}")) == file.stat().st_size for suffix in (".json", ".manifest.json")
    )


def _is_noted_parquet(file: Path) -> bool:
    import pyarrow.parquet as pq

    try:
        return NOTE in (pq.read_metadata(file).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def _stated_size(document: Path) -> int | None:
    """The length of the table that a document of Tacit describes; None where there is no such document."""
    try:
        stated = json.loads(document.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(stated, dict) or not str(stated.get("format")).startswith("tacit-"):
        return None
    return stated.get("bytes")


def made_folder(path: str | Path) -> Path:
    """The folder, made where it is not there yet."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(path)!r} cannot be made: {error.strerror}. Give another one.") from None
    return folder


@contextlib.contextmanager
def written_whole(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary file that takes its final name only when everything went well; a private one is its owner's alone."""
    target = output_file(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise InvalidInput(f"Nothing can be written into {str(target.parent)!r}: {error.strerror}.") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if not private:
            # mkstemp makes private files; the final one gets what the user's umask would have given it.
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
        _regular_file(path)  # once more: something else may have taken the name meanwhile
        temporary.replace(target)
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} could not be written: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)
