"""What commands write: refused before the work where it cannot be written; ``--out -`` is standard output."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from tacit.errors import InvalidInput


def check_writable(path: Path | None) -> None:
    """Refuse, before the work, a name under which the output could not be written in the end."""
    if path is None:
        return
    from tacit.table.outputs import output_file

    folder = output_file(path).parent
    if not os.access(folder, os.W_OK):
        raise InvalidInput(f"Nothing can be written into {str(folder)!r}: permission denied.")


# Parameters that name what a command writes; whichever command has one takes --force.
WRITTEN = {"out", "plot", "report", "export", "printed", "path"}
Force = Annotated[
    bool, typer.Option("--force", help="Replace files that Tacit did not write, or that were changed since.")
]


def guard_files(command: Callable[..., None]) -> Callable[..., None]:
    """The command with --force, without which it replaces nothing but earlier outputs of Tacit."""
    signature = inspect.signature(command)
    if not WRITTEN & set(signature.parameters):
        return command
    hints = get_type_hints(command, include_extras=True)

    @functools.wraps(command)
    def guard_outputs(*, force: bool = False, **settings: Any) -> None:
        from tacit.table.outputs import replacing_only_outputs

        with replacing_only_outputs(force=force):
            command(**settings)

    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for parameter in signature.parameters.values()
    ]
    parameters.insert(-1, inspect.Parameter("force", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Force))
    guard_outputs.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    guard_outputs.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return guard_outputs


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

    from tacit.report.page import picture_kind

    if picture_kind(path) not in FigureCanvasBase.get_supported_filetypes():
        raise InvalidInput(f"A picture cannot be written as {path.suffix!r}. Use .png, .svg or .pdf.")


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
