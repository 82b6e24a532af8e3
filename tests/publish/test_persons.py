"""Where a person has several rows, everyone hides among k persons."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest

from tacit.errors import InvalidInput
from tacit.publish import check_release
from tacit.publish.class_measures import SensitiveAnswers, sensitive_check
from tacit.publish.local import recode_locally
from tests.publish.test_anonymization import QUICK
from tests.publish.wishes import anonymize


def visits(persons: int = 150, seed: int = 6) -> dict[str, list[str]]:
    """Visits to a doctor: most people come several times, some very often, and always live in the same town."""
    rng = np.random.default_rng(seed)
    often = rng.integers(1, 5, persons)
    often[:5] = 12
    who = np.repeat(np.arange(persons), often)
    town = rng.choice(["Ulm", "Rom", "Bern", "Linz"], persons, p=[0.5, 0.3, 0.15, 0.05])
    age = rng.integers(20, 40, persons)
    return {
        "id": [f"p{i}" for i in who],
        "age": [str(a) for a in age[who]],
        "town": [str(t) for t in town[who]],
        "month": [str(m) for m in rng.integers(1, 13, len(who))],
        "illness": [str(i) for i in rng.choice(["flu", "cold", "gout"], len(who), p=[0.5, 0.3, 0.2])],
    }


def persons_by_class(release, data) -> dict[tuple[str, ...], set[str]]:
    """Who is in each class, with rows in the order of the input so that they can be put beside their persons."""
    shown = release.to_arrow()
    classes = defaultdict(set)
    for row in range(len(data["id"])):
        classes[tuple(shown[name][row].as_py() for name in ("age", "town", "month"))].add(data["id"][row])
    return classes


WISHES = {"attributes": ["age", "town", "month"], "sensitive": "illness", "keep_order": True} | QUICK


@pytest.mark.parametrize("method", ["search", "local"])
def test_every_class_holds_k_persons_where_rows_alone_do_not(method, tmp_path):
    data = visits()
    rows_only = anonymize(data, 5, method=method, **WISHES)
    assert min(map(len, persons_by_class(rows_only, data).values())) < 5  # the attack on the promise for rows
    release = anonymize(data, 5, method=method, person="id", **WISHES)
    classes = persons_by_class(release, data)
    assert min(map(len, classes.values())) == release.effective_k >= 5
    path = release.write(tmp_path / "out.csv")
    assert b"p1" not in path.read_bytes()
    verified = json.loads((tmp_path / "out.csv.manifest.json").read_text())["verified"]
    assert verified["k"] == release.effective_k
    assert verified["counted"].startswith("persons: the written rows joined to the ids")
    assert any("knows several rows" in warning for warning in release.warnings)


def test_local_recoding_counts_persons_and_so_loses_less_than_with_shares_of_them():
    """Counting a person of n rows as 1/n everywhere is safe, and wasteful where rows lie in different classes."""
    data = visits()
    exact = anonymize(data, 5, method="local", person="id", **WISHES)
    publication = exact.publication
    shares = publication.local_recoding(recode_locally(publication.problem, pilots=1).classes)
    assert publication.keeps_its_promise(shares)
    assert exact.nwp < 0.9 * publication.loss_and_bias(shares)[0]


def test_local_recoding_of_persons_names_groups_of_a_hierarchy(tmp_path):
    """The groups do not stand together in the order of the answers, so that cuts by that order would merge all."""
    (tmp_path / "town.csv").write_text("Ulm;Danube;*\nLinz;Danube;*\nBern;other;*\nRom;other;*\n")
    data = visits()
    wishes = WISHES | {"hierarchies": tmp_path, "l": 2}
    release = anonymize(data, 5, method="local", person="id", **wishes)
    assert set(release.to_arrow()["town"].to_pylist()) <= {"*", "Danube", "other", "Bern", "Linz", "Rom", "Ulm"}
    assert "Danube" in release.to_arrow()["town"].to_pylist()  # Linz is rare
    classes = persons_by_class(release, data)
    assert min(map(len, classes.values())) == release.effective_k >= 5
    release.write(tmp_path / "out.csv")
    assert release.nwp < anonymize(data, 5, method="search", person="id", **wishes).nwp


AGE = {"weights": {"age": 0.9, "town": 0.05, "month": 0.05}, "granularity": {"age": 1}}


def with_strangers(places: tuple[int, ...] = (0, 40, 90)) -> dict[str, list[str]]:
    """Visits in which three persons are far from everybody, and every row has a number by which it is found again."""
    data = visits()
    for i, place in enumerate(places):
        for row in [row for row, who in enumerate(data["id"]) if who == f"p{place}"]:
            data["age"][row] = str(120 + 9 * i)
    return data | {"row": [str(row) for row in range(len(data["id"]))]}


@pytest.mark.parametrize("more", [{}, {"l": 2}, {"method": "microaggregate"}], ids=["local", "l", "microaggregate"])
def test_strangers_are_suppressed_and_every_class_still_holds_k_persons(more, tmp_path):
    data, wishes = with_strangers(), {"method": "local", "person": "id", "keep": ["row"]} | AGE | WISHES | more
    plain, release = anonymize(data, 5, **wishes), anonymize(data, 5, suppress=0.04, **wishes)
    assert release.nwp < plain.nwp
    shown = release.to_arrow().to_pydict()
    classes, stayed = defaultdict(set), set()
    for place, row in enumerate(shown["row"]):
        classes[tuple(shown[name][place] for name in ("age", "town", "month"))].add(data["id"][int(row)])
        stayed.add(row)
    assert min(map(len, classes.values())) == release.effective_k >= 5
    losers = {who for row, who in zip(data["row"], data["id"], strict=True) if row not in stayed}
    assert (
        0 < len(losers) == release.suppressed_persons == release.to_document()["suppressed_persons"] <= 6
    )  # 4% of 150
    assert release.suppressed == len(data["row"]) - len(stayed)
    assert f"Persons who lost a row or more: {len(losers)}." in release.describe()
    release.write(tmp_path / "out.csv")
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["verified"]["k"] == release.effective_k


def test_the_limit_counts_persons_however_many_rows_they_lose():
    """Six of eleven rows are one stranger's; a fifth of the six persons is one."""
    data = {
        "id": [*"abcde", *"ffffff"],
        "age": ["20", "21", "22", "23", "24", *["120"] * 6],
        "ill": [*"xyxyx", *"xyxyxy"],
    }
    wishes = {"method": "local", "person": "id", "granularity": {"age": 1}, "sensitive": "ill"} | QUICK
    release = anonymize(data, 5, ["age"], suppress=0.2, **wishes)
    assert (release.suppressed_persons, release.suppressed) == (1, 6)
    assert release.to_arrow()["age"].to_pylist() == ["20-24"] * 5
    assert anonymize(data, 5, ["age"], suppress=0.16, **wishes).suppressed == 0  # not one person
    close = anonymize(data, 5, ["age"], suppress=0.2, t=0.5, **wishes)
    assert close.suppressed_persons == 0  # t compares with the rows that stay


def test_suppression_of_persons_is_compared_too():
    release = anonymize(with_strangers(), 5, suppress=0.04, method="compare", person="id", **WISHES)
    assert [one.suppress for one in release.methods] == [0.04, 0.04]
    assert release.suppressed_persons <= 6 or release.method == "search"


def test_no_cut_that_would_leave_k_persons_on_both_sides_is_left():
    data = visits(60)
    release = anonymize(data, 4, method="local", person="id", **WISHES)
    shown = release.to_arrow()
    rows = list(zip(*(shown[name].to_pylist() for name in ("age", "town", "month")), strict=True))
    for own in {label: [i for i, row in enumerate(rows) if row == label] for label in set(rows)}.values():
        for name in ("age", "town", "month"):
            codes = [release.input.schema[name].encode(data[name][i]) for i in own]
            for value in set(codes):
                below = {data["id"][i] for i, code in zip(own, codes, strict=True) if code < value}
                above = {data["id"][i] for i, code in zip(own, codes, strict=True) if code >= value}
                assert min(len(below), len(above)) < 4


@pytest.mark.parametrize("method", ["search", "local"])
def test_l_and_t_of_persons_are_kept(method):
    release = anonymize(visits(), 4, person="id", l=2, t=0.4, method=method, **WISHES)
    for check in release.publication.persons.checks(release.recoding):
        assert check.distinct >= 2
        assert check.closeness <= 0.4 + 1e-9


def test_an_id_that_is_different_in_every_row_makes_rows_persons():
    data = visits()
    data["id"] = [f"p{i}" for i in range(len(data["id"]))]
    release = anonymize(data, 5, person="id", **WISHES)
    assert any("rows are persons" in warning for warning in release.warnings)
    assert "id" not in release.to_arrow().column_names


def test_one_person_cannot_show_two_answers_for_two():
    """Class 0: one person with two answers. Class 1: two persons, two answers."""
    classes, persons = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])
    answers = SensitiveAnswers("s", np.array([0, 1, 0, 1]), ordered=False)
    assert sensitive_check(classes, answers, np.ones(4, int)).distinct == 2
    assert sensitive_check(classes, answers, np.ones(4, int), persons).distinct == 1


def test_each_person_weighs_one_in_a_class():
    """A person with nine rows of a and one with one row of b: half a, half b."""
    table = {"x": ["u"] * 10 + ["v"] * 2, "s": ["a"] * 9 + ["b"] + ["a", "b"], "id": ["1"] * 9 + ["2", "3", "4"]}
    assert check_release(table, "x", "s", person="id").sensitive[0].closeness == pytest.approx(0)
    assert check_release(table, "x", "s").sensitive[0].closeness > 0.1
    assert check_release(table, "x", person="id").k == 2


def test_refusals():
    data = visits()
    with pytest.raises(InvalidInput, match="k = 151 is more than the 150 persons"):
        anonymize(data, 151, person="id", **WISHES)
    with pytest.raises(InvalidInput, match="'id' says whose row it is"):
        anonymize(data, 5, person="id", **(WISHES | {"attributes": ["id", "age"]}))
    with pytest.raises(InvalidInput, match="'exact' cannot be used together with person"):
        anonymize(data, 5, person="id", method="exact", **WISHES)
    with pytest.raises(InvalidInput, match="Did you mean 'id'"):
        anonymize(data, 5, person="idd", **WISHES)
    with pytest.raises(InvalidInput, match="says whose row it is"):
        check_release(data, ["age", "id"], person="id")
