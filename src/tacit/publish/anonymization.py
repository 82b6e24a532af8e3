"""The door: from a table and a publisher's wishes to a release."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InvalidInput
from tacit.publish import request
from tacit.publish.achievement import Preference
from tacit.publish.held import Held
from tacit.publish.hierarchies import Hierarchy, read_hierarchies
from tacit.publish.methods import Answer, Plan, find, proof_seconds
from tacit.publish.order import ordered_by_data
from tacit.publish.problem import STRENGTH, Problem, pose
from tacit.publish.release import Release
from tacit.publish.search import Progress
from tacit.publish.source import hold, tally
from tacit.schema import Schema

INTERRUPTED = {
    "search": "The search was interrupted: this is the best release until then, and nothing is proven.",
    "proof": "The proof was interrupted: this is the best release until then, and its bound is the one reached by then.",
    "recoding": "Local recoding was interrupted: classes that were still to be cut are published as they were.",
}
KEPT_ORDER = (
    "The rows are in the order of the input. If that was sorted by anything, or if somebody knows who stood where, the places "
    "of the rows tell what the labels hide."
)


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
    keep_order: bool = False,
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
    keep_order
        Keeps the rows in the order of the input, which tells whatever that order tells; they are sorted otherwise.
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
    others = request.checked_others((*secret, *keep), held.schema)
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
    plan = Plan(method, preference, settings, proof_seconds(method, suppress, seconds), drawn, progress)
    return _release(problem, plan, find(problem, plan, known), held, others, secret, keep_order)


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


def _release(
    problem: Problem,
    plan: Plan,
    answer: Answer,
    held: Held,
    others: tuple[str, ...],
    secret: tuple[str, ...],
    keep_order: bool,
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
        keep_order=keep_order,
        warnings=(*_warnings(plan.preference, answer), *([KEPT_ORDER] if keep_order else [])),
    )


def _warnings(preference: Preference, answer: Answer) -> tuple[str, ...]:
    said = [] if answer.interrupted is None else [INTERRUPTED[answer.interrupted]]
    if answer.nwp > preference.loss or answer.necd > preference.bias:
        certain = answer.lower_bound is not None and answer.lower_bound > preference.loss
        said.append(
            f"A loss of {preference.loss:g} with a bias of {preference.bias:g} "
            f"{'cannot be reached' if certain else 'was not reached'}; the nearest attained is a loss of {answer.nwp:.4f} "
            f"with a bias of {answer.necd:.4f}."
        )
    return tuple(said)
