"""The methods: from a problem to the best release each can find, and what is known about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tacit.errors import InvalidInput
from tacit.publish.achievement import Preference
from tacit.publish.hierarchies import Hierarchy
from tacit.publish.lattice import prove_levels
from tacit.publish.local import recode_locally
from tacit.publish.problem import NECD, NWP, SMALLEST, SUPPRESSED, Bits, Problem
from tacit.publish.proof import Proof, provable, prove
from tacit.publish.recoding import Recoding, recode_by_classes, recode_globally
from tacit.publish.release import Alternative
from tacit.publish.search import Found, Progress, SearchSettings, search

PROOF_SECONDS = {"search": 30.0, "exact": 600.0, "local": 0.0}


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found."""

    recoding: Recoding
    nwp: float
    necd: float
    front: tuple[Alternative, ...]
    lower_bound: float | None
    evaluations: int
    interrupted: str | None  # what Ctrl-C stopped


@dataclass(frozen=True)
class Plan:
    """How the answer is to be found."""

    method: str
    preference: Preference
    settings: SearchSettings
    seconds: float
    seed: int
    progress: Progress | None


def find(problem: Problem, plan: Plan, known: Mapping[str, Hierarchy]) -> Answer:
    """The answer of the planned method; `known` hierarchies name the labels."""
    return _locally(problem, plan) if plan.method == "local" else _globally(problem, plan, known)


def _globally(problem: Problem, plan: Plan, known: Mapping[str, Hierarchy]) -> Answer:
    found = search(problem, plan.preference, plan.settings, np.random.default_rng(plan.seed), plan.progress)
    bits = found.chromosome(0, problem.n_bits)
    proof = _proof(problem, plan, bits) if found.complete else None
    if proof is not None and (plan.method == "exact" or _achieves_more(problem, plan.preference, proof.bits, bits)):
        bits = proof.bits
    measures = problem.measure(bits[None])[0]
    names = [known[name].names if name in known else None for name in problem.tally.names]
    recoding = recode_globally(problem, bits, names)
    front = [found.measures[i] for i in found.front()]
    return Answer(
        recoding,
        float(measures[NWP]),
        float(measures[NECD]),
        tuple(Alternative(float(m[NWP]), float(m[NECD]), int(m[SMALLEST]), int(m[SUPPRESSED])) for m in front),
        None if proof is None else proof.lower_bound,
        found.evaluations,
        _interrupted(found, proof),
    )


def _interrupted(found: Found, proof: Proof | None) -> str | None:
    if not found.complete:
        return "search"
    return None if proof is None or proof.complete else "proof"


def proof_seconds(method: str, suppress: float, seconds: float | None) -> float:
    if seconds is not None:
        if not 0 <= seconds < math.inf:
            raise InvalidInput(f"seconds must be a number from 0, not {seconds!r}. With 0 nothing is proven.")
        return seconds
    # With suppression a proof rarely ends in half a minute.
    return 0.0 if suppress > 0 and method == "search" else PROOF_SECONDS[method]


def _proof(problem: Problem, plan: Plan, start: Bits) -> Proof | None:
    """The proof, where one is asked for and there is one; asked for in vain, it is refused."""
    leveled = problem.space.levels[0, problem.space.first_value[:-1]] >= 0
    if leveled.all() and problem.demand.limit == 0 and plan.seconds > 0:
        return prove_levels(problem, start, plan.seconds)
    if plan.method == "exact" or (plan.seconds > 0 and provable(problem) is None):
        return prove(problem, start, plan.seconds, plan.progress)
    return None


def _achieves_more(problem: Problem, preference: Preference, one: Bits, other: Bits) -> bool:
    measures = problem.measure(np.stack([one, other]))
    first, second = preference.achievement(measures[:, NWP], measures[:, NECD])
    return bool(first < second - 1e-12)


def _locally(problem: Problem, plan: Plan) -> Answer:
    found = recode_locally(problem, progress=plan.progress)
    recoding = recode_by_classes(problem.tally, found.classes)
    nwp = float(recoding.losses() @ problem.weights)
    sizes = recoding.sizes_by_set()
    necd = max(int(own.max() - own.min()) for own in sizes) / max(1, problem.rows - 1)
    front = (Alternative(nwp, necd, int(recoding.class_sizes.min()), 0),)
    return Answer(recoding, nwp, necd, front, None, 0, None if found.complete else "recoding")
