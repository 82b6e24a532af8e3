import numpy as np
import pytest

from tacit.bundled import binary_adult, binary_breast_cancer, binary_votes, raw_adult, raw_breast_cancer, raw_votes
from tacit.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("cut", ["published", "better"])
@pytest.mark.parametrize(("rows", "expected"), [(10_000, 10_000), ("all", 48_842)])
def test_binary_adult_has_two_answers_everywhere(rows, expected, cut):
    data = binary_adult(rows, cut)
    assert data.n_rows == expected
    assert data.schema.shape() == (2,) * 15
    assert data.schema["income"].answers == ("<=50K", ">50K")


def test_published_cut_is_the_middle_of_the_range_of_the_rows_used():
    ages = raw_adult()["age"].to_numpy()[:10_000]
    data = binary_adult()
    assert data.schema["age"].cut.edges == ((ages.min() + ages.max()) / 2,)
    assert data.table["age"].sum() == (ages > (ages.min() + ages.max()) / 2).sum()


def test_published_cut_splits_nominal_answers_at_the_middle_number():
    race = np.array(raw_adult()["race"].to_pylist()[:10_000])
    data = binary_adult()
    # White, Asian-Pac-Islander and Amer-Indian-Eskimo have the numbers 0 to 2, and the middle of 0 to 4 is 2.
    assert data.table["race"].sum() == np.isin(race, ["Other", "Black"]).sum()
    assert data.schema["race"].answers == ("White..Amer-Indian-Eskimo", "Other..Black")


def test_better_cut_is_the_median_or_the_most_frequent_answer():
    raw = raw_adult()
    data = binary_adult("all", "better")
    weights = raw["fnlwgt"].to_numpy()
    assert data.table["fnlwgt"].mean() == pytest.approx((weights > np.median(weights)).mean())
    assert data.schema["education"].answers == ("HS-grad", "other")


def test_missing_values_are_read_as_the_most_frequent_answer():
    data = binary_adult("all", "better")
    private = sum(value == "Private" or value is None for value in raw_adult()["workclass"].to_pylist())
    assert np.bincount(data.table["workclass"]).tolist() == [private, 48_842 - private]


@pytest.mark.parametrize("rows", [0, 40_000, "some", 1.5])
def test_rows_that_adult_data_does_not_have_are_refused(rows):
    with pytest.raises(InvalidInput, match=r"must be 'all' or a number from 1 to 32,561, not"):
        binary_adult(rows)


@pytest.mark.parametrize("prepare", [lambda cut: binary_adult(cut=cut), binary_breast_cancer])
def test_an_unknown_cut_is_refused(prepare):
    with pytest.raises(UnknownName, match=r"Cut 'publish' does not exist. Did you mean 'published'?"):
        prepare("publish")


def test_binary_breast_cancer_is_cut_at_five_and_a_half():
    data = binary_breast_cancer()
    assert data.schema.shape() == (2,) * 10
    assert "Id" not in data.schema
    nuclei = raw_breast_cancer()["Bare.nuclei"].to_numpy()
    assert data.table["Bare.nuclei"].sum() == np.nansum(nuclei > 5.5)  # the most frequent grade, 1, fills the gaps
    better = binary_breast_cancer("better")
    assert better.schema["Cell.size"].cut.edges == (1.0,)


def test_binary_votes_read_an_absent_vote_as_the_more_frequent_one():
    data = binary_votes()
    assert data.schema["V1"].answers == ("n", "y")
    assert data.schema["Class"].answers == ("democrat", "republican")
    raw = raw_votes()["V16"].to_pylist()
    assert data.table["V16"].sum() == raw.count("y") + raw.count(None)
