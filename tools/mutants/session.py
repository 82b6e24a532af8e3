"""One pytest session that has collected every test: it forks for each fault and runs the tests that reach it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from tools.mutants.patching import put_in
from tools.mutants.reach import Place, Reach, ReachFile, Tracer
from tools.mutants.running import FAILED, HANGS, PASSED, ROOT, TOO_LONG, Outcome, changed, in_child, options_of_pytest
from tools.mutants.sites import Site

SLOWEST = 3.0  # processor seconds of one test; what takes longer uncompiled is left out


@dataclass(eq=False)  # plugins are told apart by identity
class Session:
    """The plugin: what is collected, what each test reaches, and a fault's outcome."""

    copy: Path
    limit: float
    log: Path
    work: Callable[[Session], None]
    collected: set[Place] = field(default_factory=set)
    reach: dict[str, Reach] = field(default_factory=dict)
    _items: dict[str, pytest.Item] = field(default_factory=dict)
    _noticed: Counter[tuple[str, str]] = field(default_factory=Counter)
    _failed: bool = False
    _done: bool = False

    def run(self, files: Iterable[str]) -> bool:
        """Whether the work could be done to its end."""
        self._tracer = Tracer(self.copy)
        with self._tracer.watching():
            pytest.main([*options_of_pytest(self.copy.parent / "base"), *files], plugins=[self])
        return self._done

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        _quick_hypothesis()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        _end_watching()
        self.collected = self._tracer.places()
        self._items = {item.nodeid: item for item in session.items}
        self._learn_reach()
        self.work(self)
        self._done = True
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed = True
            print(report.nodeid, report.longreprtext, flush=True)

    def outcome(self, site: Site, ranks: dict[str, int]) -> Outcome:
        """What the tests that reach a fault say of it; those of a lower rank run first."""
        name = site.file.removeprefix("src/")
        tests = [test for test, one in self.reach.items() if (name, site.function.line) in one.places]
        if not tests:
            return Outcome("not reached", 0.0)
        tests.sort(key=lambda test: (-self._noticed[name, test], ranks.get(_file(test), 9), self.reach[test].seconds))
        before = (self.copy / name).read_bytes()
        by = self.copy.parent / "by.txt"
        by.write_text("")
        with changed(self.copy / name, site.applied(before)):
            change = lambda: put_in(str(self.copy / name), before, site.applied(before))  # noqa: E731
            told = in_child(lambda: self._tests_code(tests, change, by), self.limit + 60, self.log)
        if told.noticed:
            self._noticed[name, by.read_text()] += 1
        return Outcome(told.how, told.seconds, by.read_text())

    def _tests_code(self, tests: list[str], change: Callable[[], int], by: Path) -> int:
        """In the child: put the fault in and run one test after another until one notices."""
        change()  # what is not imported yet will be read from the changed file
        end = time.process_time() + self.limit
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            if time.process_time() > end:
                return TOO_LONG
            by.write_text(test)
            usual = self.reach[test].seconds
            _end_after(10 + 10 * usual, 300 + 100 * usual)
            self._run_one(test, following)
            if self._failed:
                return FAILED
        by.write_text("")
        return PASSED

    def _run_one(self, test: str, following: str | None) -> None:
        item = self._items[test]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=self._items[following] if following else None)

    def _learn_reach(self) -> None:
        kept = ReachFile(self.log.with_suffix(".reach.json"), self.copy / "tacit", ROOT)
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in self._items:
            by_file[_file(test)].append(test)
        for file, tests in by_file.items():
            known = kept.of(file)
            if known is None:
                known = self._measured(tests)
                kept.keep(file, known)
            self.reach.update({test: one for test, one in known.items() if test in self._items})

    def _measured(self, tests: list[str]) -> dict[str, Reach]:
        """What the tests of one file call, in processes of their own; failing and slow ones are left out."""
        known: dict[str, Reach] = {}
        left, seconds = list(tests), 0.0
        while left:
            told = in_child(partial(self._measure, left), 600, self.log)
            seconds += told.seconds
            lines = [json.loads(line) for line in self._notes.read_text().splitlines()]
            known.update({test: Reach(used, set(map(tuple, places))) for test, used, places in lines if places})
            left = left[len(lines) + 1 :]  # the next one broke the process, or took too long
        print(f"{_file(tests[0])}: {len(known)} of {len(tests)} tests, {seconds:.0f} s", flush=True)
        return known

    @property
    def _notes(self) -> Path:
        return self.copy.parent / "reach.jsonl"

    def _measure(self, tests: list[str]) -> int:
        """In the child: a line for each test, without places if it fails."""
        self._notes.write_text("")
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            self._failed = False
            _end_after(SLOWEST, 60 * SLOWEST)
            start = time.process_time()
            with self._tracer.watching():
                self._run_one(test, following)
            places = [] if self._failed else sorted(self._tracer.places())
            with self._notes.open("a") as out:
                out.write(json.dumps([test, time.process_time() - start, places]) + "\n")
        return PASSED


def _file(test: str) -> str:
    return test.split("::")[0]


def _end_watching() -> None:
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]


def _quick_hypothesis() -> None:
    """The same examples for every fault, and no time spent on making a failing one small."""
    from hypothesis import Phase, settings

    settings.register_profile(
        "mutants", settings.default, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate)
    )
    settings.load_profile("mutants")


def _end_after(processor: float, clock: float) -> None:
    """End the process when a test takes too long."""

    def ended(number: int, frame: FrameType | None) -> None:
        os._exit(HANGS)

    signal.signal(signal.SIGPROF, ended)
    signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_PROF, processor)
    signal.setitimer(signal.ITIMER_REAL, clock)
