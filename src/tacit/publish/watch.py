"""The time of a run: what is left of it, and an interruption of the methods once it is spent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

Progress = Callable[[float, str], None]


class TimeSpent(KeyboardInterrupt):
    """The seconds of a run are spent; methods leave what they have found, as they do at Ctrl-C."""


class Watch:
    """A progress that also looks at the clock: every method reports to it, and is interrupted once the time is spent.

    Time is that of the processor. Writing and judging a release takes about as long as reading its input did, so the time
    until now is kept for it.
    """

    def __init__(
        self, seconds: float | None = None, began: float | None = None, progress: Progress | None = None
    ) -> None:
        now = time.process_time()
        reading = now - (now if began is None else began)
        self._deadline = math.inf if seconds is None else max(now, now + seconds - 2 * reading)
        self._progress = progress

    @property
    def left(self) -> float:
        """Seconds that are left; infinite where none were stated."""
        return max(0.0, self._deadline - time.process_time())

    @property
    def is_bounded(self) -> bool:
        return self._deadline < math.inf

    def __call__(self, share: float, what: str) -> None:
        if self._progress is not None:
            self._progress(share, what)
        if not self.left:
            raise TimeSpent
