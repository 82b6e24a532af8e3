"""Saved tallies: what they answer is what the reports would answer, and what they lack they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import Attribute, Dataset, Reports, Schema, Scheme, Tally, channels
from tacit.channel.recipe import Recipe
from tacit.count.tally import is_tally
from tacit.errors import InvalidInput, NotEstimable, SchemeMismatch
from tacit.estimation.complex_samples import SampleDesign
from tacit.table import Table

SCHEMA = Schema(
    (
        Attribute("smokes", ("no", "yes")),
        Attribute("drinks", ("never", "rarely", "often")),
        Attribute("age", ("young", "old")),
        Attribute("town", ("a", "b", "c")),
    )
)


def truths(rows: int, seed: int) -> Dataset:
    generator = np.random.default_rng(seed)
    columns = {a.name: np.minimum(generator.geometric(0.5, rows) - 1, a.size - 1) for a in SCHEMA}
    return Dataset(Table.from_codes(SCHEMA, columns))


def reports(recipe: Recipe, seed: int, rows: int = 400) -> Reports:
    scheme = Scheme.of(SCHEMA, [(["smokes", "drinks"], recipe), (["age"], channels.warner(0.8))])
    return tacit.disguise(truths(rows, seed), scheme, seed=seed)


RECIPES = {
    "gamma-diagonal": channels.gamma_diagonal(5),
    "subset": channels.subset(2, 5),
    "mask": channels.mask(0.8),
    "uneven mixture": channels.mixture(0.4, [0.3, 0.1, 0.1, 0.1, 0.2, 0.2]),
}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_whole_tally_answers_as_the_reports_do(recipe: Recipe, tmp_path: Path) -> None:
    rows = reports(recipe, 1)
    Tally.of(rows).write(tmp_path / "t.parquet")
    tally = Tally.read(tmp_path / "t.parquet")
    for names in (["smokes"], ["drinks", "town"], ["age", "smokes", "town"]):
        one, two = tacit.estimate(rows, names), tacit.estimate(tally, names)
        np.testing.assert_array_equal(one.probabilities, two.probabilities)
        np.testing.assert_array_equal(one.standard_errors, two.standard_errors)
    share = {"smokes": "yes", "age": "old", "town": ["a", "b"]}
    one_share, two_share = tacit.estimate(rows, share), tacit.estimate(tally, share)
    assert two_share.probability == pytest.approx(one_share.probability, rel=1e-12)
    assert two_share.standard_error == pytest.approx(one_share.standard_error, rel=1e-12)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_likelihood_from_a_tally_is_that_of_the_reports(recipe: Recipe) -> None:
    rows = reports(recipe, 2)
    one = tacit.estimate(rows, ["smokes", "drinks"], method="likelihood")
    two = tacit.estimate(Tally.of(rows), ["smokes", "drinks"], method="likelihood")
    np.testing.assert_allclose(one.probabilities, two.probabilities, atol=1e-9)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_days_are_added_and_taken_away(recipe: Recipe, tmp_path: Path) -> None:
    days = [reports(recipe, seed) for seed in (1, 2, 3)]
    for order in (None, 2):
        tallies = [Tally.of(day, order=order) for day in days]
        total = tallies[0] + tallies[1] + tallies[2]
        window = total - tallies[0]
        assert (total.n_reports, window.n_reports) == (1200, 800)
        expected = tacit.estimate(days[1:], ["smokes", "town"])
        np.testing.assert_array_equal(tacit.estimate(window, ["smokes", "town"]).probabilities, expected.probabilities)
        window.write(tmp_path / "window.parquet")
        again = tacit.estimate(Tally.read(tmp_path / "window.parquet"), ["smokes", "town"])
        np.testing.assert_array_equal(again.probabilities, expected.probabilities)
        np.testing.assert_array_equal(again.standard_errors, expected.standard_errors)


def test_parts_of_one_table_give_the_estimate_of_the_whole_to_the_last_digit() -> None:
    rows = reports(channels.gamma_diagonal(5), 4)
    halves = [rows.rows(slice(0, 150)), Tally.of(rows.rows(slice(150, None)))]
    whole, parts = tacit.estimate(rows, ["smokes", "age"]), tacit.estimate(halves, ["smokes", "age"])
    np.testing.assert_array_equal(whole.probabilities, parts.probabilities)
    np.testing.assert_array_equal(whole.standard_errors, parts.standard_errors)


@pytest.mark.slow
def test_trees_and_itemsets_are_grown_from_tallies() -> None:
    rows = reports(channels.gamma_diagonal(9), 5, rows=3000)
    tally = Tally.of(rows)
    for model in (tacit.TreeClassifier(target="age"), tacit.NaiveBayesClassifier(target="age")):
        one, two = model.fit(rows), model.fit(tally)
        np.testing.assert_array_equal(one.predict(truths(50, 6)), two.predict(truths(50, 6)))
    one_items = tacit.FrequentItemsets(0.1).fit(rows).itemsets_
    two_items = tacit.FrequentItemsets(0.1).fit(tally).itemsets_
    assert len(one_items) == len(two_items)
    # A tally up to an order has all that itemsets of that length need, and nothing for longer ones.
    pairs = Tally.of(rows, order=2)
    of_rows, of_pairs = (tacit.FrequentItemsets(0.1, 2).fit(source).itemsets_ for source in (rows, pairs))
    assert [(one.items, one.support) for one in of_rows] == [(one.items, one.support) for one in of_pairs]
    with pytest.raises(NotEstimable, match="does not hold"):
        tacit.FrequentItemsets(0.01, 3).fit(pairs)


def test_dealt_questionnaires_are_tallied_one_by_one(tmp_path: Path) -> None:
    document = {
        "format": "tacit-scheme/1",
        "attributes": [{"name": a.name, "answers": list(a.answers), "ordered": False} for a in SCHEMA],
        "questionnaires": [
            {"name": "one", "probability": 0.5, "groups": [
                {"attributes": ["smokes", "drinks"], "channel": {"kind": "gamma-diagonal", "gamma": 5}}]},
            {"name": "two", "probability": 0.5, "groups": [
                {"attributes": ["drinks", "age"], "channel": {"kind": "gamma-diagonal", "gamma": 5}}]},
        ],
    }  # fmt: skip
    rows = tacit.disguise(truths(600, 7), Scheme.from_document(document), seed=7)
    Tally.of(rows).write(tmp_path / "t.parquet")
    one, two = tacit.estimate(rows, ["drinks"]), tacit.estimate(Tally.read(tmp_path / "t.parquet"), ["drinks"])
    np.testing.assert_array_equal(one.probabilities, two.probabilities)


def test_a_file_is_known_to_be_a_tally_or_not(tmp_path: Path) -> None:
    rows = reports(channels.gamma_diagonal(5), 1)
    Tally.of(rows).write(tmp_path / "t.parquet")
    (tmp_path / "t.parquet").rename(tmp_path / "t.PQ")
    rows.write(tmp_path / "r.parquet")
    rows.write(tmp_path / "r.csv")
    (tmp_path / "broken.parquet").write_text("no parquet")
    (tmp_path / "t.pq").mkdir()
    assert {file.name for file in tmp_path.iterdir() if is_tally(file)} == {"t.PQ"}
    assert not is_tally(tmp_path / "nowhere.parquet")


def test_an_order_beyond_the_attributes_counts_all_of_them_together() -> None:
    rows = reports(channels.gamma_diagonal(5), 1)
    names = list(rows.scheme.schema.names)
    tally = Tally.of(rows, order=len(names) + 3)
    np.testing.assert_array_equal(tacit.estimate(tally, names).probabilities, tacit.estimate(rows, names).probabilities)


def test_a_tally_says_what_it_lacks() -> None:
    tally = Tally.of(reports(channels.gamma_diagonal(5), 1), tables=[["smokes", "age"], ["town"]])
    assert tacit.estimate(tally, ["age", "smokes"]).n_reports == 400
    assert "2 tables" in repr(tally)
    with pytest.raises(NotEstimable, match=r"does not hold smokes, town together\. It holds: smokes with age; town"):
        tacit.estimate(tally, ["smokes", "town"])
    sets = Tally.of(reports(channels.subset(2, 5), 1), order=2)
    with pytest.raises(NotEstimable, match="need whole reports"):
        tacit.estimate(sets, {"smokes": "yes", "drinks": ["never", "often"]})
    assert (
        tacit.estimate(sets, {"smokes": "yes", "drinks": "never"}).error_rule == "law"
    )  # a cell of a table that it holds


def test_bad_tallies_are_refused(tmp_path: Path) -> None:
    rows = reports(channels.gamma_diagonal(5), 1)
    one, other = Tally.of(rows), Tally.of(reports(channels.gamma_diagonal(6), 1))
    with pytest.raises(SchemeMismatch, match="different schemes"):
        _ = one + other
    with pytest.raises(InvalidInput, match="reports that the other does not hold"):
        _ = one - Tally.of(reports(channels.gamma_diagonal(5), 2))
    with pytest.raises(InvalidInput, match="no table in common"):
        _ = Tally.of(rows, tables=[["age"]]) + Tally.of(rows, tables=[["town"]])
    with pytest.raises(InvalidInput, match="give one of the two"):
        Tally.of(rows, order=2, tables=[["age"]])
    with pytest.raises(InvalidInput, match="at least 1, not 0"):
        Tally.of(rows, order=0)
    with pytest.raises(InvalidInput, match="of one scheme; these are of 2"):
        Tally.of([rows, reports(channels.gamma_diagonal(6), 1)])
    with pytest.raises(InvalidInput, match="no reports to tally"):
        Tally.of([])
    rows.write(tmp_path / "r.parquet")
    with pytest.raises(InvalidInput, match="is not a tally"):
        Tally.read(tmp_path / "r.parquet")
    one.write(tmp_path / "t.parquet")
    with pytest.raises(SchemeMismatch, match="the tally carries it"):
        Tally.read(tmp_path / "t.parquet", other.scheme)


class TestWeighted:
    """Sums of weights are kept by stratum and cluster, and give what the reports with their design give."""

    @staticmethod
    def days() -> list[tuple[Reports, dict[str, list[Any]]]]:
        scheme = Scheme.of(
            [Attribute("smokes", ("no", "yes")), Attribute("sex", ("f", "m"))], [(["smokes"], channels.warner(0.8))]
        )
        rng = np.random.default_rng(12)
        days = []
        for seed in (1, 2):
            truth = {
                name: np.array(own)[rng.integers(0, 2, 300)].tolist()
                for name, own in (("smokes", ["no", "yes"]), ("sex", ["f", "m"]))
            }
            sample = {
                "weights": rng.uniform(0.5, 3, 300).tolist(),
                "strata": rng.choice(["north", "south"], 300).tolist(),
                "clusters": [str(one) for one in rng.integers(0, 20, 300)],
            }
            days.append((tacit.disguise(Dataset.from_arrow(truth, scheme.schema), scheme, seed=seed), sample))
        return days

    @pytest.mark.parametrize(
        "known", [("weights",), ("weights", "strata"), ("weights", "strata", "clusters"), ("clusters",)]
    )
    def test_days_added_are_the_whole_sample(self, known: tuple[str, ...], tmp_path: Path) -> None:
        days = self.days()
        tallies = []
        for place, (reports, sample) in enumerate(days):
            path = tmp_path / f"{place}.parquet"
            tacit.Tally.weighted(reports, **{name: sample[name] for name in known}).write(path)
            tallies.append(tacit.Tally.read(path))
        both = Reports(days[0][0].scheme, (Table.concatenate([reports.table for reports, _ in days]),))
        design = SampleDesign.of(600, **{name: [*days[0][1][name], *days[1][1][name]] for name in known})
        whole = tacit.estimate(both, ["smokes", "sex"], sample=design)
        for kept in (tallies[0] + tallies[1], tallies):
            table = tacit.estimate(kept, ["smokes", "sex"])
            np.testing.assert_allclose(table.probabilities, whole.probabilities, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(table.standard_errors, whole.standard_errors, rtol=1e-9)
            np.testing.assert_allclose(table.interval().low, whole.interval().low, rtol=1e-6, atol=1e-9)
        window = tallies[0] + tallies[1] - tallies[0]
        assert window.n_reports == 300
        alone = tacit.estimate(tallies[1], ["smokes"])
        np.testing.assert_allclose(tacit.estimate(window, ["smokes"]).probabilities, alone.probabilities, atol=1e-12)

    def test_what_does_not_go_together_is_refused(self) -> None:
        (reports, sample), (other, more) = self.days()
        tally = tacit.Tally.weighted(reports, weights=sample["weights"])
        with pytest.raises(InvalidInput, match="One of these tallies is weighted"):
            tally + tacit.Tally.of(other)
        with pytest.raises(InvalidInput, match="that the other does not"):
            tally + tacit.Tally.weighted(other, weights=more["weights"], strata=more["strata"])
        with pytest.raises(InvalidInput, match="reports that the other does not hold"):
            tally - tacit.Tally.weighted(other, weights=more["weights"])
        with pytest.raises(NotEstimable, match="This tally is weighted"):
            tacit.fit_joint(tally)
        with pytest.raises(InvalidInput, match=r"weight in row 1 is 0"):
            tacit.Tally.weighted(reports, weights=[0.0] * 300)
        with pytest.raises(InvalidInput, match="299 weights for 300"):
            tacit.Tally.weighted(reports, weights=[1.0] * 299)
        with pytest.raises(InvalidInput, match="row 1 has none"):
            tacit.Tally.weighted(reports, strata=[None] * 300)
        with pytest.raises(InvalidInput, match="Only reports are weighted"):
            tacit.Tally.weighted(tacit.Tally.of(reports), weights=[1.0] * 300)
        with pytest.raises(InvalidInput, match="others are not weighted"):
            tacit.estimate([tally, tacit.Tally.of(self.other_scheme())], ["smokes"])

    @staticmethod
    def other_scheme() -> Reports:
        scheme = Scheme.of([Attribute("smokes", ("no", "yes"))], [(["smokes"], channels.warner(0.7))])
        return tacit.disguise(Dataset.from_arrow({"smokes": ["no", "yes"]}, scheme.schema), scheme, seed=1)

    def test_sets_are_not_weighted(self) -> None:
        scheme = Scheme.of([Attribute("town", ("a", "b", "c"))], [(["town"], channels.subset(2, gamma=3))])
        reports = tacit.disguise(Dataset.from_arrow({"town": ["a", "b", "c"]}, scheme.schema), scheme, seed=1)
        with pytest.raises(InvalidInput, match="show sets or bits"):
            tacit.Tally.weighted(reports, weights=[1.0] * 3)


def test_tallies_of_different_tables_are_added_in_all_that_both_hold(tmp_path: Path) -> None:
    first, second = (reports(channels.gamma_diagonal(5), seed) for seed in (1, 2))
    pairs, chosen = Tally.of(first, order=2), Tally.of(second, tables=[["smokes", "age"], ["town"]])
    both = tacit.estimate([first, second], ["town"])
    for sum_ in (pairs + chosen, chosen + pairs):
        for names in (["smokes", "age"], ["town"]):
            expected = tacit.estimate([first, second], names)
            np.testing.assert_array_equal(tacit.estimate(sum_, names).probabilities, expected.probabilities)
    with pytest.raises(NotEstimable, match=r"does not hold drinks\. It holds"):
        Tally.of(first, tables=[["town"]]).sources()[0].engine.tally(["drinks"])
    only = Tally.of(first, tables=[["town"]]) + Tally.of(second, order=1)
    assert "1 table," in repr(only)
    only.write(tmp_path / "only.parquet")
    again = tacit.estimate(Tally.read(tmp_path / "only.parquet"), ["town"])
    np.testing.assert_array_equal(again.probabilities, both.probabilities)
