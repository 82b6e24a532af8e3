"""What each report of a designed channel says, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

SAME = 1e-6  # relative difference below which two posteriors or likelihoods read as equal


def report_labels(matrix: Matrix, prior: Matrix, answers: Sequence[str]) -> tuple[str, ...]:
    """One label for each report, no two alike: the answers it points to, told by the chances of the matrix."""
    labels = [_label(row, prior, answers) for row in matrix]
    repeated = {label for label, times in Counter(labels).items() if times > 1}
    seen: Counter[str] = Counter()
    unique = []
    for label in labels:
        seen[label] += 1
        unique.append(f"{label} ({seen[label]})" if label in repeated else label)
    return tuple(unique)


def _label(chances: Matrix, prior: Matrix, answers: Sequence[str]) -> str:
    if np.ptp(chances) <= SAME * chances.max():
        return "any answer"
    possible = chances > SAME * chances.max()
    joint = chances * prior
    likely = joint >= (1 - SAME) * joint.max()
    if possible.all() and not likely.all():  # nothing is ruled out: the report leans towards its likelier truths
        middle = np.sqrt(chances.min() * chances.max())
        return f"rather {_listed(np.flatnonzero(chances > middle), answers)}"
    also = np.flatnonzero(possible & ~likely)
    said = _listed(np.flatnonzero(likely), answers)
    return f"{said}, or else {_listed(also, answers)}" if len(also) else said


def _listed(chosen: NDArray[np.intp], answers: Sequence[str]) -> str:
    names = [answers[i] for i in chosen]
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"
