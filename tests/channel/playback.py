"""A source of randomness that plays back given words, and the exact law of a sampler found by playing all of them."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit.channel.base import Channel, Codes
from tacit.channel.registry import FILES
from tacit.randomness import WORD_BITS, Randomness, Words

SAMPLERS = [importlib.import_module(f"tacit.channel.kinds.{name}") for name in sorted(set(FILES.values()))]

Report = tuple[tuple[int, ...], ...]
Law = dict[Report, Fraction]


class Playback:
    """Randomness whose words are known beforehand."""

    is_simulation = True

    def __init__(self, words: Iterable[int]) -> None:
        self._words = np.array(list(words), dtype=np.uint32)
        self._next = 0

    def words(self, count: int) -> Words:
        self._next += count
        assert self._next <= len(self._words), "more words were drawn than there are to play back"
        return self._words[self._next - count : self._next]


class _Fork(Exception):
    def __init__(self, ways: int) -> None:
        self.ways = ways


class _Path:
    """One path through the tree of all draws: the outcome of each draw so far; the next one forks."""

    is_simulation = True

    def __init__(self, outcomes: Sequence[int], bits: int) -> None:
        self._outcomes: Iterator[int] = iter(outcomes)
        self._bits = bits

    def draw(self, ways: int) -> int:
        try:
            return next(self._outcomes)
        except StopIteration:
            raise _Fork(ways) from None

    def words(self, count: int) -> Words:
        # Where all chances are multiples of 2**-bits, the lower bits of a word decide nothing.
        drawn = [self.draw(1 << self._bits) << (WORD_BITS - self._bits) for _ in range(count)]
        return np.array(drawn, dtype=np.uint32)


def _ideal_uniform_below(randomness: Randomness, bound: int, count: int) -> Any:
    if not isinstance(randomness, _Path):
        raise TypeError("ideal draws are for enumeration only")
    return np.array([randomness.draw(bound) for _ in range(count)], dtype=np.int64)


def one_report(columns: Sequence[Codes], row: int = 0) -> Report:
    return tuple(tuple(np.atleast_1d(column[row]).astype(int).tolist()) for column in columns)


def sampled_law(sample: Callable[[Randomness], Sequence[Codes]], bits: int, *, ideal_uniform: bool = True) -> Law:
    """The exact law of what `sample` draws: every outcome of every draw is followed, with its exact chance.

    Words are followed through their highest `bits`. Uniform draws, which are shown to be exact elsewhere, fork into
    their values (with `ideal_uniform`) or are made of words like everything else.
    """
    law: Counter[Report] = Counter()
    paths: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    with pytest.MonkeyPatch.context() as patch:
        if ideal_uniform:
            for module in SAMPLERS:
                patch.setattr(module, "uniform_below", _ideal_uniform_below, raising=False)
        while paths:
            outcomes, chance = paths.pop()
            try:
                report = one_report(sample(_Path(outcomes, bits)))
            except _Fork as fork:
                paths.extend(((*outcomes, way), chance / fork.ways) for way in range(fork.ways))
            else:
                law[report] += chance
    return dict(law)


def declared_law(channel: Channel, truth: int) -> dict[Report, float]:
    columns, chances = channel.reports(), channel.matrix[:, truth]
    return {one_report(columns, row): float(chance) for row, chance in enumerate(chances) if chance > 0}


def assert_samples_exactly(channel: Channel, bits: int, *, ideal_uniform: bool = True) -> None:
    """For every truth, the law found by enumeration is the declared column."""
    truths = np.ndindex(*channel.shape)
    for position, truth in enumerate(truths):
        columns = [np.array([code], dtype=np.uint8) for code in truth]
        law = sampled_law(
            lambda source, columns=columns: channel.sample(columns, source), bits, ideal_uniform=ideal_uniform
        )
        declared = declared_law(channel, position)
        assert set(law) == set(declared), f"truth {truth}: other reports are drawn than declared"
        for report, chance in law.items():
            # Only the floats of the declared law are rounded.
            assert abs(float(chance) - declared[report]) <= 1e-14 * declared[report], (
                f"truth {truth}, report {report}: drawn with chance {chance}, declared {declared[report]}"
            )
