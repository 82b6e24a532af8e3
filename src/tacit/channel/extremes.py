"""How much a program's least lucky report can tell: its amplification, and how sure it makes a guesser of one answer.

Small laws are written out. Of large ones (an even set of 100 among 2,000 records) the figures follow from the nodes'
own levels: a node that knows only "the true record" and "every other one" has two chances for each report, and the
extremes are theirs. A large program that mixes nodes of different families has no such figures and is refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tacit.channel import program as nodes
from tacit.channel.program import ProgramNode, compile_program, law
from tacit.errors import InvalidInput
from tacit.randomness import ONE

# Up to this many chances a law is written out, here and on the page.
LISTED = 1 << 16

Ratio = Fraction | float  # infinite where a positive chance faces a zero


def amplification(program: Any, radices: Sequence[int]) -> Ratio:
    """The largest ratio of two chances of one report, exactly; needs no prior."""
    node = compile_program(program, radices)
    if not is_listed(node):
        return _amplification(node)
    return max((_ratio(chances) for chances in law(program, radices).values()), default=Fraction(1))


def worst_answers(program: Any, radices: Sequence[int]) -> list[float]:
    """For each digit: the largest posterior of one of its values, if every record was equally likely before.

    Beyond `LISTED` this is exact for programs that tell the true record from all others, hide it in a set or send a number
    of its half, and a bound from the amplification for the rest.
    """
    node = compile_program(program, radices)
    if not is_listed(node):
        return [float(sure) for sure in _worst_answers(node)]
    truths = list(itertools.product(*map(range, node.radices)))
    worst = [0.0] * len(node.radices)
    for chances in law(program, radices).values():
        for axis, sure in enumerate(_answer_shares(chances, truths, node.radices)):
            worst[axis] = max(worst[axis], float(sure))
    return worst


def among_first(program: Any, radices: Sequence[int], asked: int) -> tuple[Ratio, Fraction] | None:
    """Amplification, and how sure of an answer, where one digit takes one of its first `asked` values, each as likely.

    Known without writing the law out where the program sends a number of the truth's half, a bucket of a public hash or an
    even set, however many values there are; None for every other program. For a bucket among two the second is a bound;
    among more, some seed leaves the true answer alone in its bucket.
    """
    node = compile_program(program, radices)
    if len(node.radices) != 1 or not 2 <= asked <= node.size:
        return None
    if isinstance(node, nodes.Hash):
        gamma = amplification(program["then"], (node.buckets,))
        return gamma, _posterior_bound(gamma, asked)
    sets = [leaf for _, leaf in _leaves(node) if isinstance(leaf, nodes.Subset)]
    if len(sets) == len(_leaves(node)):
        ((inside, outside),) = _levels(node)
        return _ratio([inside, outside]), _set_surest(inside, outside, sets[0].members, node.size, asked)
    even = _even_half(node)
    return None if even is None else (_ratio([even, 1 - even]), _half_surest(even, asked))


def _set_surest(inside: Fraction, outside: Fraction, members: int, size: int, asked: int) -> Fraction:
    """Posterior of the surest of the first `asked` values, each as likely: of a set with the most or fewest members there."""
    surest = Fraction(0)
    least, most = max(0, members - (size - asked)), min(members, asked)
    for shared in {least, max(1, least), most, min(most, asked - 1)}:
        total = shared * inside + (asked - shared) * outside
        best = max(inside if shared else Fraction(0), outside if shared < asked else Fraction(0))
        surest = max(surest, best / total if total else Fraction(0))
    return surest


def _even_half(node: ProgramNode) -> Fraction | None:
    """The chance to send a number that shares an even number of bits with the truth; None if the program has other nodes."""
    leaves = _leaves(node)
    is_half = all(isinstance(leaf, nodes.Half) for _, leaf in leaves)
    return _weight(leaves, lambda leaf: leaf.parity == 0) if is_half else None


def _half_surest(even: Fraction, answers: int) -> Fraction:
    """Posterior of the surest of so many even answers, numbered from 1: the report whose likelier half holds the fewest.

    Of a report whose lowest bit is 2**t, the signs of the numbers from 0 on cancel in every full run of 2**(t + 1). What is
    left of the last run is their sum, and its sign follows from the report's higher bits wherever there is a full run.
    """
    sums, run = {answers + 1}, 2
    while run <= 2 * answers:
        runs, rest = divmod(answers + 1, run)
        left = min(rest, run - rest)
        sums |= {left, -left} if runs else {left}
        run *= 2
    surest = Fraction(0)
    for sign_sum in sums:
        evens = (answers + sign_sum - 1) // 2
        total = even * evens + (1 - even) * (answers - evens)
        best = max(even if evens else Fraction(0), 1 - even if evens < answers else Fraction(0))
        surest = max(surest, best / total if total else Fraction(0))
    return surest


def is_listed(node: ProgramNode) -> bool:
    return node.report_count * node.size <= LISTED


def _answer_shares(
    chances: Sequence[Fraction], truths: Sequence[nodes.Digits], radices: nodes.Digits
) -> Iterator[Fraction]:
    total = sum(chances, Fraction(0))
    for axis, radix in enumerate(radices):
        shares = [Fraction(0)] * radix
        for chance, truth in zip(chances, truths, strict=True):
            shares[truth[axis]] += chance
        yield max(shares) / total


def _ratio(chances: Sequence[Fraction]) -> Ratio:
    low, high = min(chances), max(chances)
    if low == high:
        return Fraction(1)
    return high / low if low else math.inf


def _amplification(node: ProgramNode) -> Ratio:
    if isinstance(node, nodes.Each):
        return _product(_amplification(program) for _, program in node.parts)
    if isinstance(node, nodes.Hash | nodes.Above | nodes.Fill):
        # A seed or a threshold says nothing, and a drawn answer is an average of given ones: none adds to the ratio.
        return _amplification(node.then)
    if isinstance(node, nodes.Bits):
        return _product(_bit_ratio(node) for radix in node.radices if radix > 1)
    if isinstance(node, nodes.Some):
        return _some_ratio(node)
    if isinstance(node, nodes.Weigh):
        return _product([]) if not node.by_truth else max(map(_weight_ratio, zip(*node.lists, strict=True)))
    levels = _levels(node)
    return max(_ratio(chances) for chances in levels)


def _worst_answers(node: ProgramNode) -> list[Fraction]:
    if isinstance(node, nodes.Each):
        sure = {
            at: worst for where, program in node.parts for at, worst in zip(where, _worst_answers(program), strict=True)
        }
        return [sure[at] for at in range(len(node.radices))]
    leaves = [leaf for _, leaf in _leaves(node)]
    even = _even_half(node)
    if even is not None and len(node.radices) == 1:
        return [_half_surest(even, node.size)]
    sets = [leaf for leaf in leaves if isinstance(leaf, nodes.Subset)]
    if len(sets) == len(leaves):
        members = sets[0].members
    elif any(isinstance(leaf, nodes.Same | nodes.Even) for leaf in leaves) and not any(
        isinstance(leaf, nodes.Reverse) for leaf in leaves
    ):
        members = 1
    else:
        return [_posterior_bound(_amplification(node), radix) for radix in node.radices]
    ((inside, outside),) = _levels(node)
    return [_surest(inside, outside, members, node.size, radix) for radix in node.radices]


def _surest(inside: Fraction, outside: Fraction, members: int, size: int, radix: int) -> Fraction:
    """Posterior of one value where `members` records have the chance `inside` and all others `outside`."""
    alike = size // radix  # records that share the value
    if inside == outside:
        return Fraction(1, radix)
    shared = min(members, alike) if inside >= outside else max(0, members - (size - alike))
    return (shared * inside + (alike - shared) * outside) / (members * inside + (size - members) * outside)


def _posterior_bound(gamma: Ratio, radix: int) -> Fraction:
    return Fraction(1) if math.isinf(gamma) else Fraction(gamma) / (Fraction(gamma) + radix - 1)


def _leaves(node: ProgramNode, weight: Fraction = Fraction(1)) -> list[tuple[Fraction, ProgramNode]]:
    """What a program tosses coins between, with the chances of each."""
    if not isinstance(node, nodes.Toss):
        return [(weight, node)]
    return _leaves(node.heads, weight * node.weight) + _leaves(node.tails, weight * (1 - node.weight))


def _levels(node: ProgramNode) -> list[list[Fraction]]:
    """The chances that one report has under different truths; a list for each sort of report that may be worst."""
    leaves = _leaves(node)
    first = leaves[0][1]
    if isinstance(first, nodes.Subset) and all(
        isinstance(leaf, nodes.Subset) and leaf.report_radices == first.report_radices for _, leaf in leaves
    ):
        return [_set_levels(leaves, first)]
    if all(isinstance(leaf, nodes.Half) for _, leaf in leaves):
        even = _weight(leaves, lambda leaf: leaf.parity == 0)
        return [[even, 1 - even]]
    return _record_levels(node, leaves)


def _set_levels(leaves: list[tuple[Fraction, ProgramNode]], first: nodes.Subset) -> list[Fraction]:
    size, members = first.size, first.members
    # Both are multiplied by C(n - 1, k - 1), which cancels in ratios and keeps the numbers small.
    inside = _weight(leaves, lambda leaf: leaf.holds == 1)
    outside = _weight(leaves, lambda leaf: leaf.holds == 0) * members / (size - members)
    return [inside, outside]


def _record_levels(node: ProgramNode, leaves: list[tuple[Fraction, ProgramNode]]) -> list[list[Fraction]]:
    """The true record, its opposite, and the others."""
    drawn = [(weight, leaf) for weight, leaf in leaves if _least_chance(leaf) is not None]
    record_leaves = [leaf for _, leaf in leaves if isinstance(leaf, nodes.Same | nodes.Reverse | nodes.Even)]
    reverse = _weight(leaves, lambda leaf: isinstance(leaf, nodes.Reverse))
    uneven = [leaf for _, leaf in drawn if not isinstance(leaf, nodes.Even)]
    if len(record_leaves) + len(uneven) < len(leaves) or len(uneven) > 1 or (uneven and reverse):
        raise InvalidInput(
            f"What the worst report tells cannot be computed: the program has {node.size:,} truths and "
            f"{node.report_count:,} reports and mixes nodes that have no common formula. Put its attributes into smaller "
            "groups."
        )
    other = _weight(leaves, lambda leaf: isinstance(leaf, nodes.Even) and leaf.other) / max(node.size - 1, 1)
    base = sum((weight * (_least_chance(leaf) or 0) for weight, leaf in drawn), Fraction(0)) + other
    at_truth = base - other + _weight(leaves, lambda leaf: isinstance(leaf, nodes.Same))
    if node.size == 1:
        return [[at_truth]]
    if not reverse:
        return [[at_truth, base]]
    levels = [[at_truth, base + reverse, *([base] if node.size > 2 else [])]]
    middle = all(radix % 2 for radix in node.radices)  # a record that is its own opposite
    return [*levels, [at_truth + reverse, base]] if middle else levels


def _weight(leaves: list[tuple[Fraction, ProgramNode]], wanted: Any) -> Fraction:
    return sum((weight for weight, leaf in leaves if wanted(leaf)), Fraction(0))


def _least_chance(node: ProgramNode) -> Fraction | None:
    """The least chance of a report of a node that does not look at the truth; None if it does."""
    if isinstance(node, nodes.Even) and not node.other:
        return Fraction(1, node.size)
    if isinstance(node, nodes.Weigh) and not node.by_truth:
        return Fraction(min(node.lists[0]), ONE)
    if isinstance(node, nodes.Each):
        chances = [_least_chance(program) for _, program in node.parts]
        known_chances = [chance for chance in chances if chance is not None]
        return math.prod(known_chances, start=Fraction(1)) if len(known_chances) == len(chances) else None
    return None


def _weight_ratio(weights: Sequence[int]) -> Ratio:
    return _ratio([Fraction(weight) for weight in weights])


def _bit_ratio(node: nodes.Bits) -> Ratio:
    set_chances = [Fraction(node.own), Fraction(node.foreign)]
    clear_chances = [ONE - chance for chance in set_chances]
    # Two answers differ in two bits: one answer's bit is set, the other answer's bit is clear.
    return _product([_ratio(set_chances), _ratio(clear_chances)])


def _some_ratio(node: nodes.Some) -> Ratio:
    if_kept, if_other = node.kept[0], node.others[0]
    if not (
        isinstance(if_kept, nodes.Bits) and isinstance(if_other, nodes.Bits) and if_kept.foreign == if_other.foreign
    ):
        raise InvalidInput(
            "A program with 'some' needs 'bits' for 'kept' and for 'others', with the same second chance in both. See the "
            "page Programs of the reference."
        )
    foreign = if_kept.foreign
    if foreign in (0, ONE):
        # With a bound of one, no digit is ever kept.
        truth_chances = {if_other.own} if node.bound == 1 else {if_kept.own, if_other.own}
        return math.inf if truth_chances != {foreign} else Fraction(1)
    digits = sum(radix > 1 for radix in node.radices)
    if digits < len(node.radices):
        raise InvalidInput(
            "A program with 'some' needs attributes of at least two answers each. Leave out those with one."
        )
    # Likelihood ratio of the true answer's bit to another answer's, for bit 1 and for bit 0.
    ones = (Fraction(if_other.own, foreign), Fraction(if_kept.own, foreign))
    zeros = (Fraction(ONE - if_other.own, ONE - foreign), Fraction(ONE - if_kept.own, ONE - foreign))
    return _ratio([_kept_mean(node, [ones] * n_shown + [zeros] * (digits - n_shown)) for n_shown in range(digits + 1)])


def _kept_mean(node: nodes.Some, factors: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    sums = [Fraction(1)]
    for if_other, if_kept in factors:
        sums = [if_other * a + if_kept * b for a, b in zip([*sums, Fraction(0)], [Fraction(0), *sums], strict=True)]
    chances = enumerate(node.sizes())
    return sum((chance * sums[w] / math.comb(len(factors), w) for w, chance in chances), Fraction(0))


def _product(ratios: Any) -> Ratio:
    product: Ratio = Fraction(1)
    for ratio in ratios:
        product = math.inf if math.isinf(ratio) or math.isinf(product) else product * ratio
    return product
