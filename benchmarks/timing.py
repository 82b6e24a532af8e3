"""CPU seconds of tasks that take turns, so that whatever else the machine does meets all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any


def cpu_medians(tasks: Mapping[str, Callable[[], Any]], repeats: int = 5) -> dict[str, float]:
    """The median CPU seconds of each task, all threads of the process included, after one unmeasured round."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats + 1):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            if turn:
                seconds[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}
