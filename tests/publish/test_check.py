from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tacit.errors import InvalidInput, UnknownName
from tacit.publish import check_release
from tacit.publish.demands import UnmetDemand
from tests.cli.run import tacit
from tests.publish.wishes import anonymize

TABLE = {
    "age": ["30", "30", "30", "40", "40", "50"],
    "sex": ["f", "f", "f", "m", "m", "m"],
    "ill": ["a", "b", "a", "a", "a", "b"],
}


def test_measures_of_a_small_table():
    found = check_release(TABLE, ["age", "sex"], ["ill"], threshold=3)
    assert found.k == 1
    assert found.class_sizes.tolist() == [1, 2, 3]
    assert found.rows_at_risk == 3
    assert found.unique_rows == 1
    assert found.highest_risk == 1
    assert found.mean_risk == pytest.approx(3 / 6)
    (ill,) = found.sensitive
    assert ill.distinct == 1
    assert ill.entropy == pytest.approx(1)
    assert ill.closeness == pytest.approx(2 / 3)


def test_entropy_counts_equally_frequent_answers():
    found = check_release({"x": ["0"] * 4, "s": ["a", "b", "c", "d"]}, "x", "s")
    assert found.sensitive[0].entropy == pytest.approx(4)
    assert found.sensitive[0].closeness == pytest.approx(0)
    assert math.isclose(found.highest_risk, 0.25)


def test_empty_values_are_a_value_of_their_own():
    assert check_release({"x": ["a", "a", None, None], "y": ["1", "1", "1", "1"]}, ["x", "y"]).k == 2


def test_the_document_has_the_promised_names():
    document = check_release(TABLE, ["age"], ["ill"]).to_document()
    assert {"k", "l", "t", "class_sizes", "rows_at_risk"} <= set(document)
    assert document["verified"] == {name: document[name] for name in ("k", "l", "t")}  # as publish calls them


@pytest.mark.parametrize(
    ("attributes", "sensitive", "error", "message"),
    [
        (["agee"], [], UnknownName, "Did you mean 'age'"),
        ([], [], InvalidInput, "at least one attribute"),
        (["age"], ["age"], InvalidInput, "cannot be sensitive and known"),
    ],
)
def test_refusals(attributes, sensitive, error, message):
    with pytest.raises(error, match=message):
        check_release(TABLE, attributes, sensitive)


def test_a_threshold_is_a_class_size():
    with pytest.raises(InvalidInput, match="at least 1, not 0"):
        check_release(TABLE, ["age"], threshold=0)


def test_an_empty_table_is_refused():
    with pytest.raises(InvalidInput, match="no rows"):
        check_release({"age": []}, ["age"])


DEMANDS = "k=2,l=2,t=.3,prosecutor=.5,uniques=0"


def test_the_gate_names_every_demand_that_fails():
    with pytest.raises(UnmetDemand, match=r"k=2 \(found: 1\).*uniques=0 \(found: 1\)") as caught:
        check_release(TABLE, ["age", "sex"], ["ill"], require=DEMANDS)
    assert caught.value.failed == ["k=2", "l=2", "t=0.3", "prosecutor=0.5", "uniques=0"]
    assert caught.value.check.k == 1
    assert check_release(TABLE, ["sex"], ["ill"], require={"k": 3, "average": 0.4, "one_answer": 0}).k == 3


@pytest.mark.parametrize(
    ("require", "message"),
    [
        ("kk=5", "Measure 'kk' does not exist"),
        ("k", "such as k=5,t=.3; not 'k='"),
        ("k=five", "not 'k=five'"),
        ("k=5,k=6", "not 'k=6' a second time"),
        ("l=2", "l=2 cannot be checked without the sensitive attributes"),
        ("journalist=.1", "cannot be checked without the people"),
        ("household=.1", "cannot be checked without whose row each is"),
    ],
)
def test_demands_that_cannot_be_read_are_refused(require, message, tmp_path):
    with pytest.raises(InvalidInput, match=message):
        check_release(TABLE, ["sex"], require=require)
    done = tacit("check", written(tmp_path, TABLE), "--attributes", "sex", "--require", require)
    assert done.code == 2


def test_the_command_exits_with_one_where_a_demand_fails(tmp_path):
    asked = (
        "check",
        written(tmp_path, TABLE),
        "--attributes",
        "age,sex",
        "--sensitive",
        "ill",
        "--require",
        "k=2,t=.9",
    )
    done = tacit(*asked, "--json")
    assert (done.code, done.json["failed"]) == (1, ["k=2"])
    assert done.json["demands"][1] == {"demand": "t=0.9", "found": pytest.approx(2 / 3), "met": True}
    told = tacit(*asked)
    assert told.code == 1
    assert "Not met: k=2 (found: 1)." in told.out
    fine = tacit(*asked[:-1], "k=1")
    assert (fine.code, "All demands hold: k=1" in fine.out) == (0, True)


def test_classes_that_tell_one_answer_are_counted_and_the_distance_is_named(tmp_path):
    (ill,) = check_release(TABLE, ["age"], ["ill"]).sensitive
    assert ill.one_answer == 2
    told = tacit("check", written(tmp_path, TABLE), "--attributes", "age", "--sensitive", "ill")
    assert "classes that tell one answer" in told.out
    assert "without an order" in told.out


def test_the_manifest_beside_a_release_says_the_order_of_its_answers(tmp_path):
    """`publish` promised t along the order of numbers, and `check` of the same file stated another distance."""
    rng = np.random.default_rng(2)
    data = {"age": [str(20 + a) for a in rng.integers(0, 30, 300)], "cost": [str(c) for c in rng.integers(1, 30, 300)]}
    out = anonymize(data, 10, ["age"], sensitive="cost", t=0.2, method="local").write(tmp_path / "out.csv")
    promised = json.loads((tmp_path / "out.csv.manifest.json").read_text())["verified"]["t"]
    checked = check_release(out, ["age"], ["cost"])
    assert checked.t == pytest.approx(promised)
    assert checked.to_document()["sensitive"][0]["distance"] == "ordered"
    (tmp_path / "out.csv.manifest.json").unlink()
    assert check_release(out, ["age"], ["cost"]).t > promised + 0.01


def test_a_release_of_persons_is_judged_by_what_was_counted_of_them(tmp_path):
    data = {"id": [f"p{i // 3}" for i in range(90)], "age": [str(i // 9) for i in range(90)]}
    release = anonymize(data, 3, ["age"], person="id", method="local")
    out = release.write(tmp_path / "out.csv")
    rows_alone = check_release({"age": release.to_arrow()["age"].to_pylist()}, ["age"]).k
    checked = check_release(out, ["age"])
    assert checked.k == release.effective_k < rows_alone
    assert "a person has several rows" in checked.warnings[0]
    assert checked.mean_risk == pytest.approx(checked.risk.prosecutor_mean)


def test_one_average_risk_with_persons(tmp_path):
    """The terminal divided classes of persons by rows, the page and JSON by persons."""
    data = {"id": [f"p{i // 3}" for i in range(90)], "age": [str(i // 9) for i in range(90)]}
    release = anonymize(data, 3, ["age"], person="id", method="local")
    mean = release.risk.prosecutor_mean
    assert release.mean_risk == release.methods[0].average_risk == release.to_document()["mean_risk"] == mean
    assert f"{mean:.2%} on average" in release.describe()
    assert (
        check_release(data, ["age"], person="id").mean_risk == check_release(data, ["age"], person="id").risk.marketer
    )


def written(folder, data):
    path = folder / "table.csv"
    path.write_text("\n".join([",".join(data), *map(",".join, zip(*data.values(), strict=True))]) + "\n")
    return path
