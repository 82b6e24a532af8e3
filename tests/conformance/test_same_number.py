"""The same share has the same estimate, error and interval, through whatever it is asked for.

Where an answer is another question, it says so: sums over reports that show sets or bits, and over more reports than truths,
have errors as counted (`error_rule`), not those of the law at a proper distribution.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

import tacit
from tacit import Attribute, Reports, Schema, Scheme, channels, devices
from tacit.disguising import disguise_table
from tacit.mine import FrequentItemsets
from tacit.mine.count_sources import counted_subgroup, ordered_sources
from tacit.mine.growth import Grower, SplitRules
from tacit.randomness import SeededRandomness
from tacit.table import Table

SCHEMA = Schema(
    (Attribute("cheated", ("no", "yes")), Attribute("group", ("x", "y", "z")), Attribute("sex", ("f", "m")))
)
FORCED = [[0.75, 0.1], [0.25, 0.9]]
SCHEMES = {
    "public": Scheme.of(SCHEMA),
    "warner": Scheme.of(SCHEMA, [(["cheated"], channels.warner(0.7))]),
    "below one half": Scheme.of(SCHEMA, [(["cheated"], channels.warner(0.2))]),
    "uniform perturbation": Scheme.of(SCHEMA, [(["cheated"], channels.uniform_perturbation(0.4))]),
    "gamma-diagonal": Scheme.of(SCHEMA, [(["cheated"], channels.gamma_diagonal(5))]),
    "unrelated question": Scheme.of(SCHEMA, [(["cheated"], channels.mixture(0.5, [0.25, 0.75]))]),
    "flip": Scheme.of(SCHEMA, [(["cheated"], channels.flip(0.8))]),
    "forced response": Scheme.of(SCHEMA, [(["cheated"], channels.matrix(FORCED))]),
    "beside another": Scheme.of(SCHEMA, [(["cheated"], channels.warner(0.7)), (["sex"], channels.warner(0.8))]),
    "together with another": Scheme.of(SCHEMA, [(["cheated", "sex"], channels.gamma_diagonal(9))]),
}
Numbers = tuple[float, float, float | None, float | None]  # share, error and ends, where there are any


def reports_of(scheme: Scheme) -> Reports:
    rng = np.random.default_rng(5)
    group = rng.choice(3, 3000, p=[0.2, 0.5, 0.3])
    codes = {
        "cheated": rng.random(3000) < np.array([0.3, 0.5, 0.4])[group],
        "group": group,
        "sex": rng.random(3000) < 0.4,
    }
    return disguise_table(Table(SCHEMA, {k: v.astype("u1") for k, v in codes.items()}), scheme, SeededRandomness(8))


def of_everybody(reports: Reports) -> Iterator[tuple[str, Numbers]]:
    """The share that cheated."""
    yield "estimate", cell(tacit.estimate(reports, "cheated"))
    share = tacit.estimate(reports, {"cheated": "yes"})
    yield "condition", (share.probability, share.standard_error, *share.interval())
    yield "tally", cell(tacit.estimate(tacit.Tally.of(reports, tables=[["cheated"]]), "cheated"))
    (itemset,) = (
        one
        for one in FrequentItemsets(0.01, max_length=1, certainty=None).fit(reports).itemsets_
        if dict(one.items) == {"cheated": "yes"}
    )
    yield "itemset", (itemset.unbiased, itemset.standard_error, itemset.low, itemset.high)
    origins, schema = ordered_sources(reports)
    node = counted_subgroup(origins, schema, "sex")[0].within(schema["cheated"], (1,)).shares()
    yield "node", (node.size, math.sqrt(node.size_variance), None, None)
    if reports.scheme.groups and reports.scheme.groups[0].names == ("cheated",):
        device = devices.matrix(reports.scheme.groups[0].channel.matrix.tolist())
        yes = tacit.prevalence(reports.to_arrow(), "cheated", device, yes="yes")["yes"]
        yield "prevalence", (yes.share, yes.standard_error, yes.low, yes.high)


def cell(table: tacit.estimation.TableEstimate) -> Numbers:
    ends = table.interval()
    return table.probabilities[1], table.standard_errors[1], ends.low[1], ends.high[1]


def of_a_group(reports: Reports) -> Iterator[tuple[str, Numbers]]:
    """The share that cheated among the people of the public group x."""
    chosen = reports.table["group"] == 0
    yield "estimate of them", cell(tacit.estimate(reports.rows(chosen), "cheated"))
    within = tacit.estimate(reports, ["cheated", "group"]).given("group")
    yield "given", (
        within.probabilities[0, 1], within.standard_errors[0, 1], within.interval().low[0, 1], within.interval().high[0, 1]
    )  # fmt: skip
    origins, schema = ordered_sources(reports)
    people = counted_subgroup(origins, schema, "cheated")[0].within(schema["group"], (0,))
    node = Grower(SplitRules(max_depth=0), np.ones(2)).grow(people)
    yield "node", (node.class_shares[1], node.class_errors[1], None, None)
    if reports.scheme.groups and reports.scheme.groups[0].names == ("cheated",):
        device = devices.matrix(reports.scheme.groups[0].channel.matrix.tolist())
        found = tacit.prevalence(reports.to_arrow(), "cheated", device, yes="yes", by="group")
        yes = next(one for one in found.groups if one.answers == {"group": "x"}).shares[1]
        yield "prevalence", (yes.share, yes.standard_error, yes.low, yes.high)


@pytest.mark.parametrize("scheme", list(SCHEMES))
@pytest.mark.parametrize("ways", [of_everybody, of_a_group])
def test_the_same_share_is_the_same_number_everywhere(ways: object, scheme: str) -> None:
    (_, reference), *others = ways(reports_of(SCHEMES[scheme]))  # type: ignore[operator]
    for way, numbers in others:
        for number, expected in zip(numbers, reference, strict=True):
            if number is not None:
                assert number == pytest.approx(expected, abs=1e-12), way


def test_the_share_of_a_public_attribute_among_respondents_has_no_error() -> None:
    reports = reports_of(SCHEMES["warner"])
    clear = tacit.estimate(reports, "group", sampling="respondents")
    assert clear.standard_errors.tolist() == [0, 0, 0]
    assert clear.interval().low.tolist() == clear.interval().high.tolist() == clear.probabilities.tolist()
    origins, schema = ordered_sources(reports)
    assert counted_subgroup(origins, schema, "cheated")[0].within(schema["group"], (0,)).shares().size_disguise == 0


def test_every_answer_names_its_error_rule() -> None:
    reports = reports_of(SCHEMES["warner"])
    table = tacit.estimate(reports, ["cheated", "group"])
    assert table.to_document()["error_rule"] == "law"
    assert tacit.estimate(reports, {"cheated": "yes"}).error_rule == "law"
    assert tacit.estimate(reports, {"cheated": "yes", "group": ["x", "y"]}).error_rule == "counted"
    weighted = tacit.estimate(reports, "cheated", sample=tacit.SampleDesign.of(3000, weights=np.arange(1, 3001)))
    assert weighted.to_document()["error_rule"] == "design"
    assert tacit.estimate(reports, "cheated", method="likelihood").error_rule == "likelihood"
