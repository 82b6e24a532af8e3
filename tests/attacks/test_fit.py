"""The fit: a proper distribution, steps that never lose likelihood, and the right one of two mirror images."""

from __future__ import annotations

import numpy as np
import pytest

from tacit import Attribute, Dataset, Schema, Scheme, channels, disguise
from tacit.attacks.evidence import Evidence, evidence
from tacit.attacks.fit import improved, log_likelihood, mirror, one_product, split, unmirrored
from tacit.attacks.joint import Joint, log_sum
from tacit.attacks.tally import distinct
from tacit.channel.protocol import grid
from tacit.table import Table

NAMES = ("a", "b", "c", "d")
YES = np.array([0.1, 0.2, 0.15, 0.7])
UNIFORM = [np.array([0.5, 0.5])] * 4


def flipped(theta: float, *, people: int = 20_000, seed: int = 4) -> Evidence:
    """Reports of records with independent, skewed answers, all four reversed by one coin."""
    rng = np.random.default_rng(seed)
    schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in NAMES))
    codes = (rng.random((people, 4)) < YES).astype(np.int64)
    truth = Dataset(Table.from_codes(schema, {name: codes[:, j] for j, name in enumerate(NAMES)}))
    scheme = Scheme.of(schema, [(NAMES, channels.flip(theta))])
    table = disguise(truth, scheme, seed=seed + 1).table
    first, kind = distinct([table[name] for name in NAMES])
    counts = np.bincount(kind).astype(np.float64)
    return evidence(scheme.questionnaires[0], schema, table.rows(first), counts)


def test_a_joint_is_a_distribution() -> None:
    rng = np.random.default_rng(2)
    joint = Joint(np.array([0.2, 0.8]), (rng.dirichlet(np.ones(2), 2), rng.dirichlet(np.ones(3), 2)))
    assert np.exp(joint.log_chance(grid((2, 3)))).sum() == pytest.approx(1)
    np.testing.assert_allclose(joint.marginal(1).sum(), 1)
    assert np.exp(split(joint, rng).log_chance(grid((2, 3)))).sum() == pytest.approx(1)


def test_sums_of_logarithms_survive_the_impossible() -> None:
    logs = np.array([[-np.inf, -np.inf], [-1000.0, -1000.0], [0.0, -np.inf]])
    np.testing.assert_allclose(log_sum(logs), [-np.inf, -1000 + np.log(2), 0.0])


@pytest.mark.parametrize("theta", [0.3, 0.6, 0.9])
def test_the_shares_come_back(theta: float) -> None:
    part = flipped(theta)
    found = unmirrored(one_product([part], UNIFORM), [part]).joint
    np.testing.assert_allclose([factor[0, 1] for factor in found.factors], YES, atol=0.03)


def test_a_step_never_loses_likelihood() -> None:
    part = flipped(0.7)
    joint = Joint(np.ones(1), tuple(share[None, :] for share in ([np.array([0.6, 0.4])] * 4)))
    reached = log_likelihood(joint, [part])
    for _ in range(10):
        # The half person added to every answer may cost what 20,000 people do not notice.
        joint = improved(joint, [part], steps=2, arrived=-np.inf).joint
        assert log_likelihood(joint, [part]) >= reached - 1e-7
        reached = log_likelihood(joint, [part])


def test_the_likelier_of_two_mirror_images_is_kept() -> None:
    part = flipped(0.6)
    right = unmirrored(one_product([part], UNIFORM), [part])
    wrong = improved(mirror(right.joint, (0, 1, 2, 3)), [part], steps=1)
    again = unmirrored(wrong, [part])
    np.testing.assert_allclose(again.joint.factors[0], right.joint.factors[0], atol=0.01)
