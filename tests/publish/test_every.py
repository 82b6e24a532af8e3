"""K over every m of the quasi-identifiers, counted again from what is written."""

from __future__ import annotations

import csv
import itertools
import json
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

from tacit.errors import InvalidInput
from tacit.publish import check_release
from tacit.publish.every import every_set, search_every
from tacit.publish.problem import pose
from tacit.publish.reading_back import ROWS, BrokenPromise, judge
from tests.cli.run import tacit
from tests.publish.small import every_chromosome, plain_classes, plain_nwp, small_tally
from tests.publish.wishes import anonymize

NAMES = [f"q{j}" for j in range(12)]


def answers(rows: int = 400, seed: int = 3) -> dict[str, list[str]]:
    """Twelve questions with little to do with each other, some answers rare."""
    rng = np.random.default_rng(seed)
    return {name: [f"a{v}" for v in (rng.random(rows) ** 2 * (3 + j % 4)).astype(int)] for j, name in enumerate(NAMES)}


def least_class(table: dict[str, list[str]], m: int) -> int:
    """The smallest class of any m columns, as plainly as it is defined."""
    return min(
        min(Counter(zip(*(table[name] for name in chosen), strict=True)).values())
        for chosen in itertools.combinations(NAMES, m)
    )


def least_answers(table: dict[str, list[str]], m: int) -> int:
    """The fewest different secrets in a class of any m columns, as plainly as it is defined."""
    least = len(table["ill"])
    for chosen in itertools.combinations(NAMES, m):
        secrets = defaultdict(set)
        for row, secret in zip(zip(*(table[name] for name in chosen), strict=True), table["ill"], strict=True):
            secrets[row].add(secret)
        least = min(least, *(len(own) for own in secrets.values()))
    return least


@pytest.mark.parametrize("asked", [{"l": 3}, {"t": 0.35}, {"l": 2.2, "entropy": True}], ids=["l", "t", "entropy"])
def test_every_m_attributes_show_enough_secrets(asked, tmp_path):
    data = answers(200)
    data["ill"] = [str(i) for i in np.random.default_rng(8).choice(["flu", "gout", "cold"], 200, p=[0.6, 0.25, 0.15])]
    plain = anonymize(data, 4, NAMES, every=2, seed=3, evaluations=500, sensitive="ill", method="search")
    assert least_answers(plain.to_arrow().to_pydict(), 2) == 1  # the attack on k alone: a class that shows one secret
    release = anonymize(data, 4, NAMES, every=2, seed=3, evaluations=500, sensitive="ill", method="search", **asked)
    release.write(tmp_path / "out.csv")
    verified = json.loads((tmp_path / "out.csv.manifest.json").read_text())["verified"]
    shown = release.to_arrow().to_pydict()
    assert verified["k"] == least_class(shown, 2) >= 4
    if "l" in asked and "entropy" not in asked:
        assert verified["l"] == least_answers(shown, 2) >= 3
    assert verified["l"] >= asked["l"] if "l" in asked else verified["t"] <= asked["t"] + 1e-9
    assert plain.nwp < release.nwp < 1


@pytest.mark.parametrize("m", [2, 3])
def test_every_m_attributes_hide_everyone_among_k(m, tmp_path):
    data = answers()
    assert least_class(data, m) < 6  # the demand is not met by itself
    release = anonymize(data, 6, NAMES, every=m, seed=1, evaluations=2_000)
    path = release.write(tmp_path / "out.csv")
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    written = {name: [row[name] for row in rows] for name in NAMES}
    assert least_class(written, m) == release.effective_k >= 6
    assert least_class(written, 6) < 6  # and no more was paid for
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert (manifest["every"], manifest["verified"]["k"]) == (m, release.effective_k)
    together = anonymize(data, 6, NAMES, method="local")
    assert release.nwp < 0.6 * together.nwp


@pytest.mark.parametrize("seed", range(4))
def test_the_search_finds_what_trying_everything_finds(seed):
    tally = small_tally(seed, sizes=(4, 3, 3), rows=60, sets=((0, 1), (0, 2), (1, 2)))
    weights = np.array([0.2, 0.3, 0.5])
    problem = pose(tally, 4 + seed, weights, every=2)

    def is_full(bits) -> bool:
        classes = (rows for members in tally.sets for rows in plain_classes(tally, bits, members).values())
        return min(rows.total() for rows in classes) >= 4 + seed

    least = min(plain_nwp(problem, bits) for bits in every_chromosome(problem) if is_full(bits))
    found = search_every(problem, np.random.default_rng(1), rounds=60)
    assert found.nwp == pytest.approx(least, abs=1e-12) == plain_nwp(problem, found.bits)
    assert is_full(found.bits)


def test_check_counts_every_m_of_any_table(tmp_path):
    data = answers()
    checked = check_release(data, NAMES, every=2)
    assert checked.every.k == least_class(data, 2)
    assert min(Counter(zip(*(data[name] for name in checked.every.worst), strict=True)).values()) == checked.every.k
    path = tmp_path / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([NAMES, *zip(*data.values(), strict=True)])
    names = ",".join(NAMES)
    out = tmp_path / "out.csv"
    published = tacit("publish", path, "--attributes", names, "--every", 2, "--out", out, "--json")
    assert published.code == 0, published.err
    answer = tacit("check", out, "--attributes", names, "--every", 2, "--json")
    assert answer.json["every"]["k"] == published.json["effective_k"] >= 5
    assert answer.json["every"]["sets"] == 66
    assert "k in every 2 attributes" in tacit("check", out, "--attributes", names, "--every", 2).out


def test_a_file_that_breaks_the_promise_for_one_pair_is_not_kept():
    counted = pa.table({"a": ["x", "x", "y"], "b": ["1", "2", "1"], "c": ["1", "1", "1"], ROWS: [4, 2, 4]})
    manifest = {
        "quasi_identifiers": [["a", "b", "c"]], "labels": {}, "sensitive": [], "released": 10, "k": 4, "every": 1,
    }  # fmt: skip
    with pytest.raises(BrokenPromise, match="k = 2 where 4 was promised"):
        judge(counted, manifest)
    assert judge(counted, manifest | {"k": 2, "every": 2}).k == 2


def test_many_attributes_are_told_what_every_few_would_lose():
    release = anonymize(answers(), 6, NAMES, method="local")
    told = release.to_document()["dimension"]
    assert set(told) == {"first", "every", "pay_most"}
    assert told["every"]["2"] < told["every"]["3"] < release.nwp
    said = " ".join(release.warnings)
    assert f"local recoding would lose {told['first']['5']:.1%} for the first 5, " in said
    assert f"{told['every']['2']:.1%} with --every 2, {told['every']['3']:.1%} with --every 3 would be lost" in said


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"every": 0}, "from 1 to 12"),
        ({"every": 13}, "from 1 to 12"),
        ({"every": 2, "suppress": 0.1}, "does not go with suppression"),
        ({"every": 2, "sensitive": "s", "l": 2, "person": "p"}, "cannot be used together with person"),
        ({"every": 2, "attributes": [["q0", "q1"], ["q2"]]}, "takes one set"),
        ({"every": 2, "method": "exact"}, "cannot be used together with every"),
    ],
)
def test_refusals(wishes, message):
    data = answers(60) | {"s": ["a", "b"] * 30}
    with pytest.raises(InvalidInput, match=message):
        anonymize(data, 3, **({"attributes": NAMES} | wishes))


def test_too_many_sets_are_refused_with_their_number():
    with pytest.raises(InvalidInput, match=r"91,390 sets of 4, more than the 20,000"):
        every_set([f"q{j}" for j in range(40)], 4)
