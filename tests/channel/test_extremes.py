"""The figures of large programs, held against the same rules on programs small enough to be written out."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.channel import extremes
from tacit.channel.extremes import among_first, amplification, worst_answers
from tacit.channel.program import law
from tacit.errors import InvalidInput
from tacit.randomness import ONE
from tests.channel.programs import CHANCES, weights

QUARTER = ONE // 4


@st.composite
def closed(draw: st.DrawFn) -> tuple[Any, tuple[int, ...]]:
    """Programs whose figures are known in closed form, on small shapes."""
    radices = draw(st.sampled_from([(2,), (3,), (5,), (2, 2), (2, 3), (3, 3)]))
    size = math.prod(radices)
    family = draw(st.sampled_from(["records", "reversed", "uneven", "sets", "halves", "bits", "some", "each", "fill"]))
    toss = draw(st.one_of(CHANCES, st.just([QUARTER, 2 * QUARTER])))
    even = {"even": draw(st.sampled_from(["any", "other"]))}
    if family == "records":
        return {"toss": toss, "heads": {"same": 1}, "tails": even}, radices
    if family == "reversed":
        inner = {"toss": draw(CHANCES), "heads": {"reverse": 1}, "tails": even}
        return {"toss": toss, "heads": {"same": 1}, "tails": inner}, radices
    if family == "uneven":
        drawn = {"weigh": draw(weights(size)), "into": list(radices)}
        return {"toss": toss, "heads": {"same": 1}, "tails": drawn}, radices
    if family == "sets":
        members = draw(st.integers(1, size - 1))
        return {"toss": toss, "heads": {"subset": [members, 1]}, "tails": {"subset": [members, 0]}}, radices
    if family == "halves":
        bound = 1 << size.bit_length()
        return {"toss": toss, "heads": {"half": [bound, 0]}, "tails": {"half": [bound, 1]}}, radices
    if family == "bits":
        return {"bits": [draw(CHANCES), draw(CHANCES)]}, radices
    if family == "some":
        foreign = draw(CHANCES)
        bits = [{"bits": [draw(CHANCES), foreign]} for _ in range(2)]
        return {"some": draw(st.integers(1, 4)), "kept": bits[0], "others": bits[1]}, radices
    keep = {"toss": toss, "heads": {"same": 1}, "tails": {"even": "any"}}
    if family == "each":
        return {"each": [[[at], keep] for at in range(len(radices))]}, radices
    return {"fill": [0, radices[0], radices[0]], "then": keep}, (radices[0] + 1, *radices[1:])


def never_kept() -> tuple[Any, tuple[int, ...]]:
    """A program that keeps no digit, so that what it would keep of one does not count."""
    return {"some": 1, "kept": {"bits": [0, ONE]}, "others": {"bits": [ONE, ONE]}}, (2,)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(closed())
@example(never_kept())
def test_closed_forms_agree_with_the_written_law(case: tuple[Any, tuple[int, ...]]) -> None:
    program, radices = case
    listed = amplification(program, radices), worst_answers(program, radices)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extremes, "LISTED", 0)
        closed_form = amplification(program, radices), worst_answers(program, radices)
    assert closed_form[0] == listed[0]
    exact = "toss" in program and "same" in program["heads"] and "toss" not in program["tails"]
    for bound, sure in zip(closed_form[1], listed[1], strict=True):
        assert bound >= sure - 1e-12
        if exact:
            assert bound == pytest.approx(sure, rel=1e-12)


@pytest.mark.parametrize(
    "tails", [{"reverse": 1}, {"toss": QUARTER, "heads": {"reverse": 1}, "tails": {"even": "any"}}]
)
def test_records_that_may_be_reversed_are_bounded_by_their_amplification(
    monkeypatch: pytest.MonkeyPatch, tails: dict[str, Any]
) -> None:
    program = {"toss": 3 * QUARTER, "heads": {"same": 1}, "tails": tails}
    listed = worst_answers(program, (2, 3))
    if "reverse" in tails:
        assert listed == pytest.approx([0.75, 1.0])  # the middle of three is its own opposite
    monkeypatch.setattr(extremes, "LISTED", 0)
    for bound, sure in zip(worst_answers(program, (2, 3)), listed, strict=True):
        assert sure - 1e-12 <= bound <= 1


def test_a_hundred_of_two_thousand_needs_two_numbers() -> None:
    # Sets that hold the truth weigh 19 times as much: 1900 of 3800.
    program = {"toss": ONE // 2, "heads": {"subset": [100, 1]}, "tails": {"subset": [100, 0]}}
    assert amplification(program, [2000]) == 19
    assert worst_answers(program, [2000]) == [pytest.approx(19 / 3800)]
    assert worst_answers(program, [2, 1000])[0] == pytest.approx((100 * 19 + 900) / 3800)


def test_large_groups_of_records_bits_and_hashes() -> None:
    program = {"toss": ONE // 2, "heads": {"same": 1}, "tails": {"even": "any"}}
    assert amplification(program, [1000, 1000]) == 1 + Fraction(10**6)
    assert amplification({"bits": [3 * QUARTER, QUARTER]}, [2] * 10) == Fraction(9) ** 10
    hashed = {
        "hash": {"width": 30, "buckets": 4},
        "then": {"toss": QUARTER, "heads": {"same": 1}, "tails": {"even": "any"}},
    }
    assert amplification(hashed, [10**6]) == Fraction(7, 3)
    # The sum of rho**-w for w to K, for cut-and-paste with no more kept than there are digits.
    cut = {"some": 4, "kept": {"bits": [ONE, ONE // 2]}, "others": {"bits": [ONE // 2, ONE // 2]}}
    assert amplification(cut, [3] * 7) == 1 + 2 + 4 + 8


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ({"toss": 5, "heads": {"subset": [2, 1]}, "tails": {"subset": [3, 0]}}, "one shape"),
        ({"toss": 5, "heads": {"even": "any"}, "tails": {"each": [[[0, 1], {"same": 1}]]}}, "no common formula"),
        ({"some": 2, "kept": {"bits": [1, 2]}, "others": {"bits": [1, 3]}}, "with the same second chance in both"),
    ],
)  # fmt: skip
def test_a_large_program_whose_law_cannot_be_composed_is_refused(program: Any, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        amplification(program, [1000, 1000])


def listed_among(program: Any, size: int, asked: int) -> tuple[Fraction | float, Fraction]:
    """The same figures from every report's chances."""
    gamma: Fraction | float = Fraction(1)
    sure = Fraction(0)
    for chances in law(program, (size,)).values():
        own = chances[:asked]
        if any(own):
            sure = max(sure, max(own) / sum(own))
            gamma = max(gamma, max(own) / min(own) if min(own) else math.inf)
    return gamma, sure


@given(
    size=st.integers(2, 40),
    share=st.sampled_from([0, 1, QUARTER, 3 * QUARTER, ONE // 2, ONE]),
    wider=st.integers(0, 1),
    data=st.data(),
)
@settings(max_examples=40, deadline=None)
def test_a_number_of_the_truths_half_tells_exactly_so_much_of_the_first_answers(
    size: int, share: int, wider: int, data: st.DataObject
) -> None:
    asked = data.draw(st.integers(2, size))
    bound = 1 << size.bit_length() + wider
    program = {"toss": share, "heads": {"half": [bound, 0]}, "tails": {"half": [bound, 1]}}
    assert among_first(program, (size,), asked) == listed_among(program, size, asked)


@given(size=st.integers(3, 7), share=CHANCES, data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_set_tells_exactly_so_much_of_the_first_answers(size: int, share: int, data: st.DataObject) -> None:
    asked, members = data.draw(st.integers(2, size)), data.draw(st.integers(1, size - 1))
    program = {"toss": share, "heads": {"subset": [members, 1]}, "tails": {"subset": [members, 0]}}
    assert among_first(program, (size,), asked) == listed_among(program, size, asked)


@pytest.mark.parametrize(("size", "buckets", "width"), [(3, 4, 3), (4, 4, 3), (5, 4, 4), (3, 2, 2), (5, 2, 3)])
def test_a_bucket_of_a_public_hash_tells_at_most_so_much_and_exactly_so_among_four(
    size: int, buckets: int, width: int
) -> None:
    then = {"toss": 3 * QUARTER, "heads": {"same": 1}, "tails": {"even": "other"}}
    program = {"hash": {"width": width, "buckets": buckets}, "then": then}
    for asked in range(2, size + 1):
        told = among_first(program, (size,), asked)
        gamma, sure = listed_among(program, size, asked)
        assert told is not None
        assert told[0] == gamma
        assert told[1] == sure if buckets > 2 else told[1] >= sure


def test_no_other_program_has_figures_of_its_first_answers() -> None:
    keep = {"toss": QUARTER, "heads": {"same": 1}, "tails": {"even": "any"}}
    assert among_first(keep, (9,), 8) is None
    half = {"half": [16, 0]}
    assert among_first(half, (3, 3), 8) is None
    assert among_first(half, (9,), 1) is None
