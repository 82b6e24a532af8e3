"""Survey weights and households in the risk of a release, against small tables that plain Python counts."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tacit import Dataset, check_release
from tacit.errors import InvalidInput
from tacit.publish import Protection, remake
from tacit.publish.risk import KnownClasses, expected_inverse, household_risk
from tacit.publish.roles import ColumnRole, Roles
from tests.cli.run import refused, tacit
from tests.publish.databases import duckdb_people
from tests.publish.test_anonymization import QUICK
from tests.publish.wishes import anonymize

KNOWN = ["age", "town"]


def members(households: int = 60, seed: int = 3) -> dict[str, list[str]]:
    """Members of households; all of a household live in one town, each stands for some number of people."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(households), rng.integers(1, 5, households))
    town = rng.choice(["Ulm", "Rom", "Bern"], households, p=[0.5, 0.3, 0.2])
    return {
        "hh": [f"h{i}" for i in who],
        "age": [str(a) for a in rng.integers(20, 40, len(who))],
        "town": [str(t) for t in town[who]],
        "w": [f"{w:.2f}" for w in rng.uniform(1, 90, len(who))],
    }


def classes_of(release, data) -> dict[tuple[str, ...], list[int]]:
    """The rows of each class; the release keeps the order of the input."""
    shown, classes = release.to_arrow(), defaultdict(list)
    for row in range(len(data["age"])):
        classes[tuple(shown[name][row].as_py() for name in KNOWN)].append(row)
    return classes


def journalist_by_hand(classes, data) -> tuple[float, float, int]:
    """Highest and mean of E(1/F | f) over the rows, and the population; a class's weights summed row by row."""
    chances, people = [], 0.0
    for rows in classes.values():
        stood_for = sum(float(data["w"][row]) for row in rows)
        chance = expected_inverse(np.array([len(rows)]), np.array([len(rows) / stood_for]))[0]
        chances += [chance] * len(rows)
        people += stood_for
    return max(chances), sum(chances) / len(chances), round(people)


def household_by_hand(rows_by_class, data) -> tuple[float, float]:
    missed: dict[str, float] = defaultdict(lambda: 1.0)
    for rows in rows_by_class.values():
        alike = len({data["hh"][row] for row in rows})
        for row in rows:
            missed[data["hh"][row]] *= 1 - 1 / alike
    chances = [1 - own for own in missed.values()]
    return max(chances), sum(chances) / len(chances)


@pytest.mark.parametrize("method", ["search", "local"])
def test_a_release_states_the_journalists_risk_from_the_weights(method) -> None:
    data = members()
    release = anonymize(data, 3, KNOWN, survey_weights="w", method=method, keep_order=True, **QUICK)
    highest, mean, people = journalist_by_hand(classes_of(release, data), data)
    stated = release.risk.to_document()
    assert stated["journalist"] == {"highest": pytest.approx(highest), "mean": pytest.approx(mean), "basis": "weights"}
    assert stated["population"] == people
    assert stated["marketer"] == pytest.approx(mean)
    assert highest < stated["prosecutor"]["highest"]
    assert "estimated from the weights in 'w'" in release.describe()
    assert "w" not in release.to_arrow().column_names


def test_publish_and_check_say_the_same() -> None:
    data = members()
    release = anonymize(data, 3, KNOWN, survey_weights="w", person="hh", method="local", keep_order=True, **QUICK)
    shown = release.to_arrow().append_column("w", pa.array(data["w"])).append_column("hh", pa.array(data["hh"]))
    checked = check_release(shown, KNOWN, person="hh", weights="w")
    stated, again = release.risk.to_document(), checked.risk.to_document()
    for name in ("prosecutor", "journalist", "household"):
        assert {k: v if isinstance(v, str) else pytest.approx(v) for k, v in stated[name].items()} == again[name]
    assert stated["population"] == again["population"]


def test_suppressed_rows_stand_for_nobody() -> None:
    data = {"age": ["1"] * 4 + ["2"], "w": [10.0] * 4 + [500.0]}
    release = anonymize(data, 4, ["age"], survey_weights="w", suppress=0.2, cells=False, method="search", **QUICK)
    assert release.suppressed == 1
    assert release.risk.population == 40


def test_two_rows_of_a_person_do_not_stand_for_twice_the_people() -> None:
    """Summed row by row, ten visits of one person each would hide everybody among ten times the people."""
    once = {"age": ["1", "1", "2"], "id": ["a", "b", "c"], "w": [4.0, 6.0, 8.0]}
    often = {name: [value for value in column for _ in range(10)] for name, column in once.items()}
    single = check_release(once, ["age"], person="id", weights="w").risk
    repeated = check_release(often, ["age"], person="id", weights="w").risk
    assert (repeated.journalist, repeated.population) == (single.journalist, single.population)
    assert single.population == 18
    assert single.journalist is not None
    expected = expected_inverse(np.array([2, 1]), np.array([2 / 10, 1 / 8]))
    assert single.journalist.highest == pytest.approx(max(expected))


def test_persons_in_several_classes_count_once_in_the_population() -> None:
    known = KnownClasses.by_weights(
        np.array([5.0, 5.0, 7.0]), np.array([0, 1, 1]), np.array([1, 1, 1]), np.array([0, 0, 1])
    )
    assert known.people.tolist() == [5, 12]
    assert known.size == 12


def test_no_class_stands_for_fewer_than_its_rows() -> None:
    assert KnownClasses.by_weights(np.array([0.0, 9.0]), np.array([0, 1]), np.array([2, 3])).people.tolist() == [2, 9]


@pytest.mark.parametrize("method", ["search", "local"])
def test_a_household_is_found_by_any_of_its_members(method) -> None:
    data = members()
    release = anonymize(data, 3, KNOWN, person="hh", method=method, keep_order=True, **QUICK)
    highest, mean = household_by_hand(classes_of(release, data), data)
    assert release.risk.household is not None
    assert release.risk.household.highest == pytest.approx(highest)
    assert release.risk.household.mean == pytest.approx(mean)
    assert highest > release.risk.prosecutor_highest  # the attack that a row's own risk does not show
    assert "found by any of its rows" in release.describe()


def test_a_households_risk_by_hand() -> None:
    """Households a (rows in classes of 2 and of 1), b and c (two rows in a class of 2)."""
    own = household_risk(
        np.array([2, 1, 2]), np.array([0, 1, 0, 2, 2]), np.array([1, 1, 1, 2, 1]), np.array([0, 0, 1, 2, 1])
    )
    assert own.highest == 1
    assert own.mean == pytest.approx((1 + (1 - 1 / 4) + (1 - 1 / 4)) / 3)


def test_where_persons_have_one_row_the_household_is_the_row(tmp_path: Path) -> None:
    data = {"id": list("abcdef"), "age": list("111222")}
    release = anonymize(data, 3, ["age"], person="id", **QUICK)
    assert release.risk.household is not None
    assert release.risk.household.highest == release.risk.prosecutor_highest == pytest.approx(1 / 3)
    checked = check_release(data, ["age"], person="id").risk.household
    assert checked is not None
    assert checked.mean == pytest.approx(release.risk.household.mean)


def as_csv(path: Path, data) -> Path:
    path.write_text("\n".join([",".join(data), *map(",".join, zip(*data.values(), strict=True))]) + "\n")
    return path


def test_the_role_of_a_weight_is_used_by_the_command(tmp_path: Path) -> None:
    data = members()
    table, roles, page = as_csv(tmp_path / "t.csv", data), tmp_path / "roles.yaml", tmp_path / "page.html"
    roles.write_text("{age: quasi-identifier, town: quasi-identifier, hh: household, w: weight}")
    common = ("publish", table, "--roles", roles, "--k", 3, "--method", "local", "--keep-order", "--again")
    answer = tacit(*common, "--out", tmp_path / "out.csv", "--report", page, "--json").json
    risk = answer["risk"]
    assert risk["journalist"]["basis"] == "weights"
    assert risk["household"]["highest"] >= risk["prosecutor"]["highest"]
    assert "estimated from the weights" in page.read_text()
    assert "found by any of its rows" in page.read_text()
    assert "w" not in (tmp_path / "out.csv").read_text().splitlines()[0].split(",")
    told = tacit(*common, "--out", tmp_path / "again.csv").out
    assert "estimated from the weights in 'w'" in " ".join(told.split())
    remade = remake(tmp_path / "out.csv.private.json", table)
    assert remade.risk.to_document() == risk


def test_a_weight_by_its_role_gives_way_to_what_is_asked_for() -> None:
    roles = Roles(
        tuple(ColumnRole(name, role, None, "") for name, role in (("age", "quasi-identifier"), ("w", "weight")))
    )
    assert roles.protection(Protection()).survey_weights == "w"
    assert roles.protection(Protection(survey_weights="v")).survey_weights == "v"
    for asked in (Protection(people=9), Protection(keep=["w"]), Protection(attributes=["age", "w"])):
        assert roles.protection(asked).survey_weights is None


def test_check_says_the_households_risk(tmp_path: Path) -> None:
    data = members()
    table = as_csv(tmp_path / "t.csv", data)
    rows_by_class = defaultdict(list)
    for row in range(len(data["age"])):
        rows_by_class[data["age"][row], data["town"][row]].append(row)
    highest, mean = household_by_hand(rows_by_class, data)
    asked = ("check", table, "--attributes", "age,town", "--person", "hh")
    answer = tacit(*asked, "--json").json["risk"]
    assert answer["household"] == {"highest": pytest.approx(highest), "mean": pytest.approx(mean)}
    assert "found by any" in " ".join(tacit(*asked).out.split())
    assert tacit("check", table, "--attributes", "age", "--json").json["risk"]["household"] is None


def test_weights_are_read_where_the_table_is(tmp_path: Path) -> None:
    """A database, a file and a frame state the same, with rows of missing values left out alike."""
    data = members() | {"age": ["", *members()["age"][1:]]}
    wishes = {"survey_weights": "w", "missing": "drop", "method": "local"} | QUICK
    frame = {name: [value or None for value in column] for name, column in data.items()}
    frame["w"] = [float(w) for w in data["w"]]
    stored = duckdb_people(tmp_path / "t.db", pa.table(frame))
    expected = anonymize(frame, 3, KNOWN, **wishes).risk
    assert expected.population == round(sum(frame["w"][1:]))
    for other in (as_csv(tmp_path / "t.csv", data), stored):
        risk = anonymize(other, 3, KNOWN, **wishes).risk
        assert risk.population == expected.population
        assert risk.journalist is not None
        assert expected.journalist is not None
        assert math.isclose(risk.journalist.highest, expected.journalist.highest)
    kept = anonymize(frame, 3, KNOWN, **(wishes | {"missing": "answer"})).risk
    assert kept.population == round(sum(frame["w"]))


@pytest.mark.parametrize("bad", [None, -1.0, math.nan, math.inf])
def test_a_bad_weight_beside_good_ones_is_noticed(bad, tmp_path: Path) -> None:
    """In the sum of its class it would hide."""
    data = {"age": ["1", "1", "2", "2"], "w": [5.0, 6.0, 7.0, bad]}
    with pytest.raises(InvalidInput, match="numbers above 0"):
        check_release(data, ["age"], weights="w")
    with pytest.raises(InvalidInput, match="numbers above 0"):
        anonymize(data, 2, ["age"], survey_weights="w", **QUICK)
    stored = duckdb_people(tmp_path / "t.db", pa.table(data))
    with pytest.raises(InvalidInput, match="numbers above 0"):
        check_release(stored, ["age"], weights="w")


def test_texts_are_no_weights(tmp_path: Path) -> None:
    stored = duckdb_people(tmp_path / "t.db", pa.table({"age": ["1"], "w": ["x"]}))
    with pytest.raises(InvalidInput, match="numbers above 0"):
        check_release(stored, ["age"], weights="w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--survey-weights", "w", "--people", 1000), "people or survey weights"),
        (("--survey-weights", "w", "--keep", "w"), "cannot be sensitive, kept"),
        (("--survey-weights", "hh", "--person", "hh"), "person's id"),
        (("--survey-weights", "age"), "cannot be a quasi-identifier"),
        (("--survey-weights", "v"), "'v'"),
        (("--survey-weights", "town", "--attributes", "age"), "numbers above 0"),
    ],
)
def test_weights_that_cannot_be_are_refused(options, message, tmp_path: Path) -> None:
    table = as_csv(tmp_path / "t.csv", members())
    asked = options if "--attributes" in options else (*options, "--attributes", "age,town")
    assert message in " ".join(refused("publish", table, "--out", tmp_path / "o.csv", "--k", 3, *asked).split())
    assert not (tmp_path / "o.csv").exists()


def test_a_dataset_has_no_weights() -> None:
    data = Dataset.from_arrow(pa.table({"age": ["1", "1", "2", "2"], "w": ["1", "2", "1", "2"]}))
    with pytest.raises(InvalidInput, match="file or data frame"):
        anonymize(data, 2, ["age"], survey_weights="w", **QUICK)
