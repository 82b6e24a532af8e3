"""Classifiers and rules mined from disguised reports, in the questionnaire's own words, and nothing about a few people.

What a model says of public answers alone counts people. So it keeps to the tables' rule: no cell of fewer than ten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from tacit.count.sources import ReportSource
from tacit.errors import TacitError
from tacit.schema import Attribute, Schema
from tacit.survey.answer_tables import FEWEST_IN_CELL, AnswerTables
from tacit.survey.definition import Definition

if TYPE_CHECKING:
    from tacit.mine.tree import Node

# A tree that a researcher reads on a page, and that a respondent's device applies.
DEEPEST_TREE = 4
LEAST_SUPPORT, LEAST_CONFIDENCE, LONGEST_ITEMSET, MOST_RULES = 0.05, 0.6, 3, 20


@dataclass(frozen=True)
class MinedModel:
    """A model as the dashboard shows it; `document` is what a second round could offer."""

    title: str
    text: str
    document: dict[str, Any] | None = None


@dataclass(frozen=True)
class Spoken:
    """The attributes of a survey as people read them: the questions' texts, and the answers'."""

    definition: Definition

    def __getitem__(self, name: str) -> Attribute:
        attribute = self.definition.scheme.schema[name]
        texts = [self.definition.answer_text(name, answer) for answer in attribute.answers]
        # Two answers that read alike keep the names that tell them apart.
        answers = tuple(texts) if len(set(texts)) == len(texts) else attribute.answers
        return Attribute(self.definition.label(name), answers, ordered=attribute.ordered)

    def said(self, items: Sequence[tuple[str, str]]) -> str:
        return ", ".join(
            f"{self.definition.label(name)} = {self.definition.answer_text(name, answer)}" for name, answer in items
        )


def mine_model(reports: ReportSource, target: str, definition: Definition) -> list[MinedModel]:
    """The models that predict `target`; where one cannot be had, the reason stands in its place."""
    long = [definition.label(name) for name in definition.scheme.schema.names if definition.is_long(name)]
    if long:
        text = f"Not mined: {'; '.join(long)} has more answers than a model on this page can tell apart."
        return [MinedModel("Models", text)]
    crowd = Crowd.of(reports, target, definition)
    if target in crowd.few:
        text = f"Not mined: fewer than {FEWEST_IN_CELL} people gave some answer to “{definition.label(target)}”."
        return [MinedModel("Models", text)]
    models = []
    for title, mine in _MINERS.items():
        try:
            models.append(mine(reports, target, Spoken(definition), crowd))
        except TacitError as error:
            models.append(MinedModel(title, str(error)))
    return models


@dataclass(frozen=True)
class Crowd:
    """How many people a model is about, and the public questions of which it would show too few."""

    n_reports: int
    public: frozenset[str]
    few: frozenset[str]

    @classmethod
    def of(cls, reports: ReportSource, target: str, definition: Definition) -> Crowd:
        from tacit.estimation import estimate

        tables, public = AnswerTables(definition, reports, 0), frozenset(definition.scheme.public_names)
        beside = (target,) if target in public else ()
        few = {name for name in public - {target} if tables.shows_few(*beside, name)}
        if beside and tables.shows_few(target):
            few.add(target)
        counted = estimate(reports, [target])
        return cls(counted.n_reports, public, frozenset(few))

    def is_few(self, share: float) -> bool:
        return share * self.n_reports < FEWEST_IN_CELL - 0.5

    def pruned(self, node: Node, *, is_public: bool) -> Node:
        """The tree without splits that lead to few people, or to few of one class where classes are public."""
        below = tuple(replace(branch, node=self.pruned(branch.node, is_public=is_public)) for branch in node.branches)
        parts = [
            branch.node.size * share
            for branch in below
            for share in (branch.node.class_shares if is_public else (1.0,))
        ]
        return node.leaf() if any(map(self.is_few, parts)) else replace(node, branches=below)

    def may_show(self, names: Sequence[str], support: float, antecedent: float) -> bool:
        """Whether a rule may be shown: of public answers alone, neither who it holds for nor who it fails for are few."""
        return not set(names) <= self.public or not (self.is_few(support) or self.is_few(antecedent - support))


def _tree(reports: ReportSource, target: str, spoken: Spoken, crowd: Crowd) -> MinedModel:
    from tacit.mine import TreeClassifier
    from tacit.mine.exported import classifier_document
    from tacit.mine.tree_text import as_text

    fitted = TreeClassifier(target=target, max_depth=DEEPEST_TREE, method="inversion").fit(reports)
    tree = crowd.pruned(fitted.tree_, is_public=target in crowd.public)
    text = as_text(tree, cast(Schema, spoken), spoken[target])
    return MinedModel("Decision tree", text, classifier_document(fitted))


def _naive_bayes(reports: ReportSource, target: str, spoken: Spoken, crowd: Crowd) -> MinedModel:
    from tacit.mine import NaiveBayesClassifier
    from tacit.mine.exported import classifier_document

    fitted = NaiveBayesClassifier(target=target).fit(reports)
    rows = [(spoken[target].name, fitted.class_shares_)]
    for table in fitted.likelihoods_:
        attribute = spoken[table.attribute.name]
        if table.attribute.name in crowd.few:
            continue
        rows += [
            (f"{attribute.name} = {answer}", shares)
            for answer, shares in zip(attribute.answers, table.shares, strict=True)
        ]
    lines = [_align_lines(spoken[target].answers, rows)]
    if crowd.few:
        left = "; ".join(spoken.definition.label(name) for name in sorted(crowd.few))
        lines.append(f"Not shown, because it would be about fewer than {FEWEST_IN_CELL} people: {left}.")
    return MinedModel("Naive Bayes", "\n".join(lines), classifier_document(fitted))


def _align_lines(classes: Sequence[str], rows: Sequence[tuple[str, Any]]) -> str:
    """Shares under their classes."""
    name_width, width = max(len(name) for name, _ in rows), max(8, *map(len, classes))
    lines = [" " * name_width + "".join(f"  {answer:>{width}}" for answer in classes)]
    lines += [f"{name:{name_width}}" + "".join(f"  {share:{width}.1%}" for share in shares) for name, shares in rows]
    return "\n".join(lines)


def _rules(reports: ReportSource, target: str, spoken: Spoken, crowd: Crowd) -> MinedModel:
    from tacit.mine import FrequentItemsets, association_rules
    from tacit.mine.itemset_result import ERRORS

    frequent = FrequentItemsets(min_support=LEAST_SUPPORT, max_length=LONGEST_ITEMSET).fit(reports)
    rules = [
        f"{spoken.said(rule.antecedents)} → {spoken.said(rule.consequents)}: "
        f"{rule.confidence.value:.1%} ± {rule.confidence.standard_error:.1%}"
        for rule in association_rules(frequent.itemsets_, min_threshold=LEAST_CONFIDENCE)
        if [attribute for attribute, _ in rule.consequents] == [target]
        and crowd.may_show(
            [name for name, _ in (*rule.antecedents, *rule.consequents)],
            rule.support.value,
            rule.antecedent_support,
        )
    ]
    text = "\n".join([*rules[:MOST_RULES], ERRORS]) if rules else ""
    label = spoken.definition.label(target)
    none = f"No rule leads to “{label}” with a confidence of {LEAST_CONFIDENCE:.0%} that is certain at 95%."
    return MinedModel("Rules", "\n".join(filter(None, [text or none, *frequent.itemsets_.notes])))


_MINERS: dict[str, Callable[[ReportSource, str, Spoken, Crowd], MinedModel]] = {
    "Decision tree": _tree,
    "Naive Bayes": _naive_bayes,
    "Rules": _rules,
}
