"""What many quasi-identifiers cost: with every further attribute fewer people look alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from tacit.publish.local import recode_locally
from tacit.publish.problem import pose
from tacit.publish.publication import Publication
from tacit.publish.recoding import recode_by_classes
from tacit.publish.tally import tally_rows

MANY = 10  # quasi-identifiers, from which on their cost is said
STEPS = (5, 10, 20)
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


def warnings_of_dimension(publication: Publication, losses: Mapping[str, float], nwp: float) -> Iterator[str]:
    """What so many attributes cost together, which of them pay most, and what to do."""
    names = publication.rows.names
    if len(names) <= MANY:
        return
    alone = ", of ".join(f"the first {m} alone {loss:.1%}" for m, loss in losses_by_dimension(publication).items())
    dearest = ", ".join(sorted(names, key=lambda name: -losses[name])[:3])
    yield (
        f"{len(names)} quasi-identifiers are hidden together, at a loss of {nwp:.1%}; local recoding of {alone} would do. "
        f"Most detail is lost in {dearest}. If nobody knows more than a few of them at once, name these as sets "
        "(--attributes 'a,b;c,d'): each set is then hidden by itself."
    )
    if nwp > NEARLY_EVERYTHING:
        yield "Nearly everything is lost, as always where many attributes have little to do with each other. Publish fewer."
