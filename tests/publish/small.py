"""Small tables, and the measures computed as slowly and plainly as they are defined."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

from tacit.publish.problem import Diversity, Problem, pose
from tacit.publish.tally import QuasiTally
from tacit.schema import Attribute


def attribute(name: str, size: int, *, ordered: bool = True) -> Attribute:
    return Attribute(name, tuple(f"{name}{i}" for i in range(size)), ordered=ordered)


def small_tally(seed: int, sizes=(4, 3, 3), rows: int = 60, sensitive: int = 0, sets=None) -> QuasiTally:
    rng = np.random.default_rng(seed)
    # Squares make some answers rare, as in real tables.
    columns = [np.floor(rng.random(rows) ** 2 * size).astype(np.int64) for size in sizes]
    secret = [np.floor(rng.random(rows) ** 1.5 * sensitive).astype(np.int64)] if sensitive else []
    codes, counts = np.unique(np.stack(columns + secret, axis=1), axis=0, return_counts=True)
    m = len(sizes)
    return QuasiTally(
        tuple(attribute("abcdef"[j], size) for j, size in enumerate(sizes)),
        np.ascontiguousarray(codes[:, :m]),
        counts,
        sets or (tuple(range(m)),),
        (attribute("s", sensitive, ordered=False),) if sensitive else (),
        np.ascontiguousarray(codes[:, m:]),
    )


def posed(tally: QuasiTally, k: int, **demands) -> Problem:
    weights = np.arange(1, len(tally.attributes) + 1, dtype=float)
    return pose(tally, k, weights / weights.sum(), **demands)


def every_chromosome(problem: Problem):
    for bits in itertools.product((0, 1), repeat=problem.n_bits):
        yield np.array(bits, np.uint8)


def plain_blocks(tally: QuasiTally, bits) -> list[list[int]]:
    blocks, place = [], 0
    for size in tally.sizes:
        own = [0]
        for bit in bits[place : place + size - 1]:
            own.append(own[-1] + int(bit))
        blocks.append(own)
        place += size - 1
    return blocks


def plain_classes(tally: QuasiTally, bits, members=None) -> dict[tuple[int, ...], Counter]:
    """Sensitive answers (or just rows) of every class."""
    blocks = plain_blocks(tally, bits)
    columns = members if members is not None else range(len(blocks))
    classes: dict[tuple[int, ...], Counter] = {}
    for row, count, secret in zip(tally.codes, tally.counts, tally.sensitive_codes, strict=True):
        key = tuple(blocks[j][row[j]] for j in columns)
        classes.setdefault(key, Counter())[tuple(secret)] += int(count)
    return classes


def plain_penalties(problem: Problem, bits) -> list[float]:
    """Penalty of every combination of the tally."""
    blocks = plain_blocks(problem.tally, bits)
    return [
        sum(
            w * (own.count(own[code]) - 1) / (len(own) - 1)
            for w, own, code in zip(problem.weights, blocks, row, strict=True)
        )
        for row in problem.tally.codes
    ]


def plain_nwp(problem: Problem, bits) -> float:
    return float(np.average(plain_penalties(problem, bits), weights=problem.tally.counts))


def is_diverse(answers: Counter, whole: Counter, diversity: Diversity) -> bool:
    size, total = answers.total(), whole.total()
    parts = np.array([answers[s] / size for s in whole])
    overall = np.array([whole[s] / total for s in whole])
    entropy = -sum(p * np.log(p) for p in parts if p > 0)
    if diversity.l and diversity.entropy and entropy < np.log(diversity.l) - 1e-9:
        return False
    if diversity.l and not diversity.entropy and (parts > 0).sum() < diversity.l:
        return False
    return diversity.t is None or np.abs(parts - overall).sum() / 2 <= diversity.t + 1e-9
