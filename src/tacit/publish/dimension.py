"""What many quasi-identifiers cost: with every further attribute fewer people look alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from tacit.errors import InvalidInput
from tacit.publish.every import every_set, search_every
from tacit.publish.local import recode_locally
from tacit.publish.problem import pose
from tacit.publish.publication import Publication
from tacit.publish.recoding import recode_by_classes
from tacit.publish.tally import tally_rows

MANY = 10  # quasi-identifiers, from which on their cost is said
STEPS = (5, 10, 20)
EVERY = (2, 3)  # attributes that somebody may know
MOST_COUNTED = 200_000_000  # combinations times sets of attributes, for what is said unasked
NEARLY_EVERYTHING = 0.8


@lru_cache(maxsize=8)
def losses_by_dimension(publication: Publication) -> dict[int, float]:
    """The loss of local recoding for the first 5, 10, 20 attributes alone, k rows in every class, each step taken greedily."""
    rows, k = publication.rows, int(publication.settings.protection.k)
    losses = {}
    for m in (step for step in STEPS if step < len(rows.names)):
        tally = tally_rows(rows.attributes[:m], rows.codes[:, :m], rows.counts)
        problem = pose(tally, k, np.full(m, 1 / m))
        recoding = recode_by_classes(tally, recode_locally(problem, pilots=1).classes)
        losses[m] = float(recoding.losses().mean())
    return losses


@lru_cache(maxsize=8)
def losses_of_every(publication: Publication) -> dict[int, float]:
    """The loss of k in every two and every three attributes instead of in all together, cut greedily."""
    rows, k = publication.rows, int(publication.settings.protection.k)
    alone = tally_rows(rows.attributes, rows.codes, rows.counts)
    losses = {}
    for m in EVERY:
        if math.comb(len(rows.names), m) * len(alone.counts) > MOST_COUNTED:
            break
        places = {name: j for j, name in enumerate(rows.names)}
        sets = tuple(tuple(places[name] for name in names) for names in every_set(rows.names, m))
        problem = pose(replace(alone, sets=sets), k, publication.problem.weights, every=m)
        try:
            losses[m] = search_every(problem, np.random.default_rng(0), rounds=1).nwp
        except InvalidInput:  # too many cells
            break
    return losses


def warnings_of_dimension(publication: Publication, losses: Mapping[str, float], nwp: float) -> Iterator[str]:
    """What so many attributes cost together, which of them pay most, and what to do."""
    names = publication.rows.names
    if len(names) <= MANY or publication.problem.every is not None:
        return
    alone = ", ".join(f"{loss:.1%} for the first {m}" for m, loss in losses_by_dimension(publication).items())
    dearest = ", ".join(sorted(names, key=lambda name: -losses[name])[:3])
    yield (
        f"{len(names)} quasi-identifiers are hidden together, at a loss of {nwp:.1%}; local recoding would lose {alone} alone. "
        f"Most detail is lost in {dearest}. {_alternative(publication)}"
    )
    if nwp > NEARLY_EVERYTHING:
        yield "Nearly everything is lost, as always where many attributes have little to do with each other. Publish fewer."


def dimension_document(publication: Publication, losses: Mapping[str, float]) -> dict[str, Any] | None:
    """What is said of the dimension, for JSON; None where there are few quasi-identifiers."""
    names = publication.rows.names
    if len(names) <= MANY or publication.problem.every is not None:
        return None
    return {
        "first": {str(m): loss for m, loss in losses_by_dimension(publication).items()},
        "every": {str(m): loss for m, loss in losses_of_every(publication).items()},
        "pay_most": sorted(names, key=lambda name: -losses[name])[:3],
    }


def _alternative(publication: Publication) -> str:
    """What k over every few attributes, or over named sets, would lose instead."""
    lost = losses_of_every(publication)
    losses = ", ".join(f"{loss:.1%} with --every {m}" for m, loss in lost.items())
    promise = (
        f"With k over every few of them in place of all, {losses} would be lost: enough against somebody who knows no more "
        "than so many. "
        if lost
        else ""
    )
    sets = (
        "If nobody knows certain ones together, name sets (--attributes 'a,b;c,d'): each set is then hidden by itself."
    )
    return f"{promise}{sets}"
