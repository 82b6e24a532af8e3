"""Pruning with further reports: by hand on clear ones, and for the better on disguised ones."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Reports, Scheme, TreeClassifier, channels
from tacit.disguising import disguise
from tacit.errors import InvalidInput, SchemeMismatch
from tests.estimation.simulation import SCHEMES, people, simulated

GROWN_ON = {"a": list("nnnnyyyy"), "b": list("nnyynyny"), "class": list("00010111")}
ASIDE = {"a": list("nnyyyn"), "b": list("nyynnn"), "class": list("001100")}


def clear(rows: dict[str, list[str]]) -> Reports:
    return Reports.from_truth(tacit.Dataset.from_arrow(rows))


def test_splits_that_do_not_pay_on_other_people_go() -> None:
    tree = TreeClassifier("class").fit(clear(GROWN_ON))
    assert tree.tree_.depth == 2
    smaller = tree.pruned(clear(ASIDE))
    assert smaller.tree_.attribute == "a"  # a tells the class of everybody aside, so only b goes
    assert smaller.tree_.depth == 1
    assert tree.tree_.depth == 2


def test_disguised_reports_prune_like_clear_ones_when_there_are_many() -> None:
    truth = people(60_000, np.random.default_rng(4))
    overgrown = TreeClassifier("drinks", significance=0).fit(simulated(SCHEMES["warner"], 200, 5))
    by_truth = overgrown.pruned(Reports.from_truth(truth))
    by_reports = overgrown.pruned(disguise(tacit.Dataset(truth), SCHEMES["gamma"], seed=2))
    assert by_truth.score(truth) >= overgrown.score(truth)
    assert by_reports.score(truth) > overgrown.score(truth) - 0.002
    assert by_reports.tree_.n_leaves < overgrown.tree_.n_leaves


def test_refusals() -> None:
    tree = TreeClassifier("class").fit(clear(GROWN_ON))
    with pytest.raises(SchemeMismatch, match="needs 'b'"):
        tree.pruned(clear({"a": ["n", "y"], "class": ["0", "1"]}))
    with pytest.raises(SchemeMismatch, match="'a' differently"):
        tree.pruned(clear({**ASIDE, "a": list("nnyxyn")}))
    with pytest.raises(InvalidInput, match="plain arrays"):
        TreeClassifier().fit(np.array([["a"], ["b"]]), np.array([0, 1])).pruned(clear(ASIDE))


@pytest.mark.slow
def test_reports_that_never_ask_together_take_the_split_away() -> None:
    tree = TreeClassifier("class").fit(clear(GROWN_ON))
    schema = tree.schema_
    dealt = Scheme.dealt(schema, [
        ("one", 0.5, [(["a", "class"], channels.warner(0.9))]), ("two", 0.5, [(["b"], channels.warner(0.9))]),
    ])  # fmt: skip
    many = tacit.Dataset.from_arrow({name: column * 300 for name, column in ASIDE.items()}, schema)
    assert tree.pruned(disguise(many, dealt, seed=1)).needed_names_ == ("a",)
