from __future__ import annotations

import numpy as np
import pytest

from tacit.publish.achievement import Preference


def test_at_the_preference_both_weigh_the_same():
    for loss, bias in ((0.2, 1.0), (0.2, 0.1), (0.5, 0.02)):
        preference = Preference(loss, bias)
        w = preference.share_of_loss
        assert w * (loss + 1e-9) == pytest.approx((1 - w) * (bias + 1e-9))


def test_the_worse_of_the_two_counts():
    preference = Preference(0.2, 0.1)
    w = 5 / (5 + 10)
    found = preference.achievement(np.array([0.3, 0.1]), np.array([0.01, 0.4]))
    assert found == pytest.approx([w * 0.3, (1 - w) * 0.4], rel=1e-6)
