from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit import Reports, Scheme, channels, disguise
from tacit.bundled import adult_nine, census
from tacit.count import MemoryEngine
from tacit.count import shown_counts as shown
from tacit.count.sources import sources
from tacit.errors import InvalidInput, NotEstimable, UnknownName
from tacit.estimation.closed_supports import ShownSupports, SplitSupports, supports_from
from tacit.estimation.contributions import counted_contributions
from tacit.estimation.mean import estimated_mean
from tacit.estimation.supports import Supports, TableSupports
from tacit.mine import FrequentItemsets
from tacit.mine.apriori import Threshold, search
from tests.mine.itemset_checks import all_itemsets, by_items, by_mlxtend, by_pyfim, dataset
from tests.statistics import assert_standard_scores

SIZES = (3, 2, 4, 2)
DATA = dataset(SIZES, 4000, 1)
NAMES = DATA.schema.names
PUBLISHED = {1: 19, 2: 102, 3: 203, 4: 165, 5: 64, 6: 10}


def clear(data: tacit.Dataset) -> Reports:
    return Reports.from_truth(data)


def scheme(*groups: tuple[str, channels.Recipe]) -> Scheme:
    return Scheme.of(DATA.schema, [(names.split(), recipe) for names, recipe in groups])


def split(*parts: tuple[str, float, channels.Recipe]) -> Scheme:
    return Scheme.dealt(DATA.schema, [(names, chance, [(names.split(), recipe)]) for names, chance, recipe in parts])


LABELLED = channels.matrix([[0.7, 0.2], [0.2, 0.2], [0.1, 0.6]], ["x", "y", "z"])
SCHEMES = {
    "gamma-diagonal": scheme(("q0 q1 q2 q3", channels.gamma_diagonal(60))),
    "randomized gamma-diagonal": scheme(("q0 q1 q2 q3", channels.randomized_gamma_diagonal(60, 0.2))),
    "one group each": scheme(*((name, channels.gamma_diagonal(9)) for name in NAMES)),
    "groups and a public attribute": scheme(("q2 q0", channels.gamma_diagonal(30)), ("q1", channels.warner(0.8))),
    "unrelated questions": scheme(("q0 q1", channels.mixture(0.5, [[0.5, 0.3, 0.2], [0.1, 0.9]])), ("q2", channels.warner(0.7))),
    "joint unrelated question": scheme(("q1 q3", channels.mixture(0.5, [0.4, 0.3, 0.2, 0.1])), ("q0", channels.warner(0.7))),
    "flip": scheme(("q1 q3", channels.flip(0.8)), ("q0 q2", channels.gamma_diagonal(30))),
    "mask": scheme(("q0 q1 q2 q3", channels.mask(0.85))),
    "cut-and-paste": scheme(("q0 q1 q2 q3", channels.cut_and_paste(4, 0.3))),
    "subset": scheme(("q0 q1 q2 q3", channels.subset(5, 30))),
    "split": split(
        ("q0 q1 q2 q3", 0.4, channels.subset(5, 30)),
        ("q2 q0", 0.3, channels.subset(2, 30)),
        ("q1 q3", 0.2, channels.gamma_diagonal(30)),
        ("q0", 0.1, channels.gamma_diagonal(30)),
    ),
    "labels": scheme(("q1", LABELLED), ("q0 q2", channels.gamma_diagonal(30))),
    "subset and a public attribute": scheme(("q0 q1 q2", channels.subset(4, 30))),
}  # fmt: skip
# Which way of estimating each scheme should take; the first has closed forms, the last is for everything else.
WAYS = {
    "subset": SplitSupports,
    "split": SplitSupports,
    "labels": TableSupports,
    "subset and a public attribute": TableSupports,
}


@given(
    st.lists(st.integers(2, 5), min_size=1, max_size=5), st.integers(10, 300), st.integers(0, 99), st.floats(0.02, 0.6)
)
@settings(max_examples=25, deadline=None)
def test_clear_records_give_what_mlxtend_and_pyfim_find(
    sizes: list[int], rows: int, seed: int, min_support: float
) -> None:
    data = dataset(tuple(sizes), rows, seed)
    # Where all rows are equal pyfim finds nothing at all.
    assume(any(len(np.unique(column)) > 1 for column in data.table.columns.values()))
    # The others round: a threshold a hair above a support keeps it there.
    assume(not 0 < abs(rows * min_support - round(rows * min_support)) < 1e-9)
    found = by_items(FrequentItemsets(min_support).fit(clear(data)).itemsets_)
    assert found == by_pyfim(data, min_support)
    assert found == pytest.approx(by_mlxtend(data, min_support), abs=1e-12)


# The outer two say nothing of each other, so that none of their pairs is frequent; each goes with what nearly all say.
APART = tacit.Dataset.from_arrow({"a": ["x", "y"] * 20, "b": ["m"] * 39 + ["n"], "c": ["p", "p", "q", "q"] * 10})


@pytest.mark.parametrize(("data", "min_support"), [(DATA, 0.05), (DATA, 0.15), (DATA, 0.3), (APART, 0.3)])
def test_exactly_the_itemsets_of_which_every_part_is_frequent_are_looked_at(
    data: tacit.Dataset, min_support: float
) -> None:
    """Weaker pruning finds the same itemsets, but asks for more counts and spoils what is said about false discoveries."""
    shares: dict[frozenset[tuple[str, int]], float] = {}
    for length in range(1, len(data.schema.names) + 1):
        for names, table in all_itemsets(data, length).items():
            shares |= {frozenset(zip(names, codes, strict=True)): share for codes, share in np.ndenumerate(table)}
    frequent = {items for items, share in shares.items() if share >= min_support}
    wanted = {items for items in shares if len(items) == 1 or all(items - {item} in frequent for item in items)}
    tried = search(supports_from(clear(data)), Threshold(min_support, 0.0), None).tried
    looked_at = [frozenset(zip(part.names, map(int, row), strict=True)) for part in tried for row in part.codes]
    assert len(looked_at) == len(set(looked_at))
    assert set(looked_at) == wanted
    assert len(frequent) < len(wanted) < len(shares)


def test_census_has_the_published_numbers_of_itemsets() -> None:
    found = FrequentItemsets(0.02).fit(clear(census())).itemsets_
    assert found.counts() == PUBLISHED
    assert all(itemset.standard_error > 0 for itemset in found)


@pytest.mark.parametrize("cells", [shown.CUBE_CELLS, 1])
@pytest.mark.parametrize("tally_cells", [shown.TALLY_CELLS, 30])
def test_adult_is_the_same_by_cube_tallies_and_totals(
    cells: int, tally_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "CUBE_CELLS", cells)
    monkeypatch.setattr(shown, "TALLY_CELLS", tally_cells)
    data = tacit.Dataset(adult_nine().table.rows(slice(0, 3000)))
    found = by_items(FrequentItemsets(0.1, max_length=4).fit(clear(data)).itemsets_)
    assert found == {items: support for items, support in by_pyfim(data, 0.1).items() if len(items) <= 4}


@pytest.mark.slow
def test_many_questions_are_the_same_by_cube_and_by_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough pairs for the way of wide questionnaires; answers of one group, of several, and public ones."""
    names = [f"q{i}" for i in range(12)]
    truth = tacit.Dataset.from_arrow(
        {name: np.array(["no", "yes"])[np.random.default_rng(i).integers(0, 2, 500)] for i, name in enumerate(names)}
    )
    groups = [(names[:3], channels.flip(0.9)), *(([name], channels.gamma_diagonal(19)) for name in names[3:10])]
    reports = disguise(truth, Scheme.of(truth.schema, groups), seed=1)
    miner = FrequentItemsets(0.1, max_length=3, certainty=0.6)
    by_cube = miner.fit(reports).itemsets_
    monkeypatch.setattr(shown, "CUBE_CELLS", 1)
    by_bits = miner.fit(reports).itemsets_
    assert by_cube.counts()[3] > 0
    assert [itemset.to_document() for itemset in by_bits] == [itemset.to_document() for itemset in by_cube]


@pytest.mark.parametrize("name", SCHEMES)
def test_each_scheme_takes_the_way_with_a_closed_form(name: str) -> None:
    assert isinstance(supports_from(disguise(DATA, SCHEMES[name], seed=1)), WAYS.get(name, ShownSupports))


@pytest.mark.parametrize("name", [name for name in SCHEMES if WAYS.get(name) is not TableSupports])
def test_closed_forms_agree_with_estimated_tables(name: str) -> None:
    """Supports, errors and covariances of all sub-itemsets, against those of `tacit.estimate`."""
    reports = disguise(DATA, SCHEMES[name], seed=2)
    closed, general = supports_from(reports), TableSupports(sources(reports))
    for length in range(1, len(NAMES) + 1):
        for names, codes in prepared(closed, length).items():
            mine, errors = closed.estimates(names, codes)
            np.testing.assert_allclose(mine, general.estimates(names, codes)[0], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(errors, counted_errors(reports, names).reshape(-1), rtol=1e-9, atol=1e-12)
            # The bits of an itemset tell of it directly; a table's margin sums the cells of other bits, with more error.
            if name not in ("mask", "cut-and-paste"):
                mine, theirs = (way.covariances(names, codes[:5]) for way in (closed, general))
                # Those of a table are the channels' at a proper distribution near the estimate, not as counted.
                np.testing.assert_allclose(mine, theirs, rtol=0.015, atol=0.015 * float(np.abs(mine).max()))


# Sets are counted member by member, so what goes together in a set is told by the law, not by the reports as they came.
@pytest.mark.parametrize("name", [name for name in SCHEMES if name not in {*WAYS, "mask", "cut-and-paste"}])
def test_covariances_are_those_of_what_every_report_adds(name: str) -> None:
    """Estimates are linear: what one report adds is the table that is estimated from it alone."""
    few = tacit.Dataset(DATA.table.rows(slice(0, 60)))
    reports = disguise(few, SCHEMES[name], seed=2)
    closed = supports_from(reports)
    for length in (1, 2, 3):
        for names, codes in prepared(closed, length).items():
            np.testing.assert_allclose(
                closed.covariances(names, codes[:3]),
                added_covariances(reports, names, codes[:3]),
                rtol=1e-9,
                atol=1e-12,
            )


def added_covariances(reports: tacit.Reports, names: tuple[str, ...], codes: np.ndarray) -> np.ndarray:
    """Of all sub-itemsets of each itemset, from the contributions of each report."""
    (source,) = sources(reports)
    rows = reports.table
    added = np.stack(
        [
            counted_contributions(
                replace(source, engine=MemoryEngine(rows.rows(slice(at, at + 1)))), names
            ).mean.ravel()
            for at in range(rows.n_rows)
        ]
    )
    cells = np.indices(DATA.schema.shape(names)).reshape(len(names), -1)
    made = []
    for row in codes:
        wanted = [np.flatnonzero([sub >> at & 1 for at in range(len(names))]) for sub in range(1 << len(names))]
        summed = np.array([(cells[kept] == row[kept, None]).all(axis=0) for kept in wanted], dtype=float)
        made.append(np.cov(summed @ added.T, bias=True) / rows.n_rows)
    return np.array(made)


def counted_errors(reports: tacit.Reports, names: tuple[str, ...]) -> np.ndarray:
    """Of the cells of an estimated table, from the reports as they came."""
    found = sources(reports)
    return np.sqrt(estimated_mean(found, names, DATA.schema.shape(names)).moment_variances())


def prepared(estimated: Supports, length: int) -> dict[tuple[str, ...], np.ndarray]:
    """All itemsets of a length, by their attributes, counted."""
    sets = itertools.combinations(estimated.schema.names, length)
    level = {names: np.array(list(np.ndindex(*DATA.schema.shape(names)))) for names in sets}
    estimated.prepare(level)
    return level


def scores(name: str, length: int, surveys: int) -> list[float]:
    """One z-score of each of many surveys of people drawn from a population."""
    generator = np.random.default_rng(length)
    truth = all_itemsets(DATA, length)
    found = []
    for seed in range(surveys):
        people = tacit.Dataset(DATA.table.rows(generator.integers(0, DATA.n_rows, 3000)))
        estimated: Supports = supports_from(disguise(people, SCHEMES[name], seed=seed))
        names = list(truth)[seed % len(truth)]
        ordered = tuple(n for n in estimated.schema.names if n in names)
        cell = np.array([[generator.integers(0, DATA.schema[n].size) for n in ordered]])
        for part in range(1, length + 1):
            estimated.prepare(_all_parts(ordered, cell, part))
        support, error = estimated.estimates(ordered, cell)
        share = truth[names][tuple(cell[0, ordered.index(n)] for n in names)]
        found.append(float((support[0] - share) / error[0]))
    return found


def _all_parts(names: tuple[str, ...], cell: np.ndarray, length: int) -> dict[tuple[str, ...], np.ndarray]:
    return {
        tuple(names[at] for at in kept): cell[:, list(kept)]
        for kept in itertools.combinations(range(len(names)), length)
    }


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("name", SCHEMES)
def test_z_scores_have_mean_zero_and_deviation_one(name: str, length: int) -> None:
    assert_standard_scores(scores(name, length, 60))


def test_the_check_notices_errors_that_are_half_as_large_again() -> None:
    with pytest.raises(AssertionError, match="p-value"):
        assert_standard_scores([1.6 * score for score in scores("gamma-diagonal", 2, 60)])


def test_slack_keeps_parts_that_lie_below_the_threshold_by_chance() -> None:
    reports = disguise(DATA, scheme(("q0 q1 q2 q3", channels.gamma_diagonal(8))), seed=4)
    strict, loose = (
        by_items(FrequentItemsets(0.1, slack=slack, certainty=None).fit(reports).itemsets_) for slack in (0.0, 3.0)
    )
    assert set(strict) < set(loose)
    assert all(support >= 0.1 for support in loose.values())
    assert {items: loose[items] for items in strict} == strict


def test_likelihood_gives_supports_of_one_proper_distribution() -> None:
    reports = disguise(DATA, SCHEMES["gamma-diagonal"], seed=3)
    found = by_items(FrequentItemsets(1e-9, method="likelihood", certainty=None).fit(reports).itemsets_)
    assert sum(support for items, support in found.items() if len(items) == 4) == pytest.approx(1)
    for items, support in found.items():
        assert all(support <= found[items - {item}] + 1e-9 for item in items if len(items) > 1)


def test_nothing_is_said_of_itemsets_beyond_what_cut_and_paste_keeps() -> None:
    reports = disguise(DATA, scheme(("q0 q1 q2 q3", channels.cut_and_paste(2, 0.3))), seed=1)
    found = FrequentItemsets(0.01, certainty=0).fit(reports).itemsets_
    assert max(found.counts()) == 2
    assert "no information about 3 attributes together" in found.unknown[0]


def test_nothing_is_said_of_attributes_that_are_never_asked_together() -> None:
    dealt = split(("q0 q1", 0.5, channels.gamma_diagonal(30)), ("q2 q3", 0.5, channels.gamma_diagonal(30)))
    found = FrequentItemsets(0.05).fit(disguise(DATA, dealt, seed=1)).itemsets_
    together = {tuple(name for name, _ in itemset.items) for itemset in found if len(itemset) == 2}
    assert together == {("q0", "q1"), ("q2", "q3")}
    assert any("never asked together" in reason for reason in found.unknown)


def test_two_sets_of_reports_are_pooled() -> None:
    both = [disguise(DATA, SCHEMES[name], seed=1) for name in ("gamma-diagonal", "subset")]
    found = FrequentItemsets(0.1).fit(both)
    assert found.n_reports_ == 2 * DATA.n_rows
    assert isinstance(found.itemsets_.supports, SplitSupports)


def test_the_frame_has_the_shape_that_users_of_mlxtend_know() -> None:
    found = FrequentItemsets(0.3).fit(clear(DATA)).itemsets_
    frame = found.to_pandas()
    assert list(frame.columns) == ["support", "itemsets", "standard_error"]
    assert all(isinstance(items, frozenset) for items in frame["itemsets"])
    assert found.to_arrow().num_rows == len(found) == len(found.to_document())
    assert found.to_document()[0]["items"]
    assert "±" in str(found)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"min_support": 0.0}, InvalidInput, r"above 0 and at most at 1, not 0.0"),
        ({"min_support": 1.5}, InvalidInput, r"not 1.5"),
        ({"min_support": "2%"}, InvalidInput, r"not '2%'"),
        ({"max_length": 0}, InvalidInput, r"max_length must be a whole number of at least 1"),
        ({"slack": -1.0}, InvalidInput, r"slack counts standard errors"),
        ({"method": "guess"}, UnknownName, r"Method 'guess' does not exist"),
    ],
)
def test_impossible_settings_are_refused(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        FrequentItemsets(**options).fit(clear(DATA))


def test_truths_and_empty_reports_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"Reports.from_truth"):
        FrequentItemsets().fit(DATA)
    with pytest.raises(InvalidInput, match="no reports to mine"):
        FrequentItemsets().fit(clear(tacit.Dataset(DATA.table.rows(slice(0, 0)))))


def test_reports_that_say_nothing_are_refused() -> None:
    with pytest.raises(NotEstimable, match="independent of the truth"):
        FrequentItemsets().fit(disguise(DATA, scheme(("q0 q1 q2 q3", channels.uniform_perturbation(0.0))), seed=1))


def test_a_joint_domain_too_large_for_the_likelihood_is_refused() -> None:
    data = tacit.Dataset(adult_nine().table.rows(slice(0, 50)))
    with pytest.raises(InvalidInput, match=r"joint domain of 9 attributes has 180,006,400 cells.*split questionnaires"):
        FrequentItemsets(method="likelihood").fit(clear(data))


def test_reports_of_another_mechanism_are_refused(tmp_path: object) -> None:
    reports = disguise(DATA, SCHEMES["mask"], seed=1)
    path = f"{tmp_path}/reports.parquet"
    reports.write(path)
    with pytest.raises(InvalidInput, match="was disguised under the scheme"):
        Reports.read(path, SCHEMES["gamma-diagonal"])
