"""What the multi-group and the electronic-survey studies print, with their misprints corrected."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Attribute, Dataset, Schema, Scheme, channels, disguise
from tacit.attacks import attack
from tacit.measures.amplification import binary_pse, coins_guessed
from tacit.table import Table


def test_the_coefficients_of_three_groups() -> None:
    """MRR prints this 8x8 matrix; its entry (2, 6) must be t^2 (1 - t)."""
    t = 0.75
    one = channels.flip(t).build((2,)).matrix
    whole = np.kron(np.kron(one, one), one)
    assert whole[1, 5] == t**2 * (1 - t)
    assert np.linalg.cond(whole) == pytest.approx((2 * t - 1) ** -3)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_coins_of_independent_even_records_are_guessed_with_the_published_chance(groups: int) -> None:
    """MRR: without side knowledge all coins are guessed with chance max(theta, 1 - theta) to the number of groups."""
    rng = np.random.default_rng(100 + groups)  # not the seed of the coins: they would be the same draws
    schema = Schema(tuple(Attribute(f"a{j}", ("no", "yes")) for j in range(6)))
    truth = Dataset(Table.from_codes(schema, {name: rng.integers(0, 2, 5000) for name in schema.names}))
    parts = [(schema.names[start::groups], channels.flip(0.8)) for start in range(groups)]
    found = attack(disguise(truth, Scheme.of(schema, parts), seed=groups), truth=truth)
    assert found.records.with_reports == pytest.approx(coins_guessed(0.8, groups), abs=0.03)


def test_the_printed_pse_is_right_for_fair_personal_questions_only() -> None:
    def printed(keep: float, share: float, personal: float) -> float:
        """The closed form of ES, which lacks the factor 2y in its first term."""
        yes = keep * share + (1 - keep) * personal
        first = (keep + (1 - keep) * personal) * (1 - keep) / yes
        second = 2 * (1 - keep) * (1 - personal) * (keep + (1 - keep) * (1 - personal)) / (1 - yes)
        return share * (1 - share) * (first + second)

    assert binary_pse(0.4, 0.3, 0.5) == pytest.approx(printed(0.4, 0.3, 0.5))
    assert abs(binary_pse(0.4, 0.3, 0.2) - printed(0.4, 0.3, 0.2)) > 0.01
