"""The joint distribution of the truth, from the reports alone: a mixture of products fitted by likelihood.

Expectation maximization (Dempster, Laird and Rubin) on the distinct reports. The first fit is one product, started from
the shares that the estimators find, and in flipped groups also from what a flip cannot hide: the second moments of a
record about one half are those of its opposite. A product and its mirror image in one flipped group look almost alike, so
the likelier of the two is kept. Then every component is split in two, as long as reports that were held out become more
likely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.attacks.evidence import Evidence
from tacit.attacks.joint import Joint, log_sum
from tacit.attacks.records import FlipReports
from tacit.channel.protocol import Array

# People added to every answer of every component, so that nothing becomes impossible by never having been seen.
PRIOR_PEOPLE = 0.5
HELD_OUT = 0.2
# Gains of log-likelihood a report: below the first EM has arrived, below the second more components are not worth it.
ARRIVED = 1e-5
WORTHWHILE = 2e-5
MOST_STEPS = 100
# A single product is cheap to fit, and all else starts from it.
FIRST_ARRIVED = 1e-7
FIRST_STEPS = 300
# How far the two halves of a split component start apart, as the standard deviation of a logarithm.
SPLIT = 0.3


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted joint, and its log-likelihood a report."""

    joint: Joint
    log_likelihood: float


def fit(
    parts: Sequence[Evidence],
    fewer: Sequence[Evidence],
    shares: Sequence[Array],
    *,
    most_components: int,
    rng: np.random.Generator,
    on_share: Callable[[float], None] = lambda share: None,
) -> Fit:
    """The likeliest mixture of products, of as many components as held-out reports pay for.

    `fewer` of the reports are enough to see how many that are; `shares` is where to start.
    """
    first = unmirrored(one_product(parts, shares), parts)
    on_share(0.1)
    grown = _grown(first.joint, fewer, most_components, rng, lambda share: on_share(0.1 + 0.5 * share))
    final = unmirrored(improved(grown, parts), parts)
    on_share(1.0)
    return final


def _grown(
    joint: Joint, parts: Sequence[Evidence], most: int, rng: np.random.Generator, on_share: Callable[[float], None]
) -> Joint:
    """The joint with its components split, and split again, while that makes held-out reports likelier."""
    held = [rng.binomial(part.counts.astype(np.int64), HELD_OUT).astype(np.float64) for part in parts]
    learning = [Evidence(part.laws, part.counts - out) for part, out in zip(parts, held, strict=True)]
    testing = [Evidence(part.laws, out) for part, out in zip(parts, held, strict=True)]
    joint = improved(joint, learning).joint
    reached = log_likelihood(joint, testing)
    while 2 * joint.components <= most:
        richer = improved(split(joint, rng), learning).joint
        score = log_likelihood(richer, testing)
        if not score > reached + WORTHWHILE:
            break
        joint, reached = richer, score
        on_share(joint.components / most)
    return joint


def one_product(parts: Sequence[Evidence], shares: Sequence[Array]) -> Fit:
    """The likeliest single product, started for each flipped group both from its shares and from its second moments.

    Shares tell little where theta is near one half, second moments where answers are nearly even.
    """
    plain = Joint(np.ones(1), tuple(np.asarray(share, dtype=np.float64)[None, :] for share in shares))
    from_shares = improved(plain, parts, steps=FIRST_STEPS, arrived=FIRST_ARRIVED)
    if not flipped_groups(parts):
        return from_shares
    from_moments = improved(tilted(plain, parts), parts, steps=FIRST_STEPS, arrived=FIRST_ARRIVED)
    # In a single product groups are independent of each other, so each may take the better of the two.
    factors = list(from_shares.joint.factors)
    for group in flipped_groups(parts):
        if _group_likelihood(from_moments.joint, parts, group) > _group_likelihood(from_shares.joint, parts, group):
            for j in group:
                factors[j] = from_moments.joint.factors[j]
    joint = Joint(np.ones(1), tuple(factors))
    return Fit(joint, log_likelihood(joint, parts))


def tilted(joint: Joint, parts: Sequence[Evidence]) -> Joint:
    """A single product whose flipped groups lean in the direction of their second moments."""
    factors = list(joint.factors)
    for part in parts:
        for law in part.laws:
            if isinstance(law, FlipReports):
                for j, lean in zip(law.attributes, _direction(law, part.counts), strict=True):
                    factors[j] = np.array([[0.5 - lean / 2, 0.5 + lean / 2]])
    return Joint(joint.weights, tuple(factors))


def flipped_groups(parts: Sequence[Evidence]) -> list[tuple[int, ...]]:
    return sorted({law.attributes for part in parts for law in part.laws if isinstance(law, FlipReports)})


def _group_likelihood(joint: Joint, parts: Sequence[Evidence], group: tuple[int, ...]) -> float:
    """Log-likelihood of one flipped group's reports under a single product."""
    laws = [(law, part.counts) for part in parts for law in part.laws if law.attributes == group]
    return sum(float(counts @ law.log_likelihood(joint)[:, 0]) for law, counts in laws)


def _direction(law: FlipReports, counts: Array) -> Array:
    """How far each answer of a flipped group leans from one half, all signs reversed or none."""
    signs = np.stack(law.columns, axis=1) * 2.0 - 1
    moments = (signs * counts[:, None]).T @ signs / counts.sum()
    np.fill_diagonal(moments, 0.0)
    values, vectors = np.linalg.eigh(moments)
    return np.clip(vectors[:, -1] * np.sqrt(max(values[-1], 0.01)), -0.9, 0.9)


def improved(joint: Joint, parts: Sequence[Evidence], *, steps: int = MOST_STEPS, arrived: float = ARRIVED) -> Fit:
    """Expectation maximization from a given joint until a step gains next to nothing."""
    before = -np.inf
    people = sum(part.counts.sum() for part in parts)
    for _ in range(steps):
        following, reached = _step(joint, parts)
        reached /= people
        if reached - before < arrived:
            break
        joint, before = following, reached
    return Fit(joint, before)


def _step(joint: Joint, parts: Sequence[Evidence]) -> tuple[Joint, float]:
    """One step, and the log-likelihood of the joint it started from."""
    weights = np.zeros(joint.components)
    totals = [np.full_like(factor, PRIOR_PEOPLE) for factor in joint.factors]
    reached = 0.0
    for part in parts:
        logs = component_logs(joint, part)
        whole = log_sum(logs)
        reached += float(part.counts @ whole)
        people = np.exp(logs - whole[:, None]) * part.counts[:, None]
        weights += people.sum(axis=0)
        for law in part.laws:
            for j, counts in zip(law.attributes, law.counts(joint, people), strict=True):
                totals[j] += counts
    weights += PRIOR_PEOPLE
    factors = tuple(total / total.sum(axis=1, keepdims=True) for total in totals)
    return Joint(weights / weights.sum(), factors), reached


def component_logs(joint: Joint, part: Evidence) -> Array:
    """Logarithm of the chance of each report together with each component."""
    return np.log(joint.weights) + sum(law.log_likelihood(joint) for law in part.laws)


def log_likelihood(joint: Joint, parts: Sequence[Evidence]) -> float:
    """Mean log-likelihood of a report."""
    people = sum(part.counts.sum() for part in parts)
    total = sum(float(part.counts @ log_sum(component_logs(joint, part))) for part in parts)
    return total / max(people, 1.0)


def split(joint: Joint, rng: np.random.Generator) -> Joint:
    """Every component twice, a little apart."""
    factors = []
    for factor in joint.factors:
        apart = np.exp(SPLIT * rng.standard_normal(factor.shape))
        pair = np.concatenate([factor * apart, factor / apart])
        factors.append(pair / pair.sum(axis=1, keepdims=True))
    return Joint(np.tile(joint.weights / 2, 2), tuple(factors))


def unmirrored(found: Fit, parts: Sequence[Evidence]) -> Fit:
    """The likelier of a fit and its mirror images, one flipped group after the other.

    The two are compared as they stand: the difference then is that of the coins alone, ``(2 theta - 1)**2`` a report,
    which near one half is less than what a few steps of the fit gain or lose.
    """
    for group in flipped_groups(parts):
        reversed_ = mirror(found.joint, group)
        if log_likelihood(reversed_, parts) > log_likelihood(found.joint, parts):
            found = improved(reversed_, parts)
    return found


def mirror(joint: Joint, group: tuple[int, ...]) -> Joint:
    factors = tuple(factor[:, ::-1] if j in group else factor for j, factor in enumerate(joint.factors))
    return Joint(joint.weights, factors)
