"""Very many answers, also on a page, and very many questions: local hashing beside a peer, all pairs beside a matrix product."""

from __future__ import annotations

import gzip
import itertools
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians
from tacit import Attribute, Dataset, Reports, Scheme, channels, disguise, estimate
from tacit.count import MemoryEngine
from tacit.schema import Schema
from tacit.table import Table

REPORTS, ANSWERS = 1_000_000, 100_000
PEER_REPORTS, PEER_ANSWERS = 100, 5_000
ROWS = 1_000_000


def cpu(task: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    done = task()
    return time.process_time() - started, done


def many_answers(kind: str, seconds: float) -> list[Ratio]:
    """One question with 100,000 answers, from the truths to all shares."""
    attribute = Attribute("code", tuple(map(str, range(ANSWERS))))
    scheme = Scheme.of([attribute], [(["code"], getattr(channels, kind)(math.e))])
    codes = np.random.default_rng(1).integers(0, ANSWERS, REPORTS).astype(np.uint32)
    truth = Dataset(Table(scheme.schema, {"code": codes}))
    disguising, reports = cpu(lambda: disguise(truth, scheme))
    estimating, table = cpu(lambda: estimate(reports, "code"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        writing, _ = cpu(lambda: reports.write(path))
        size = path.stat().st_size / REPORTS
        Reports.read(path, scheme)
    # The scheme that a file carries lists the answers once; it is a part of these bytes.
    name = f"{kind.replace('_', ' ')}, {ANSWERS:,} answers"
    variance = REPORTS * float(np.median(table.standard_errors)) ** 2
    return [
        Ratio(f"{name}: a report in Parquet", size, 16, "bytes"),
        Ratio(f"{name}: disguising and writing", (disguising + writing) / REPORTS * 1e6, 5, "microseconds"),
        Ratio(
            f"{name}: all shares of {REPORTS:,} reports", estimating, seconds, "CPU seconds", f"N Var {variance:.2f}"
        ),
    ]


QUESTIONNAIRE = """
name: places
title: Places
introduction: Where people were born.
contact: A university.
pages:
- questions:
  - {name: born, kind: choice, answers: {file: codes.csv}, text: Where were you born?, sensitive: true}
groups:
- {questions: [born], channel: {kind: KIND, gamma: 4}}
"""


def asked_on_a_page(kind: str) -> list[Ratio]:
    """The same question in a survey: opening it, with every check of the page, and what a phone loads."""
    from tacit.survey.definition import Definition

    words = np.random.default_rng(4).choice(["ba", "do", "ka", "li", "mo", "ne", "ra", "su", "to", "vi"], (ANSWERS, 6))
    rows = "".join(f"{10_000 + code},{10_000 + code} {''.join(word)}\n" for code, word in enumerate(words))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "codes.csv").write_text(f"name,label\n{rows}", encoding="utf-8")
        path = Path(folder) / "survey.yaml"
        path.write_text(QUESTIONNAIRE.replace("KIND", kind), encoding="utf-8")
        opening, definition = cpu(lambda: Definition.read(path))
    (listed,) = definition.lists.values()
    sent = len(gzip.compress(listed.encode(), 6)) / 1e6
    name = f"a survey's question of {ANSWERS:,} answers, {kind}"
    return [
        Ratio(f"{name}: opening and checking", opening, 10, "CPU seconds"),
        Ratio(f"{name}: its list on the wire", sent, 2, "MB", f"{len(listed) / 1e6:.1f} MB read, beside the page"),
    ]


def hashing_against_peer() -> Ratio:
    """The server's part for one pair of a report and an answer; the peer is asked for fewer of them."""
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client

    rng = np.random.default_rng(2)
    theirs = [LH_Client(int(code), PEER_ANSWERS, 1.0) for code in rng.integers(0, PEER_ANSWERS, PEER_REPORTS)]
    attribute = Attribute("code", tuple(map(str, range(PEER_ANSWERS))))
    scheme = Scheme.of([attribute], [(["code"], channels.local_hashing(math.e))])
    codes = rng.integers(0, PEER_ANSWERS, 1000 * PEER_REPORTS).astype(np.uint32)
    ours = disguise(Dataset(Table(scheme.schema, {"code": codes})), scheme)
    tasks = {
        "tacit": lambda: estimate(ours, "code"),
        "peer": lambda: LH_Aggregator_MI(theirs, PEER_ANSWERS, 1.0),
    }
    seconds = cpu_medians(tasks, repeats=3)
    each = {name: seconds[name] / (PEER_ANSWERS * PEER_REPORTS * (1000 if name == "tacit" else 1)) for name in seconds}
    detail = f"{each['tacit'] * 1e9:.3f} against {each['peer'] * 1e9:.0f} CPU nanoseconds a pair of report and answer"
    return Ratio(
        "local hashing, server, against multi-freq-ldpy", each["peer"] / each["tacit"], 50, "times faster", detail
    )


def all_pairs(questions: int, answers: int) -> Ratio:
    """Tallies of all pairs, against the product of the bits with themselves in float32."""
    schema = Schema(tuple(Attribute(f"q{i}", tuple(map(str, range(answers)))) for i in range(questions)))
    rng = np.random.default_rng(3)
    table = Table(schema, {name: rng.integers(0, answers, ROWS, dtype=np.uint8) for name in schema.names})
    bits = np.stack([table[name] == answer for name in schema.names for answer in range(1, answers)], axis=1)
    matrix = bits.astype(np.float32)
    pairs = list(itertools.combinations(schema.names, 2))
    engine = MemoryEngine(table)
    seconds = cpu_medians({"tacit": lambda: engine.tallies(pairs), "numpy": lambda: matrix.T @ matrix}, repeats=3)
    detail = f"{len(pairs):,} tables: {seconds['tacit']:.2f} against {seconds['numpy']:.2f} CPU seconds"
    name = f"all pairs of {questions} questions of {answers} answers, {ROWS:,} rows"
    return Ratio(name, seconds["numpy"] / seconds["tacit"], 2, "times faster", detail)


def run() -> list[Ratio]:
    return [
        *many_answers("hadamard", 1.0),
        *many_answers("local_hashing", 60.0),
        *asked_on_a_page("hadamard"),
        *asked_on_a_page("local-hashing"),
        hashing_against_peer(),
        all_pairs(200, 2),
        all_pairs(60, 5),
    ]
