"""How good the model is that `choose_model` takes, beside four single ones that whoever has no such choice would take.

Tables that are made from published rules (balance scale, the three monks' problems, tic-tac-toe ends), Nursery, and any
given: ``python -m benchmarks.model_choice --table cars.csv --class deal --seeds 10 --out runs.jsonl``. For each seed 70%
of the rows are disguised and learned from, and the truth of the others is predicted. Every candidate is fitted
to all reports, so that what was not chosen is known too; a line of the file holds what a run found, and ``--read`` judges
it again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.ratio import Ratio
from tacit import Dataset, Scheme, channels, disguise
from tacit.bundled import load_nursery
from tacit.channel.recipe import Recipe
from tacit.errors import TacitError
from tacit.mine.candidates import default_candidates
from tacit.mine.division import loaded_reports
from tacit.mine.model_selection import judgement, usual_folds, with_average
from tacit.mine.trials import trials_of

LEARNED_FROM, MOST_REPORTS = 0.7, 5000
# What is chosen is held against these: the naive tree and naive Bayes on reports as if true, likelihood, and a tree on it.
SINGLES = ("tree as if true", "naive Bayes as if true", "joint model", "tree on the joint model")
BEHIND_BEST, BEHIND_MAJORITY = 0.03, 0.01
Rows = list[tuple[str, ...]]


def table(names: Sequence[str], rows: Rows) -> Dataset:
    return Dataset.from_arrow({name: [row[place] for row in rows] for place, name in enumerate(names)})


def balance_scale() -> Dataset:
    """Weight times distance on either side; 625 rows."""
    rows: Rows = []
    for record in itertools.product(range(1, 6), repeat=4):
        apart = record[0] * record[1] - record[2] * record[3]
        rows.append((*map(str, record), "left" if apart > 0 else "right" if apart < 0 else "balanced"))
    return table(["left weight", "left distance", "right weight", "right distance", "class"], rows)


MONKS: dict[int, Callable[..., bool]] = {
    1: lambda a, b, c, d, e, f: a == b or e == 1,
    2: lambda *answers: sum(answer == 1 for answer in answers) == 2,
    3: lambda a, b, c, d, e, f: (e == 3 and d == 1) or (e != 4 and b != 3),
}


def monks(number: int) -> Dataset:
    """One of the three monks' problems (Thrun et al. 1991), without noise; 432 rows."""
    records = itertools.product(*(range(1, size + 1) for size in (3, 3, 2, 3, 4, 2)))
    rows = [(*map(str, record), "yes" if MONKS[number](*record) else "no") for record in records]
    return table([*(f"a{place}" for place in range(1, 7)), "class"], rows)


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def tic_tac_toe() -> Dataset:
    """Every board at the end of a game that x began, and whether x won; 958 rows."""
    rows = [(*board, "won" if _has_line(board, "x") else "not won") for board in sorted(_ends("b" * 9, "x"))]
    return table([*(f"square {place}" for place in range(1, 10)), "class"], [tuple(row) for row in rows])


def _has_line(board: str, player: str) -> bool:
    return any(all(board[place] == player for place in line) for line in LINES)


@cache
def _ends(board: str, player: str) -> frozenset[str]:
    if _has_line(board, "x") or _has_line(board, "o") or "b" not in board:
        return frozenset([board])
    other = "o" if player == "x" else "x"
    moves = (board[:place] + player + board[place + 1 :] for place in range(9) if board[place] == "b")
    return frozenset().union(*(_ends(moved, other) for moved in moves))


DATA: dict[str, Callable[[], Dataset]] = {
    "nursery": load_nursery,
    "balance scale": balance_scale,
    "monk 1": lambda: monks(1),
    "monk 2": lambda: monks(2),
    "monk 3": lambda: monks(3),
    "tic-tac-toe": tic_tac_toe,
}
TUNED_ON = ("monk 1", "monk 3", "tic-tac-toe", "nursery")


def schemes(data: Dataset) -> dict[str, Scheme]:
    """The disguises, by name."""

    def each(recipe: Recipe) -> Scheme:
        return Scheme.of(data.schema, [([name], recipe) for name in data.schema.names])

    return {
        "one mixture at .5": Scheme.of(data.schema, [(data.schema.names, channels.mixture(0.5))]),
        "each answer at .8": each(channels.mixture(0.8)),
        "each answer, gamma 7": each(channels.gamma_diagonal(7)),
    }


@dataclass(frozen=True)
class Run:
    """What one disguise of one table led to: accuracies on true records that were not learned from, by candidate."""

    data: str
    scheme: str
    seed: int
    n_reports: int
    chosen: str
    accuracies: dict[str, float]
    judged: dict[str, float]
    seconds: float
    evidence: dict[str, object]

    @property
    def of_chosen(self) -> float:
        return self.accuracies[self.chosen]


def measured(name: str, data: Dataset, target: str, scheme_name: str, seed: int) -> Run:
    """A choice, with what every candidate would have been worth."""
    began = time.process_time()
    rng = np.random.default_rng([seed, 77])
    order = rng.permutation(data.n_rows)
    learned = min(int(LEARNED_FROM * data.n_rows), MOST_REPORTS)
    testing = data.table.rows(np.sort(order[int(LEARNED_FROM * data.n_rows) :]))
    truth = Dataset(data.table.rows(np.sort(order[:learned])))
    loaded = loaded_reports(disguise(truth, schemes(data)[scheme_name], seed=seed))
    candidates = default_candidates(target)
    made, tests = trials_of(candidates, loaded, usual_folds(loaded), 0, with_witnesses=True)
    trials = [one for one in made if not one.problem]
    told = judgement(trials, candidates, loaded)
    if not told.untold:
        trials, told, candidates = with_average(trials, told, candidates, tests)
    accuracies = {}
    for trial in trials:
        try:
            accuracies[trial.name] = float(candidates[trial.name].fit(loaded).score(testing))
        except TacitError:
            continue
    names = [trial.name for trial in trials]
    evidence: dict[str, object] = {
        "names": names, "mean": told.mean.tolist(), "covariance": told.covariance.tolist(),
        "expected": [trial.expected_accuracy for trial in trials], "untold": told.untold}  # fmt: skip
    chosen = next(names[place] for place in told.order if names[place] in accuracies)
    judged = dict(zip(names, told.judged.tolist(), strict=True))
    seconds = time.process_time() - began
    return Run(name, scheme_name, seed, learned, chosen, accuracies, judged, seconds, evidence)


def runs(
    tables: Mapping[str, tuple[Dataset, str]], seeds: Sequence[int], *, every_scheme: bool = False
) -> Iterator[Run]:
    """Each table under each seed, with the schemes in turn, or all of them."""
    for seed in seeds:
        for name, (data, target) in tables.items():
            known = list(schemes(data))
            for scheme in known if every_scheme else [known[seed % len(known)]]:
                yield measured(name, data, target, scheme, seed)


def known_tables(names: Sequence[str]) -> dict[str, tuple[Dataset, str]]:
    return {name: (DATA[name](), "class") for name in names}


def summary(made: Sequence[Run]) -> dict[str, dict[str, float]]:
    """Mean accuracies by table, and over all tables alike: of the chosen, the single ones and the majority."""
    by_table: dict[str, list[Run]] = defaultdict(list)
    for run in made:
        by_table[run.data].append(run)
    means = {
        name: {"chosen": _mean(run.of_chosen for run in own)}
        | {
            one: _mean(run.accuracies.get(one, run.accuracies["majority"]) for run in own)
            for one in (*SINGLES, "majority")
        }
        for name, own in by_table.items()
    }
    means["mean"] = {one: _mean(row[one] for row in means.values()) for one in ("chosen", *SINGLES, "majority")}
    return means


def _mean(values: Iterator[float]) -> float:
    return float(np.mean(list(values)))


def ratios(made: Sequence[Run]) -> list[Ratio]:
    """The three demands: on average not behind the best single one, nowhere far behind the best or the majority."""
    means = summary(made)
    overall = means.pop("mean")
    best = max(SINGLES, key=lambda one: overall[one])
    behind = {name: max(row[one] for one in SINGLES) - row["chosen"] for name, row in means.items()}
    below = {name: row["majority"] - row["chosen"] for name, row in means.items()}
    worst, lowest = max(behind, key=lambda name: behind[name]), max(below, key=lambda name: below[name])
    what = f"{len(made)} choices on {len(means)} tables"
    return [
        Ratio(f"{what}: behind {best}, the best single one on average", overall[best] - overall["chosen"], 0.0, "accuracy"),
        Ratio(f"behind the best single one of a table, at worst ({worst})", behind[worst], BEHIND_BEST, "accuracy"),
        Ratio(f"below the majority, at worst ({lowest})", below[lowest], BEHIND_MAJORITY, "accuracy"),
    ]  # fmt: skip


def run() -> list[Ratio]:
    """Small, with seeds of its own."""
    return ratios(list(runs(known_tables([name for name in DATA if name not in TUNED_ON]), range(100, 103))))


def printed(made: Sequence[Run]) -> None:
    means = summary(made)
    columns = ("chosen", *SINGLES, "majority")
    print("| data | runs | " + " | ".join(columns) + " |\n|---" + "|---" * (len(columns) + 1) + "|")
    for name, row in means.items():
        number = sum(run.data == name for run in made) or len(made)
        print(f"| {name} | {number} | " + " | ".join(f"{row[one]:.3f}" for one in columns) + " |")
    for ratio in ratios(made):
        print(ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--table", type=Path, action="append", default=[], help="a CSV file of one's own")
    parser.add_argument("--class", dest="target", default="class", help="the class of one's own file")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--every-scheme", action="store_true")
    parser.add_argument("--out", type=Path, help="a line of JSON for each run")
    parser.add_argument("--read", type=Path, nargs="*", help="judge the runs of these files instead")
    asked = parser.parse_args()
    made = [Run(**json.loads(line)) for path in asked.read or [] for line in path.read_text().splitlines()]
    if not made:
        tables = known_tables(asked.tables) | {path.stem: (Dataset.read(path), asked.target) for path in asked.table}
        seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
        for one in runs(tables, seeds, every_scheme=asked.every_scheme):
            made.append(one)
            if asked.out:
                with asked.out.open("a") as file:
                    file.write(json.dumps(asdict(one)) + "\n")
    printed(made)


if __name__ == "__main__":
    main()
