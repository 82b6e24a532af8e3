"""A tree in words and as a picture."""

from __future__ import annotations

import io

import pytest

import tacit
from tacit import Reports, TreeClassifier
from tests.estimation.simulation import SCHEMES, simulated

ROWS = {"wet": ["no", "no", "yes", "yes"], "warm": ["no", "yes", "no", "yes"], "swim": ["no", "no", "no", "yes"]}


@pytest.fixture
def tree() -> TreeClassifier:
    return TreeClassifier("swim").fit(Reports.from_truth(tacit.Dataset.from_arrow(ROWS)))


def test_an_outline_has_a_line_per_node(tree: TreeClassifier) -> None:
    assert tree.to_text().splitlines() == [
        "no (75% ± 22% of 100.0% ± 0.0% of all)",
        "  wet = no: no (100% ± 0% of 50.0% ± 25.0% of all)",
        "  wet = yes: no (50% ± 35% of 50.0% ± 25.0% of all)",
        "    warm = no: no (100% ± 0% of 25.0% ± 21.7% of all)",
        "    warm = yes: yes (100% ± 0% of 25.0% ± 21.7% of all)",
        "± is one standard error.",
    ]


def test_rules_are_sentences_the_largest_leaf_first(tree: TreeClassifier) -> None:
    first, *_, last = tree.rules()
    assert first == "If wet = no, then swim = no (100% ± 0% of 50.0% ± 25.0% of all)."
    assert last.startswith("If wet = yes and warm = yes, then swim = yes")
    stump = TreeClassifier("swim", max_depth=0).fit(Reports.from_truth(tacit.Dataset.from_arrow(ROWS)))
    assert stump.rules()[0].startswith("Always swim = no")


def test_a_leaf_where_nobody_is_estimated_to_be_says_so() -> None:
    for seed in range(20):
        tree = TreeClassifier("drinks", significance=0).fit(simulated(SCHEMES["warner"], 100, seed))
        if any(node.size <= 0 for node in tree.tree_.walk()):
            assert "nobody is estimated to be here" in tree.to_text()
            return
    pytest.fail("no tree had an empty leaf")


def test_the_document_nests_every_node(tree: TreeClassifier) -> None:
    document = tree.to_document()
    assert document["attribute"] == "wet"
    assert document["branches"][1]["answers"] == ["yes"]
    assert document["branches"][1]["node"]["branches"][1]["node"]["label"] == "yes"
    assert document["class_shares"] == {"no": 0.75, "yes": 0.25}


@pytest.mark.slow
def test_the_picture_shows_every_drawn_node() -> None:
    model = TreeClassifier("drinks", splits="multiway", significance=0).fit(simulated(SCHEMES["gamma"], 3000, 2))
    figure = model.plot(max_depth=2)
    texts = [text.get_text() for text in figure.axes[0].texts]
    drawn = [node for node in model.tree_.walk() if node.size_error >= 0]
    assert sum("±" in text for text in texts) <= len(drawn)
    assert any("…" in text for text in texts)
    assert "age = middle" in texts
    figure.savefig(io.BytesIO(), format="svg")
    assert len(model.plot(max_depth=0).axes[0].texts) == 1
