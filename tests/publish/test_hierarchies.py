from __future__ import annotations

import itertools

import numpy as np
import pytest

from tacit.errors import InvalidInput
from tacit.publish import check_release
from tacit.publish.hierarchies import read_hierarchy
from tacit.schema import Attribute
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize

TOWN = Attribute("town", ("Bern", "Linz", "Rom", "Ulm"))


def write(folder, name, *lines):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def towns(folder):
    return write(folder, "town.csv", "Ulm;Danube;*", "Linz;Danube;*", "Bern;other;*", "Rom;other;*")


def ages(folder):
    return write(folder, "age.csv", *(f"{a};{a // 10 * 10}s;*" for a in range(20, 40)))


def test_levels_run_from_coarse_to_fine(tmp_path):
    hierarchy = read_hierarchy(towns(tmp_path), TOWN)
    assert hierarchy.names == (("*",), ("other", "Danube"), ("Bern", "Linz", "Rom", "Ulm"))
    assert hierarchy.blocks.tolist() == [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 3]]


def test_a_top_level_is_added_where_it_is_missing(tmp_path):
    path = write(tmp_path, "town.csv", "Ulm,north", "Linz,north", "Bern,south", "Rom,south")
    assert read_hierarchy(path, TOWN).names[0] == ("*",)


@pytest.mark.parametrize("suppress", [0, 0.1])
def test_published_names_are_those_of_a_level(tmp_path, suppress):
    towns(tmp_path)
    release = anonymize(people(), 25, ["age", "town"], hierarchies=tmp_path, suppress=suppress, **QUICK)
    assert set(release.to_arrow()["town"].to_pylist()) in ({"*"}, {"Danube", "other"}, {"Bern", "Linz", "Rom", "Ulm"})
    assert check_release(release, ["age", "town"]).k >= 25


def test_levels_alone_are_proven_by_trying_them_all(tmp_path):
    towns(tmp_path)
    ages(tmp_path)
    release = anonymize(people(), 12, ["age", "town"], hierarchies=tmp_path, method="exact", seed=1)
    assert release.is_proven
    data = people()
    losses = []
    age_levels = [data["age"], [a[0] + "0s" for a in data["age"]], ["*"] * 400]
    town_levels = [data["town"], ["Danube" if t in ("Ulm", "Linz") else "other" for t in data["town"]], ["*"] * 400]
    for (i, age), (j, town) in itertools.product(enumerate(age_levels), enumerate(town_levels)):
        if check_release({"age": age, "town": town}, ["age", "town"]).k >= 12:
            losses.append(np.mean([(0, 9 / 19, 1)[i], (0, 1 / 3, 1)[j]]))
    assert release.nwp == pytest.approx(min(losses))


def test_cuts_and_levels_together_have_no_proof_which_is_said_before_any_search(tmp_path):
    towns(tmp_path)
    steps = []
    with pytest.raises(InvalidInput, match="hierarchies replace the cuts"):
        anonymize(
            people(),
            5,
            ["age", "town"],
            hierarchies=tmp_path,
            method="exact",
            progress=lambda share, what: steps.append(what),
        )
    assert steps == []


def test_a_frequent_answer_amid_a_wide_group_is_cut_off(tmp_path):
    write(tmp_path, "town.csv", *(f"{town};*" for town in "abcde"))
    release = anonymize({"town": list("ab" + 50 * "c" + "de")}, 4, ["town"], hierarchies=tmp_path, method="local")
    assert sorted(release.to_arrow()["town"].to_pylist()) == [*"****", *(50 * "c")]


def test_persons_are_cut_along_hierarchies_as_their_rows_would_be(tmp_path):
    """Everybody has the same row twice, so that k persons are 2 k rows; the rows' cuts are judged further ahead."""
    for name in ("age", "income"):
        lines = [f"{a:02d};{a // 3 * 3:02d}+;{a // 9 * 9:02d}++;*" for a in range(27)]
        write(tmp_path, f"{name}.csv", *lines)
    draws = np.random.default_rng(4).integers(0, 27, (400, 2))
    rows = {name: [f"{a:02d}" for a in np.repeat(draws[:, j], 2)] for j, name in enumerate(("age", "income"))}
    rows["id"] = [f"p{i}" for i in np.repeat(np.arange(400), 2)]
    wishes = {"attributes": ["age", "income"], "hierarchies": tmp_path, "method": "local"}
    persons, alone = anonymize(rows, 5, person="id", **wishes), anonymize(rows, 10, **wishes)
    assert alone.nwp <= persons.nwp <= 1.2 * alone.nwp


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("Ulm;x;*", "Linz;x"), "same number of levels"),
        (("Ulm;x;*", "Linz;x;*", "Bern;x;*"), "no line for the answer 'Rom'"),
        (("Ulm;x;p;*", "Linz;x;q;*", "Bern;y;q;*", "Rom;y;q;*"), "Levels may only merge"),
    ],
)
def test_refusals(tmp_path, lines, message):
    with pytest.raises(InvalidInput, match=message):
        read_hierarchy(write(tmp_path, "town.csv", *lines), TOWN)


def test_a_folder_without_fitting_files_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="holds no hierarchy"):
        anonymize(people(), 5, ["age", "town"], hierarchies=tmp_path)
