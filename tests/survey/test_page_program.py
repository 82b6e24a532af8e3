"""The page's interpreter is Python's: the same reports from the same words, the same law, the same figures."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.channel import KINDS
from tacit.channel.extremes import amplification, worst_answers
from tacit.channel.program import WordDraws, compile_program, law
from tacit.randomness import ONE
from tests.channel.programs import programs
from tests.channel.test_program import test_whatever_is_no_program_is_refused as refusals
from tests.survey.page import STATIC, node

Case = tuple[Any, tuple[int, ...]]
BATCHES = settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
WORDS = np.random.default_rng(1965).integers(0, ONE, size=997, dtype=np.uint32).tolist()


def page(task: str, cases: list[Case], **given: Any) -> list[Any]:
    documents = [{"program": program, "radices": list(radices)} for program, radices in cases]
    return list(node(task, "page_program.mjs", cases=documents, **given))


@BATCHES
@given(st.lists(programs(), min_size=30, max_size=50))
def test_the_page_draws_the_same_report_from_the_same_words(cases: list[Case]) -> None:
    for (program, radices), runs in zip(cases, page("run", cases, words=WORDS), strict=True):
        words = itertools.cycle(WORDS)
        used = itertools.count(1)
        draws = WordDraws(lambda words=words, used=used: next(words) if next(used) else 0)
        one = compile_program(program, radices)
        truths = itertools.product(*map(range, radices))
        assert [run["report"] for run in runs] == [list(one.run(truth, draws)) for truth in truths]
        assert runs[-1]["used"] == next(used) - 1


@pytest.mark.slow
@BATCHES
@given(st.lists(programs(), min_size=30, max_size=50))
def test_the_page_works_out_the_same_law_and_figures(cases: list[Case]) -> None:
    for (program, radices), found in zip(cases, page("law", cases), strict=True):
        assert found["shape"] == list(compile_program(program, radices).report_radices)
        rows = {tuple(row["digits"]): row["chances"] for row in found["rows"]}
        exact = law(program, radices)
        assert rows.keys() <= exact.keys()
        for report, chances in exact.items():
            # Sums of a few products of doubles; what the page holds impossible is far below any chance over 2**32.
            assert rows.get(report, [0] * len(chances)) == pytest.approx(
                [float(one) for one in chances], rel=1e-12, abs=1e-60
            )
        _agree(found, program, radices)


def _agree(found: dict[str, Any], program: Any, radices: tuple[int, ...]) -> None:
    gamma = amplification(program, radices)
    stated = math.inf if found["amplification"] is None else found["amplification"]
    assert stated == pytest.approx(float(gamma), rel=1e-9)
    assert found["worst"] == pytest.approx(worst_answers(program, radices), rel=1e-9)


QUARTER = ONE // 4
UNEVEN = {"weigh": [1, ONE - 1], "into": [2]}
LARGE: list[Case] = [
    ({"toss": ONE // 2, "heads": {"subset": [100, 1]}, "tails": {"subset": [100, 0]}}, (2000,)),
    ({"toss": ONE // 2, "heads": {"subset": [100, 1]}, "tails": {"subset": [100, 0]}}, (2, 1000)),
    ({"toss": QUARTER, "heads": {"same": 1}, "tails": {"even": "other"}}, (40, 50)),
    ({"toss": QUARTER, "heads": {"same": 1}, "tails": {"each": [[[0], UNEVEN], [[1], {"even": "any"}]]}}, (2, 1000)),
    ({"toss": QUARTER, "heads": {"same": 1}, "tails": {"reverse": 1}}, (2,) * 10),
    ({"toss": 3 * QUARTER, "heads": {"half": [1024, 0]}, "tails": {"half": [1024, 1]}}, (900,)),
    ({"bits": [3 * QUARTER, QUARTER]}, (2, 3, 4, 5)),
    ({"some": 4, "kept": {"bits": [ONE, QUARTER]}, "others": {"bits": [QUARTER, QUARTER]}}, (3,) * 6),
    ({"hash": {"width": 40, "buckets": 4}, "then": {"toss": QUARTER, "heads": {"same": 1}, "tails": {"even": "any"}}}, (10**6,)),
    ({"fill": [1, 2, 2], "then": {"toss": QUARTER, "heads": {"same": 1}, "tails": {"even": "any"}}}, (200, 3)),
    ({"each": [[[1], {"bits": [QUARTER, 5]}], [[0], {"toss": 7, "heads": {"same": 1}, "tails": {"even": "any"}}]]}, (300, 9)),
]  # fmt: skip


def test_figures_of_large_programs_agree_too() -> None:
    for (program, radices), found in zip(LARGE, page("figures", LARGE), strict=True):
        _agree(found, program, radices)


def test_the_page_refuses_what_python_refuses() -> None:
    (marked,) = [mark for mark in refusals.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    cases = [(program, (2, 3)) for program, _ in marked.args[1]]
    cases.append(({"toss": 5, "heads": {"even": "any"}, "tails": {"each": [[[0, 1], {"same": 1}]]}}, (1000, 1000)))
    assert page("refusals", cases) == ["BadProgram"] * len(cases)


def test_the_scripts_know_no_kind_of_channel() -> None:
    # A node of the programs is called as one of the kinds is.
    kinds = set(KINDS) - {"subset"}
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        quoted = set(re.findall(r"[\"'`]([\w-]+)[\"'`]", text)) | set(
            re.findall(r"^\s*[\"']?([\w-]+)[\"']?: \(", text, re.MULTILINE)
        )
        assert not quoted & kinds, path.name
        assert not re.search(r"channel\.(?!reports\b)\w", text), path.name
