"""Guessing without the reports: what counts as learned from them is only what is guessed beyond this."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.channel.codes import Array, Codes
from tacit.joint.numbering import distinct
from tacit.table import Table


def blind_shares(truth: Table, guessed: Sequence[str], seen: Sequence[str]) -> tuple[float, dict[str, float]]:
    """The shares of whole records, and of each answer, guessed right by who knows the population and `seen` answers.

    Depends on the people only, not on how their answers were disguised: the most frequent is guessed, among those with
    the same public and known answers where there are others, else among all. A person's own record is no help.
    """
    within = distinct([truth[name] for name in seen])[1] if seen else np.zeros(truth.n_rows, dtype=np.intp)
    records = _right(distinct([truth[name] for name in guessed])[1], within)
    return records, {name: _right(truth[name].astype(np.intp), within) for name in guessed}


def _right(codes: Codes, within: Codes) -> float:
    """The share for whom their own code is the most frequent among the others of their kind; never below that of all."""
    counts = np.bincount(codes)
    everybody = float(counts.max()) / len(codes)
    if not within.any():
        return everybody
    first, cell = distinct([within, codes])
    own = np.bincount(cell).astype(np.float64)
    kind = within[first]
    most = np.zeros(int(kind.max()) + 1)
    np.maximum.at(most, kind, own)
    alone = np.bincount(within)[kind] == 1
    # Without oneself one's own answer is one rarer; who has no others of the kind is guessed as anybody.
    leads = (own - 1 >= _most_of_others(own, kind, most)) & (own > 1)
    right = np.where(alone, codes[first] == counts.argmax(), leads)
    return max(everybody, float(own @ right) / len(codes))


def _most_of_others(own: Array, kind: Codes, most: Array) -> Array:
    """The largest count of another answer of the same kind."""
    order = np.lexsort((-own, kind))
    starts = np.flatnonzero(np.diff(kind[order], prepend=-1))
    second = np.zeros(len(most))
    following = starts + 1
    has_second = following < np.append(starts[1:], len(order))
    second[kind[order[starts]]] = np.where(has_second, own[order[np.minimum(following, len(order) - 1)]], 0.0)
    leader = np.zeros(len(own), dtype=np.bool_)
    leader[order[starts]] = True
    return np.where(leader, second[kind], most[kind])
