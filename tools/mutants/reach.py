"""Which functions each test calls, and how long it takes: a test that never calls a function cannot notice its faults."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

Place = tuple[str, int]  # a file of the sources, and the line where a function begins


@dataclass
class Reach:
    """What one test calls of the sources in how many processor seconds."""

    seconds: float
    places: set[Place] = field(default_factory=set)


class Tracer:
    """Notes each function of some sources that is called, in any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder}/"
        self._codes: dict[int, CodeType] = {}  # by identity: comparing codes is slow

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        self._codes = {}
        sys.settrace(self._called)
        threading.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]

    def places(self) -> set[Place]:
        inside = [code for code in self._codes.values() if code.co_filename.startswith(self._folder)]
        return {(code.co_filename.removeprefix(self._folder), code.co_firstlineno) for code in inside}

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        self._codes[id(frame.f_code)] = frame.f_code


class ReachFile:
    """What is known of the tests, kept between runs as long as neither the sources nor a test's own file change."""

    def __init__(self, path: Path, sources: Path, root: Path) -> None:
        self._path = path
        self._root = root
        texts = [file.read_bytes() for file in sorted(sources.rglob("*.py"))]
        self._sources = hashlib.sha256(b"\0".join(texts)).hexdigest()
        self._known: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}

    def of(self, file: str) -> dict[str, Reach] | None:
        kept = self._known.get(file)
        if kept is None or kept["of"] != self._digest(file):
            return None
        return {
            test: Reach(one["seconds"], {(place[0], place[1]) for place in one["places"]})
            for test, one in kept["tests"].items()
        }

    def keep(self, file: str, tests: dict[str, Reach]) -> None:
        plain = {test: {"seconds": one.seconds, "places": sorted(one.places)} for test, one in tests.items()}
        self._known[file] = {"of": self._digest(file), "tests": plain}
        self._path.write_text(json.dumps(self._known))

    def _digest(self, file: str) -> str:
        return hashlib.sha256(self._sources.encode() + (self._root / file).read_bytes()).hexdigest()
