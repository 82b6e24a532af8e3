"""What can be predicted about a person, learned from disguised reports and tested on disguised reports."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from tacit.mine.accuracy import disguised_accuracy
from tacit.mine.naive_bayes import NaiveBayesClassifier
from tacit.mine.tree_classifier import TreeClassifier
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Picture, Rows, Text
from tacit.reports import Reports

TARGET = "income"


def mine(data: DemoData) -> Chapter:
    """A tree and a naive Bayes classifier, each beside its twin that saw the truth."""
    people = np.arange(data.truth.n_rows)
    test_rows = people % 5 == 0
    reports, tests = data.reports.rows(~test_rows), data.reports.rows(test_rows)
    truth, test_truth = data.truth.table.rows(~test_rows), data.truth.table.rows(test_rows)
    classes = np.bincount(test_truth[TARGET])
    tree, bayes = TreeClassifier(TARGET).fit(reports), NaiveBayesClassifier(TARGET).fit(reports)
    rows: list[tuple[object, ...]] = []
    for name, model in (("decision tree", tree), ("naive Bayes", bayes)):
        tested, clear = disguised_accuracy(model, tests), clone(model).fit(Reports.from_truth(truth))
        estimated = f"{tested.accuracy:.3f} ± {tested.standard_error:.3f}" if tested.is_known else "unknown"
        rows.append((name, estimated, f"{model.score(test_truth):.3f}", f"{clear.score(test_truth):.3f}"))
    rows.append(("always the most frequent class", "-", f"{classes.max() / classes.sum():.3f}", "-"))
    return Chapter(
        "Mine: a tree and a classifier, learned and tested without anybody's answers",
        (
            Text(
                "Every number inside these models is an estimate from disguised reports. Their accuracy is estimated from "
                "other people's reports that are disguised as well, and shown beside the true one; ± is one standard error."
            ),
            Rows(
                ("model", "accuracy estimated from disguised reports", "true accuracy", "learned from the truth"), rows
            ),
            Picture(
                tree.plot(max_depth=2), f"The tree for {TARGET}: estimated class shares, sizes and standard errors."
            ),
            Text("The largest leaves in words: " + " ".join(tree.rules()[:3]), "note"),
        ),
    )
