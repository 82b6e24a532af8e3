"""What cannot be estimated is refused, with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit import Attribute, Reports, Schema, Scheme, channels
from tacit.errors import InvalidInput, NotEstimable, UnknownName
from tacit.estimation import contributions
from tacit.table import Table
from tests.estimation.simulation import SCHEMA, SCHEMES, simulated

# Groups whose reports hold no information about them, and the reason that is given.
SILENT = {
    "theta = 1/2": (["smokes", "drinks"], channels.flip(0.5), "With theta = 1/2 a record cannot be told"),
    "keep = 0": (["age"], channels.uniform_perturbation(0), r"the truth \(it is kept with chance 0\)"),
    "fair bits": (["age"], channels.mask(0.5), r"fair coins \(p = 1/2\)"),
    "rho = 1": (["smokes", "age"], channels.cut_and_paste(2, 1), "every item is always reported"),
    "longer than K": (
        ["smokes", "drinks", "age"],
        channels.cut_and_paste(2, 0.3),
        "keeps at most 2 answers of a record, so the reports hold no information about 3 attributes together",
    ),
    "singular": (["smokes"], channels.matrix([[0.3, 0.3], [0.7, 0.7]]), "The matrix is singular"),
    "fewer reports than truths": (
        ["age"],
        channels.matrix([[0.3, 0.4, 0.5], [0.7, 0.6, 0.5]], ["a", "b"]),
        "The matrix is singular",
    ),
}


@pytest.mark.parametrize("case", SILENT)
@pytest.mark.parametrize("method", ["inversion", "likelihood"])
def test_a_channel_that_tells_nothing_says_why(case: str, method: Any) -> None:
    names, recipe, reason = SILENT[case]
    reports = simulated(Scheme.of(SCHEMA, [(names, recipe)]), 50, 1)
    with pytest.raises(NotEstimable, match=reason):
        tacit.estimate(reports, names, method=method)
    with pytest.raises(NotEstimable, match=reason):
        tacit.estimate(reports, {name: SCHEMA[name].answers[0] for name in names})
    with pytest.raises(NotEstimable, match=reason):
        tacit.estimate([reports, reports], names, method=method)
    assert tacit.estimate(reports, "sex", method=method).n_reports == 50  # the rest is there


def test_as_many_answers_as_are_kept_are_there() -> None:
    names, recipe, _ = SILENT["longer than K"]
    reports = simulated(Scheme.of(SCHEMA, [(names, recipe)]), 50, 1)
    assert tacit.estimate(reports, ["age", "drinks"]).probabilities.shape == (3, 2)


def test_no_reports() -> None:
    empty = simulated(SCHEMES["gamma"], 10, 1).rows(slice(0, 0))
    with pytest.raises(InvalidInput, match="There are no reports to estimate from"):
        tacit.estimate(empty, "smokes")
    with pytest.raises(InvalidInput, match="There are no reports to estimate from"):
        tacit.estimate([empty, empty], "smokes")
    with pytest.raises(InvalidInput, match="There are no reports to estimate from"):
        tacit.estimate(empty, {"smokes": "yes"})


def test_an_empty_table_beside_a_full_one_does_not_matter() -> None:
    full = simulated(SCHEMES["gamma"], 100, 1)
    both = tacit.estimate([full, full.rows(slice(0, 0))], ["smokes"], sampling="respondents")
    assert np.array_equal(
        both.standard_errors, tacit.estimate(full, ["smokes"], sampling="respondents").standard_errors
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (["smoks"], {}, r"Attribute 'smoks' does not exist\. Did you mean 'smokes'\?"),
        (["smokes", "smokes"], {}, "An attribute is named twice: smokes, smokes"),
        ([], {}, "Say which attributes to estimate"),
        (["smokes"], {"method": "guess"}, r"Method 'guess' does not exist\. There is: 'inversion', 'likelihood'"),
        (["smokes"], {"sampling": "people"}, "Sampling 'people' does not exist"),
        (["smokes"], {"max_steps": 0, "method": "likelihood"}, "max_steps must be a whole number of at least 1, not 0"),
    ],
)
def test_wrong_questions(arguments: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        tacit.estimate(simulated(SCHEMES["gamma"], 20, 1), arguments, **options)


def test_unknown_attributes_are_a_kind_of_their_own() -> None:
    with pytest.raises(UnknownName):
        tacit.estimate(simulated(SCHEMES["gamma"], 20, 1), "smoks")


def test_what_is_no_report_at_all() -> None:
    with pytest.raises(InvalidInput, match=r"Expected reports, not Table.*Reports\.from_truth"):
        tacit.estimate(simulated(SCHEMES["public"], 20, 1).table, "smokes")


def wide(n_attributes: int) -> Reports:
    schema = Schema(tuple(Attribute(f"a{i}", ("0", "1")) for i in range(n_attributes)))
    rng = np.random.default_rng(1)
    rows = {name: rng.integers(0, 2, 100) for name in schema.names}
    return Reports.from_truth(Table.from_codes(schema, rows))


def test_tables_too_large_to_hold() -> None:
    reports = wide(30)
    with pytest.raises(InvalidInput, match=r"1\.07e\+09 cells, too many to hold"):
        tacit.estimate(reports, reports.scheme.schema.names)
    where = dict.fromkeys(reports.scheme.schema.names, "0")
    assert tacit.estimate(reports, where).probability == 0  # a single combination needs no table


def test_a_covariance_too_large_to_hold() -> None:
    names = wide(13).scheme.schema.names
    found = tacit.estimate(wide(13), names)
    assert found.standard_errors.shape == (2,) * 13
    with pytest.raises(InvalidInput, match="The covariance of 8,192 cells is too large to hold; at most 4,096 cells"):
        _ = found.covariance
    assert contributions.COVARIANCE_CELLS == 4096


def test_a_likelihood_over_groups_too_large_to_hold() -> None:
    """Channels without marginals are fitted on their whole groups, whatever is asked."""
    schema = Schema(tuple(Attribute(f"a{i}", tuple(map(str, range(10)))) for i in range(9)))
    noise = channels.matrix(np.full((1000, 1000), 0.0005) + 0.5 * np.eye(1000))
    groups = [(schema.names[start : start + 3], noise) for start in (0, 3, 6)]
    rows = {name: np.random.default_rng(1).integers(0, 10, 50) for name in schema.names}
    truth = tacit.Dataset(Table.from_codes(schema, rows))
    reports = tacit.disguise(truth, Scheme.of(schema, groups), seed=1)
    with pytest.raises(InvalidInput, match="too many to hold"):
        tacit.estimate(reports, ["a0", "a3", "a6"], method="likelihood")
