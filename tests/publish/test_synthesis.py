"""Synthetic rows under differential privacy: the noise has the law that epsilon needs, and all else follows from it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from tacit.channel.scheme import Scheme
from tacit.errors import InvalidInput, UnknownName
from tacit.publish import synthesize
from tacit.publish.noisy_tables import Budget, NoisyTable, NoisyTables, _with_noise, named_tables
from tacit.publish.synthesis import fitted_tree, projected_counts
from tacit.schema import Attribute, Schema
from tests.cli.run import refused, tacit

pytest.importorskip("opendp")
FALSE_ALARM = 1e-6
SCHEMA = Schema(
    (
        Attribute("a", ("x", "y")),
        Attribute("b", ("1", "2", "3")),
        Attribute("c", ("no", "yes")),
        Attribute("d", ("u", "v")),
    )
)


def chain(n: int = 4_000, seed: int = 1) -> dict[str, list[str]]:
    """b depends on a, c on b; d on nothing."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.8, a * 2, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.9, b > 0, rng.integers(0, 2, n)).astype(int)
    codes = {"a": a, "b": b, "c": c, "d": rng.integers(0, 2, n)}
    return {name: [SCHEMA[name].answers[code] for code in own] for name, own in codes.items()}


def laplace(values: np.ndarray, scale: float) -> np.ndarray:
    """Chances of the discrete Laplace law."""
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(values)


def p_value(noise: np.ndarray, scale: float) -> float:
    values = np.arange(-6, 7)
    expected = laplace(values, scale)
    counts = np.array([(noise == value).sum() for value in values])
    seen, law = np.append(counts, len(noise) - counts.sum()), np.append(expected, 1 - expected.sum())
    return float(chisquare(seen, law * len(noise)).pvalue)


def test_noise_is_discrete_laplace_of_the_scale_that_all_tables_together_need() -> None:
    """Three tables of up to two rows a person: one person changes six counts, so the scale is 6 / epsilon."""
    noise, scale, spent = _with_noise(np.zeros(5_000, np.int64), 3, Budget(2.0, rows_per_person=2))
    assert scale == pytest.approx(3.0, rel=1e-6)
    assert spent <= 2.0
    assert p_value(noise, scale) > FALSE_ALARM
    assert p_value(noise, scale * 1.25) < FALSE_ALARM  # an error of a quarter is noticed


def test_gaussian_noise_keeps_epsilon_and_delta() -> None:
    noise, scale, spent = _with_noise(np.zeros(2_000, np.int64), 4, Budget(1.0, 1e-6))
    assert spent <= 1.0 + 1e-9
    assert abs(noise.std() / scale - 1) < 6 / math.sqrt(2 * len(noise))


def test_the_tree_is_found_from_noisy_tables_and_rows_resemble_the_table() -> None:
    found = synthesize(chain(), 5.0, SCHEMA)
    assert {frozenset("ab"), frozenset("bc")} <= {frozenset(edge) for edge in found.model.edges}
    assert found.mean_loss < 0.05
    assert abs(found.model.rows - 4_000) < 200
    far = synthesize(chain(), 0.01, SCHEMA)
    assert far.mean_loss > found.mean_loss


def test_everything_after_the_noise_follows_from_the_noisy_tables() -> None:
    """The same noisy tables give the same model, whatever the rows were."""
    counts = np.array([[40, 0, 5], [0, 3, 60]])
    noisy = NoisyTables(SCHEMA.select(["a", "b"]), (NoisyTable(("a", "b"), counts),), Budget(1.0), 1.0, 1.0)
    model = fitted_tree(noisy)
    shares = model.draw(200_000, np.random.default_rng(1))
    shown = np.bincount(shares["a"] * 3 + shares["b"], minlength=6) / 200_000
    assert np.abs(shown - counts.ravel() / counts.sum()).max() < 0.01


def test_counts_below_zero_become_the_nearest_distribution() -> None:
    assert projected_counts(np.array([0.7, 0.5, -0.3])).tolist() == pytest.approx([0.6, 0.4, 0.0])


def test_only_so_many_rows_of_a_person_are_used() -> None:
    people = chain(1_000)
    people["id"] = ["greedy"] * 500 + [str(i) for i in range(500)]
    found = synthesize(people, 50.0, SCHEMA, [["a"]], person="id", rows_per_person=2)
    assert found.dropped_rows == 498
    assert abs(found.model.rows - 502) < 30


def schema_file(tmp_path: Path) -> Path:
    path = tmp_path / "schema.json"
    Scheme.of(list(SCHEMA), []).write(path)
    return path


def people_file(tmp_path: Path) -> Path:
    people = chain()
    lines = [",".join(people), *(",".join(row) for row in zip(*people.values(), strict=True))]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_command_writes_rows_and_publishes_no_measured_loss(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    answer = tacit(
        "synthesize", people_file(tmp_path), "--schema", schema_file(tmp_path), "--epsilon", 4, "--tables", "a,b;b,c",
        "--out", out, "--json",
    ).json  # fmt: skip
    assert answer["epsilon"] == 4
    assert answer["spent"] <= 4
    assert answer["loss"]["mean"] < 0.1
    assert sorted(map(sorted, answer["tree"])) == [["a", "b"], ["b", "c"]]
    lines = out.read_text().splitlines()
    assert lines[0].replace('"', "") == "a,b,c"
    assert len(lines) - 1 == answer["rows"]
    manifest = Path(f"{out}.manifest.json").read_text()
    assert "loss" not in manifest
    assert "variation" not in manifest
    assert json.loads(manifest)["noise"] == "discrete Laplace"
    assert not Path(f"{out}.private.json").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--roles", "roles.yaml"], "No such option: --roles"),
        (["--seed", 1], "No such option: --seed"),
        (["--tables", "a,zz"], "zz"),
        (["--rows-per-person", 0], "at least 1, not 0"),
        (["--delta", 1], "below 1"),
    ],
)
def test_what_voids_the_epsilon_is_refused(options, message, tmp_path: Path) -> None:
    said = refused(
        "synthesize", people_file(tmp_path), "--schema", schema_file(tmp_path), "--epsilon", 1, *options,
        "--out", tmp_path / "o.csv",
    )  # fmt: skip
    assert message in said


def test_a_schema_is_needed_and_publish_names_the_command(tmp_path: Path) -> None:
    people = people_file(tmp_path)
    assert "Missing option '--schema'" in refused("synthesize", people, "--epsilon", 1, "--out", tmp_path / "o.csv")
    moved = refused("publish", people, "--epsilon", 1, "--out", tmp_path / "o.csv")
    assert "tacit synthesize IN --schema F --epsilon E --out OUT" in moved
    own = ("synthesize", people, "--schema", schema_file(tmp_path), "--epsilon", 1, "--out", people)
    assert "is read, and would be overwritten" in refused(*own, "--force")


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan])
def test_epsilon_is_a_number_above_zero(epsilon) -> None:
    with pytest.raises(InvalidInput, match="above 0"):
        synthesize(chain(10), epsilon, SCHEMA)


def test_tables_that_cannot_be_counted_are_refused() -> None:
    with pytest.raises(UnknownName):
        named_tables(SCHEMA, [["a", "x"]])
    with pytest.raises(InvalidInput, match="twice"):
        named_tables(SCHEMA, [["a", "a"]])
    with pytest.raises(InvalidInput, match="at least one table"):
        named_tables(SCHEMA, [[]])
    wide = Schema(tuple(Attribute(name, tuple(map(str, range(1_200)))) for name in "ab"))
    with pytest.raises(InvalidInput, match="Name fewer"):
        synthesize({"a": ["1"], "b": ["2"]}, 1.0, wide)
    with pytest.raises(InvalidInput, match="no column 'id'"):
        synthesize(chain(10), 1.0, SCHEMA, person="id")


def test_the_ledger_adds_up_what_is_spent_and_refuses_beyond_the_stated_sum(tmp_path):
    """A second release of the same input was written without a word."""
    people = people_file(tmp_path)
    wishes = ("synthesize", people, "--schema", schema_file(tmp_path), "--epsilon", 1)
    first = tacit(*wishes, "--total", 2.5, "--out", tmp_path / "a.csv", "--json").json["ledger"]
    assert (first["epsilon"], first["total"], first["left"]) == (1, 2.5, 1.5)
    ledger = tmp_path / f"{people.name}.ledger.json"
    assert oct(ledger.stat().st_mode)[-3:] == "600"
    second = tacit(*wishes, "--out", tmp_path / "b.csv")
    assert f"2 releases: epsilon 2 of at most 2.5 ({ledger})" in " ".join(second.out.split())
    before = ledger.read_bytes()
    assert "Epsilon 2 of 2.5 is spent" in refused(*wishes, "--out", tmp_path / "c.csv")
    assert "can only become stricter" in refused(*wishes, "--total", 9, "--out", tmp_path / "c.csv")
    assert "a number above 0, not 0.0" in refused(*wishes, "--total", 0, "--out", tmp_path / "c.csv")
    assert ledger.read_bytes() == before
    assert not (tmp_path / "c.csv").exists()
    assert "no ledger that Tacit wrote" in refused(*wishes, "--ledger", people, "--out", tmp_path / "c.csv")
    assert "Name one with --ledger" in refused(
        "synthesize", "sqlite:///x.db?table=t", *wishes[2:], "--out", tmp_path / "c.csv"
    )
