"""OptRR's optimal set: for every small step of privacy the best matrix met so far (Huang and Du 2008)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design.problem import DesignProblem

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Matrices:
    """Square channels with their two objectives; the arrays are changed in place by the search."""

    channels: Matrix  # [channel, report, truth]
    privacy: Matrix
    trace: Matrix  # of the inverse information; infinite for a slot that is empty or a channel that is singular

    @classmethod
    def empty(cls, size: int, n_answers: int) -> Matrices:
        return cls(np.zeros((size, n_answers, n_answers)), np.zeros(size), np.full(size, np.inf))

    @classmethod
    def from_channels(cls, channels: Matrix, problem: DesignProblem) -> Matrices:
        """Given channels with their objectives under the problem's prior."""
        made = cls(channels, np.empty(len(channels)), np.empty(len(channels)))
        made.measure(problem)
        return made

    def measure(self, problem: DesignProblem) -> None:
        """Fill in the objectives of all channels."""
        from tacit.design import _optrr_kernels

        _optrr_kernels.measure(self.channels, problem.for_kernels, self.privacy, self.trace)

    def meet(self, others: Matrices) -> None:
        """As an optimal set: in each slot the lower error replaces the higher, in either direction."""
        from tacit.design import _optrr_kernels

        _optrr_kernels.meet_optimal_set(*others.arrays, *self.arrays)

    def join(self, others: Matrices) -> Matrices:
        pairs = zip(self.arrays, others.arrays, strict=True)
        return Matrices(*(np.concatenate(pair) for pair in pairs))

    @property
    def arrays(self) -> tuple[Matrix, Matrix, Matrix]:
        return self.channels, self.privacy, self.trace

    @property
    def filled_slots(self) -> NDArray[np.intp]:
        """Indices that hold an estimable channel."""
        return np.flatnonzero(np.isfinite(self.trace))

    def nearest(self, privacy: float, count: int) -> list[Matrix]:
        """Copies of the `count` channels whose privacy is nearest to the wanted one."""
        filled = self.filled_slots
        order = np.argsort(np.abs(self.privacy[filled] - privacy), kind="stable")[:count]
        return [self.channels[i].copy() for i in filled[order]]
