"""Reports simulated from a fitted model: what the parametric bootstrap refits it to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.channel.scheme import Questionnaire
from tacit.joint.evidence import WholeReports, whole_reports
from tacit.joint.selection import RecordModel
from tacit.randomness import SeededRandomness
from tacit.schema import Schema
from tacit.table import Table


def simulated(
    model: RecordModel, schema: Schema, groups: Sequence[tuple[Questionnaire, int]], rng: np.random.Generator
) -> list[WholeReports]:
    """As many reports of each questionnaire as there were, from people drawn from the model."""
    made = []
    for questionnaire, people in groups:
        records = dict(zip(schema.names, model.draw(people, rng), strict=True))
        chance = SeededRandomness(int(rng.integers(1 << 62)))
        columns = {attribute.name: records[attribute.name] for attribute in questionnaire.public}
        for group in questionnaire.groups:
            reported = group.channel.sample([records[name] for name in group.names], chance)
            names = [attribute.name for attribute in group.report_attributes]
            columns |= dict(zip(names, reported, strict=True))
        made.append(whole_reports(questionnaire, schema, Table(questionnaire.report_schema, columns)))
    return made
