import numpy as np
import pytest

from tacit.bundled import load_adult, load_breast_cancer, load_nursery, load_votes, raw_breast_cancer
from tacit.errors import UnknownName


@pytest.mark.parametrize(("part", "rows"), [("all", 48_842), ("train", 32_561), ("test", 16_281)])
def test_adult_comes_whole_or_by_file(part, rows):
    data = load_adult(part)
    assert data.n_rows == rows
    assert data.schema["income"].answers == ("<=50K", ">50K")


def test_what_people_did_not_state_is_an_answer():
    data = load_adult()
    attribute = data.schema["occupation"]
    assert (data.table["occupation"] == attribute.encode("not stated")).sum() == 2809
    assert {a.name for a in data.schema if a.missing} == {"workclass", "occupation", "native-country"}


def test_another_part_of_adult_is_refused():
    with pytest.raises(UnknownName, match=r"Part of Adult 'tests' does not exist. Did you mean 'test'?"):
        load_adult("tests")


def test_breast_cancer_leaves_out_the_id_and_reads_missing_grades_as_the_most_frequent():
    data = load_breast_cancer()
    assert "Id" not in data.schema
    ones = np.count_nonzero(raw_breast_cancer()["Bare.nuclei"].to_numpy() == 1)
    assert (data.table["Bare.nuclei"] == 0).sum() == ones + 16


def test_votes_keep_what_was_not_stated():
    data = load_votes()
    assert data.schema.names == ("Class", *(f"V{i}" for i in range(1, 17)))
    assert np.bincount(data.table["V16"]).tolist() == [62, 269, 104]


def test_nursery_holds_every_combination_of_answers_once():
    data = load_nursery()
    shape = data.schema.shape()[:-1]
    codes = np.ravel_multi_index([data.table[name] for name in data.schema.names[:-1]], shape)
    assert np.array_equal(np.sort(codes), np.arange(12_960))
    assert np.bincount(data.table["class"]).tolist() == [4320, 2, 328, 4266, 4044]
