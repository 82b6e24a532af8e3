"""Programs: what runs, what its law says and what the channels declare are one list of whole numbers."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.stats import chisquare

from tacit.channel import Recipe
from tacit.channel.program import DEEPEST, WordDraws, compile_program, even_set, joint, law, run, split
from tacit.errors import InvalidInput
from tacit.randomness import ONE
from tests.channel.programs import followed, followed_law, programs

HALF = ONE // 2
FALSE_ALARM = 1e-6


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_the_law_is_what_every_branch_of_the_interpreter_adds_up_to(case: tuple[Any, tuple[int, ...]]) -> None:
    program, radices = case
    assert law(program, radices) == followed_law(program, radices)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_every_truth_has_reports_of_total_chance_one_and_of_the_stated_shape(case: tuple[Any, tuple[int, ...]]) -> None:
    program, radices = case
    rows = law(program, radices)
    shape = compile_program(program, radices).report_radices
    assert all(sum(column) == 1 for column in zip(*rows.values(), strict=True))
    assert all(0 <= digit < radix for report in rows for digit, radix in zip(report, shape, strict=True))


def test_a_toss_takes_its_chance_from_the_middle_of_a_range() -> None:
    drawn = {"toss": [HALF - 3, HALF + 5], "heads": {"same": 1}, "tails": {"even": "other"}}
    fixed = {"toss": HALF + 1, "heads": {"same": 1}, "tails": {"even": "other"}}
    assert law(drawn, [4]) == law(fixed, [4])


@pytest.mark.parametrize(
    ("shape", "document", "program"),
    [
        ((3,), {"kind": "warner", "p": 0.5}, {"toss": HALF, "heads": {"same": 1}, "tails": {"even": "other"}}),
        ((2, 3), {"kind": "uniform-perturbation", "q": 0.25}, {"toss": ONE // 4, "heads": {"same": 1}, "tails": {"even": "any"}}),
        ((2, 2), {"kind": "flip", "theta": 0.75}, {"toss": 3 * ONE // 4, "heads": {"same": 1}, "tails": {"reverse": 1}}),
        ((2, 3), {"kind": "mask", "p": 0.75}, {"bits": [3 * ONE // 4, ONE // 4]}),
        (
            (2, 3),
            {"kind": "cut-and-paste", "K": 1, "rho": 0.25},
            {"some": 2, "kept": {"bits": [ONE, ONE // 4]}, "others": {"bits": [ONE // 4, ONE // 4]}},
        ),
        (
            (2, 2),
            {"kind": "subset", "size": 2, "gamma": 3},
            {"toss": 3 * ONE // 4, "heads": {"subset": [2, 1]}, "tails": {"subset": [2, 0]}},
        ),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) and "kind" in value else None,
)  # fmt: skip
def test_programs_written_by_hand_have_the_matrix_of_their_channel(
    shape: tuple[int, ...], document: dict[str, Any], program: Any
) -> None:
    channel = Recipe.from_document(document).build(shape)
    columns = np.concatenate([column.reshape(len(column), -1).astype(int) for column in channel.reports()], axis=1)
    rows = law(program, shape)
    written = np.array([[float(chance) for chance in rows[tuple(map(int, report))]] for report in columns])
    np.testing.assert_allclose(written, channel.matrix, rtol=0, atol=1e-15)


def test_hadamard_halves_are_the_rows_of_the_sylvester_matrix() -> None:
    sylvester = np.array([[1]])
    for _ in range(3):
        sylvester = np.block([[sylvester, sylvester], [sylvester, -sylvester]])
    rows = law({"half": [8, 0]}, [5])
    for (report,), chances in rows.items():
        assert [chance * 8 - 1 for chance in chances] == [sylvester[truth + 1, report] for truth in range(5)]


def test_the_hash_is_pairwise_independent() -> None:
    node = compile_program({"hash": {"width": 4, "buckets": 4}, "then": {"same": 1}}, [8])
    seeds = list(itertools.product(*map(range, node.report_radices[1:])))
    for one, other in itertools.combinations(range(8), 2):
        pairs = Counter((node.bucket((one,), seed), node.bucket((other,), seed)) for seed in seeds)  # type: ignore[attr-defined]
        assert set(pairs.values()) == {len(seeds) // 16}
        assert len(pairs) == 16


def test_a_wide_hash_carries_its_seed_in_digits_of_one_word() -> None:
    node = compile_program({"hash": {"width": 40, "buckets": 4}, "then": {"same": 1}}, [1 << 20])
    assert node.report_radices == (4, 1 << 8, ONE, 1 << 8, ONE)
    # 3 times 2**19 plus 2**39 - 1, of which the two highest of 40 bits are 10.
    assert node.bucket((1 << 19,), (0, 3, (1 << 7) - 1, ONE - 1)) == 2  # type: ignore[attr-defined]


def test_a_digit_that_was_not_asked_is_drawn_and_the_others_move_together() -> None:
    rows = law({"fill": [0, 1, 2], "then": {"same": 1}}, [3])
    assert rows == {(0,): (1, Fraction(1, 2), 0), (1,): (0, Fraction(1, 2), 1)}


def test_even_sets_are_even() -> None:
    sets = followed(lambda draws: tuple(even_set(5, 2, draws)))
    assert len(sets) == 10
    assert set(sets.values()) == {Fraction(1, 10)}


def test_words_beyond_the_last_full_multiple_are_drawn_again() -> None:
    last = ONE - ONE % 3
    words = iter([last, last - 1, ONE - 1])
    assert WordDraws(lambda: next(words)).below(3) == (last - 1) % 3
    assert next(words) == ONE - 1


def test_a_coin_and_a_choice_change_exactly_at_their_numbers() -> None:
    assert WordDraws(lambda: 6).coin(7, 7)
    assert not WordDraws(lambda: 7).coin(7, 7)
    weights = [HALF, ONE // 4, ONE // 4]
    words = [0, HALF - 1, HALF, HALF + ONE // 4 - 1, HALF + ONE // 4, ONE - 1]
    assert [WordDraws(lambda word=word: word).choose(weights) for word in words] == [0, 0, 1, 1, 2, 2]


def _p_value(program: Any, declared: Any, draws: int = 20_000) -> float:
    words = iter(np.random.default_rng(8).integers(0, ONE, size=40 * draws, dtype=np.uint32).tolist())
    source = WordDraws(lambda: next(words))
    counts = Counter(run(program, [3], [2], source) for _ in range(draws))
    rows = law(declared, [3])
    seen = [counts[report] for report in rows]
    return float(chisquare(seen, [draws * float(chances[2]) for chances in rows.values()]).pvalue)


def test_drawn_reports_follow_the_law_and_an_error_of_three_points_is_noticed() -> None:
    def warner(share: float) -> Any:
        return {"toss": int(share * ONE), "heads": {"same": 1}, "tails": {"even": "other"}}

    assert _p_value(warner(0.5), warner(0.5)) >= FALSE_ALARM
    assert _p_value(warner(0.53), warner(0.5)) < FALSE_ALARM


def test_joint_numbers_and_digits_are_each_others_inverse() -> None:
    for number in range(math.prod((2, 3, 4))):
        assert joint(split(number, (2, 3, 4)), (2, 3, 4)) == number


def _nested(depth: int) -> Any:
    program: Any = {"same": 1}
    for _ in range(depth):
        program = {"toss": 1, "heads": program, "tails": {"same": 1}}
    return program


def test_programs_may_nest_up_to_a_limit() -> None:
    filled: Any = {"same": 1}
    for step in range(DEEPEST - 1):
        filled = {"fill": [0, step + 1, step + 1], "then": filled}
    for program, radix in ((_nested(DEEPEST - 1), 2), (filled, DEEPEST)):
        compile_program(program, (radix,))
        with pytest.raises(InvalidInput, match="may nest at most"):
            compile_program({"toss": 1, "heads": program, "tails": {"same": 1}}, (radix,))


def test_another_record_is_drawn_among_at_most_so_many() -> None:
    compile_program({"even": "other"}, (1 << 16, 1 << 16))
    with pytest.raises(InvalidInput, match=r"at most 2\*\*32 records"):
        compile_program({"even": "other"}, (1 << 16, (1 << 16) + 1))


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("same", "a node must be an object"),
        ({}, "the fields none; there is no such node"),
        ({"same": 1, "heads": 1}, "fields heads, same; there is no such node"),
        ({"same": 2}, '"same" must be 1'),
        ({"reverse": 0}, '"reverse" must be 1'),
        ({"even": "all"}, '"even" must be "any" or "other"'),
        ({"toss": 0.5, "heads": {"same": 1}, "tails": {"same": 1}}, '"toss" must be a whole number'),
        ({"toss": True, "heads": {"same": 1}, "tails": {"same": 1}}, '"toss" must be a whole number'),
        ({"toss": ONE + 1, "heads": {"same": 1}, "tails": {"same": 1}}, '"toss" must be a whole number'),
        ({"toss": [0, ONE], "heads": {"same": 1}, "tails": {"same": 1}}, "two of them in order"),
        ({"toss": [5, 4], "heads": {"same": 1}, "tails": {"same": 1}}, "two of them in order"),
        ({"toss": 5, "heads": {"same": 1}, "tails": {"bits": [1, 2]}}, "the shape would tell the coin"),
        ({"weigh": [ONE, 1], "into": [2]}, "sum to 2\\*\\*32"),
        ({"weigh": [ONE], "into": [2]}, "2 whole numbers that sum"),
        ({"weigh": [[ONE, 0]], "into": [2]}, "a list for each of 6 truths"),
        ({"weigh": [[ONE, 0]] * 6, "into": [2], "asked": 1}, "cannot depend on the truth"),
        ({"weigh": [ONE, 0], "into": [2], "asked": 2}, '"asked" must be 1'),
        ({"weigh": [ONE, 0], "into": []}, "Radices must be a list"),
        ({"each": [[[0], {"same": 1}]]}, "exactly one part"),
        ({"each": [[[0], {"same": 1}], [[2], {"same": 1}]]}, "no other digit can be read"),
        ({"each": [[[0, 1], {"same": 1}], [[1], {"same": 1}]]}, "exactly one part"),
        ({"each": []}, "list of \\[positions, program\\]"),
        ({"each": [[["0"], {"same": 1}]]}, "positions must be lists of whole numbers"),
        ({"bits": [1]}, '"bits" must be two whole numbers'),
        ({"some": 0, "kept": {"bits": [1, 1]}, "others": {"bits": [1, 1]}}, '"some" must be a whole number'),
        ({"some": 1, "kept": {"bits": [1, 1]}, "others": {"same": 1}}, "would tell which is which"),
        ({"subset": [6, 1]}, "the size from 1 to 5"),
        ({"subset": [2, 2]}, '"subset" must be'),
        ({"half": [4, 0]}, "a power of two above 6"),
        ({"half": [12, 0]}, "a power of two above 6"),
        ({"hash": {"width": 3}, "then": {"same": 1}}, '"hash" needs "width"'),
        ({"hash": {"width": 3, "buckets": 4}, "then": {"same": 1}}, '"width" must be at least 4'),
        ({"hash": {"width": 8, "buckets": 3}, "then": {"same": 1}}, "power of two"),
        ({"fill": [2, 0, 1], "then": {"same": 1}}, "the position from 0 to 1"),
        ({"fill": [1, 0, 3], "then": {"same": 1}}, "n the number of others"),
        (_nested(DEEPEST), "may nest at most"),
    ],
)  # fmt: skip
def test_whatever_is_no_program_is_refused(program: Any, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        compile_program(program, [2, 3])


def test_a_law_too_large_to_write_out_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too many to write out"):
        law({"subset": [100, 1]}, [2000])


@pytest.mark.parametrize("radices", [[], [0], [2.0], [ONE + 1]])
def test_radices_that_are_none_are_refused(radices: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="Radices must be"):
        compile_program({"same": 1}, radices)


def test_an_other_record_needs_two_and_can_be_drawn_among_at_most_a_word() -> None:
    with pytest.raises(InvalidInput, match="needs at least two"):
        compile_program({"even": "other"}, [1])
    with pytest.raises(InvalidInput, match="at most 2\\*\\*32 records"):
        compile_program({"even": "other"}, [ONE, 2])
