"""The command line: parse, call, print. Each command group is a file of its own."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # what shells give a command that Ctrl-C ended


def main() -> None:
    """Run a command; what Tacit refuses is one clear message and exit code 2, never a traceback."""
    from tacit.cli.app import app
    from tacit.cli.output import fail, show_warnings
    from tacit.errors import TacitError
    from tacit.extras import missing_extra

    show_warnings()
    try:
        app()
    except TacitError as error:
        fail(str(error))
    except ModuleNotFoundError as problem:
        refusal = missing_extra(problem)
        if refusal is None:
            raise
        fail(str(refusal))
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # what typer makes of Ctrl-C, without a word
            sys.stderr.write("Interrupted. Nothing was left half-written.\n")
        raise
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except MemoryError:
        fail("There is not enough memory for this. Ask for fewer attributes at once, or read from a Parquet file.")
