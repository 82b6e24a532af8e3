"""l and t mean one thing: in the search, in the proof and in the check, against the rows that are released."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.publish import check_release
from tacit.publish._demand_kernels import distance
from tacit.publish.class_measures import SensitiveAnswers, sensitive_check
from tacit.publish.reading_back import _greatest_t
from tacit.schema import Attribute, Schema
from tests.publish.test_anonymization import people
from tests.publish.wishes import anonymize

PAINS = ("none", "slight", "some", "strong", "unbearable", "never said")


def patients() -> tuple[dict[str, list[str]], Schema]:
    """People with an ordered sensitive answer of which one degree never occurs and one is rare."""
    rng = np.random.default_rng(4)
    data = people()
    pain = [PAINS[i] for i in rng.choice(5, 400, p=[0.4, 0.3, 0.2, 0.09, 0.01])]
    del data["illness"]
    schema = Schema(
        (
            Attribute("age", tuple(sorted(set(data["age"]))), ordered=True),
            Attribute("town", ("Ulm", "Rom", "Bern", "Linz")),
            Attribute("sex", ("f", "m")),
            Attribute("pain", PAINS, ordered=True),
        )
    )
    return data | {"pain": pain}, schema


@pytest.mark.parametrize("method", ["exact", "local"])  # "exact" begins with the search
def test_what_is_searched_for_is_what_the_check_finds(method):
    data, schema = patients()
    for t in (0.02, 0.1):
        release = anonymize(
            data, 4, sensitive="pain", t=t, schema=schema, method=method, evaluations=800, seconds=5, seed=1
        )
        checked = check_release(release, ["age", "town", "sex"], ["pain"], schema=schema)
        assert checked.sensitive[0].closeness <= t + 1e-9
        # By a distance that knows no order the same release would be judged further away.
        assert check_release(release, ["age", "town", "sex"], ["pain"]).sensitive[0].closeness > t


@pytest.mark.parametrize("ordered", [True, False])
def test_suppression_is_judged_by_the_rows_that_stay(ordered):
    data, schema = patients()
    if not ordered:
        schema = Schema((*schema.attributes[:3], Attribute("pain", PAINS)))
    suppressed = 0
    for seed in range(3):
        release = anonymize(
            data, 4, sensitive="pain", t=0.03 if ordered else 0.12, suppress=0.2, schema=schema, seed=seed,
            evaluations=1_500,
        )  # fmt: skip
        suppressed += release.suppressed
        closeness = check_release(release, ["age", "town", "sex"], ["pain"], schema=schema).sensitive[0].closeness
        assert closeness <= (0.03 if ordered else 0.12) + 1e-9
    assert suppressed > 0


@pytest.mark.parametrize("ordered", [True, False])
def test_the_compiled_distance_is_that_of_the_check(ordered):
    rng = np.random.default_rng(9)
    shown = rng.poisson(2.0, (50, 7)) * (np.arange(7) != 3)
    shown = shown[shown.sum(axis=1) > 0]
    overall = shown.sum(axis=0) / shown.sum()
    ours = [distance(own.astype(np.uint32), own.sum(), overall, 0, 7, int(ordered)) for own in shown]
    kept = overall > 0
    for number, own in enumerate(shown):  # each class alone against the same whole, so that none hides behind the worst
        shares = (own / own.sum())[None, kept]
        assert ours[number] == pytest.approx(_greatest_t(shares, overall[kept], ordered=ordered), abs=1e-12)
    classes, codes = np.nonzero(shown)
    checked = sensitive_check(classes, SensitiveAnswers("s", codes, ordered=ordered), shown[classes, codes])
    assert checked.closeness == pytest.approx(max(ours), abs=1e-12)


def test_the_distance_of_an_ordered_answer_by_hand():
    """Half of the rows "low", half "high", between them a "middle" that is released too: 3 answers, 2 steps."""
    schema = Schema((Attribute("s", ("low", "never", "middle", "high"), ordered=True),))
    table = {"x": ["a", "a", "b", "b"], "s": ["low", "low", "middle", "high"]}
    # Released shares 1/2, 1/4, 1/4. In class a all rows are low: 1/2 is carried over the first step, 1/4 over the second.
    assert check_release(table, "x", "s", schema=schema).sensitive[0].closeness == pytest.approx((0.5 + 0.25) / 2)
    assert check_release(table, "x", "s").sensitive[0].closeness == pytest.approx(0.5)
