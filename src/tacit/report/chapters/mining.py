"""A tree, a classifier and rules, learned and tested without anybody's answers."""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

import numpy as np
from sklearn.base import clone

from tacit.mine.accuracy import disguised_accuracy
from tacit.mine.itemsets import FrequentItemsets
from tacit.mine.naive_bayes import NaiveBayesClassifier
from tacit.mine.rules import Rule, association_rules
from tacit.mine.tree_classifier import TreeClassifier
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Outline, OutlineNode, Text, WrittenTable
from tacit.reports import Reports

TARGET = "income"
DEPTH = 3  # as deep as a tree fits a screen
NAMED = 4  # answers of a branch that are written out
MIN_SUPPORT = 0.05
MIN_LIFT = 1.2
SHOWN = 8
ROUNDING = 1e-9  # an error of the size of everybody, which is known


def mining(data: DemoData) -> Chapter:
    """A tree and a naive Bayes classifier, each beside its twin that saw the truth; the surest rules."""
    test_rows = np.arange(data.truth.n_rows) % 5 == 0
    reports, tests = data.reports.rows(~test_rows), data.reports.rows(test_rows)
    truth, test_truth = data.truth.table.rows(~test_rows), data.truth.table.rows(test_rows)
    classes = np.bincount(test_truth[TARGET])
    tree = TreeClassifier(TARGET, splits="binary", max_depth=DEPTH).fit(reports)
    rows: list[tuple[object, ...]] = []
    far: list[tuple[str, float]] = []
    for name, model in (("decision tree", tree), ("naive Bayes", NaiveBayesClassifier(TARGET).fit(reports))):
        tested, clear = disguised_accuracy(model, tests), clone(model).fit(Reports.from_truth(truth))
        estimated = f"{tested.accuracy:.3f} ± {tested.standard_error:.3f}" if tested.is_known else "unknown"
        true = model.score(test_truth)
        rows.append((name, estimated, f"{true:.3f}", f"{clear.score(test_truth):.3f}"))
        if tested.is_known and abs(tested.accuracy - true) > 2 * tested.standard_error:
            far.append((name, abs(tested.accuracy - true) / tested.standard_error))
    rows.append(("always the most frequent", "-", f"{classes.max() / classes.sum():.3f}", "-"))
    return Chapter(
        "Mining: a tree, a classifier and rules",
        (
            Text(
                "Two models learn from four fifths of the reports to tell who earns more than 50K. The other fifth, also "
                "disguised, tests them: the first column is the share of right predictions as estimated from these reports, ± "
                "one standard error. The second is the true share, the third that of the same model learned from the "
                "true records. Naive Bayes looks at every answer, so all their disguises must be undone together to test it: "
                "its standard error is larger."
            ),
            WrittenTable(("model", "estimated from reports", "true", "learned from the truth"), rows),
            *_far_off(far),
            Text("The tree. Every number in it is an estimate from disguised reports, ± one standard error:"),
            Outline(_branch(tree.to_document(), "everybody")),
            Text(
                "Rules: answers that go together. A confidence of .8 means that 80% of the people to whom the left side applies "
                "also give the answer on the right; a lift of 4, that this is 4 times as frequent among them as among all. Shown "
                "are the rules with the largest lift, ± one standard error. Many were tried; of those that pass the test for a "
                f"lift above {MIN_LIFT:g}, at most 5% are expected to be wrong."
            ),
            WrittenTable(("if", "then", "confidence", "lift"), [_row(rule) for rule in _rules(data)]),
        ),
    )


def _far_off(far: list[tuple[str, float]]) -> list[Text]:
    """How often chance alone makes an estimate as wrong as these, so that nobody takes one for a fault."""
    return [
        Text(
            f"The estimate for {name} lies {errors:.1f} standard errors from the true share. By chance alone about one estimate "
            f"in {round(1 / erfc(errors / sqrt(2))):,} lies so far off.",
            "note",
        )
        for name, errors in far
    ]


def _branch(node: dict[str, Any], path: str) -> OutlineNode:
    share, size = node["class_shares"][">50K"], node["size"]
    below = tuple(
        _branch(branch["node"], f"{node['attribute']}: {_some(branch['answers'])}")
        for branch in node.get("branches", ())
    )
    class_share = f"{_percent(share, node['class_errors']['>50K'])} earn more than 50K"
    of_all = f" ({_percent(size, node['size_error'])} of all)" if node["size_error"] > ROUNDING else ""
    return OutlineNode(f"{path}: {class_share}{of_all}", below)


def _percent(share: float, error: float) -> str:
    """A share with its error in percent, with a decimal where the error would read as none."""
    places = 0 if error >= 0.005 else 1
    return f"{100 * share:.{places}f} ± {100 * error:.{places}f}%"


def _some(answers: list[str]) -> str:
    return (
        ", ".join(answers)
        if len(answers) <= NAMED
        else f"{', '.join(answers[: NAMED - 1])} or {len(answers) - NAMED + 1} others"
    )


def _rules(data: DemoData) -> list[Rule]:
    """Rules with one answer on the right, no two with the same answers."""
    itemsets = FrequentItemsets(MIN_SUPPORT, slack=0.5).fit(data.reports).itemsets_
    rules: dict[frozenset[Any], Rule] = {}
    for rule in association_rules(itemsets, "lift", MIN_LIFT):
        if len(rule.consequents) == 1:
            rules.setdefault(frozenset((*rule.antecedents, *rule.consequents)), rule)
    return list(rules.values())[:SHOWN]


def _row(rule: Rule) -> tuple[str, ...]:
    sides = [", ".join(f"{name} {answer}" for name, answer in side) for side in (rule.antecedents, rule.consequents)]
    numbers = (rule.confidence, rule.lift)
    return (*sides, *(f"{number.value:.2f} ± {number.standard_error:.2f}" for number in numbers))
