"""What one report of subset selection tells, against the information of the written law."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import channels
from tacit.channel.symmetry import best_members, information


@pytest.mark.parametrize(("gamma", "answers", "members"), [(5, 4, 1), (19, 6, 2), (3, 7, 5), (1.5, 2, 1)])
def test_information_is_that_of_the_written_law(gamma: float, answers: int, members: int) -> None:
    matrix = channels.subset(members, gamma).build((answers,)).matrix
    even = matrix.sum(axis=1) / answers
    eigenvalues = np.linalg.eigvalsh(matrix.T @ (matrix / even[:, None]))
    assert np.ptp(eigenvalues[:-1]) < 1e-7  # the same about every comparison of answers; the last is their sum
    assert information(gamma, answers, members) == pytest.approx(eigenvalues[0] / answers, rel=1e-6)


@pytest.mark.parametrize("gamma", [1.2, 3, 19, 200])
def test_the_best_number_of_members_is_the_best_of_all(gamma: float) -> None:
    for answers in (2, 3, 9, 40, 101):
        told = [information(gamma, answers, members) for members in range(1, answers)]
        assert information(gamma, answers, best_members(gamma, answers)) == max(told)
