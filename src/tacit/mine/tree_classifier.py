"""Decision trees from disguised reports (multi-group randomized response), for any channel of the scheme."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tacit.channel.base import Array
from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput, TacitError, UnknownName
from tacit.estimation.result import Sampling, checked_sampling
from tacit.estimation.subgroups import Subgroup
from tacit.mine.classifier import ReportClassifier, checked_class_shares, checked_target
from tacit.mine.count_sources import (
    METHODS,
    Method,
    counted_subgroup,
    joint_may_pay,
    learned_from,
    modelled_subgroup,
    ordered_sources,
)
from tacit.mine.division import LoadedReports, folds, loaded_reports
from tacit.mine.growth import CRITERIA, Criterion, Guard, SplitRules, Splits, grow_tree
from tacit.mine.held_out import is_comparable, tree_logs
from tacit.mine.predictions import checked_attributes
from tacit.mine.pruning import prune_tree
from tacit.mine.tree import predict_rows
from tacit.mine.tree_plot import plot_tree
from tacit.mine.tree_text import as_document, as_rules, as_text
from tacit.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Chosen by experiment, on other data than any result is reported on (docs/notes/tree-guards.md). The errors are those of
# inversion for both: the likelihood estimate is steadier, so less is asked of it, and of an answer only that its class is ahead.
GUARDS: dict[Method, Guard] = {
    "inversion": Guard(chance=0.1, label=2, size=2),
    "likelihood": Guard(split=1),
    "joint": Guard(chance=0.1, label=2, size=2),
}
REASONS: dict[Method, str] = {
    "inversion": "the reports tell enough without a model",
    "likelihood": "inversion of such a disguise would be mostly noise",
}
# Of so many parts one is kept from the trees that are compared by how likely they make it.
PARTS = 5


class TreeClassifier(ReportClassifier):
    """A decision tree whose every probability is estimated from the reports.

    Parameters
    ----------
    target:
        Name of the class among the attributes of the reports.
    criterion:
        What a split should gain: information ("gain", ID3), gain ratio ("ratio") or purity ("gini").
    splits:
        "binary" makes two branches, "multiway" one for each answer.
    significance:
        By how many standard errors a branch must differ from the others for a split to be made. Without it, by so many
        that a node of people among whom no answer has to do with the class is split with a chance of 10% at most, however
        many splits are looked at; for likelihood by 1. A node answers otherwise than the one above it where a class
        is ahead, for inversion by two errors. 0 with inversion is the published rule, without any of it.
    max_depth, min_share:
        Bounds on the depth, and on the estimated share of people in a node that may be split.
    method:
        "inversion"; "likelihood" for the most likely joint distribution where it fits memory; "joint" for a model of whole
        records (`tacit.fit_joint`). "auto" takes likelihood where flips hide so much that inversion is mostly noise, and
        where several groups hide much, inversion or the model, whose tree makes held-out reports likelier. `method_` says
        which it was.
    sampling:
        Whom these errors are for. "respondents": just the people who answered, so that clear data give the tree of clear
        data; a weak disguise then shows links that only chance made among them. "population": the people they were drawn
        from, so that the 10% hold for links in the population.
    class_shares:
        The distribution of the classes where it is known, as a list in the order of the answers or by answer; every
        estimate is then made to agree with it.

    Examples
    --------
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
        splits: Splits = "binary",
        significance: float | None = None,
        max_depth: int | None = None,
        min_share: float = 0.0,
        method: Method = "auto",
        sampling: Sampling = "respondents",
        class_shares: Sequence[float] | Mapping[str, float] | None = None,
    ) -> None:
        self.target = target
        self.criterion = criterion
        self.splits = splits
        self.significance = significance
        self.max_depth = max_depth
        self.min_share = min_share
        self.method = method
        self.sampling = sampling
        self.class_shares = class_shares

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        self._checked_choices()
        origins, self.schema_ = ordered_sources(reports)
        self.n_reports_ = sum(source.engine.n_rows for source in origins)
        self.target_ = checked_target(self.schema_, target)
        class_shares = checked_class_shares(self.class_shares, self.target_)
        subgroup, self.method_ = counted_subgroup(
            origins, self.schema_, target, self.method, with_errors=self.significance != 0
        )
        self.reason_ = "as asked" if self.method != "auto" else REASONS[self.method_]
        # Where models are being compared, one of whole records is among them anyway.
        may_model = self.method == "auto" and self.significance != 0 and not isinstance(reports, LoadedReports)
        if may_model and self.method_ == "inversion" and joint_may_pay(origins, subgroup):
            subgroup, self.method_, self.reason_ = self._likelier(reports, subgroup, target)
        self.error_rule_ = subgroup.error_rule
        self.tree_ = grow_tree(subgroup, self.target_.size, self._rules(), class_shares)
        return self

    def _likelier(
        self, reports: ReportSource | Sequence[ReportSource], subgroup: Subgroup, target: str
    ) -> tuple[Subgroup, Method, str]:
        """The people as estimated or as a model of whole records has them: whose tree makes held-out reports likelier.

        The model is fitted only if it may be chosen: not where the estimated tree cannot be compared with one.
        """
        untold = "reports are strongly disguised, but a model of whole records could not be compared with them"
        try:
            loaded = loaded_reports(reports)
            learning, testing = next(folds(loaded, PARTS, 0))
            estimated, _ = counted_subgroup(learning.sources(), self.schema_, target)
            tree = grow_tree(estimated, self.target_.size, self._rules())
            if not is_comparable(tree, self.schema_, target, testing.sources()):
                return subgroup, "inversion", untold
            modelled = modelled_subgroup(learning.joint, self.schema_, target, estimated, learning.sources())
            trees = [tree, grow_tree(modelled, self.target_.size, self._rules())]
            logs = tree_logs(trees, learning.joint, target, testing.sources())
            if logs is None:
                return subgroup, "inversion", untold
            if logs[1] <= logs[0]:
                return subgroup, "inversion", "a model of whole records made held-out reports no likelier"
            likelier = modelled_subgroup(loaded.joint, self.schema_, target, subgroup, loaded.sources())
            return likelier, "joint", "its tree made held-out reports likelier than unbiased estimates did"
        except TacitError:  # the model cannot be had: a group too large to be weighed, too few reports to divide
            return subgroup, "inversion", untold

    def _checked_choices(self) -> None:
        if self.criterion not in CRITERIA:
            raise UnknownName("Criterion", str(self.criterion), CRITERIA)
        if self.splits not in ("multiway", "binary"):
            raise UnknownName("Way to split", str(self.splits), ("multiway", "binary"))
        if self.method not in METHODS:
            raise UnknownName("Method", str(self.method), METHODS)
        checked_sampling(self.sampling)
        if self.significance is not None and not self.significance >= 0:
            raise InvalidInput(f"significance is a number of standard errors of at least 0, not {self.significance!r}.")
        if self.max_depth is not None and not (isinstance(self.max_depth, numbers.Integral) and self.max_depth >= 0):
            raise InvalidInput(f"max_depth is a whole number from 0 up, or None for no limit, not {self.max_depth!r}.")

    def _rules(self) -> SplitRules:
        guard = GUARDS[self.method_]
        if self.significance is not None:
            guard = Guard(split=self.significance, label=min(self.significance, guard.label))
        return SplitRules(self.criterion, self.splits, guard, self.max_depth, self.min_share, self.sampling)

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        return predict_rows(self.tree_, table, self.target_.size)

    @property
    def majority_share_(self) -> float:
        """The estimated share of the most frequent class: what answering blindly gets right."""
        return float(self.tree_.class_shares.max())

    @property
    def constant_code_(self) -> int:
        """What a tree without a split always predicts."""
        return int(self.tree_.label)

    @property
    def needed_names_(self) -> tuple[str, ...]:
        """Names of the attributes that the tree splits on, in the order of the schema."""
        used = {node.attribute for node in self.tree_.walk()}
        return tuple(name for name in self.schema_.names if name in used)

    def pruned(self, reports: ReportSource | Sequence[ReportSource]) -> Self:
        """A tree without the splits that do not raise the accuracy estimated from further reports, disguised or not.

        Reduced-error pruning, from the leaves up; what the nodes say of themselves stays as it was fitted.
        """
        check_is_fitted(self)
        if self._coding is not None:
            raise InvalidInput(
                "A tree that was fitted on plain arrays cannot be pruned with reports. Fit it on reports too: "
                "fit(Reports.from_truth(dataset))."
            )
        origins, schema = ordered_sources(reports)
        checked_attributes(schema, [*(self.schema_[name] for name in self.needed_names_), self.target_])
        subgroup, _ = counted_subgroup(origins, schema, self.target_.name, with_errors=False)
        smaller = copy.copy(self)
        smaller.tree_ = prune_tree(self.tree_, subgroup, self.schema_)
        return smaller

    @property
    def learned_from_(self) -> str:
        """Which estimate the tree was learned from, and why."""
        return learned_from(self.method_, self.n_reports_, self.reason_)

    def to_text(self) -> str:
        """The tree, one line per node."""
        check_is_fitted(self)
        return as_text(self.tree_, self.schema_, self.target_)

    def rules(self) -> list[str]:
        """The tree as one sentence for each leaf, the largest leaves first."""
        check_is_fitted(self)
        return as_rules(self.tree_, self.schema_, self.target_)

    def plot(self, *, max_depth: int = 4) -> Figure:
        """The tree as a matplotlib figure, down to a depth that can be read."""
        check_is_fitted(self)
        return plot_tree(self.tree_, self.schema_, self.target_, max_depth)

    def to_document(self) -> dict[str, Any]:
        """The tree for JSON: nested nodes with their estimates and errors."""
        check_is_fitted(self)
        return as_document(self.tree_, self.schema_, self.target_)
