from __future__ import annotations

import numpy as np
import pytest

from tacit.publish import check_release, local, remake
from tacit.publish._local_kernels import Sides, best_cut
from tacit.publish.local import recode_locally, tight_boxes
from tacit.publish.recoding import numbers_of
from tacit.publish.tally import tally_rows
from tacit.schema import Attribute, numeric
from tests.publish.small import posed, small_tally
from tests.publish.test_anonymization import people
from tests.publish.wishes import anonymize


def nwp(problem, classes) -> float:
    low, high = tight_boxes(problem.tally.codes, classes)
    share = ((high - low)[classes] / (problem.tally.sizes - 1)) @ problem.weights
    return float(np.average(share, weights=problem.tally.counts))


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_disjoint_and_large_enough(seed):
    problem = posed(small_tally(seed, sizes=(9, 6, 5), rows=500), k=7)
    classes = recode_locally(problem).classes
    low, high = tight_boxes(problem.tally.codes, classes)
    assert np.bincount(classes, problem.tally.counts).min() >= 7
    for a in range(len(low)):
        overlaps = ((low <= high[a]) & (high >= low[a])).all(axis=1)
        assert overlaps.sum() == 1


def test_piloting_loses_less_than_greedy_cutting():
    problem = posed(small_tally(1, sizes=(9, 6, 5), rows=500), k=7)
    assert nwp(problem, recode_locally(problem, pilots=8).classes) < nwp(
        problem, recode_locally(problem, pilots=1).classes
    )


def test_nothing_can_be_cut_below_two_k():
    problem = posed(small_tally(1, rows=60), k=31)
    assert set(recode_locally(problem).classes) == {0}


@pytest.mark.parametrize("cuts", [0, 1, 7, 30])
def test_an_interruption_leaves_publishable_boxes(cuts, monkeypatch):
    problem = posed(small_tally(1, sizes=(9, 6, 5), rows=500), k=7)
    left = iter(range(cuts))

    def cut_some(*arguments):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return best_cut(*arguments)

    monkeypatch.setattr(local, "best_cut", cut_some)
    found = recode_locally(problem)
    assert not found.complete
    assert set(found.classes) == set(range(found.classes.max() + 1))
    assert np.bincount(found.classes, problem.tally.counts).min() >= 7
    assert (found.classes.max() > 0) == (cuts > 0)


def test_boxes_do_not_depend_on_whether_more_than_their_size_is_judged(monkeypatch):
    problem = posed(small_tally(3, sizes=(9, 6, 5), rows=500), k=7)
    alone = recode_locally(problem).classes
    nothing = np.empty(0, np.int64)
    monkeypatch.setattr(local, "_sides", lambda _: Sides(nothing, nothing, nothing))
    np.testing.assert_array_equal(recode_locally(problem).classes, alone)


def test_microaggregation_publishes_the_means_of_local_classes(tmp_path):
    data = people() | {"height": [f"{150 + i % 37}" for i in range(400)]}
    names = ["age", "height", "town"]
    release = anonymize(data, 6, names, method="microaggregate", keep_order=True)
    shown = release.to_arrow()
    boxes = anonymize(data, 6, names, method="local", keep_order=True).to_arrow()
    assert shown["town"] == boxes["town"]
    classes = list(zip(*(boxes[name].to_pylist() for name in names), strict=True))
    for name in ("age", "height"):
        for label in set(classes):
            own = [i for i, shown_label in enumerate(classes) if shown_label == label]
            mean = np.mean([float(data[name][i]) for i in own])
            assert {shown[name][i].as_py() for i in own} == {np.format_float_positional(float(f"{mean:.4g}"), trim="-")}
    # Means of four digits leave the total nearly as it was.
    total = sum(map(float, shown["height"].to_pylist()))
    assert total == pytest.approx(sum(map(float, data["height"])), rel=1e-3)
    assert check_release(release, names).k >= 6
    (tmp_path / "first").mkdir()
    path = release.write(tmp_path / "first" / "out.csv")
    assert remake(f"{path}.private.json", data).to_arrow() == shown


def test_the_middle_of_a_step_stands_for_it():
    assert numbers_of(numeric("age", (20, 30, 50))).tolist() == [15, 25, 40, 60]
    assert numbers_of(Attribute("x", ("1", "2.5"))).tolist() == [1, 2.5]
    assert numbers_of(Attribute("x", ("a", "b"))) is None


@pytest.mark.parametrize("seed", [0, 2])
def test_suppressing_the_edges_of_boxes_loses_less_and_keeps_the_limit(seed):
    tally = small_tally(seed, sizes=(30, 20), rows=600)
    codes = np.where(
        np.arange(len(tally.codes))[:, None] >= len(tally.codes) - 3, [29, 19], tally.codes // 4
    )  # three far from all others
    tally = tally_rows(tally.attributes, codes, tally.counts)
    kept, trimmed = posed(tally, k=40), posed(tally, k=40, suppress=0.1)
    before, after = recode_locally(kept).classes, recode_locally(trimmed).classes
    gone = after < 0
    assert 0 < tally.counts[gone].sum() <= 0.1 * 600
    assert np.bincount(after[~gone], tally.counts[~gone]).min() >= 40
    low, high = tight_boxes(tally.codes[~gone], after[~gone])
    share = ((high - low)[after[~gone]] / (tally.sizes - 1)) @ kept.weights
    loss = (share @ tally.counts[~gone] + tally.counts[gone].sum()) / 600
    assert loss < nwp(kept, before)


def test_a_release_by_local_recoding_takes_suppression(tmp_path):
    release = anonymize(people() | OUTLIERS, 40, ["age", "town"], method="local", suppress=0.05)
    assert 0 < release.suppressed <= 20
    assert check_release(release.write(tmp_path / "out.csv"), ["age", "town"]).k >= 40
    assert release.nwp < anonymize(people() | OUTLIERS, 40, ["age", "town"], method="local").nwp


# Two people far from everybody else.
OUTLIERS = {"age": [str(20 + i % 30) for i in range(398)] + ["99", "98"]}


def test_groups_of_hierarchies_label_the_boxes(tmp_path):
    towns = ["Ulm", "Bonn", "Linz", "Graz", "Rom", "Bari"]
    groups = {"Ulm": "D", "Linz": "A", "Rom": "I", "Bonn": "D", "Graz": "A", "Bari": "I"}
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels" / "town.csv").write_text("".join(f"{town};{groups[town]};*\n" for town in towns))
    rng = np.random.default_rng(3)
    data = {
        "age": [str(a) for a in rng.integers(20, 60, 300)],
        "town": [towns[i] for i in (6 * rng.random(300) ** 2).astype(int)],
    }
    release = anonymize(data, 6, ["age", "town"], method="local", hierarchies=tmp_path / "levels")
    shown = release.recoding.released_labels()["town"]
    for label, behind in shown.items():
        assert label in towns or label in groups.values() or label == "*"
        assert set(behind) == {town for town in towns if label in (town, groups[town], "*")}
    for shown_town, shown_age, town, age in zip(
        *(anonymize(data, 6, ["age", "town"], method="local", hierarchies=tmp_path / "levels", keep_order=True)
          .to_arrow()[name].to_pylist() for name in ("town", "age")),
        data["town"], data["age"], strict=True,
    ):  # fmt: skip
        assert shown_town in (town, groups[town], "*")
        assert age in release.recoding.released_labels()["age"][shown_age]
    path = release.write(tmp_path / "out.csv")
    assert check_release(path, ["age", "town"]).k >= 6
    whole = anonymize(
        data, 6, ["age", "town"], method="search", hierarchies=tmp_path / "levels", evaluations=500, seed=1
    )
    assert release.nwp < whole.nwp
    assert remake(f"{path}.private.json", data).to_arrow() == release.to_arrow()


def test_means_are_written_out():
    data = {"income": [str(27_000 + 137 * i) for i in range(40)]}
    release = anonymize(data, 10, ["income"], method="microaggregate", granularity={"income": 100}, seed=1)
    shown = set(release.to_arrow()["income"].to_pylist())
    assert len(shown) > 1
    assert all(text.isdigit() and len(text) == 5 for text in shown)
