from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest

from tacit.publish import local
from tacit.publish.local import recode_locally
from tacit.publish.peeling import peeled_classes
from tacit.publish.problem import Diversity, Presence
from tacit.publish.tally import tally_rows
from tests.publish.small import attribute, is_diverse, posed, small_tally

SIZES = (8, 8, 8, 4, 4, 4)


def by_twos(size: int) -> np.ndarray:
    """Neighbours merged by eights, fours and twos, coarsest first."""
    return np.stack([np.zeros(size, np.int64), *(np.arange(size) // width for width in (4, 2, 1))])


LEVELS = [by_twos(size) for size in SIZES]


def labels(problem, classes):
    """Of each class the finest group of every attribute that holds all of its answers."""
    shown = {}
    for number in set(classes.tolist()) - {-1}:
        own = problem.tally.codes[classes == number]
        groups = []
        for column, levels in zip(own.T, LEVELS, strict=True):
            blocks = next(blocks for blocks in levels[::-1] if len(set(blocks[column].tolist())) == 1)
            groups.append(tuple(np.flatnonzero(blocks == blocks[column[0]]).tolist()))
        shown[number] = tuple(groups)
    return shown


def released(problem, classes) -> dict[tuple, Counter]:
    """The sensitive answers (or just rows) that stand beside each label in the release."""
    shown, classes_of_labels = labels(problem, classes), {}
    for number, count, secret in zip(
        classes.tolist(), problem.tally.counts, problem.tally.sensitive_codes, strict=True
    ):
        if number >= 0:
            classes_of_labels.setdefault(shown[number], Counter())[tuple(secret)] += int(count)
    return classes_of_labels


def nwp(problem, classes) -> float:
    """The loss as it is defined: row by row, left out ones losing everything."""
    shown, tally = labels(problem, classes), problem.tally
    lost = [
        1.0
        if number < 0
        else sum(
            weight * (len(group) - 1) / (size - 1)
            for weight, group, size in zip(problem.weights, shown[number], tally.sizes, strict=True)
        )
        for number in classes.tolist()
    ]
    return float(np.average(lost, weights=tally.counts))


def cut_alone(problem, monkeypatch) -> np.ndarray:
    with monkeypatch.context() as patched:
        patched.setattr(local, "peeled_classes", lambda _: None)
        return recode_locally(problem).classes


@pytest.mark.parametrize("k", [2, 5, 12])
@pytest.mark.parametrize("suppress", [0.0, 0.05])
def test_peeling_never_loses_more_than_cutting_and_keeps_k(k, suppress, monkeypatch):
    for tally in (*(small_tally(seed, SIZES, rows=300) for seed in range(8)), *map(clustered, range(3))):
        problem = posed(tally, k, suppress=suppress, levels=LEVELS)
        found = recode_locally(problem)
        cut = cut_alone(problem, monkeypatch)
        assert found.complete
        assert min(rows.total() for rows in released(problem, found.classes).values()) >= k
        assert problem.tally.counts[found.classes < 0].sum() <= suppress * tally.rows
        assert nwp(problem, found.classes) <= nwp(problem, cut) + 1e-12
        assert np.array_equal(found.classes, recode_locally(problem).classes)


def clustered(seed: int):
    """Rows near a few profiles, with some strange answers: what is rare is spread over all groups."""
    rng = np.random.default_rng(seed)
    profiles = rng.integers(0, SIZES, (6, len(SIZES)))[rng.integers(0, 6, 1500)]
    codes = np.where(rng.random(profiles.shape) < 0.12, rng.integers(0, SIZES, profiles.shape), profiles)
    attributes = tuple(attribute("abcdef"[j], size) for j, size in enumerate(SIZES))
    return tally_rows(attributes, codes, np.ones(len(codes), np.int64))


def test_peeling_loses_less_where_rare_rows_are_spread_over_all_groups(monkeypatch):
    problem = posed(clustered(1), 10, levels=LEVELS)
    assert nwp(problem, recode_locally(problem).classes) < 0.8 * nwp(problem, cut_alone(problem, monkeypatch))


@pytest.mark.parametrize("diversity", [Diversity(l=3), Diversity(l=2.5, entropy=True), Diversity(t=0.35)])
def test_peeled_classes_are_as_diverse_as_asked(diversity):
    for seed in range(6):
        problem = posed(small_tally(seed, SIZES, rows=300, sensitive=4), 4, diversity=diversity, levels=LEVELS)
        classes = peeled_classes(problem)
        assert classes is not None
        shown = released(problem, classes)
        whole = sum(shown.values(), Counter())
        assert len(shown) > 3
        assert all(rows.total() >= 4 and is_diverse(rows, whole, diversity) for rows in shown.values())
        # Rows with the same answers are published together, whatever their sensitive answers.
        same = problem.tally.combinations.number
        assert all(len(set(classes[same == number].tolist())) == 1 for number in range(same.max() + 1))


def test_what_is_left_of_a_group_after_its_parts_are_gone_is_a_class():
    problem = posed(small_tally(1, SIZES, rows=300), 5, levels=LEVELS)
    shown = set(labels(problem, peeled_classes(problem)).values())
    nested = [
        (one, other)
        for one in shown
        for other in shown
        if one != other and all(set(a) <= set(b) for a, b in zip(one, other, strict=True))
    ]
    assert nested


def test_nothing_is_peeled_where_an_attribute_is_cut_freely_or_people_are_counted():
    tally = small_tally(1, SIZES, rows=300)
    assert peeled_classes(posed(tally, 5, levels=[None, *LEVELS[1:]])) is None
    assert peeled_classes(posed(tally, 301, levels=LEVELS)) is None
    peopled = dataclasses.replace(tally, people=tally.counts)
    assert peeled_classes(posed(peopled, 5, presence=Presence(k_map=7), levels=LEVELS)) is None


def test_an_interruption_while_boxes_are_cut_leaves_what_was_peeled(monkeypatch):
    problem = posed(small_tally(1, SIZES, rows=300), 5, levels=LEVELS)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(local, "best_cut", interrupted)
    found = recode_locally(problem)
    assert not found.complete
    assert np.array_equal(found.classes, peeled_classes(problem))
