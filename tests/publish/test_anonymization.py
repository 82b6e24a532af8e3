from __future__ import annotations

import json
from unittest import mock

import numpy as np
import pytest

from tacit import bundled
from tacit.errors import InvalidInput, UnknownName
from tacit.publish import check_release
from tacit.publish import search as searching
from tacit.publish.proof import _Tree
from tests.publish.wishes import anonymize

QUICK = {"evaluations": 1_500, "seed": 1}


def people(rows: int = 400) -> dict[str, list[str]]:
    rng = np.random.default_rng(11)
    age = rng.integers(20, 40, rows)
    return {
        "age": [str(a) for a in age],
        "town": [str(t) for t in rng.choice(["Ulm", "Rom", "Bern", "Linz"], rows, p=[0.5, 0.3, 0.15, 0.05])],
        "sex": [str(s) for s in rng.choice(["f", "m"], rows)],
        "illness": [str(i) for i in rng.choice(["flu", "cold", "gout", "none"], rows, p=[0.2, 0.3, 0.1, 0.4])],
    }


@pytest.mark.parametrize("method", ["search", "exact", "local"])
@pytest.mark.parametrize("k", [2, 15])
def test_everyone_hides_among_k(method, k):
    release = anonymize(people(), k, method=method, evaluations=1_500, seconds=20, seed=1)
    checked = check_release(release, ["age", "town", "sex", "illness"])
    assert checked.k == release.effective_k >= k
    assert checked.rows == 400
    assert release.suppressed == 0


def test_exact_is_proven_and_never_worse_than_the_search():
    found = anonymize(people(), 10, **QUICK)
    exact = anonymize(people(), 10, method="exact", seed=1, seconds=60)
    assert exact.is_proven
    assert exact.lower_bound <= exact.nwp <= found.nwp + 1e-12
    assert found.lower_bound is None


def test_local_recoding_loses_less_than_any_global_one():
    exact = anonymize(people(), 10, method="exact", seed=1, seconds=60)
    assert anonymize(people(), 10, method="local").nwp < exact.nwp


def test_suppression_stays_within_its_limit_and_saves_detail():
    towns = {"town": [town for town in "abcdefghij" for _ in range(2 if town == "e" else 30)]}
    kept = anonymize(towns, 10, **QUICK)
    cut = anonymize(towns, 10, suppress=0.01, **QUICK)
    assert (kept.suppressed, cut.suppressed) == (0, 2)
    assert kept.nwp == pytest.approx(32 / 272 / 9)
    assert cut.nwp == pytest.approx(2 / 272)
    assert "e" not in cut.to_arrow()["town"].to_pylist()
    assert anonymize(towns, 10, suppress=0.001, **QUICK).suppressed == 0


@pytest.mark.parametrize("method", ["search", "local", "exact"])
def test_sensitive_answers_are_spread_as_demanded(method):
    release = anonymize(
        people(), 4, sensitive="illness", l=3, t=0.4, method=method, evaluations=1_500, seconds=30, seed=1
    )
    checked = check_release(release, ["age", "town", "sex"], ["illness"])
    assert checked.k >= 4
    assert checked.sensitive[0].distinct >= 3
    assert checked.sensitive[0].closeness <= 0.4 + 1e-9
    assert sorted(release.to_arrow()["illness"].to_pylist()) == sorted(people()["illness"])


def test_entropy_diversity():
    release = anonymize(people(), 2, sensitive=["illness"], l=2.5, entropy=True, **QUICK)
    assert check_release(release, ["age", "town", "sex"], ["illness"]).sensitive[0].entropy >= 2.5 - 1e-6


def test_several_sets_are_each_k_anonymous():
    release = anonymize(people(), 10, [["age", "sex"], ["town", "sex"]], **QUICK)
    for members in (["age", "sex"], ["town", "sex"]):
        assert check_release(release, members).k >= 10
    together = anonymize(people(), 10, ["age", "sex", "town"], **QUICK)
    assert release.nwp <= together.nwp


def test_local_recoding_serves_several_sets_by_their_union():
    sets = [["age", "sex"], ["town", "sex"]]
    release = anonymize(people(), 10, sets, method="local", sensitive="illness", l=2)
    union = anonymize(people(), 10, ["age", "sex", "town"], method="local", sensitive="illness", l=2)
    for members in sets:
        checked = check_release(release, members, ["illness"])
        assert checked.k >= 10
        assert checked.sensitive[0].distinct >= 2
    assert release.nwp == union.nwp
    assert release.effective_k == min(check_release(release, members).k for members in sets)
    worst = max(np.ptp(check_release(release, members).class_sizes) for members in sets)
    assert release.necd == pytest.approx(worst / 399)


def test_exact_with_suppression_says_that_nothing_is_proven_and_is_not_worse_than_without():
    cut = anonymize(people(), 10, ["town", "sex"], method="exact", suppress=0.05, seed=1, seconds=60)
    whole = anonymize(people(), 10, ["town", "sex"], method="exact", seed=1, seconds=60)
    assert whole.is_proven
    assert cut.lower_bound is None
    assert cut.nwp <= whole.nwp
    assert "where rows may be suppressed, how much less is possible is not proven" in cut.describe()
    assert any(warning.startswith("Where rows may be suppressed, nothing is proven") for warning in cut.warnings)
    assert anonymize(people(), 10, ["town", "sex"], suppress=0.05, seed=1, evaluations=500).lower_bound is None


def test_weights_move_the_detail():
    heavy = {"age": 0.9, "town": 0.05, "sex": 0.05}
    release = anonymize(people(), 20, ["age", "town", "sex"], heavy, **QUICK)
    equal = anonymize(people(), 20, ["age", "town", "sex"], **QUICK)
    assert release.losses["age"] <= equal.losses["age"]


def test_columns_nobody_named_are_not_published():
    release = anonymize(people(), 5, ["age", "town"], keep=["sex"], **QUICK)
    assert release.to_arrow().column_names == ["age", "town", "sex"]


def test_a_seed_repeats_the_release():
    first, second = (anonymize(people(), 7, **QUICK) for _ in range(2))
    assert first.to_document() == second.to_document()


def test_an_interrupted_search_is_marked():
    with mock.patch.object(searching, "tournament", side_effect=KeyboardInterrupt):
        release = anonymize(people(), 5, **QUICK)
    assert not release.complete
    assert "interrupted" in release.warnings[0]
    assert release.effective_k >= 5


def interrupting(share_from: float, what: str):
    """Ctrl-C once the work is so far."""

    def progress(share: float, now: str) -> None:
        if now.startswith(what) and share >= share_from:
            raise KeyboardInterrupt

    return progress


def test_interrupted_local_recoding_is_marked_and_valid(tmp_path):
    release = anonymize(people(), 5, method="local", progress=interrupting(0.3, "recoding"))
    whole = anonymize(people(), 5, method="local")
    assert not release.complete
    assert whole.complete
    assert "had it gone on, classes might be smaller" in release.warnings[0]
    assert whole.nwp < release.nwp < 1
    release.write(tmp_path / "out.csv")
    assert check_release(tmp_path / "out.csv", ["age", "town", "sex", "illness"]).k >= 5
    assert "interrupted" in json.loads((tmp_path / "out.csv.private.json").read_text())["warnings"][0]


def test_an_interrupted_proof_keeps_its_bound():
    with mock.patch.object(_Tree, "probe_root", side_effect=KeyboardInterrupt):
        release = anonymize(people(), 10, method="exact", evaluations=500, seed=1)
    exact = anonymize(people(), 10, method="exact", seed=1, seconds=60)
    assert not release.complete
    assert "The proof was interrupted" in release.warnings[0]
    assert release.lower_bound <= exact.nwp <= release.nwp


def test_an_unreachable_preference_names_the_nearest():
    release = anonymize(people(), 100, method="exact", seed=1, seconds=60)
    assert f"cannot be reached; the nearest attained is a loss of {release.nwp:.4f}" in release.warnings[-1]
    assert not anonymize(people(), 2, prefer_loss=1.0, **QUICK).warnings


def test_alternatives_are_on_a_front():
    release = anonymize(people(), 5, prefer_bias=0.05, **QUICK)
    for one in release.front:
        assert one.effective_k >= 5
        assert not any(
            other.nwp <= one.nwp and other.necd <= one.necd and other.effective_k > one.effective_k
            for other in release.front
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 401}, "k = 401 is more than the 400 rows"),
        ({"k": 0}, "k must be a whole number of at least 1, not 0"),
        ({"k": 2.5}, "not 2.5"),
        ({"attributes": ["agee"]}, "Did you mean 'age'"),
        ({"attributes": []}, "at least one quasi-identifier"),
        ({"attributes": ["age", "town"], "weights": {"age": 0.5, "town": 0.6}}, "sum to 1.1, not to 1"),
        ({"attributes": ["age", "town"], "weights": {"age": 1.0}}, "no weight for 'town'"),
        ({"attributes": ["age"], "weights": {"agee": 1.0}}, "Did you mean 'age'"),
        ({"attributes": ["age", "town"], "weights": {"age": -1, "town": 2}}, "at least 0"),
        ({"attributes": ["age", "illness"], "sensitive": "illness"}, "'illness' is a quasi-identifier"),
        ({"sensitive": "ilness"}, "Did you mean 'illness'"),
        ({"l": 3}, "Name these too"),
        ({"sensitive": "illness", "l": 0.5}, "l must be at least 1"),
        ({"sensitive": "illness", "l": 9}, "Ask for a smaller l: at most 4"),
        ({"sensitive": "illness", "t": 2}, "t must be a number from 0"),
        ({"suppress": 1}, "suppress must be a number from 0, below 1"),
        ({"prefer_loss": 3}, "prefer_loss must be"),
        ({"prefer_bias": -1}, "prefer_bias must be"),
        ({"method": "best"}, "Method 'best' does not exist"),
        ({"attributes": [["age"], ["town"]], "suppress": 0.1}, "union of the sets"),
        ({"evaluations": 3}, "evaluations must be"),
        ({"seconds": -1}, "seconds must be a number above 0, not -1"),
        ({"population": 3_000}, "must not exceed the 1500 evaluations"),
        ({"hierarchies": "nowhere"}, "no folder 'nowhere'"),
    ],
)
def test_refusals_say_what_to_do(changes, message):
    with pytest.raises(InvalidInput, match=message):
        anonymize(people(), **({"k": 5} | QUICK | changes))


def test_missing_values_need_a_policy():
    holes = people()
    holes["town"][3:9] = [""] * 6
    with pytest.raises(InvalidInput, match="'town' has 6 missing"):
        anonymize(holes, 5, **QUICK)
    own = anonymize(holes, 5, missing="answer", **QUICK)
    assert check_release(own, own.recoding.tally.names).k >= 5
    assert own.rows == 400
    assert anonymize(holes, 5, missing="drop", **QUICK).rows == 394


def test_an_attribute_with_one_value_is_published_as_it_is_and_loses_nothing():
    release = anonymize(people() | {"same": ["x"] * 400}, 5, **QUICK)
    assert set(release.to_arrow()["same"].to_pylist()) == {"x"}
    without = anonymize(people(), 5, **QUICK)
    attributes = len(people())
    assert release.nwp == pytest.approx(without.nwp * attributes / (attributes + 1))


def test_an_empty_table_is_refused():
    with pytest.raises(InvalidInput, match="no rows"):
        anonymize({"age": [], "sex": []}, 5, **QUICK)


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'sex'"):
        anonymize(people(), 5, keep=["sexx"], **QUICK)


@pytest.mark.slow
def test_adult_targets():
    """Suppressing 4%: at most 0.18 at k = 5. Local recoding: at most 0.034 at k = 5 and 0.19 at k = 100."""
    adult = bundled.adult_nine()
    assert anonymize(adult, 5, suppress=0.04, seed=0).nwp <= 0.18
    assert anonymize(adult, 5, method="local").nwp <= 0.034
    assert anonymize(adult, 100, method="local").nwp <= 0.19
