"""Latent classes against StepMix: the same records, the same starts, climbs that end at a gain below 1e-8 a record."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ratio import Ratio
from tacit import Reports
from tacit.bundled.published import census
from tacit.joint.classes import LatentClasses, fit_classes, random_classes
from tacit.joint.evidence import WholeReports, whole_reports
from tacit.joint.selection import mean_log
from tacit.schema import Attribute, Schema
from tacit.table import Table

ARRIVED = 1e-8
MOST_STEPS = 5000
HELD_OUT = 0.25
CLASSES = (3, 6)
# (attributes, answers each, people, classes they are drawn from): no two records are alike.
DIFFERENT = (24, 4, 20_000, 6)
REPEATED_TARGET, DIFFERENT_TARGET, WORSE_TARGET = 30.0, 5.0, 0.001


def different() -> Table:
    """Records that all differ, drawn from latent classes."""
    attributes, answers, people, classes = DIFFERENT
    rng = np.random.default_rng(5)
    schema = Schema(tuple(Attribute(f"q{j}", tuple(map(str, range(answers)))) for j in range(attributes)))
    factors = tuple(rng.dirichlet(np.full(answers, 0.7), classes) for _ in range(attributes))
    columns = LatentClasses(rng.dirichlet(np.full(classes, 5.0)), factors).draw(people, rng)
    return Table.from_codes(schema, dict(zip(schema.names, columns, strict=True)))


def folded(table: Table) -> WholeReports:
    questionnaire = Reports.from_truth(table).scheme.questionnaires[0]
    return whole_reports(questionnaire, table.schema, table)


def stepmix_fit(start: LatentClasses, records: NDArray[np.float64]) -> Any:
    """StepMix from the same start; its own arrays are padded to the most answers of any attribute."""
    from stepmix.stepmix import StepMix

    class Started(StepMix):  # type: ignore[misc]
        def _initialize_parameters(self, data: Any, random_state: Any) -> None:
            super()._initialize_parameters(data, random_state)
            params = self.get_parameters()
            widest = params["measurement"]["max_n_outcomes"]
            padded = [np.pad(f, ((0, 0), (0, widest - f.shape[1])), constant_values=1e-15) for f in start.factors]
            params["measurement"]["pis"] = np.concatenate(padded, axis=1)
            self.set_parameters({**params, "weights": start.weights.copy()})

    model = Started(
        start.n_classes, measurement="categorical", abs_tol=ARRIVED, max_iter=MOST_STEPS, progress_bar=0, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(records)


def compared(name: str, table: Table, classes: int, target: float) -> list[Ratio]:
    rng = np.random.default_rng(classes)
    held = rng.random(table.n_rows) < HELD_OUT
    learning, testing = table.rows(~held), table.rows(held)
    shares = [np.full(attribute.size, 1 / attribute.size) for attribute in table.schema]
    start = random_classes(shares, classes, rng)
    fit_classes(start, [folded(learning)], most_steps=3)  # compiles
    begin = time.process_time()
    ours = fit_classes(start, [folded(learning)], arrived=ARRIVED, most_steps=MOST_STEPS)
    seconds = time.process_time() - begin
    records = [np.stack([part[n] for n in table.schema.names], axis=1).astype(float) for part in (learning, testing)]
    begin = time.process_time()
    peer = stepmix_fit(start, records[0])
    peer_seconds = time.process_time() - begin
    worse = float(peer.score(records[1])) - mean_log(ours.model, [folded(testing)])
    what = f"{classes} latent classes, {name} ({folded(learning).n_rows:,} distinct of {learning.n_rows:,})"
    detail = f"{seconds:.3f} against {peer_seconds:.1f} CPU seconds, {ours.steps} against {peer.n_iter_} steps"
    return [
        Ratio(what, peer_seconds / seconds, target, "times faster", detail),
        Ratio(f"{what}, held-out likelihood behind StepMix", worse, WORSE_TARGET, "nats a record"),
    ]


def run() -> Iterator[Ratio]:
    yield from compared("records that all differ", different(), DIFFERENT[3], DIFFERENT_TARGET)
    for classes in CLASSES:
        yield from compared("CENSUS", census().table, classes, REPEATED_TARGET)
