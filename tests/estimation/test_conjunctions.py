"""Shares of any combination of answers, without a table."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Attribute, Reports, Schema, Scheme, channels
from tacit.count import MemoryEngine
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation import conjunctions
from tacit.table import Table
from tests.estimation.simulation import (
    REPEATS,
    SCHEMA,
    SCHEMES,
    assert_true_errors,
    many_reports,
    marginal,
    respondents,
    simulated,
)

# A condition, and where it lies in the table of the same attributes.
CONDITIONS = [
    ({"smokes": "yes"}, (1,)),
    ({"age": ["young", "old"], "smokes": "no"}, ([0, 2], 0)),
    ({"sex": "m", "smokes": "yes", "age": "middle"}, (1, 1, 1)),
    ({"drinks": ["no", "yes"], "age": "old"}, (slice(None), 2)),
]


@pytest.mark.parametrize("sampling", ["population", "respondents"])
@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name not in ("tall", "tall-part", "dealt")])
def test_a_share_is_the_cell_of_the_estimated_table(scheme: str, sampling: str) -> None:
    reports = simulated(SCHEMES[scheme], 1000, 1)
    where = {"age": "old", "smokes": "yes", "sex": "f"}
    share = tacit.estimate(reports, where, sampling=sampling)
    table = tacit.estimate(reports, list(where), sampling=sampling)
    assert share.probability == pytest.approx(table.probabilities[2, 1, 0], abs=1e-12)
    # A tally of sets counts pairs by their chance only; a table that does not sum to one is judged where it does.
    if scheme not in ("subset", "mask", "cut-and-paste", "hadamard", "local-hashing"):
        assert share.standard_error == pytest.approx(table.standard_errors[2, 1, 0], rel=5e-3, abs=1e-9)
    assert share.n_reports == 1000


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name not in ("tall", "tall-part", "dealt")])
def test_sets_of_answers_sum_cells(scheme: str) -> None:
    reports = simulated(SCHEMES[scheme], 1000, 1)
    found = tacit.estimate(reports, [where for where, _ in CONDITIONS])
    for share, (where, cells) in zip(found, CONDITIONS, strict=True):
        table = tacit.estimate(reports, list(where)).probabilities
        assert share.probability == pytest.approx(table[cells].sum(), abs=1e-12)


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["population", "respondents"])
@pytest.mark.parametrize("scheme", ["gamma", "flip", "tall-part", "mask", "cut-and-paste", "subset"])
def test_shares_are_unbiased_with_true_errors(scheme: str, sampling: str) -> None:
    assert_true_shares(scheme, sampling)


@pytest.mark.soak
@pytest.mark.slow
def test_shares_from_dealt_questionnaires_are_unbiased_with_true_errors() -> None:
    assert_true_shares("dealt", "population")


def assert_true_shares(scheme: str, sampling: str) -> None:
    fixed = sampling == "respondents"
    asked = [where for where, _ in CONDITIONS]
    surveys = many_reports(scheme, same_people=fixed)[: REPEATS // 2]
    found = [tacit.estimate(reports, asked, sampling=sampling) for reports in surveys]
    truth = [clear_share(where) if fixed else marginal(list(where))[cells].sum() for where, cells in CONDITIONS]
    estimates = np.array([[share.probability for share in survey] for survey in found])
    errors = np.array([[share.standard_error for share in survey] for survey in found])
    assert_true_errors(estimates, errors, np.array(truth))


def clear_share(where: dict[str, str | list[str]]) -> float:
    return tacit.estimate(Reports.from_truth(respondents()), where).probability


def test_twenty_attributes_in_several_groups() -> None:
    schema = Schema(tuple(Attribute(f"q{i}", ("no", "yes")) for i in range(20)))
    groups = [(schema.names[start : start + 5], channels.flip(0.9)) for start in (0, 5, 10, 15)]
    rng = np.random.default_rng(1)
    liked = rng.random(4000) < 0.6  # four of ten say no to everything
    truth = tacit.Dataset(Table.from_codes(schema, {name: liked.astype(int) for name in schema.names}))
    reports = tacit.disguise(truth, Scheme.of(schema, groups), seed=1)
    where = dict.fromkeys(schema.names, "yes")
    share = tacit.estimate(reports, where, sampling="respondents")
    assert abs(share.probability - liked.mean()) < 5 * share.standard_error
    assert share.standard_error < 0.02
    assert tacit.estimate(Reports.from_truth(truth), where).probability == pytest.approx(liked.mean())


def test_shares_of_several_tables_are_weighed_by_their_information(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conjunctions, "TABLE_CELLS", 0)  # as if the table were too large to be written out
    clear, disguised = simulated(SCHEMES["public"], 500, 1), simulated(SCHEMES["gamma"], 500, 2)
    where = {"smokes": "yes", "age": "old"}
    together = tacit.estimate([clear, disguised], where)
    one, other = tacit.estimate(clear, where), tacit.estimate(disguised, where)
    weight = (together.probability - other.probability) / (one.probability - other.probability)
    # Under a uniform truth a clear report's contributions have the summed square 1; for a mixture it is known too.
    squares = [(1 - 2 * (1 - keep) / n + (1 - keep) ** 2 / n) / keep**2 for keep, n in ((4 / 6, 2), (8 / 14, 3))]
    assert weight == pytest.approx(1 / (1 + 1 / np.prod(squares)))
    assert together.n_reports == 1000
    expected = np.hypot(weight * one.standard_error, (1 - weight) * other.standard_error)
    assert together.standard_error == pytest.approx(
        expected, rel=0.02
    )  # all three at the pooled share, or at their own


def test_a_table_that_asks_in_vain_does_not_matter_beside_one_that_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conjunctions, "TABLE_CELLS", 0)
    silent = simulated(Scheme.of(SCHEMA, [(["smokes"], channels.uniform_perturbation(0))]), 500, 1)
    clear = simulated(SCHEMES["public"], 500, 2)
    where = {"smokes": "yes", "age": "old"}
    assert tacit.estimate([silent, clear], where) == tacit.estimate(clear, where)


def test_a_share_reads_as_a_sentence() -> None:
    share = tacit.estimate(simulated(SCHEMES["public"], 100, 1), {"smokes": "yes", "age": ["young", "old"]})
    assert str(share).startswith("smokes = yes and age = young or old: 0.")
    low, high = share.interval(0.9)
    assert 0 <= low < share.probability < high <= 1
    assert high - low == pytest.approx(2 * 1.6449 * share.standard_error, rel=0.05)


def test_conditions_that_mean_nothing_are_refused() -> None:
    reports = simulated(SCHEMES["cut-and-paste"], 50, 1)
    with pytest.raises(InvalidInput, match="at least one attribute"):
        tacit.estimate(reports, {})
    with pytest.raises(InvalidInput, match=r"'smokes' has no answer 'yess'\. Did you mean 'yes'\?"):
        tacit.estimate(reports, {"smokes": "yess"})
    with pytest.raises(InvalidInput, match=r"Attribute 'smoke' does not exist\. Did you mean 'smokes'\?"):
        tacit.estimate(reports, {"smoke": "yes"})
    with pytest.raises(InvalidInput, match="The condition allows no answer of 'smokes'"):
        tacit.estimate(reports, {"smokes": []})
    with pytest.raises(InvalidInput, match="Sampling 'people' does not exist"):
        tacit.estimate(reports, {"smokes": "yes"}, sampling="people")
    short = Scheme.of(SCHEMA, [(["smokes", "drinks", "age"], channels.cut_and_paste(2, 0.3))])
    with pytest.raises(NotEstimable, match=r"at most 2 answers of a record.*about 3 attributes together"):
        tacit.estimate(simulated(short, 50, 1), {"smokes": "yes", "drinks": "yes", "age": "old"})


@pytest.mark.parametrize(
    ("where", "products"),
    [
        ({"sex": "m"}, 1),
        ({"smokes": "yes", "age": "old"}, 1),
        ({"sex": "m", "smokes": "yes"}, 1),
        ({"sex": "m", "smokes": "yes", "age": "old"}, 2),
    ],
    ids=["only public", "only disguised", "one disguised", "several disguised"],
)
def test_public_answers_are_summed_apart_only_where_errors_depend_on_them(
    where: dict[str, str], products: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conjunctions, "TABLE_CELLS", 0)
    scheme = Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.7)), (["age"], channels.warner(0.6))])
    reports, asked = simulated(scheme, 1000, 1), []
    totals = MemoryEngine.totals
    monkeypatch.setattr(MemoryEngine, "totals", lambda self, wanted: asked.append(len(wanted)) or totals(self, wanted))
    share = tacit.estimate(reports, where)
    assert asked == [products]
    # The law knows how many give the public answers all the same, or need not know it.
    monkeypatch.setattr(
        conjunctions._Question, "hinges_on_public", property(lambda question: bool(question.public_parts))
    )
    always = tacit.estimate(reports, where)
    assert (share.standard_error, *share.interval()) == (always.standard_error, *always.interval())


@pytest.mark.parametrize("scheme", ["warner", "gamma", "flip", "square", "tall", "tall-part", "public"])
def test_a_share_that_is_summed_is_the_cell_of_the_table(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more reports than truths, the weights are those of the table too: they were others, and so was the share."""
    reports, where = simulated(SCHEMES[scheme], 2000, 3), {"smokes": "yes", "age": "old"}
    in_table = tacit.estimate(reports, where)
    monkeypatch.setattr(conjunctions, "TABLE_CELLS", 0)
    summed = tacit.estimate(reports, where)
    assert (in_table.error_rule, summed.error_rule) == ("law", "counted")
    assert summed.probability == pytest.approx(in_table.probability, abs=1e-12)
    assert summed.standard_error == pytest.approx(in_table.standard_error, rel=0.05)
