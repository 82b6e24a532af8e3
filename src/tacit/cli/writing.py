"""What commands write: refused before the work where it cannot be written; ``--out -`` is standard output."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tacit.errors import InvalidInput


def check_writable(path: Path | None) -> None:
    if path is None:
        return
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} is a folder. Give the name of a file.")
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {str(path.parent)!r} to write {path.name!r} into. Make it first.")
    if not os.access(path.parent, os.W_OK):
        raise InvalidInput(f"Nothing can be written into {str(path.parent)!r}: permission denied.")


def check_apart(out: Path | None, files: Iterable[str | Path]) -> None:
    """Refuse to write over one of the files that are read."""
    if out is not None and out.resolve() in {Path(file).resolve() for file in files}:
        raise InvalidInput(f"{str(out)!r} is read, and would be overwritten. Give another name for the output.")


def check_picture(path: Path | None) -> None:
    """Refuse a picture that cannot be written, or of an unknown kind."""
    check_writable(path)
    if path is None:
        return
    from matplotlib.backend_bases import FigureCanvasBase

    if picture_kind(path) not in FigureCanvasBase.get_supported_filetypes():
        raise InvalidInput(f"A picture cannot be written as {path.suffix!r}. Use .png, .svg or .pdf.")


def picture_kind(path: Path) -> str:
    """The format that a picture's name asks for."""
    return path.suffix.lower().lstrip(".") or "png"


# What each command writes to standard output; others write folders, or files that belong beside each other.
PIPED = {
    "disguise": ".csv",
    "tally": ".parquet",
    "roles": ".yaml",
    "devices": ".html",
    "design scheme": ".json",
    "design front": ".json",
    "survey reminders": ".csv",
}


@contextlib.contextmanager
def standard_output(arguments: Sequence[str]) -> Iterator[list[str]]:
    """The arguments of a command; where its output is ``-`` a file stands for it and is copied when all went well.

    What the command says to people then goes to standard error, so that only the output itself is piped on.
    """
    given = list(arguments)
    places = [at + 1 for at, word in enumerate(given[:-1]) if word == "--out" and given[at + 1] == "-"]
    if "--out=-" in given:
        at = given.index("--out=-")
        given[at : at + 1] = ["--out", "-"]
        places = [at + 1]
    if not places:
        yield given
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"out{_piped_suffix(given)}"
        given[places[-1]] = str(path)
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                yield given
        finally:
            sys.stderr.write(said.getvalue().replace(str(path), "standard output"))
        _copy(path)


def _piped_suffix(arguments: Sequence[str]) -> str:
    words = [word for word in arguments[:2] if not word.startswith("-")]
    suffix = PIPED.get(" ".join(words)) or PIPED.get(words[0] if words else "")
    if suffix is None:
        raise InvalidInput(f"tacit {' '.join(words)} cannot write to standard output. Give a name with --out.")
    if "--json" in arguments:
        raise InvalidInput("--json answers on standard output, so --out - cannot go there too. Leave one of them out.")
    return suffix


def _copy(path: Path) -> None:
    """The file on standard output, as bytes where it takes bytes."""
    if not path.exists():
        return
    raw = getattr(sys.stdout, "buffer", None)
    sys.stdout.flush()
    if raw is None:
        sys.stdout.write(path.read_text(encoding="utf-8"))
    else:
        raw.write(path.read_bytes())
        raw.flush()
