"""People within conditions: the same numbers as estimated tables give, with the errors of the reports as they came."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Reports, Scheme, channels
from tacit.count.sources import sources
from tacit.estimation import product_rows, row_subgroups
from tacit.estimation.product_rows import class_rows, record_rows, report_rows
from tacit.estimation.row_subgroups import RowSubgroup, everybody
from tacit.estimation.subgroups import ModelledSubgroup, OpenSubgroup, Subgroup, TableSource, TableSubgroup
from tests.estimation.simulation import SCHEMA, SCHEMES, people, simulated

ONE_SOURCE = [name for name in SCHEMES if name != "dealt"]
PATH = {"age": (0, 2), "smokes": (1,)}


def within(group: Subgroup, path: dict[str, tuple[int, ...]] = PATH) -> Subgroup:
    for name, codes in path.items():
        group = group.within(SCHEMA[name], codes)
    return group


def everyone(reports: Reports) -> Subgroup:
    return everybody(sources(reports), SCHEMA, "drinks")


@pytest.mark.parametrize("scheme", ONE_SOURCE)
def test_tables_within_conditions_are_those_that_are_estimated(scheme: str) -> None:
    reports = simulated(SCHEMES[scheme], 2000, 4)
    inside = within(everyone(reports))
    (sex,) = [table for table in inside.by_answer() if table.attribute.name == "sex"]
    whole = tacit.estimate(reports, ["age", "smokes", "sex", "drinks"]).probabilities
    np.testing.assert_allclose(sex.shares, whole[[0, 2], 1].sum(axis=0), atol=1e-10)
    (age,) = [table for table in inside.by_answer() if table.attribute.name == "age"]
    expected = tacit.estimate(reports, ["age", "smokes", "drinks"]).probabilities[[0, 2], 1]
    np.testing.assert_allclose(age.shares[[0, 2]], expected, atol=1e-10)
    assert not age.shares[1].any()
    assert age.codes == (0, 2)


def contributions(reports: Reports, path: dict[str, tuple[int, ...]], name: str) -> np.ndarray:
    """What each report adds to each cell of a table with the target, from the inverse of every group in full."""
    (source,) = sources(reports)
    added = np.ones((source.engine.n_rows, *(1,) * len(SCHEMA)))
    for group in source.questionnaire.groups:
        rows = [source.engine.table[column.name] for column in group.report_attributes]
        axes = [SCHEMA.names.index(each) for each in group.names]
        inverse = group.channel.inverse(rows).reshape(len(added), *group.channel.shape)
        order = np.argsort(axes)
        shape = [SCHEMA.shape()[axis] if axis in axes else 1 for axis in range(len(SCHEMA))]
        added = added * inverse.transpose(0, *(order + 1)).reshape(len(added), *shape)
    for attribute in source.questionnaire.public:
        axis = SCHEMA.names.index(attribute.name)
        told = np.eye(attribute.size)[source.engine.table[attribute.name]]
        added = added * told.reshape(len(added), *(-1 if at == axis else 1 for at in range(len(SCHEMA))))
    for each, codes in path.items():
        allowed = np.isin(np.arange(SCHEMA[each].size), codes).astype(float)
        added = added * allowed.reshape(*(-1 if at == each else 1 for at in SCHEMA.names))
    kept = [SCHEMA.names.index(name), SCHEMA.names.index("drinks")]
    others = tuple(axis + 1 for axis in range(len(SCHEMA)) if axis not in kept)
    summed = added.sum(axis=others)
    return summed if kept[0] < kept[1] else summed.transpose(0, 2, 1)


GROUPS = {
    "one mixture": [(SCHEMA.names, channels.uniform_perturbation(0.4))],
    "personal answers": [
        (["smokes", "age", "drinks"], channels.mixture(0.5, [[0.3, 0.7], [0.2, 0.2, 0.6], [0.9, 0.1]]))
    ],
    "two mixtures": [(["smokes", "drinks"], channels.gamma_diagonal(9)), (["age", "sex"], channels.gamma_diagonal(6))],
    "flips": [(["smokes", "drinks"], channels.flip(0.8)), (["sex"], channels.flip(0.3))],
    "flips seen from a mixture": [
        (["age", "sex"], channels.gamma_diagonal(6)),
        (["smokes", "drinks"], channels.flip(0.8)),
    ],
    # What reports say of two of the three ages adds up to nothing, and yet says something of each.
    "never the truth": [(["age"], channels.matrix((1 - np.eye(3)) / 2)), (["smokes", "drinks"], channels.flip(0.8))],
    "dense pair": [(["age", "drinks"], channels.matrix(0.7 * np.eye(6) + 0.05)), (["sex"], channels.warner(0.8))],
}


@pytest.mark.parametrize("name", ["sex", "age"])
@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS.keys())
def test_covariances_are_those_of_every_reports_contribution(groups: list, name: str) -> None:
    reports = simulated(Scheme.of(SCHEMA, groups), 500, 3)
    inside = within(everyone(reports))
    added = contributions(reports, PATH, name).reshape(500, -1)
    shares = next(table.shares for table in inside.by_answer() if table.attribute.name == name).reshape(-1)
    np.testing.assert_allclose(shares, added.mean(axis=0), atol=1e-12)
    products = added.T @ added / 500
    for sampling, expected in (
        ("respondents", (products - np.diag(shares)) / 500),
        ("population", (products - np.outer(shares, shares)) / 500),
    ):
        covariance = inside.covariance(SCHEMA[name], sampling).reshape(len(shares), -1)
        np.testing.assert_allclose(covariance, expected, atol=1e-12)


def test_rows_that_say_the_same_are_folded_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = simulated(Scheme.of(SCHEMA, GROUPS["two mixtures"]), 1000, 3)
    monkeypatch.setattr(row_subgroups, "FEWEST_FOLDED", 1 << 30)
    plain = within(everyone(reports))
    monkeypatch.setattr(row_subgroups, "FEWEST_FOLDED", 1)
    folded = within(everyone(reports))
    assert isinstance(plain, RowSubgroup)
    assert isinstance(folded, RowSubgroup)
    assert len(folded.rows.counts) < len(plain.rows.counts)
    for one, other in zip(folded.by_answer(), plain.by_answer(), strict=True):
        np.testing.assert_allclose(one.shares, other.shares, atol=1e-13)
        np.testing.assert_allclose(folded.covariance(one.attribute), plain.covariance(one.attribute), atol=1e-13)


@pytest.mark.parametrize("scheme", ["public", "flip", "gamma", "uniform", "warner"])
def test_rows_and_tables_tell_the_same(scheme: str) -> None:
    found = sources(simulated(SCHEMES[scheme], 3000, 4))
    rows, tables = (
        within(everybody(found, SCHEMA, "drinks")),
        within(TableSubgroup(TableSource(found, SCHEMA), "drinks", {})),
    )
    assert isinstance(rows, RowSubgroup)
    for one, other in zip(rows.by_answer(), tables.by_answer(), strict=True):
        np.testing.assert_allclose(one.shares, other.shares, atol=1e-10)
    own, others = rows.shares(), tables.shares()
    np.testing.assert_allclose(own.classes, others.classes, atol=1e-10)
    assert own.size == pytest.approx(others.size, abs=1e-10)
    # The one is counted from the reports, the other is the channels' law at the estimate: they differ by chance.
    np.testing.assert_allclose(own.disguise, others.disguise, atol=0.1 * others.disguise.max() + 1e-15)


def test_where_nobody_gave_an_answer_only_the_law_tells_that_somebody_may() -> None:
    origins = sources(simulated(SCHEMES["public"], 40, 4))
    (age,) = (attribute for attribute in SCHEMA if attribute.name == "age")
    counted = everybody(origins, SCHEMA, "drinks").within(age, (0,))
    law = TableSubgroup(TableSource(origins, SCHEMA), "drinks", {}).within(age, (0,))
    absent = [
        (table.attribute, cell)
        for table in counted.by_answer()
        for cell in np.argwhere(np.abs(table.shares) < 1e-12)
        if cell[0] in table.codes
    ]
    assert absent
    for attribute, (answer, of_class) in absent:
        one, other = (group.covariance(attribute, "population") for group in (counted, law))
        assert one[answer, of_class, answer, of_class] == 0
        assert other[answer, of_class, answer, of_class] > 0


def test_latent_classes_are_rows_too() -> None:
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.ones(3))
    factors = [rng.dirichlet(np.ones(size), size=3) for size in SCHEMA.shape()]
    inside = within(RowSubgroup.everybody(class_rows(SCHEMA, weights, factors), "drinks", SCHEMA.attributes))
    whole = np.einsum("k,ka,kb,kc,kd->abcd", weights, *factors)
    axes = [SCHEMA.names.index(name) for name in ("age", "smokes", "sex", "drinks")]
    expected = whole.transpose(axes)[[0, 2], 1].sum(axis=0)
    shares = next(table.shares for table in inside.by_answer() if table.attribute.name == "sex")
    np.testing.assert_allclose(shares, expected, atol=1e-14)


def test_whole_records_are_rows_too() -> None:
    table = people(300, np.random.default_rng(2))
    rows = record_rows(SCHEMA, [table[name] for name in SCHEMA.names], np.ones(300))
    one, other = (
        within(RowSubgroup.everybody(rows, "drinks", SCHEMA.attributes)),
        within(everyone(Reports.from_truth(table))),
    )
    for mine, theirs in zip(one.by_answer(), other.by_answer(), strict=True):
        np.testing.assert_allclose(mine.shares, theirs.shares, atol=1e-14)
        assert not other.covariance(theirs.attribute).any(), "nothing is disguised, so nothing is uncertain"


def test_reports_are_held_once_however_many_subgroups_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = sources(simulated(SCHEMES["gamma"], 500, 2))
    calls = []
    counted = type(source.engine).tally
    monkeypatch.setattr(
        type(source.engine), "tally", lambda self, columns: calls.append(columns) or counted(self, columns)
    )
    group = everybody([source], SCHEMA, "drinks")
    for code in range(3):
        group.within(SCHEMA["age"], (code,)).shares()
    assert len(calls) == 1


def test_too_many_rows_or_sums_are_left_to_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = sources(simulated(SCHEMES["gamma"], 500, 2))
    assert report_rows(source) is not None
    monkeypatch.setattr(product_rows, "MOST_SUMS", 1)
    assert report_rows(source) is None
    assert isinstance(everybody([source], SCHEMA, "drinks"), TableSubgroup)


@pytest.mark.parametrize("sampling", ["population", "respondents"])
def test_a_model_has_the_errors_of_so_many_people_counted(sampling: str) -> None:
    """The spread of counts of people drawn from the model: their shares, and for respondents the mean squares alone."""
    clear = everyone(Reports.from_truth(people(2000, np.random.default_rng(5))))
    inside = within(OpenSubgroup(clear, 300.0))
    assert isinstance(inside, OpenSubgroup)
    own, model = inside.shares(), within(clear).shares()
    assert (own.size, own.size_disguise) == (model.size, 0.0)
    np.testing.assert_array_equal(own.classes, model.classes)
    (sex,) = [table for table in inside.by_answer() if table.attribute.name == "sex"]
    cells = np.append(sex.shares.reshape(-1), 1 - sex.shares.sum())
    drawn = np.random.default_rng(6).multinomial(300, cells, size=20_000)[:, :-1] / 300
    spread = np.cov(drawn.T, bias=True) if sampling == "population" else np.diag((drawn / 300).mean(axis=0))
    found = inside.covariance(sex.attribute, sampling)  # type: ignore[arg-type]
    assert found.shape == sex.shares.shape * 2
    np.testing.assert_allclose(found.reshape(len(spread), -1), spread, atol=0.03 * spread.max())
    by_class = drawn.reshape(-1, *sex.shares.shape).sum(axis=1)
    np.testing.assert_allclose(own.covariance, np.cov(by_class.T, bias=True), atol=0.03 * own.covariance.max())
    np.testing.assert_allclose(own.disguise, np.diag(by_class.mean(axis=0)) / 300, atol=0.03 * own.disguise.max())
    assert own.size_variance == pytest.approx(float(by_class.sum(axis=1).var()), rel=0.05)


def test_shares_of_a_model_keep_the_errors_of_the_reports() -> None:
    truth = people(2000, np.random.default_rng(5))
    model = everyone(Reports.from_truth(truth))
    counted = everyone(simulated(SCHEMES["gamma"], 2000, 4, truth))
    both = ModelledSubgroup(model, counted)
    assert both.shares().size == model.shares().size
    np.testing.assert_array_equal(both.shares().classes, model.shares().classes)
    np.testing.assert_array_equal(both.shares().covariance, counted.shares().covariance)
    np.testing.assert_array_equal(both.covariance(SCHEMA["sex"]), counted.covariance(SCHEMA["sex"]))
