"""The page's sampler is the scheme's channel: exactly, branch by branch, for every kind a survey can use."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from tacit.channel import KINDS, Recipe
from tacit.channel.base import Channel
from tacit.channel.program import law
from tests.survey.page import node

FALSE_ALARM = 1e-6

LABELLED = [[0.5, 0.2, 0.1], [0.2, 0.5, 0.1], [0.2, 0.2, 0.3], [0.1, 0.1, 0.5]]
CASES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2,), {"kind": "warner", "p": 0.7}),
    ((5,), {"kind": "warner", "p": 0.1}),
    ((2, 3), {"kind": "warner", "p": 0.4}),
    ((4,), {"kind": "uniform-perturbation", "q": 0.3}),
    ((2, 3), {"kind": "uniform-perturbation", "q": 0.35}),
    ((3,), {"kind": "gamma-diagonal", "gamma": 7 / 3}),
    ((2, 2, 3), {"kind": "gamma-diagonal", "gamma": 5}),
    ((3,), {"kind": "mixture", "keep": 0.6, "personal": "uniform"}),
    ((2,), {"kind": "mixture", "keep": 0.7, "personal": [0.917, 0.083]}),
    ((2, 3), {"kind": "mixture", "keep": 0.5, "personal": [[0.3, 0.7], [0.2, 0.3, 0.5]]}),
    ((2, 2), {"kind": "mixture", "keep": 0.5, "personal": [0.1, 0.2, 0.3, 0.4]}),
    ((2,), {"kind": "flip", "theta": 0.8}),
    ((2, 2, 2), {"kind": "flip", "theta": 0.3}),
    ((3,), {"kind": "matrix", "matrix": [[0.6, 0.2, 0.1], [0.3, 0.7, 0.2], [0.1, 0.1, 0.7]]}),
    ((3,), {"kind": "matrix", "matrix": LABELLED, "reports": ["a", "b", "c", "d"]}),
    ((3,), {"kind": "mask", "p": 0.75}),
    ((2, 3), {"kind": "mask", "p": 0.6}),
    ((2, 3), {"kind": "cut-and-paste", "K": 1, "rho": 0.4}),
    ((2, 2, 2), {"kind": "cut-and-paste", "K": 5, "rho": 0.3}),
    ((4,), {"kind": "randomized-gamma-diagonal", "gamma": 3, "alpha": 0.1}),
    ((2, 3), {"kind": "randomized-gamma-diagonal", "gamma": 5, "alpha": 0.2}),
    ((5,), {"kind": "subset", "size": 2, "gamma": 4}),
    ((2, 3), {"kind": "subset", "size": 3, "gamma": 2.5}),
    ((5,), {"kind": "hadamard", "gamma": 4}),
    ((2, 3), {"kind": "hadamard", "gamma": 2.5}),
    ((5,), {"kind": "threshold", "gamma": 4}),
    ((4,), {"kind": "threshold", "gamma": 2.5, "widths": [1, 5, 2]}),
    ((5,), {"kind": "local-hashing", "gamma": 4}),
    ((2, 3), {"kind": "local-hashing", "gamma": 2.5}),
]


def channel_of(shape: tuple[int, ...], document: dict[str, Any]) -> Channel:
    return Recipe.from_document(document).build(shape)


def group_document(shape: tuple[int, ...], document: dict[str, Any]) -> dict[str, Any]:
    """The group as a frozen definition hands it to the page: radices and a program."""
    return {"radices": list(shape), "program": channel_of(shape, document).program()}


def report_rows(channel: Channel) -> list[tuple[int, ...]]:
    """Every possible report as the page's digits, in the order of the rows of the channel's matrix."""
    columns = [column.reshape(len(column), -1).astype(int) for column in channel.reports()]
    return [tuple(map(int, row)) for row in np.concatenate(columns, axis=1)]


def page_matrix(channel: Channel, rows: list[dict[str, Any]]) -> np.ndarray:
    place = {digits: index for index, digits in enumerate(report_rows(channel))}
    matrix = np.zeros_like(channel.matrix)
    for row in rows:
        matrix[place[tuple(row["digits"])]] = row["chances"]
    return matrix


@pytest.fixture(scope="module")
def laws() -> list[dict[str, Any]]:
    return node("law", cases=[group_document(*case) for case in CASES])


def test_every_kind_a_scheme_knows_is_compared() -> None:
    assert {document["kind"] for _, document in CASES} == set(KINDS)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda index: CASES[index][1]["kind"])
def test_every_branch_of_the_page_adds_up_to_the_declared_matrix(index: int, laws: list[dict[str, Any]]) -> None:
    channel = channel_of(*CASES[index])
    # Chances are sums of a few products of doubles; anything beyond that rounding would be another channel.
    np.testing.assert_allclose(page_matrix(channel, laws[index]["rows"]), channel.matrix, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda index: CASES[index][1]["kind"])
def test_the_page_computes_the_same_amplification(index: int, laws: list[dict[str, Any]]) -> None:
    stated, found = channel_of(*CASES[index]).amplification, laws[index]["amplification"]
    assert (math.inf if found is None else found) == pytest.approx(stated, rel=1e-6)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda index: CASES[index][1]["kind"])
def test_the_page_computes_the_same_worst_posterior(index: int, laws: list[dict[str, Any]]) -> None:
    shape, document = CASES[index]
    matrix = channel_of(shape, document).matrix
    cells = (matrix / matrix.sum(axis=1, keepdims=True)).reshape(-1, *shape)
    axes = range(1, len(shape) + 1)
    worst = [cells.sum(axis=tuple(other for other in axes if other != axis)).max() for axis in axes]
    assert laws[index]["worst"] == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda index: CASES[index][1]["kind"])
def test_the_program_has_the_matrix_of_the_channel_to_the_last_bit(index: int) -> None:
    channel = channel_of(*CASES[index])
    rows = law(group_document(*CASES[index])["program"], CASES[index][0])
    none = (Fraction(0),) * math.prod(CASES[index][0])
    exact = [[float(chance) for chance in rows.get(report, none)] for report in report_rows(channel)]
    np.testing.assert_allclose(exact, channel.matrix, rtol=1e-14, atol=1e-16)


SAMPLED = [case for case in CASES if math.prod(case[0]) <= 4]
DRAWS = 50_000


@pytest.fixture(scope="module")
def samples() -> list[list[dict[str, int]]]:
    return node("sample", cases=[group_document(*case) for case in SAMPLED], draws=DRAWS, seed=1965)


def p_value(counts: dict[str, int], channel: Channel, truth: int) -> float:
    """Chi-square of one column, reports expected fewer than 1,000 times pooled (so far out, 5 would mislead)."""
    expected = DRAWS * channel.matrix[:, truth]
    seen = np.array([counts.get(",".join(map(str, row)), 0) for row in report_rows(channel)])
    rare = expected < 1000
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    keep = expected > 0
    assert seen[~keep].sum() == 0, "a report that cannot happen"
    return float(chisquare(seen[keep], expected[keep]).pvalue)


@pytest.mark.parametrize("index", range(len(SAMPLED)), ids=lambda index: SAMPLED[index][1]["kind"])
def test_drawn_reports_follow_the_column_of_the_truth(index: int, samples: list[list[dict[str, int]]]) -> None:
    channel = channel_of(*SAMPLED[index])
    for truth in range(math.prod(SAMPLED[index][0])):
        assert p_value(samples[index][truth], channel, truth) >= FALSE_ALARM


def test_an_error_of_two_points_is_noticed(samples: list[list[dict[str, int]]]) -> None:
    # 50,000 draws put an error of two points nearly ten standard errors away.
    wrong = channel_of((2,), {"kind": "warner", "p": 0.72})
    assert p_value(samples[0][1], wrong, 1) < FALSE_ALARM
