"""Fits of whole populations: the right model is chosen, and what it says is right within its errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit import Attribute, Dataset, Reports, Schema, Scheme, channels, disguise, estimate, fit_joint
from tacit.bundled import binary_votes
from tacit.count.stored import StoredReports
from tacit.errors import InvalidInput, UnknownAnswer, UnknownName
from tacit.joint import JointModel
from tacit.table import Table

YES_NO = ("no", "yes")


def bimodal(people: int, seed: int) -> Dataset:
    """Three yes/no questions: nobody, everybody, or the last two."""
    shares = np.array([0.5, 0.02, 0.02, 0.1, 0.02, 0.02, 0.02, 0.3])
    codes = np.random.default_rng(seed).choice(8, size=people, p=shares)
    schema = Schema(tuple(Attribute(name, YES_NO) for name in "abc"))
    return Dataset(Table.from_codes(schema, {"a": codes >> 2 & 1, "b": codes >> 1 & 1, "c": codes & 1}))


def chain(people: int, seed: int, attributes: int = 6, answers: int = 6) -> Dataset:
    """Answers of which each nearly repeats the one before: sharp dependence that few classes cannot hold."""
    rng = np.random.default_rng(seed)
    schema = Schema(tuple(Attribute(f"q{j}", tuple(map(str, range(answers)))) for j in range(attributes)))
    columns, before = {}, rng.integers(0, answers, people)
    for name in schema.names:
        columns[name] = before
        before = np.where(rng.random(people) < 0.9, (before + 1) % answers, rng.integers(0, answers, people))
    return Dataset(Table.from_codes(schema, columns))


@pytest.fixture(scope="module")
def flipped() -> tuple[Dataset, Reports]:
    truth = bimodal(5000, 1)
    return truth, disguise(truth, Scheme.of(truth.schema, [(list("abc"), channels.flip(0.7))]), seed=1)


@pytest.fixture(scope="module")
def joint(flipped: tuple[Dataset, Reports]) -> JointModel:
    return fit_joint(flipped[1])


def test_a_bimodal_truth_behind_one_flip_is_found(joint: JointModel) -> None:
    table = joint.table(["a", "b", "c"]).probabilities
    # One flip of three answers leaves a standard error of .017 on each of a record and its opposite.
    assert table[0, 0, 0] == pytest.approx(0.5, abs=0.08)
    assert table[1, 1, 1] == pytest.approx(0.3, abs=0.08)
    assert table[0, 0, 0] + table[1, 1, 1] == pytest.approx(0.8, abs=0.03)
    assert joint.misfit is not None
    assert joint.misfit.p > 0.001


def test_shares_tables_conditionals_and_predictions_agree(joint: JointModel) -> None:
    table = joint.table(["b", "a"]).probabilities
    np.testing.assert_allclose(joint.table(["a"]).probabilities, table.sum(axis=0))
    assert float(joint.share({"a": "yes", "b": ["no", "yes"]})) == pytest.approx(table[:, 1].sum())
    within = joint.table(["a"], given={"b": "yes"}).probabilities
    np.testing.assert_allclose(within, table[1] / table[1].sum())
    assert joint.predict("a", {"b": "yes"})["yes"] == pytest.approx(within[1], abs=1e-9)
    assert float(joint.share({"a": "yes"}, given={"b": "yes"})) == pytest.approx(within[1])


def test_the_bootstrap_knows_the_error_of_a_share() -> None:
    truth = binary_votes().select(["Class", "V3", "V4"])
    scheme = Scheme.of(truth.schema, [([name], channels.warner(0.85)) for name in truth.schema.names])
    found, errors = [], []
    for seed in range(40):
        fitted = fit_joint(disguise(truth, scheme, seed=seed), models=["table"], starts=1)
        share = fitted.share({"Class": "republican", "V4": "y"}, bootstrap=20 if seed < 3 else 0)
        found.append(share.probability)
        if share.standard_error is not None:
            errors.append(share.standard_error)
    # People are the same in every round, so that the spread is that of the disguise alone: less than the bootstrap's.
    assert 0.5 < np.std(found) / np.mean(errors) < 1.2
    assert fitted.table(["V4"]).standard_errors is None


def test_sharp_dependence_is_a_tree() -> None:
    truth = chain(4000, 3)
    scheme = Scheme.of(truth.schema, [([name], channels.warner(0.8)) for name in truth.schema.names])
    fitted = fit_joint(disguise(truth, scheme, seed=3))
    assert "tree" in fitted.what
    best_classes = max(c.held_out for c in fitted.candidates if "classes" in c.what)
    assert fitted.candidates[0].held_out > best_classes + 0.05
    assert fitted.predict("q3", {"q2": "1"})["2"] > 0.85


def test_tables_under_several_schemes_are_fitted_together(joint: JointModel) -> None:
    truth = bimodal(8000, 2)
    half = truth.table.rows(slice(0, 4000)), truth.table.rows(slice(4000, 8000))
    flips = Scheme.of(truth.schema, [(list("abc"), channels.flip(0.7))])
    alone = Scheme.of(truth.schema.select(["b", "c"]), [(["b"], channels.warner(0.8)), (["c"], channels.warner(0.8))])
    first = disguise(Dataset(half[0]), flips, seed=1)
    second = disguise(Dataset(half[1]).select(["b", "c"]), alone, seed=2)
    fitted = fit_joint([first, second])
    assert fitted.n_reports == 8000
    assert fitted.schema.names == ("a", "b", "c")
    pair = np.zeros((2, 2))
    np.add.at(pair, (truth.table["b"], truth.table["c"]), 1 / 8000)
    np.testing.assert_allclose(fitted.table(["b", "c"]).probabilities, pair, atol=0.05)
    assert fitted.log_likelihood([first, second]) > joint.log_likelihood([first, second]) - 0.05


def test_attributes_keep_the_order_of_the_scheme_however_they_are_grouped() -> None:
    truth = bimodal(3000, 5)
    scheme = Scheme.of(truth.schema, [(["c", "a"], channels.flip(0.9))])
    fitted = fit_joint(disguise(truth, scheme, seed=1))
    assert fitted.schema.names == ("a", "b", "c")
    assert float(fitted.share({"b": "yes"})) == pytest.approx(float(truth.table["b"].mean()), abs=0.01)


def test_dealt_questionnaires_are_fitted_together() -> None:
    truth = bimodal(6000, 3)
    dealt = Scheme.dealt(
        truth.schema,
        [("first", 0.5, [(["a", "b"], channels.flip(0.9))]), ("second", 0.5, [(["b", "c"], channels.flip(0.9))])],
    )
    fitted = fit_joint(disguise(truth, dealt, seed=1))
    assert fitted.table(["a", "b"]).probabilities[1, 1] == pytest.approx(0.32, abs=0.05)
    assert fitted.table(["b", "c"]).probabilities[1, 1] == pytest.approx(0.42, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [channels.flip(0.8), channels.mask(0.8), channels.subset(2, 9)])
def test_stored_reports_give_the_same_model(tmp_path: Path, recipe: object) -> None:
    truth = bimodal(2000, 4)
    scheme = Scheme.of(truth.schema, [(list("abc"), recipe)])
    reports = disguise(truth, scheme, seed=4)
    reports.write(tmp_path / "reports.parquet")
    stored = fit_joint(StoredReports.open(tmp_path / "reports.parquet", scheme), models=["table"])
    held = fit_joint(reports, models=["table"])
    np.testing.assert_allclose(
        stored.table(list("abc")).probabilities, held.table(list("abc")).probabilities, atol=1e-3
    )


def test_clear_records_are_fitted_as_they_are() -> None:
    truth = binary_votes()
    fitted = fit_joint(Reports.from_truth(truth))
    counted = estimate(Reports.from_truth(truth), ["Class", "V4"])
    np.testing.assert_allclose(fitted.table(["Class", "V4"]).probabilities, counted.probabilities, atol=0.02)


def test_synthetic_records_have_the_models_shares(joint: JointModel) -> None:
    drawn = joint.sample(20_000, seed=1)
    np.testing.assert_allclose(
        estimate(drawn, ["a", "b"]).probabilities, joint.table(["a", "b"]).probabilities, atol=0.02
    )
    assert drawn.is_simulation
    assert drawn.scheme.is_identity
    again, other = joint.sample(20_000, seed=1), joint.sample(20_000)
    np.testing.assert_array_equal(drawn.table["a"], again.table["a"])
    assert not np.array_equal(drawn.table["a"], other.table["a"])


def test_posteriors_of_reports_are_chances(joint: JointModel, flipped: tuple[Dataset, Reports]) -> None:
    truth, reports = flipped
    found = joint.posterior(reports)
    assert set(found) == {"a", "b", "c"}
    np.testing.assert_allclose(found["a"].sum(axis=1), 1)
    knowing = joint.posterior(reports, known={"b": truth.table["b"]})
    # Whoever knows one answer of a flipped group knows them all.
    np.testing.assert_allclose(knowing["a"][np.arange(5000), truth.table["a"]], 1)
    clear = joint.posterior(Reports.from_truth(truth.select(["b", "c"])))
    assert clear["a"].shape == (5000, 2)


def test_the_statement_of_fit_names_every_candidate(joint: JointModel) -> None:
    text = str(joint)
    assert "held-out log-likelihood" in text
    assert all(candidate.what in text for candidate in joint.candidates)
    assert "standard errors apart" in text
    assert repr(joint).startswith("JointModel(")
    assert [c.behind >= -1e-12 for c in joint.candidates]
    assert "±" in str(joint.share({"a": "yes"}, bootstrap=2))
    assert str(joint.table("a", bootstrap=2)).count("±") == 2
    assert next(joint.table(["a"]).cells())["standard_error"] is None


def test_what_cannot_be_fitted_or_told_is_refused(joint: JointModel, flipped: tuple[Dataset, Reports]) -> None:
    reports = flipped[1]
    with pytest.raises(InvalidInput, match="no reports to fit"):
        fit_joint(reports.rows(slice(0, 0)))
    with pytest.raises(UnknownName, match="'forest' does not exist"):
        fit_joint(reports, models=["forest"])
    with pytest.raises(InvalidInput, match="at least one kind of model"):
        fit_joint(reports, models=[])
    with pytest.raises(InvalidInput, match="at least one latent class, not 0"):
        fit_joint(reports, classes=0)
    with pytest.raises(InvalidInput, match="at least one start, not 0"):
        fit_joint(reports, starts=0)
    with pytest.raises(UnknownName, match="'d' does not exist"):
        joint.table(["d"])
    with pytest.raises(InvalidInput, match="named twice: a, a"):
        joint.table(["a", "a"])
    with pytest.raises(InvalidInput, match="Say which attributes"):
        joint.share({})
    with pytest.raises(InvalidInput, match="both asked for and given"):
        joint.table(["a"], given={"a": "yes"})
    with pytest.raises(UnknownAnswer, match="maybe"):
        joint.share({"a": "maybe"})
    with pytest.raises(InvalidInput, match="at least 2 refits, not 1"):
        joint.table(["a"], bootstrap=1)
    with pytest.raises(InvalidInput, match="at least 1, not 0"):
        joint.sample(0)
    with pytest.raises(InvalidInput, match="no reports to compute a likelihood from"):
        joint.log_likelihood(reports.rows(slice(0, 0)))
    other = Scheme.of([Attribute("a", ("never", "often"))], [(["a"], channels.warner(0.8))])
    with pytest.raises(InvalidInput, match="answers of 'a' differ"):
        joint.posterior(Reports.from_arrow({"a": ["never"]}, other))


def test_an_attribute_of_very_many_answers_is_no_obstacle() -> None:
    rng = np.random.default_rng(2)
    schema = Schema(
        (Attribute("town", tuple(map(str, range(3000)))), Attribute("street", tuple(map(str, range(2000)))))
    )
    truth = Table.from_codes(schema, {"town": rng.zipf(1.5, 800) % 3000, "street": rng.zipf(1.5, 800) % 2000})
    scheme = Scheme.of(schema, [(["town"], channels.gamma_diagonal(2000)), (["street"], channels.gamma_diagonal(2000))])
    fitted = fit_joint(disguise(Dataset(truth), scheme, seed=2), classes=2)
    assert fitted.table(["town"]).probabilities.sum() == pytest.approx(1)


def test_a_table_too_large_to_write_out_is_refused() -> None:
    schema = Schema(tuple(Attribute(f"a{j}", YES_NO) for j in range(26)))
    rng = np.random.default_rng(1)
    truth = Table.from_codes(schema, {name: rng.integers(0, 2, 50) for name in schema.names})
    fitted = fit_joint(Reports.from_truth(truth), models=["classes"], classes=1)
    with pytest.raises(InvalidInput, match="more than 16,777,216"):
        fitted.table(schema.names)
    with pytest.raises(InvalidInput, match="an exact table needs at most 65,536 possible records"):
        fit_joint(Reports.from_truth(truth), models=["table"])


def test_a_tally_of_reports_that_show_sets_is_modelled_as_the_reports_are() -> None:
    rng = np.random.default_rng(8)
    columns = {"a": rng.choice(["x", "y", "z", "w"], 300).tolist(), "b": rng.choice(["no", "yes"], 300).tolist()}
    truth = tacit.Dataset.from_arrow(columns)
    scheme = tacit.Scheme.of(truth.schema, [(["a"], tacit.channels.subset(2, 9)), (["b"], tacit.channels.warner(0.8))])
    reports = tacit.disguise(truth, scheme, seed=1)
    tally = tacit.Tally.of(reports)
    one, other = tacit.fit_joint(reports), tacit.fit_joint(tally)
    np.testing.assert_allclose(other.table(["a", "b"]).probabilities, one.table(["a", "b"]).probabilities, atol=1e-12)
    assert one.log_likelihood(tally) == pytest.approx(one.log_likelihood(reports), rel=1e-12)
    assert str(tacit.attack(tally)) == str(tacit.attack(reports))
