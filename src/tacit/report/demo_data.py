"""The demonstration's material: bundled truth, a scheme, and the reports everything else is learned from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tacit.bundled import load_adult
from tacit.channel import gamma_diagonal
from tacit.channel.base import Array
from tacit.channel.scheme import Scheme
from tacit.count import sources
from tacit.dataset import Dataset
from tacit.disguising import disguise
from tacit.reports import Reports

PUBLIC = ("sex", "age")
PRIVATE = ("education", "marital-status", "hours-per-week", "income")
# Every private answer gets its own disguise: five times as likely to report the truth as any one other answer.
GAMMA = 5.0


@dataclass(frozen=True, eq=False)
class DemoData:
    """What the chapters share; each thing is made when the first of them asks for it."""

    seed: int

    @cached_property
    def truth(self) -> Dataset:
        """Census records that the bundled data set makes public; a real survey would never hold them."""
        return load_adult().select((*PUBLIC, *PRIVATE))

    @cached_property
    def scheme(self) -> Scheme:
        return Scheme.from_groups(self.truth.schema, [([name], gamma_diagonal(GAMMA)) for name in PRIVATE])

    @cached_property
    def reports(self) -> Reports:
        return disguise(self.truth, self.scheme, seed=self.seed)

    def true_shares(self, names: list[str]) -> Array:
        """The table of the truth itself, for comparison only."""
        (source,) = sources(Reports.from_truth(self.truth))
        return source.engine.tally(names) / self.truth.n_rows
