"""The command line: parse, call, print. Each command group is a file of its own."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import typer

INTERRUPTED = 130  # what shells give a command that Ctrl-C ended


def main() -> None:
    """Run a command; what Tacit refuses is one clear message and exit code 2, never a traceback."""
    from tacit.cli.output import fail, show_warnings
    from tacit.errors import TacitError
    from tacit.extras import missing_extra

    show_warnings()
    try:
        with _tidied_when_ended():
            _run()
    except TacitError as error:
        fail(str(error))
    except ModuleNotFoundError as problem:
        refusal = missing_extra(problem)
        if refusal is None:
            raise
        fail(str(refusal))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except MemoryError:
        fail("There is not enough memory for this. Ask for fewer attributes at once, or read from a Parquet file.")


@contextlib.contextmanager
def _tidied_when_ended() -> Iterator[None]:
    """Let a command that the system ends remove what it did not finish, and the truths that it fetched, as Ctrl-C does."""
    endings = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        endings = []  # only the main thread may say what becomes of a signal
    # nohup has a command ignore that its terminal is gone.
    ended = [number for number in endings if signal.getsignal(number) == signal.SIG_DFL]
    for number in ended:
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        for number in ended:
            signal.signal(number, signal.SIG_DFL)


def _run() -> None:
    """Parse and call; what is wrong with the line that was typed is said as typer says it, and as JSON under --json."""
    from tacit.cli.app import app
    from tacit.cli.toml_defaults import read_settings
    from tacit.cli.writing import standard_output

    command = typer.main.get_command(app)
    try:
        settings = read_settings(command)
        with standard_output(sys.argv[1:]) as arguments:
            code = command.main(arguments, prog_name="tacit", standalone_mode=False, default_map=settings)
    except typer.Abort:
        code = INTERRUPTED
    except Exception as problem:
        if not hasattr(problem, "format_message"):
            raise
        _misspelt(problem)
    if code == INTERRUPTED:  # what typer makes of Ctrl-C, without a word
        sys.stderr.write("Interrupted. Nothing was left half-written.\n")
    if isinstance(code, int) and code:
        sys.exit(code)


def _misspelt(problem: Any) -> None:
    """Show typer's own message; under --json also as an object."""
    from tacit.cli.output import print_json

    if isinstance(getattr(problem, "message", None), str):
        problem.message = _in_plain_words(problem.message)
    problem.show()
    message = problem.format_message()
    if "--json" in sys.argv[1:] and message:
        print_json({"error": message})
    sys.exit(problem.exit_code)


# What the library that reads numbers says of a text, and what it means.
NUMBERS = {
    "Input should be a valid integer": "a whole number such as 5 is wanted.",
    "Input should be a valid number": "a number such as 0.5 is wanted.",
}


def _in_plain_words(message: str) -> str:
    for stiff, plain in NUMBERS.items():
        if stiff in message:
            return plain
    return message.removeprefix("Value error, ")
