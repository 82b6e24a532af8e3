"""Local recoding on tables that nothing was tuned on, beside Mondrian at the same k.

Three tables: dates and codes; twenty attributes; households of several rows. Both get the same answers in the same order, and
the loss (NWP) of both is computed from the boxes of their classes by the same function. Mondrian is the better of two.
anonypy's counts rows and leaves the median always to the upper side, so that it cannot cut off a most frequent first answer.
The one below, written after LeFevre, DeWitt and Ramakrishnan (2006), can, and counts households too: the attribute with the
widest range is cut at its median while both sides hold k, else the next. ARX is in beside_arx.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ratio import Ratio
from tacit.publish import Preferences, Protection, anonymize

LOCAL = Preferences(method="local")
ROWS = 5_000


def run() -> list[Ratio]:
    return [
        *(
            beside("dates and codes", dates_and_codes(), ["birth", "postcode", "visit", "income", "sex"], k)
            for k in (2, 5)
        ),
        beside("twenty attributes", twenty(), [f"q{j}" for j in range(20)], 5),
        beside("households", households(), ["region", "age", "sex", "income"], 3, person="household"),
    ]


def beside(name: str, people: dict[str, Any], known: list[str], k: int, person: str | None = None) -> Ratio:
    release = anonymize(people, protection=Protection(k=k, attributes=known, person=person), preferences=LOCAL)
    tally, persons = release.recoding.tally, release.publication.persons
    if persons is None:
        codes = np.repeat(tally.codes, tally.counts, axis=0)
        peers = [anonypy_classes(codes, k), mondrian_of_persons(codes, np.arange(len(codes)), tally.sizes, k)]
    else:
        codes, of = (np.repeat(column, persons.counts, axis=0) for column in (persons.codes, persons.person))
        peers = [mondrian_of_persons(codes, of, tally.sizes, k)]
    scale = release.publication.problem.weights / np.maximum(1, tally.sizes - 1)
    theirs = min(_loss(codes, classes, scale) for classes in peers)
    detail = f"loss {release.nwp:.4f} against {theirs:.4f} at k = {k}, {release.rows:,} rows"
    return Ratio(f"local recoding against Mondrian, {name}", release.nwp / theirs, 1, "times the loss", detail)


def anonypy_classes(codes: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    import pandas as pd
    from anonypy.mondrian import Mondrian

    names = [f"x{j}" for j in range(codes.shape[1])]
    frame = pd.DataFrame(codes, columns=names).assign(nothing=0)
    classes = np.empty(len(codes), np.int64)
    for number, rows in enumerate(Mondrian(frame, names, "nothing").partition(k)):
        classes[np.asarray(rows)] = number
    return classes


def mondrian_of_persons(
    codes: NDArray[np.int64], of: NDArray[np.int64], sizes: NDArray[np.int64], k: int
) -> NDArray[np.int64]:
    classes, waiting, number = np.empty(len(codes), np.int64), [np.arange(len(codes))], 0
    while waiting:
        rows = waiting.pop()
        own = codes[rows]
        for j in np.argsort(-(np.ptp(own, axis=0) / np.maximum(1, sizes - 1))):
            sides = _halves(rows, own[:, j], of, k)
            if sides:
                waiting += sides
                break
        else:
            classes[rows], number = number, number + 1
    return classes


def _halves(
    rows: NDArray[np.int64], answers: NDArray[np.int64], of: NDArray[np.int64], k: int
) -> list[NDArray[np.int64]]:
    """Both sides of the median, which goes to the upper one or, where that leaves too few below, to the lower one."""
    median = np.median(answers)
    for below in (answers < median, answers <= median):
        sides = [rows[below], rows[~below]]
        if min(len(np.unique(of[side])) for side in sides) >= k:
            return sides
    return []


def _loss(codes: NDArray[np.int64], classes: NDArray[np.int64], scale: NDArray[np.float64]) -> float:
    """Mean penalty of rows in the tight boxes of their classes."""
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    low, high = (reduce.reduceat(codes[order], starts, axis=0) for reduce in (np.minimum, np.maximum))
    sizes = np.diff(np.append(starts, len(order)))
    return float(sizes @ ((high - low) @ scale) / len(codes))


def dates_and_codes(seed: int = 101) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "birth": (np.datetime64("1935-01-01") + (rng.beta(2, 2, ROWS) * 25_000).astype(int)).astype(str),
        "postcode": [f"{10_000 + 37 * int(x):05d}" for x in rng.gamma(2.0, 200.0, ROWS)],
        "visit": (np.datetime64("2023-01-01") + rng.integers(0, 700, ROWS)).astype(str),
        "income": np.round(rng.lognormal(10.2, 0.7, ROWS)),
        "sex": rng.choice(["f", "m"], ROWS),
    }


def twenty(seed: int = 102) -> dict[str, Any]:
    """Twenty answers that depend on two hidden ones."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((ROWS, 2))
    columns = {}
    for j in range(20):
        size = 2 + (5 * j) % 7
        own = np.where(rng.random(ROWS) < 0.75, hidden[:, j % 2], rng.random(ROWS))
        columns[f"q{j}"] = [str(int(x * size)) for x in own]
    return columns


def households(seed: int = 103) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    members = rng.choice([1, 2, 3, 4, 5], 2_000, p=[0.35, 0.3, 0.15, 0.15, 0.05])
    of = np.repeat(np.arange(2_000), members)
    return {
        "household": [f"h{i}" for i in of],
        "region": [str(r) for r in rng.integers(0, 16, 2_000)[of]],
        "age": rng.integers(0, 95, len(of)),
        "sex": rng.choice(["f", "m"], len(of)),
        "income": np.round(rng.lognormal(10.4, 0.5, 2_000)[of], -2),
    }
