"""The door: from a table and a publisher's wishes to a release."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InvalidInput, UnknownName
from tacit.publish import request
from tacit.publish.achievement import Preference
from tacit.publish.held import Held
from tacit.publish.hierarchies import Hierarchy, read_hierarchies
from tacit.publish.lattice import prove_levels
from tacit.publish.local import recode_locally
from tacit.publish.order import ordered_by_data
from tacit.publish.problem import NECD, NWP, SMALLEST, STRENGTH, SUPPRESSED, Bits, Problem, pose
from tacit.publish.proof import Proof, provable, prove
from tacit.publish.recoding import Recoding, recode_by_classes, recode_globally
from tacit.publish.release import Alternative, Release
from tacit.publish.search import Found, Progress, SearchSettings, search
from tacit.publish.source import hold, tally
from tacit.schema import Schema

INTERRUPTED = {
    "search": "The search was interrupted: this is the best release until then, and nothing is proven.",
    "proof": "The proof was interrupted: this is the best release until then, and its bound is the one reached by then.",
    "recoding": "Local recoding was interrupted: classes that were still to be cut are published as they were.",
}
PROOF_SECONDS = {"search": 30.0, "exact": 600.0, "local": 0.0}


@dataclass(frozen=True, eq=False)
class _Answer:
    """What a method found."""

    recoding: Recoding
    nwp: float
    necd: float
    front: tuple[Alternative, ...]
    lower_bound: float | None
    evaluations: int
    interrupted: str | None  # what Ctrl-C stopped


def anonymize(
    data: Any,
    k: int = 5,
    attributes: Sequence[str] | Sequence[Sequence[str]] | None = None,
    weights: Mapping[str, float] | None = None,
    prefer_loss: float = 0.2,
    prefer_bias: float = 1.0,
    *,
    method: str = "search",
    suppress: float = 0.0,
    sensitive: Sequence[str] = (),
    l: float | None = None,  # noqa: E741  the letters of the literature
    t: float | None = None,
    entropy: bool = False,
    hierarchies: str | Path | Mapping[str, Hierarchy] | None = None,
    keep: Sequence[str] = (),
    order: str = "schema",
    schema: Schema | None = None,
    missing: str = "refuse",
    evaluations: int = 50_000,
    population: int = 100,
    polish: bool = True,
    seconds: float | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """A release of `data` in which every row hides among at least `k`, with as little detail lost as possible.

    Parameters
    ----------
    data
        A Dataset, a data frame, the name of a CSV or Parquet file, an ibis table, or the address of a database table such
        as ``sqlite:///people.db?table=people``.
    attributes
        The quasi-identifiers: what somebody may know of a person. Several sets that nobody knows together are given as
        a list of lists. By default every attribute that is neither sensitive nor kept.
    weights
        How much the detail of each quasi-identifier matters; they sum to one. Equal by default.
    method
        "search" (Dewri et al. 2009, then ruin and recreate, then the proof for `seconds`, by default 30, and none where rows
        may be suppressed), "exact" (the least loss whatever the bias, proven within `seconds`, 600 by default), or "local"
        (rows generalized differently).
    suppress
        Share of rows that may be left out; each counts as fully lost.
    l, t, entropy
        What sensitive attributes must show in every class.
    order
        "data" puts unordered answers that keep the same company side by side; only neighbours are merged.
    polish
        ``False`` gives the published search alone.

    >>> from tacit.publish import anonymize
    >>> people = {"age": ["31", "32", "33", "61", "62", "63"], "town": ["Ulm", "Ulm", "Ulm", "Rom", "Rom", "Rom"]}
    >>> release = anonymize(people, k=3, seed=1)
    >>> release.effective_k, release.partitions["age"]
    (3, [['31', '32', '33'], ['61', '62', '63']])
    """
    secret = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    request.checked_method(method)
    request.checked_order(order)
    held = hold(data, schema, missing=missing)  # type: ignore[arg-type]
    held = ordered_by_data(held) if order == "data" else held
    others = (*secret, *keep)
    for name in others:
        if name not in held.schema:
            raise UnknownName("Attribute", name, held.schema.names)
    sets = request.quasi_identifier_sets(attributes, held.schema, others)
    names = tuple(dict.fromkeys(name for members in sets for name in members))
    known = _hierarchies(hierarchies, held.schema, names)
    request.refuse_combinations(method, suppress, sets, known)
    diversity = request.checked_diversity(l, t, entropy, secret)
    preference = request.checked_preference(prefer_loss, prefer_bias)
    settings = request.checked_settings(evaluations, population, polish=polish)
    weighed = request.checked_weights(weights, names)
    request.checked_share("suppress", suppress, below_one=True)
    counted = tally(held, sets, secret if diversity.l or diversity.t is not None else ())
    levels = [known[name].blocks if name in known else None for name in names]
    problem = pose(
        counted, request.checked_k(k, counted.rows), weighed, suppress=suppress, diversity=diversity, levels=levels
    )
    _refuse_impossible(problem)
    drawn = secrets.randbits(32) if seed is None else seed
    plan = _Plan(method, preference, settings, _proof_seconds(method, suppress, seconds), drawn, progress)
    answer = _locally(problem, plan) if method == "local" else _globally(problem, plan, known)
    return _release(problem, plan, answer, held, others, secret)


@dataclass(frozen=True)
class _Plan:
    method: str
    preference: Preference
    settings: SearchSettings
    seconds: float
    seed: int
    progress: Progress | None


def _hierarchies(
    given: str | Path | Mapping[str, Hierarchy] | None, schema: Schema, names: Sequence[str]
) -> Mapping[str, Hierarchy]:
    if given is None:
        return {}
    if isinstance(given, str | Path):
        return read_hierarchies(given, tuple(schema[name] for name in names))
    return given


def _refuse_impossible(problem: Problem) -> None:
    """Everything generalized is one class; if that may not be published, nothing may."""
    whole = problem.measure(np.zeros((1, problem.n_bits), np.uint8))
    if whole[0, STRENGTH] >= problem.k:
        return
    shown = ", ".join(f"{attribute.name} has {attribute.size} answers" for attribute in problem.tally.sensitive)
    raise InvalidInput(
        f"No release shows the wanted l even when everything else is generalized away ({shown}). Ask for a smaller l."
    )


def _globally(problem: Problem, plan: _Plan, known: Mapping[str, Hierarchy]) -> _Answer:
    found = search(problem, plan.preference, plan.settings, np.random.default_rng(plan.seed), plan.progress)
    bits = found.chromosome(0, problem.n_bits)
    proof = _proof(problem, plan, bits) if found.complete else None
    if proof is not None and (plan.method == "exact" or _achieves_more(problem, plan.preference, proof.bits, bits)):
        bits = proof.bits
    measures = problem.measure(bits[None])[0]
    names = [known[name].names if name in known else None for name in problem.tally.names]
    recoding = recode_globally(problem, bits, names)
    front = [found.measures[i] for i in found.front()]
    return _Answer(
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


def _proof_seconds(method: str, suppress: float, seconds: float | None) -> float:
    if seconds is not None:
        return seconds
    # With suppression a proof rarely ends in half a minute.
    return 0.0 if suppress > 0 and method == "search" else PROOF_SECONDS[method]


def _proof(problem: Problem, plan: _Plan, start: Bits) -> Proof | None:
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


def _locally(problem: Problem, plan: _Plan) -> _Answer:
    found = recode_locally(problem, progress=plan.progress)
    recoding = recode_by_classes(problem.tally, found.classes)
    nwp = float(recoding.losses() @ problem.weights)
    sizes = recoding.sizes_by_set()
    necd = max(int(own.max() - own.min()) for own in sizes) / max(1, problem.rows - 1)
    front = (Alternative(nwp, necd, int(recoding.class_sizes.min()), 0),)
    return _Answer(recoding, nwp, necd, front, None, 0, None if found.complete else "recoding")


def _release(
    problem: Problem, plan: _Plan, answer: _Answer, held: Held, others: tuple[str, ...], secret: tuple[str, ...]
) -> Release:
    nwp, necd = np.array([answer.nwp]), np.array([answer.necd])
    names = problem.tally.names
    return Release(
        method=plan.method,
        k=problem.k,
        effective_k=int(answer.recoding.class_sizes.min()),
        nwp=answer.nwp,
        necd=answer.necd,
        ach=float(plan.preference.achievement(nwp, necd)[0]),
        lower_bound=answer.lower_bound,
        preference=plan.preference,
        weights=dict(zip(names, problem.weights.tolist(), strict=True)),
        partitions=answer.recoding.partitions(),
        losses=dict(zip(names, answer.recoding.losses().tolist(), strict=True)),
        front=answer.front,
        recoding=answer.recoding,
        held=held,
        others=others,
        sensitive=secret,
        seed=plan.seed,
        evaluations=answer.evaluations,
        complete=answer.interrupted is None,
        warnings=_warnings(plan.preference, answer),
    )


def _warnings(preference: Preference, answer: _Answer) -> tuple[str, ...]:
    said = [] if answer.interrupted is None else [INTERRUPTED[answer.interrupted]]
    if answer.nwp > preference.loss or answer.necd > preference.bias:
        certain = answer.lower_bound is not None and answer.lower_bound > preference.loss
        said.append(
            f"A loss of {preference.loss:g} with a bias of {preference.bias:g} "
            f"{'cannot be reached' if certain else 'was not reached'}; the nearest attained is a loss of {answer.nwp:.4f} "
            f"with a bias of {answer.necd:.4f}."
        )
    return tuple(said)
