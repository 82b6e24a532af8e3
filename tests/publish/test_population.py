"""Promises about the people a table was drawn from: counted again by who holds the file, the manifest and the people."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tacit import check_release
from tacit.errors import InvalidInput
from tacit.publish import Protection, remake
from tests.cli.run import refused, tacit
from tests.publish.wishes import anonymize

NAMES = ["age", "town"]
BRIEF = {"seed": 1, "evaluations": 1_000}


def everybody(n: int = 2_000, seed: int = 1) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    ages = (18 + 60 * rng.random(n) ** 1.5).astype(int)
    return {
        "age": [str(age) for age in ages],
        "town": [("Ulm", "Rom", "Linz", "Graz", "Bern")[int(5 * x)] for x in rng.random(n) ** 2],
        "ill": [("no", "no", "flu", "hiv")[int(4 * x)] for x in rng.random(n)],
    }


def drawn(people: dict[str, list[str]], n: int = 300, seed: int = 2) -> dict[str, list[str]]:
    chosen = np.random.default_rng(seed).choice(len(people["age"]), n, replace=False)
    return {name: [column[i] for i in chosen] for name, column in people.items()}


def people_behind(released, labels, people) -> list[tuple[int, int]]:
    """Rows and people of every class, as plainly as they are defined."""
    classes = Counter(zip(*(released[name] for name in NAMES), strict=True))
    persons = list(zip(*(people[name] for name in NAMES), strict=True))
    return [
        (rows, sum(all(a in labels[n][label] for n, a, label in zip(NAMES, who, c, strict=True)) for who in persons))
        for c, rows in classes.items()
    ]


@pytest.mark.parametrize("method", ["search", "local"])
def test_every_class_holds_as_many_people_as_k_map_asks_for(method, tmp_path: Path) -> None:
    people = everybody()
    sample = drawn(people)
    plain = anonymize(sample, 2, NAMES, method=method, **BRIEF)
    mapped = anonymize(sample, 2, NAMES, method=method, **BRIEF, people=people, k_map=60)
    before = people_behind(plain.to_arrow().to_pydict(), plain.recoding.released_labels(), people)
    after = people_behind(mapped.to_arrow().to_pydict(), mapped.recoding.released_labels(), people)
    assert min(f for _, f in before) < 60  # the demand is not met by itself
    assert min(f for _, f in after) >= 60
    assert min(rows for rows, _ in after) < 60  # and is not met by rows alone
    assert mapped.risk.k_map == min(f for _, f in after)
    assert mapped.risk.journalist is not None
    assert mapped.risk.journalist.highest == pytest.approx(1 / mapped.risk.k_map)
    assert mapped.risk.marketer == pytest.approx(sum(rows / f for rows, f in after) / len(sample["age"]))
    path = mapped.write(tmp_path / "out.csv")
    manifest = json.loads(Path(f"{path}.manifest.json").read_text())
    assert manifest["verified"]["k_map"] == mapped.risk.k_map
    again = remake(f"{path}.private.json", sample, people)
    assert again.to_arrow() == mapped.to_arrow()


@pytest.mark.parametrize("method", ["search", "local"])
def test_presence_stays_within_its_limits(method) -> None:
    people = everybody()
    sample = drawn(people)
    plain = anonymize(sample, 2, NAMES, method=method, **BRIEF)
    release = anonymize(sample, 2, NAMES, method=method, **BRIEF, people=people, presence=(0, 0.25))
    shares = [
        rows / f for rows, f in people_behind(plain.to_arrow().to_pydict(), plain.recoding.released_labels(), people)
    ]
    assert max(shares) > 0.25
    behind = people_behind(release.to_arrow().to_pydict(), release.recoding.released_labels(), people)
    assert max(rows / f for rows, f in behind) <= 0.25 + 1e-12
    assert release.risk.presence is not None
    assert release.risk.presence[1] == pytest.approx(max(rows / f for rows, f in behind))


def test_a_least_presence_leaves_nobody_known_to_be_absent() -> None:
    people = everybody()
    sample = drawn(people)
    release = anonymize(sample, 2, NAMES, **BRIEF, people=people, presence=(0.05, 1))
    behind = people_behind(release.to_arrow().to_pydict(), release.recoding.released_labels(), people)
    assert sum(f for _, f in behind) == len(people["age"])
    assert min(rows / f for rows, f in behind) >= 0.05


def written(path: Path, table: dict[str, list[str]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(table), *zip(*table.values(), strict=True)])
    return path


def test_the_commands_publish_and_check_against_a_table_of_people(tmp_path: Path) -> None:
    people = everybody()
    everyone = written(tmp_path / "people.csv", people)
    sample = written(tmp_path / "sample.csv", drawn(people))
    out = tmp_path / "out.csv"
    answer = tacit(
        "publish", sample, "--attributes", "age,town", "--k", 2, "--k-map", 40, "--presence", "0,0.5", "--people", everyone,
        "--method", "local", "--out", out, "--json",
    ).json  # fmt: skip
    assert answer["verified"]["k_map"] >= 40
    assert answer["risk"]["journalist"]["basis"] == "table"
    checked = tacit("check", out, "--attributes", "age,town", "--people", everyone, "--json").json
    assert checked["risk"]["k_map"] == answer["verified"]["k_map"]
    assert checked["risk"]["journalist"] == answer["risk"]["journalist"]
    number = tacit("check", out, "--attributes", "age,town", "--people", 2_000, "--json").json["risk"]
    assert number["journalist"]["basis"] == "size"
    assert number["journalist"]["highest"] < number["prosecutor"]["highest"]
    assert "journalist's risk, counted" in tacit("check", out, "--attributes", "age,town", "--people", everyone).out


def test_a_number_of_people_gives_the_release_a_journalists_risk(tmp_path: Path) -> None:
    sample = written(tmp_path / "sample.csv", drawn(everybody()))
    answer = tacit(
        "publish", sample, "--attributes", "age,town", "--k", 3, "--people", 2_000, "--method", "local",
        "--out", tmp_path / "out.csv", "--json",
    ).json  # fmt: skip
    assert answer["risk"]["population"] == 2_000
    assert 0 < answer["risk"]["journalist"]["mean"] < answer["risk"]["prosecutor"]["mean"]


def test_people_with_unknown_answers_match_no_class() -> None:
    people = everybody()
    sample = drawn(people)
    more = {"age": [*people["age"], "104"], "town": [*people["town"], "Nowhere"]}
    release = anonymize(sample, 3, NAMES, method="local", people=more)
    assert release.publication.population is not None
    assert release.publication.population.outside == 1
    assert release.risk.presence is not None
    assert release.risk.presence[0] == 0


@pytest.mark.parametrize("method", ["search", "local"])
def test_persons_with_several_rows_hide_among_k_persons_and_as_many_people_as_asked(method, tmp_path: Path) -> None:
    people = everybody()
    once = drawn(people, 400)
    twice = {name: [*column, *column[:200]] for name, column in once.items()}
    twice["id"] = [f"p{i}" for i in (*range(400), *range(200))]
    twice["age"][400:] = [str(int(age) + 1) for age in twice["age"][400:]]  # a year later
    people = {name: [*people[name], *twice[name]] for name in NAMES}
    wishes = BRIEF | {"person": "id", "people": people, "k_map": 40, "presence": (0, 0.6)}
    plain = anonymize(twice, 3, NAMES, method=method, **BRIEF, person="id")
    release = anonymize(twice, 3, NAMES, method=method, keep_order=True, **wishes)
    before = people_behind(plain.to_arrow().to_pydict(), plain.recoding.released_labels(), people)
    shown = release.to_arrow().to_pydict()
    labels = release.recoding.released_labels()
    after = people_behind(shown, labels, people)
    assert min(f for _, f in before) < 40 <= min(f for _, f in after)  # asked for, and not met by itself
    persons: dict[tuple[str, ...], set[str]] = {}
    for row, who in enumerate(twice["id"]):
        persons.setdefault(tuple(shown[name][row] for name in NAMES), set()).add(who)
    assert min(map(len, persons.values())) == release.effective_k >= 3
    behind = dict(zip(Counter(zip(*(shown[name] for name in NAMES), strict=True)), after, strict=True))
    assert max(len(own) / behind[c][1] for c, own in persons.items()) <= 0.6
    release.write(tmp_path / "out.csv")
    verified = json.loads((tmp_path / "out.csv.manifest.json").read_text())["verified"]
    assert verified["k_map"] == release.risk.k_map == min(f for _, f in after)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"k_map": 5}, "Give a table of them"),
        ({"k_map": 5, "people": 2_000}, "their number is not enough"),
        ({"k_map": 0, "people": everybody(50)}, "at least 1, not 0"),
        ({"k_map": 9_000, "people": everybody()}, "at most 2,000"),
        ({"presence": (0.5, 0.2), "people": everybody()}, "least and a greatest share"),
        ({"presence": (0, 0.01), "people": everybody()}, "no release keeps the presence"),
        ({"presence": (0.1, 1), "people": everybody(), "suppress": 0.1}, "suppression takes rows from"),
        ({"presence": (0.1, 1), "people": everybody(), "person": "ill"}, "cannot be kept together with person"),
        ({"people": 100}, "fewer than the 300 rows"),
        ({"people": 0}, "at least one person, not 0"),
        ({"people": everybody(2_000, seed=9)}, "Give everybody whom the rows may belong to"),
        ({"people": {"age": ["31"], "town": ["Nowhere"]}}, "Nobody in the table of people"),
        ({"people": {"age": ["31"]}}, "Column of the table of people 'town'"),
    ],
)
def test_refusals_come_before_any_search(wishes, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        anonymize(drawn(everybody()), 2, NAMES, **wishes)


def test_refused_limits_of_the_command(tmp_path: Path) -> None:
    sample = written(tmp_path / "sample.csv", drawn(everybody()))
    message = refused("publish", sample, "--attributes", "age", "--presence", "half", "--out", tmp_path / "o.csv")
    assert "such as 0,0.5" in message


def test_people_and_weights_are_one_too_many() -> None:
    with pytest.raises(InvalidInput, match="people or weights"):
        check_release({"age": ["1", "1"], "w": [2.0, 3.0]}, ["age"], people=10, weights="w")


def test_limits_are_checked_where_they_are_named() -> None:
    with pytest.raises(InvalidInput, match="least and a greatest share"):
        Protection(presence=(0.1, 0.2, 0.3), people=[1])  # type: ignore[arg-type]
