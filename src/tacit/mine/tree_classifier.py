"""Decision trees from disguised reports (multi-group randomized response), for any channel of the scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.protocol import Array
from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput, UnknownName
from tacit.mine.classifier import ReportClassifier, checked_class_shares, checked_target
from tacit.mine.growth import Rules, Splits, grown
from tacit.mine.impurity import CRITERIA, Criterion
from tacit.mine.tables import node_tables
from tacit.mine.tree import as_text, predicted
from tacit.table import Table


class TreeClassifier(ReportClassifier):
    """A decision tree whose every probability is estimated from the reports.

    Parameters
    ----------
    target:
        Name of the class among the attributes of the reports.
    criterion:
        What a split should gain: information ("gain", ID3), gain ratio ("ratio") or purity ("gini").
    splits:
        "multiway" makes one branch per answer, "binary" two branches.
    significance:
        By how many standard errors of the disguise the class shares of two branches must differ for a split to be made;
        0 is the published rule, which always splits.
    max_depth, min_share:
        Bounds on the depth, and on the estimated share of people in a node that may be split.
    method:
        "inversion", or "likelihood" for the most likely joint distribution where it fits memory.
    class_shares:
        The distribution of the classes where it is known, as a list in the order of the answers or by answer; every
        estimate is then made to agree with it.

    >>> import tacit
    >>> from tacit.bundled import binary_votes
    >>> tree = tacit.TreeClassifier(target="Class").fit(tacit.Reports.from_truth(binary_votes()))
    >>> tree.score(binary_votes()) > 0.95
    True
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        criterion: Criterion = "gain",
        splits: Splits = "multiway",
        significance: float = 2.5,
        max_depth: int | None = None,
        min_share: float = 0.0,
        method: Literal["inversion", "likelihood"] = "inversion",
        class_shares: Sequence[float] | Mapping[str, float] | None = None,
    ) -> None:
        self.target = target
        self.criterion = criterion
        self.splits = splits
        self.significance = significance
        self.max_depth = max_depth
        self.min_share = min_share
        self.method = method
        self.class_shares = class_shares

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        rules = self._checked_rules()
        tables = node_tables(reports, likelihood=self.method == "likelihood")
        self.schema_, self.n_reports_ = tables.schema, tables.n_reports
        self.target_ = checked_target(tables.schema, target)
        known = checked_class_shares(self.class_shares, self.target_)
        self.tree_ = grown(tables.people(target), self.target_.size, rules, known)
        return self

    def _checked_rules(self) -> Rules:
        if self.criterion not in CRITERIA:
            raise UnknownName("Criterion", str(self.criterion), CRITERIA)
        if self.splits not in ("multiway", "binary"):
            raise UnknownName("Way to split", str(self.splits), ("multiway", "binary"))
        if self.method not in ("inversion", "likelihood"):
            raise UnknownName("Method", str(self.method), ("inversion", "likelihood"))
        if not self.significance >= 0:
            raise InvalidInput(f"significance is a number of standard errors of at least 0, not {self.significance!r}.")
        return Rules(self.criterion, self.splits, self.significance, self.max_depth, self.min_share)

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        return predicted(self.tree_, table, self.target_.size)

    @property
    def needed_names_(self) -> tuple[str, ...]:
        """Names of the attributes that the tree splits on, in the order of the schema."""
        used = {node.attribute for node in self.tree_.walk()}
        return tuple(name for name in self.schema_.names if name in used)

    def to_text(self) -> str:
        """The tree, one line per node."""
        return as_text(self.tree_, self.schema_, self.target_)
