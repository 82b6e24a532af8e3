"""Counts how often a file is opened, by whatever library and process: the kernel tells (inotify), so nothing is missed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

IN_OPEN = 0x20


@dataclass
class Openings:
    """How often the file was opened, once the block that watched it has ended."""

    number: int = 0


@contextlib.contextmanager
def watch_openings(path: Path) -> Iterator[Openings]:
    """Count the openings of one file within the block."""
    libc = ctypes.CDLL(None, use_errno=True)
    told = libc.inotify_init()
    assert told >= 0, "the kernel does not tell of files"
    watched = libc.inotify_add_watch(told, str(path).encode(), IN_OPEN)
    # Two events that are alike and follow each other are told as one: those of the folder stand between them.
    assert watched >= 0 <= libc.inotify_add_watch(told, str(path.parent).encode(), IN_OPEN)
    openings, end = Openings(), Path(path.parent, path.name + ".end")
    end.touch()
    last = libc.inotify_add_watch(told, str(end).encode(), IN_OPEN)

    def listen() -> None:
        while True:
            events = os.read(told, 1 << 16)
            while events:
                watch, mask, _, length = struct.unpack("iIII", events[:16])
                events = events[16 + length :]
                if watch == last:
                    return
                openings.number += watch == watched and bool(mask & IN_OPEN)

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        yield openings
    finally:
        end.read_bytes()
        listener.join()
        os.close(told)
        end.unlink()
