"""Whether what a command is to write can be written: refused before the work, not after it."""

from __future__ import annotations

import os
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
