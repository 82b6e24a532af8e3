"""Programs of every node for tests, and the law of a program found by following every branch of its interpreter."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tacit.channel.program import Digits, compile_program
from tacit.randomness import ONE


class Branch:
    """Draws that replay one path through an interpreter and note the choices along it."""

    def __init__(self, prefix: Sequence[int]) -> None:
        self.prefix = prefix
        self.steps: list[tuple[int, list[Fraction]]] = []

    def _take(self, chances: list[Fraction]) -> int:
        at = len(self.steps)
        first = next(index for index, chance in enumerate(chances) if chance)
        chosen = self.prefix[at] if at < len(self.prefix) else first
        self.steps.append((chosen, chances))
        return chosen

    def coin(self, low: int, high: int) -> bool:
        heads = Fraction(low + high, 2 * ONE)
        return self._take([heads, 1 - heads]) == 0

    def below(self, bound: int) -> int:
        return self._take([Fraction(1, bound)] * bound)

    def choose(self, weights: Sequence[int]) -> int:
        return self._take([Fraction(weight, ONE) for weight in weights])

    @property
    def probability(self) -> Fraction:
        product = Fraction(1)
        for chosen, chances in self.steps:
            product *= chances[chosen]
        return product

    def next(self) -> list[int] | None:
        for depth in reversed(range(len(self.steps))):
            chosen, chances = self.steps[depth]
            later = [index for index in range(chosen + 1, len(chances)) if chances[index]]
            if later:
                return [*(step for step, _ in self.steps[:depth]), later[0]]
        return None


def followed(sampler: Callable[[Branch], Digits]) -> dict[Digits, Fraction]:
    """The law of a sampler: every outcome with its chance, by following all branches."""
    law: dict[Digits, Fraction] = defaultdict(Fraction)
    prefix: list[int] | None = []
    while prefix is not None:
        branch = Branch(prefix)
        law[sampler(branch)] += branch.probability
        prefix = branch.next()
    return dict(law)


def followed_law(program: Any, radices: Sequence[int]) -> dict[Digits, tuple[Fraction, ...]]:
    """What `law` computes, by running the interpreter instead of multiplying chances."""
    node = compile_program(program, radices)
    truths = list(itertools.product(*map(range, radices)))
    columns = [followed(lambda branch, truth=truth: node.run(truth, branch)) for truth in truths]
    reports = dict.fromkeys(report for column in columns for report in column)
    rows = {report: tuple(column.get(report, Fraction(0)) for column in columns) for report in reports}
    return {report: chances for report, chances in rows.items() if any(chances)}


CHANCES = st.one_of(st.integers(0, ONE), st.sampled_from([0, 1, ONE // 2, ONE - 1, ONE]))


@st.composite
def weights(draw: st.DrawFn, count: int) -> list[int]:
    cuts = sorted(draw(st.lists(CHANCES, min_size=count - 1, max_size=count - 1)))
    return [high - low for low, high in itertools.pairwise([0, *cuts, ONE])]


@st.composite
def record_programs(draw: st.DrawFn, radices: tuple[int, ...], depth: int = 0) -> Any:
    """A program whose reports look like its truths."""
    size = 1
    for radix in radices:
        size *= radix
    choices = ["same", "reverse", "any", "other", "weigh", "weigh-by-truth"]
    choices += ["toss", "toss-range"] if depth < 2 else []
    choices += ["each"] if len(radices) > 1 and depth < 2 else []
    chosen = draw(st.sampled_from(choices))
    if chosen in ("same", "reverse"):
        return {chosen: 1}
    if chosen in ("any", "other"):
        return {"even": chosen}
    if chosen == "weigh":
        return {"weigh": draw(weights(size)), "into": list(radices)}
    if chosen == "weigh-by-truth":
        return {"weigh": [draw(weights(size)) for _ in range(size)], "into": list(radices)}
    if chosen == "each":
        cut = draw(st.integers(1, len(radices) - 1))
        parts = [list(range(cut)), list(range(cut, len(radices)))]
        return {"each": [[part, draw(record_programs(tuple(radices[at] for at in part), depth + 1))] for part in parts]}
    toss = draw(CHANCES) if chosen == "toss" else sorted([draw(CHANCES), draw(st.integers(1, ONE - 1))])
    inner = record_programs(radices, depth + 1)
    return {"toss": toss, "heads": draw(inner), "tails": draw(inner)}


@st.composite
def programs(draw: st.DrawFn) -> tuple[Any, tuple[int, ...]]:
    """A program of any node with the radices of its truths."""
    radices = draw(st.sampled_from([(2,), (3,), (4,), (2, 2), (2, 3)]))
    size = 1
    for radix in radices:
        size *= radix
    chosen = draw(st.sampled_from(["record", "bits", "some", "subset", "half", "hash", "above", "fill"]))
    if chosen == "record":
        return draw(record_programs(radices)), radices
    if chosen == "bits":
        return {"bits": [draw(CHANCES), draw(CHANCES)]}, radices
    if chosen == "some":
        kept, others = ({"bits": [draw(CHANCES), draw(CHANCES)]} for _ in range(2))
        return {"some": draw(st.integers(1, 4)), "kept": kept, "others": others}, radices
    if chosen == "hash":
        bits = (size - 1).bit_length()
        return {"hash": {"width": max(bits, 1), "buckets": 2}, "then": draw(record_programs((2,), 1))}, radices
    if chosen == "above":
        cuts = sorted(draw(st.sets(st.integers(1, ONE - 1), min_size=radices[0] - 2, max_size=radices[0] - 2)))
        gaps = [high - low for low, high in itertools.pairwise([0, *cuts, ONE])]
        return {"above": gaps, "then": draw(record_programs((2,), 1))}, radices[:1]
    if chosen == "fill":
        radices = (*radices, 3)
        filled = (*radices[:-1], 2)
        code = draw(st.integers(0, 2))
        return {"fill": [len(radices) - 1, code, 2], "then": draw(record_programs(filled, 1))}, radices
    if chosen == "subset":
        members = draw(st.integers(1, size - 1))
        heads, tails = {"subset": [members, 1]}, {"subset": [members, 0]}
    else:
        bound = 1 << size.bit_length()
        heads, tails = {"half": [bound, 0]}, {"half": [bound, 1]}
    return {"toss": draw(CHANCES), "heads": heads, "tails": tails}, radices
