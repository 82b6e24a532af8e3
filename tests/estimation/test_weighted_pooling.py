"""Weights, strata and clusters where people answered different things: exact against the derivative of the estimate."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit import Attribute, Dataset, Reports, SampleDesign, Scheme, TacitError, Tally, channels
from tacit.count.stored import StoredReports
from tacit.count.weighted import SampleColumns
from tests.cli.run import tacit as run

A, B = Attribute("a", ("x", "y", "z")), Attribute("b", ("no", "yes"))
N = 90


def dealt_scheme() -> Scheme:
    both, one = channels.gamma_diagonal(9), channels.warner(0.8)
    return Scheme.dealt([A, B], [("both", 0.6, [(["a", "b"], both)]), ("one", 0.4, [(["b"], one)])])


def survey(scheme: Scheme, n: int = N, seed: int = 1965) -> tuple[pa.Table, dict[str, np.ndarray]]:
    """A file of reports in the order in which people came, and the columns of its sample."""
    random = np.random.default_rng(seed)
    truth = {"a": random.choice(["x", "y", "z"], n, p=[0.5, 0.3, 0.2]), "b": random.choice(["no", "yes"], n)}
    reports = tacit.disguise(Dataset.from_arrow(truth, scheme.schema), scheme, seed=7)
    order = random.permutation(n)
    columns = {"w": random.uniform(0.5, 2, n), "s": np.arange(n) % 2, "c": np.arange(n) // 6}
    return reports.to_arrow().take(order), columns


def influences(estimate, weights: np.ndarray) -> np.ndarray:
    """What each person adds: the weight times the derivative of the estimate by it, by differences."""
    moved = []
    for person in range(len(weights)):
        step = np.zeros(len(weights))
        step[person] = 1e-5
        moved.append((estimate(weights + step) - estimate(weights - step)) / 2e-5 * weights[person])
    return np.array(moved)


@pytest.mark.parametrize("clustered", [False, True])
def test_errors_of_dealt_questionnaires_are_those_of_every_persons_influence(clustered):
    table, columns = survey(dealt_scheme())
    reports = Reports.from_arrow(table, dealt_scheme())

    def design(weights):
        return SampleDesign.of(N, weights=weights, strata=columns["s"], clusters=columns["c"] if clustered else None)

    for names in (["a", "b"], ["b"]):
        found = tacit.estimate(reports, names, sample=design(columns["w"]))
        z = influences(
            lambda w, names=names: tacit.estimate(reports, names, sample=design(w)).unbiased.reshape(-1), columns["w"]
        )
        np.testing.assert_allclose(found.covariance, design(columns["w"]).covariance(z), atol=1e-9)
        np.testing.assert_allclose(found.standard_errors.reshape(-1) ** 2, np.diag(found.covariance), atol=1e-12)


def test_weights_stay_with_the_people_however_they_were_dealt():
    """Doubling the weight of everybody with one report is repeating them."""
    table, _ = survey(dealt_scheme())
    double = np.array([value == "yes" for value in table.column("b").to_pylist()])
    weights = np.where(double, 2.0, 1.0)
    weighted = tacit.estimate(
        Reports.from_arrow(table, dealt_scheme()), "b", sample=SampleDesign.of(N, weights=weights)
    )
    repeated = pa.concat_tables([table, table.filter(pa.array(double))])
    # The questionnaires' weights follow the numbers of people, so compare each questionnaire by itself.
    for name in ("both", "one"):
        chosen = [value == name for value in table.column("questionnaire").to_pylist()]
        more = repeated.filter(pa.array([value == name for value in repeated.column("questionnaire").to_pylist()]))
        plain = tacit.estimate(Reports.from_arrow(more, dealt_scheme()), "b").unbiased
        sample = SampleDesign.of(sum(chosen), weights=weights[chosen])
        mine = Reports.from_arrow(table.filter(pa.array(chosen)), dealt_scheme())
        np.testing.assert_allclose(tacit.estimate(mine, "b", sample=sample).unbiased, plain, atol=1e-12)
    assert 0 < weighted.standard_errors[1] < 1


def test_two_schemes_side_by_side_are_independent_samples():
    schemes = [
        Scheme.of([A, B], [(["a", "b"], channels.gamma_diagonal(9))]),
        Scheme.of([B], [(["b"], channels.warner(0.75))]),
    ]
    random = np.random.default_rng(3)
    sets, designs = [], []
    for scheme in schemes:
        truth = {"a": random.choice(["x", "y", "z"], N), "b": random.choice(["no", "yes"], N)}
        frame = {name: truth[name] for name in scheme.schema.names}
        sets.append(tacit.disguise(Dataset.from_arrow(frame, scheme.schema), scheme, seed=len(sets)))
        designs.append(SampleDesign.of(N, weights=random.uniform(0.5, 2, N), clusters=np.arange(N) // 3))
    found = tacit.estimate(sets, ["a", "b"], sample=designs)
    total = np.zeros((6, 6))
    for at in range(2):

        def estimate(weights, at=at):
            clusters = np.arange(N) // 3
            moved = [
                SampleDesign.of(N, weights=weights, clusters=clusters) if at == k else designs[k] for k in range(2)
            ]
            return tacit.estimate(sets, ["a", "b"], sample=moved).unbiased.reshape(-1)

        total += designs[at].covariance(influences(estimate, designs[at].weights))
    np.testing.assert_allclose(found.covariance, total, atol=1e-9)
    low, high = found.interval().low, found.interval().high
    assert ((low >= 0) & (high <= 1) & (low < high)).all()


def test_repeats_of_dealt_questionnaires_have_the_linearised_error():
    table, columns = survey(dealt_scheme(), 600)
    reports = Reports.from_arrow(table, dealt_scheme())
    design = {"weights": columns["w"], "clusters": columns["c"]}
    linear = tacit.estimate(reports, "b", sample=SampleDesign.of(600, **design))
    again = tacit.estimate(reports, "b", sample=SampleDesign.of(600, **design, bootstrap=300, seed=1))
    np.testing.assert_allclose(again.standard_errors, linear.standard_errors, rtol=0.2)


def test_the_command_weighs_dealt_reports_and_pools_files(tmp_path):
    scheme = dealt_scheme()
    scheme.write(tmp_path / "s.json")
    table, columns = survey(scheme)
    for name in ("w", "c"):
        table = table.append_column(name, pa.array(columns[name]))
    import pyarrow.parquet as pq

    pq.write_table(table, tmp_path / "r.parquet")
    pq.write_table(table.slice(0, 50), tmp_path / "r1.parquet")
    pq.write_table(table.slice(50), tmp_path / "r2.parquet")
    asked = ("--attributes", "b", "--weights", "w", "--clusters", "c", "--scheme", tmp_path / "s.json", "--json")
    whole = run("estimate", tmp_path / "r.parquet", *asked).json
    parts = run("estimate", tmp_path / "r1.parquet", tmp_path / "r2.parquet", *asked).json
    assert whole["cells"] == parts["cells"]
    here = tacit.estimate(
        Reports.from_arrow(table.drop_columns(["w", "c"]), scheme),
        "b",
        sample=SampleDesign.of(N, weights=columns["w"], clusters=columns["c"]),
    )
    assert whole["cells"][1]["standard_error"] == pytest.approx(here.standard_errors[1])
    assert json.dumps(whole)


def stored(table: pa.Table, columns: dict[str, np.ndarray], scheme: Scheme, path: Path) -> StoredReports:
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    pq.write_table(table, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return StoredReports.open(path, scheme)


@pytest.mark.parametrize("clustered", [False, True])
def test_dealt_questionnaires_in_a_database_have_the_errors_of_memory(tmp_path, clustered):
    """Clusters hold people of both questionnaires, and one table is asked by a part of them only."""
    table, columns = survey(dealt_scheme())
    reports = Reports.from_arrow(table, dealt_scheme())
    there = stored(table, columns, dealt_scheme(), tmp_path / "dealt.parquet")
    named = SampleColumns("w", "s", "c" if clustered else None)
    clusters = columns["c"] if clustered else None
    design = SampleDesign.of(N, weights=columns["w"], strata=columns["s"], clusters=clusters)
    for names in (["a", "b"], ["b"], ["a"]):
        same(tacit.estimate(there, names, sample=named), tacit.estimate(reports, names, sample=design))


@pytest.mark.parametrize("clustered", [False, True])
def test_a_weighted_tally_of_dealt_questionnaires_gives_what_the_reports_give(tmp_path, clustered):
    """Of reports in memory and stored, saved and read, and added from two halves."""
    table, columns = survey(dealt_scheme())
    own = {"weights": columns["w"], "strata": columns["s"], "clusters": columns["c"] if clustered else None}
    reports, design = Reports.from_arrow(table, dealt_scheme()), SampleDesign.of(N, **own)
    named = {"weights": "w", "strata": "s", "clusters": "c" if clustered else None}
    tallies = [Tally.weighted(reports, **own)]
    tallies.append(Tally.weighted(stored(table, columns, dealt_scheme(), tmp_path / "dealt.parquet"), **named))
    halves = [
        Tally.weighted(
            Reports.from_arrow(table.take(rows), dealt_scheme()),
            **{name: None if values is None else values[rows] for name, values in own.items()},
        )
        for rows in (np.arange(30), np.arange(30, N))
    ]
    tallies.append(halves[0] + halves[1])
    tallies[0].write(tmp_path / "tally.parquet")
    tallies.append(Tally.read(tmp_path / "tally.parquet", dealt_scheme()))
    for names in (["a", "b"], ["b"], ["a"]):
        for tally in tallies:
            same(tacit.estimate(tally, names), tacit.estimate(reports, names, sample=design))
    with pytest.raises(TacitError, match="90 reports; each needs one"):
        Tally.weighted(reports, weights=[1.0, 2.0])
    with pytest.raises(TacitError, match="order of the respondents is not known"):
        Tally.weighted(Reports(reports.scheme, reports.parts), weights=columns["w"])


def test_two_stored_schemes_are_pooled_as_independent_samples(tmp_path):
    schemes = [
        Scheme.of([A, B], [(["a"], channels.gamma_diagonal(9)), (["b"], channels.warner(p))]) for p in (0.7, 0.9)
    ]
    surveys = [survey(scheme, seed=seed) for seed, scheme in enumerate(schemes)]
    there = [
        stored(*one, scheme, tmp_path / f"{at}.parquet")
        for at, (one, scheme) in enumerate(zip(surveys, schemes, strict=True))
    ]
    here = [Reports.from_arrow(table, scheme) for (table, _), scheme in zip(surveys, schemes, strict=True)]
    designs = [SampleDesign.of(N, weights=own["w"], clusters=own["c"]) for _, own in surveys]
    named = SampleColumns("w", None, "c")
    for names in (["a", "b"], ["b"]):
        same(tacit.estimate(there, names, sample=[named, named]), tacit.estimate(here, names, sample=designs))
    with pytest.raises(TacitError, match="cannot make use of the sampled share"):
        tacit.estimate(there, ["b"], sample=[SampleColumns("w", sampled=0.5)] * 2)


def same(one: tacit.TableEstimate, other: tacit.TableEstimate) -> None:
    np.testing.assert_allclose(one.unbiased, other.unbiased, atol=1e-12)
    np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-12)
    np.testing.assert_allclose(one.interval().low, other.interval().low, atol=1e-9)


def test_what_cannot_be_laid_beside_each_other_is_refused():
    table, columns = survey(dealt_scheme())
    reports = Reports.from_arrow(table, dealt_scheme())
    design = SampleDesign.of(N, weights=columns["w"])
    with pytest.raises(TacitError, match="order of the respondents is not known"):
        tacit.estimate(Reports(reports.scheme, reports.parts), "b", sample=design)
    with pytest.raises(TacitError, match="2 designs for 1 sets"):
        tacit.estimate(reports, "b", sample=[design, design])
    with pytest.raises(TacitError, match="put them and their weights into one table"):
        tacit.estimate([reports, reports], "b", sample=[design, design])
    with pytest.raises(TacitError, match="dealt by chance"):
        tacit.estimate(reports, "b", sample=SampleDesign.of(N, sampled=0.5))
    with pytest.raises(TacitError, match="design is of 3 people"):
        tacit.estimate(reports, "b", sample=SampleDesign.of(3))
