"""What a file of reports would tell of the truths besides its reports: by the order of its rows, by its scheme's prior."""

from __future__ import annotations

import math

import numpy as np

from tacit.channel.scheme import Scheme
from tacit.table import Table

# Neighbours that are alike by so many standard deviations more or less often than by chance, and by so large a share of them.
NOTICED_DEVIATIONS, NOTICED_SHARE = 5.0, 0.01


class Leaks:
    """Sees truths on their way to a report file, batch by batch, and says what the file tells besides its reports."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        private = [attribute for attribute in scheme.schema if attribute.name not in scheme.public_names]
        self._counts = {attribute.name: np.zeros(attribute.size, dtype=np.int64) for attribute in private}
        self._alike = dict.fromkeys(self._counts, 0)
        self._neighbours = 0

    def add(self, truths: Table) -> None:
        """Count a batch of truths that are neighbours in the file."""
        self._neighbours += max(truths.n_rows - 1, 0)
        for name, counts in self._counts.items():
            codes = truths[name]
            counts += np.bincount(codes, minlength=len(counts))
            self._alike[name] += int(np.count_nonzero(codes[1:] == codes[:-1]))

    def sentences(self, *, is_mixed: bool) -> list[str]:
        """What to tell whoever is about to hand the file on; `is_mixed` says that its order is another one."""
        reasons = (None if is_mixed else self._order(), self._prior())
        return [sentence for sentence in reasons if sentence is not None]

    def _order(self) -> str | None:
        ordered = [name for name in self._counts if self._is_ordered(name)]
        if not ordered:
            return None
        most = max(ordered, key=lambda name: abs(self._alike[name] / self._neighbours - self._chance(name)))
        return (
            f"The truths are not in random order: neighbouring rows have the same {most} in "
            f"{self._alike[most] / self._neighbours:.0%} of cases, in random order {self._chance(most):.0%}. Reports keep the "
            "order of the rows, so a report's neighbours help to guess its answer; in a sorted file they tell it. Mix them: "
            "--shuffle."
        )

    def _chance(self, name: str) -> float:
        """The chance that two people have the same answer."""
        counts = self._counts[name]
        return float((counts * (counts - 1)).sum() / max(counts.sum() * (counts.sum() - 1), 1))

    def _is_ordered(self, name: str) -> bool:
        alike, shares = self._chance(name), self._counts[name] / max(self._counts[name].sum(), 1)
        # Two pairs of neighbours may share a person.
        variance = alike - alike**2 + 2 * max(float((shares**3).sum()) - alike**2, 0.0)
        excess = abs(self._alike[name] - self._neighbours * alike)
        noticed = NOTICED_DEVIATIONS * math.sqrt(self._neighbours * variance)
        return excess > max(noticed, NOTICED_SHARE * self._neighbours)

    def _prior(self) -> str | None:
        stated = [name for name in self._counts if self._states_counts(name)]
        if not stated:
            return None
        return (
            f"The prior of the scheme is how many people gave each answer to {', '.join(stated)}, to the last one, and the "
            "report file carries the scheme. Where that must not be known, design the scheme without --with-prior."
        )

    def _states_counts(self, name: str) -> bool:
        prior, counts = (self._scheme.prior or {}).get(name), self._counts[name]
        return prior is not None and bool(np.allclose(np.array(prior) * counts.sum(), counts, rtol=0, atol=1e-3))
