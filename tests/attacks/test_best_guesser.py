"""The guesser against optima that are known: neither he nor what he says of himself may be far from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tacit import Attribute, Dataset, Schema, Scheme, channels, disguise
from tacit.attacks import AttackResult, attack
from tacit.attacks.score import blind_shares
from tacit.count.stored import StoredReports
from tacit.errors import InvalidInput
from tacit.joint import fit_joint
from tacit.table import Table
from tests.joint.test_fit_joint import chain

SHARES = np.array([0.5, 0.02, 0.02, 0.1, 0.02, 0.02, 0.02, 0.3])
THETA = 0.7
# A report leaves the record and its opposite; the best guesser takes the likelier of the two.
OPTIMUM = float(np.maximum(THETA * SHARES, (1 - THETA) * SHARES[::-1]).sum())


def two_summits(seed: int, people: int = 5000) -> Dataset:
    """Three yes/no questions to which most answer always no or always yes."""
    codes = np.random.default_rng(seed).choice(8, size=people, p=SHARES)
    schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in "abc"))
    return Dataset(Table.from_codes(schema, {"a": codes >> 2 & 1, "b": codes >> 1 & 1, "c": codes & 1}))


def guessed(truth: Dataset, scheme: Scheme, seed: int) -> AttackResult:
    return attack(disguise(truth, scheme, seed=seed), truth=truth)


def test_the_optimum_is_the_published_one() -> None:
    assert pytest.approx(0.716, abs=0.0005) == OPTIMUM


@pytest.mark.parametrize(("people", "seed"), [(5000, seed) for seed in range(101, 111)] + [(20_000, 1), (20_000, 2)])
def test_two_summits_are_guessed_as_well_as_possible_and_the_guesser_knows_it(people: int, seed: int) -> None:
    truth = two_summits(seed, people)
    found = guessed(truth, Scheme.of(truth.schema, [(list("abc"), channels.flip(THETA))]), seed - 100 + people)
    assert found.counted is not None
    counted, expected = found.counted.records.with_reports, found.expected.records.with_reports
    assert counted == pytest.approx(OPTIMUM, abs=0.025)
    assert expected == pytest.approx(counted, abs=0.03)
    assert counted >= found.records.without_reports


def test_sharp_dependence_is_not_lost_on_the_guesser() -> None:
    """The first version, which knew latent classes only, got 60.9% of these records."""
    truth = chain(5000, 1)
    scheme = Scheme.of(truth.schema, [([name], channels.warner(0.7)) for name in truth.schema.names])
    reports = disguise(truth, scheme, seed=1)
    found = attack(reports, truth=truth)
    assert "tree" in found.model
    assert found.records.with_reports > 0.64
    by_classes = attack(reports, truth=truth, joint=fit_joint(reports, models=["classes"]))
    assert found.records.with_reports > by_classes.records.with_reports + 0.03


def test_no_share_is_below_that_without_reports_which_depends_on_the_people_alone() -> None:
    truth = two_summits(3, 2000)
    schemes = [
        Scheme.of(truth.schema, [(list("abc"), channels.flip(0.5001))]),
        Scheme.of(truth.schema, [([name], channels.warner(0.52)) for name in "abc"]),
        Scheme.of(truth.schema, [(list("abc"), channels.gamma_diagonal(1.2))]),
    ]
    results = [guessed(truth, scheme, 4) for scheme in schemes]
    counts = np.bincount(truth.table["a"].astype(int) * 4 + truth.table["b"] * 2 + truth.table["c"])
    for found in results:
        for shares in (found.expected, found.counted):
            assert shares is not None
            assert shares.records.without_reports == counts.max() / 2000
            assert shares.records.with_reports >= shares.records.without_reports
            assert all(one.with_reports >= one.without_reports for one in shares.per_attribute.values())
        assert found.answers.without_reports == results[0].answers.without_reports


def test_guessing_without_reports_takes_the_most_frequent_of_the_others() -> None:
    rng = np.random.default_rng(6)
    schema = Schema((Attribute("town", tuple("abcdefgh")), Attribute("x", tuple("012")), Attribute("y", tuple("01"))))
    codes = {name: rng.integers(0, schema[name].size, 60) for name in schema.names}
    codes["x"][codes["town"] == 2] = 1
    table = Table.from_codes(schema, codes)
    records, answers = blind_shares(table, ["x", "y"], ["town"])

    def alone(own: np.ndarray) -> float:
        """One person after the other, among the others of the same town."""
        right = 0
        for person in range(60):
            others = (codes["town"] == codes["town"][person]) & (np.arange(60) != person)
            seen = np.bincount(own[others], minlength=own.max() + 1) if others.any() else np.bincount(own)
            best = seen.argmax() if not others.any() else None
            right += own[person] == best if best is not None else seen[own[person]] == seen.max() > 0
        return max(right, np.bincount(own).max()) / 60

    assert answers["x"] == pytest.approx(alone(codes["x"]))
    assert answers["y"] == pytest.approx(alone(codes["y"]))
    assert records == pytest.approx(alone(codes["x"] * 2 + codes["y"]))
    assert blind_shares(table, ["y"], [])[0] == np.bincount(codes["y"]).max() / 60


@pytest.mark.parametrize("recipe", [channels.flip(0.7), channels.mask(0.8)])
def test_stored_reports_are_attacked_in_batches(tmp_path: Path, recipe: object) -> None:
    truth = two_summits(5, 3000)
    scheme = Scheme.of(truth.schema, [(list("abc"), recipe)])
    reports = disguise(truth, scheme, seed=5)
    reports.write(tmp_path / "reports.parquet")
    stored = StoredReports.open(tmp_path / "reports.parquet", scheme)
    found, held = attack(stored), attack(reports)
    assert found.n_reports == 3000
    assert found.records.with_reports == pytest.approx(held.records.with_reports, abs=0.02)
    with pytest.raises(InvalidInput, match="Stored reports have no order"):
        attack(stored, truth=truth)


def test_the_figure_says_how_stable_it_is() -> None:
    truth = two_summits(6)
    found = guessed(truth, Scheme.of(truth.schema, [(list("abc"), channels.flip(THETA))]), 6)
    low, high = found.stability.records
    assert low <= found.expected.records.with_reports <= high
    assert len(found.stability.models) > 1
    document = found.to_document()
    names = {"coins", "records", "answers", "answers_without_reports", "records_without_reports"}
    assert names <= set(document)
    assert names <= set(document["counted"])
    assert document["records"] == found.expected.records.with_reports
    assert document["counted"]["records"] == found.counted.records.with_reports
    assert {"models", "records", "answers"} == set(document["stability"])


def test_a_guesser_who_is_mistaken_about_himself_is_not_believed() -> None:
    truth = two_summits(7, 3000)
    reports = disguise(truth, Scheme.of(truth.schema, [(list("abc"), channels.flip(THETA))]), seed=7)
    others = Dataset(Table.from_codes(truth.schema, {name: np.zeros(3000, dtype=int) for name in "abc"}))
    wrong = fit_joint(disguise(others, reports.scheme, seed=1))
    found = attack(reports, truth=truth, joint=wrong)
    assert any("trust what was counted" in sentence for sentence in found.warnings)
    with pytest.raises(InvalidInput, match="Expected reports with their scheme, not list"):
        attack([reports])
