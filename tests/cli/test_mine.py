"""Classifiers from report files, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tacit import Dataset, Scheme, channels
from tacit.bundled import binary_breast_cancer
from tacit.disguising import disguise
from tests.cli.run import refused, tacit

GROUPS = [["Cl.thickness", "Cell.size", "Cell.shape", "Class"], ["Bare.nuclei", "Mitoses"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Training, pruning and test reports under one scheme, test reports under another, and the truth."""
    place = tmp_path_factory.mktemp("mine")
    data = binary_breast_cancer()
    names = list(data.schema.names)
    groups = [[name for name in group if name in names] for group in GROUPS]
    scheme = Scheme.of(data.schema, [(group, channels.flip(0.9)) for group in groups])
    other = Scheme.of(data.schema, [(["Class"], channels.warner(0.8))])
    scheme.write(place / "scheme.json")
    other.write(place / "other.json")
    for seed, name in enumerate(("train", "aside", "test")):
        part = Dataset(data.table.rows(slice(seed * 220, (seed + 1) * 220)))
        disguise(part, scheme, seed=seed).write(place / f"{name}.parquet")
    disguise(data, other, seed=9).write(place / "elsewhere.parquet")
    import pyarrow.parquet as pq

    pq.write_table(data.to_arrow(), place / "truth.parquet")
    return place


def mine(folder: Path, kind: str, *more: object, reports: str = "train.parquet") -> tuple[object, ...]:
    return ("mine", kind, folder / reports, "--scheme", folder / "scheme.json", "--class", "Class", *more)


@pytest.mark.parametrize("kind", ["tree", "bayes"])
def test_a_model_is_learned_tested_and_compared_with_the_truth(folder: Path, kind: str) -> None:
    options = ("--test", folder / "test.parquet", "--truth", folder / "truth.parquet", "--json")
    found = tacit(*mine(folder, kind, *options))
    assert found.code == 0, found.err
    answer = found.json
    assert {"model", "test_accuracy", "truth_accuracy", "majority_share"} <= set(answer)
    assert answer["n_reports"] == 220
    assert answer["truth_accuracy"] > 0.85
    tested = answer["test_accuracy"]
    assert abs(tested["estimate"] - answer["truth_accuracy"]) < 5 * tested["standard_error"]
    assert 0.4 < answer["majority_share"] < 0.9
    told = tacit(*mine(folder, kind, *options[:-1]))
    assert "Accuracy on disguised test reports: 0." in told.out
    assert "Accuracy on true answers: 0." in told.out


def test_a_first_tree_compiles_little_and_says_so(folder: Path, tmp_path: Path) -> None:
    """Nothing is compiled that the asked method does not need: the first tree waits for its kernels."""
    asked = [str(word) for word in mine(folder, "tree", "--method", "inversion")]
    run = subprocess.run(
        [sys.executable, "-m", "tacit", *asked], env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    kernels = {path.name.split(".")[0] for path in tmp_path.rglob("*.nbc")}
    assert kernels == {"_row_kernels", "_tree_kernels"}
    assert len(list(tmp_path.rglob("*.nbc"))) <= 14
    assert "Growing the tree: compiling" in run.stderr


def test_a_tree_is_pruned_and_drawn(folder: Path) -> None:
    grown = tacit(*mine(folder, "tree", "--significance", 0, "--json"))
    picture = folder / "tree.svg"
    found = tacit(
        *mine(folder, "tree", "--significance", 0, "--prune", folder / "aside.parquet", "--plot", picture, "--json")
    )
    assert found.code == 0, found.err
    assert found.json["n_leaves"] < grown.json["n_leaves"]
    assert "Pruned from" in found.err
    assert "<svg" in picture.read_text()


def test_options_reach_the_tree(folder: Path) -> None:
    options = ("--criterion", "gini", "--splits", "binary", "--max-depth", 1, "--method", "likelihood", "--rules")
    told = tacit(*mine(folder, "tree", *options, "--known-class", "benign=0.65,malignant=0.35"))
    assert told.code == 0, told.err
    first, second = told.out.splitlines()[:2]
    assert first.startswith("Learned from ")
    assert second.startswith("If ")
    assert "estimated share of 0.6500" in told.out
    assert tacit(*mine(folder, "bayes", "--known-class", "0.65,0.35", "--json")).json["majority_share"] == 0.65


def test_test_reports_may_have_a_scheme_of_their_own(folder: Path) -> None:
    options = ("--test", folder / "elsewhere.parquet", "--test-scheme", folder / "other.json", "--json")
    found = tacit(*mine(folder, "bayes", *options)).json
    assert found["test_accuracy"]["standard_error"] < 0.05


def test_an_accuracy_that_cannot_be_told_is_null_with_a_warning(folder: Path) -> None:
    data = binary_breast_cancer()
    weak = Scheme.of(data.schema, [(["Class"], channels.warner(0.52))])
    weak.write(folder / "weak.json")
    disguise(Dataset(data.table.rows(slice(0, 30))), weak, seed=1).write(folder / "few.parquet")
    options = ("--test", folder / "few.parquet", "--test-scheme", folder / "weak.json")
    found = tacit(*mine(folder, "bayes", *options, "--json")).json
    assert found["test_accuracy"]["estimate"] is None
    assert "standard error would be" in found["warnings"][0]
    assert "unknown" in tacit(*mine(folder, "bayes", *options)).out


def test_refusals(folder: Path) -> None:
    assert "disguised under the scheme" in refused(*mine(folder, "bayes", "--test", folder / "elsewhere.parquet"))
    assert "Did you mean 'Class'" in refused(*mine(folder, "tree")[:-1], "class")
    assert "--known-class takes" in refused(*mine(folder, "tree", "--known-class", "most,few"))
    assert ".png, .svg or .pdf" in refused(*mine(folder, "tree", "--plot", folder / "tree.doc"))
    twice = (folder / "train.parquet", folder / "elsewhere.parquet", "--scheme", folder / "scheme.json")
    several = ("mine", "bayes", *twice, "--scheme", folder / "other.json", "--class", "Class")
    assert "--test-scheme" in refused(*several, "--test", folder / "test.parquet")
    assert tacit(*several, "--json").json["n_reports"] == 220 + 699


@pytest.mark.slow
def test_the_best_model_is_chosen_and_told(folder: Path) -> None:
    options = ("--test", folder / "test.parquet", "--truth", folder / "truth.parquet")
    answer = tacit(*mine(folder, "best", *options, "--json")).json
    assert {"model", "chosen", "candidates", "majority_share", "test_accuracy", "truth_accuracy"} <= set(answer)
    assert answer["candidates"][0]["name"] == answer["chosen"]
    assert {"majority", "naive Bayes", "logistic", "joint model", "tree"} <= {
        one["name"] for one in answer["candidates"]
    }
    assert all(0 <= one["low"] <= one["high"] <= 1 for one in answer["candidates"] if one["problem"] is None)
    assert answer["truth_accuracy"] > 0.85
    assert answer["test_accuracy"]["standard_error"] < 0.1


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One party's disguised answers, another's clear ones, about the same people in another order."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = tmp_path_factory.mktemp("parties")
    data = binary_breast_cancer()
    one = data.select(["Class", "Cell.size"])
    other = data.select(["Cell.shape", "Bare.nuclei", "Mitoses"])
    scheme = Scheme.of(one.schema, [(one.schema.names, channels.flip(0.9))])
    scheme.write(place / "one.json")
    Scheme.of(other.schema).write(place / "other.json")
    ids = pa.array([f"p{number}" for number in range(data.n_rows)])
    pq.write_table(disguise(one, scheme, seed=1).to_arrow().append_column("id", ids), place / "one.parquet")
    order = np.random.default_rng(1).permutation(data.n_rows)[:600]
    pq.write_table(other.to_arrow().append_column("id", ids).take(order), place / "other.parquet")
    pq.write_table(data.to_arrow(), place / "truth.parquet")
    return place


@pytest.mark.parametrize("kind", ["tree", "bayes"])
def test_two_parties_tables_are_joined_on_a_key(parties: Path, kind: str) -> None:
    command = ("mine", kind, parties / "one.parquet", parties / "other.parquet", "--scheme", parties / "one.json")
    both = (*command, "--scheme", parties / "other.json", "--class", "Class", "--join", "id")
    found = tacit(*both, "--truth", parties / "truth.parquet", "--json")
    assert found.code == 0, found.err
    assert found.json["n_reports"] == 600
    assert found.json["truth_accuracy"] > 0.88
    assert "no column 'number' to join on" in refused(*both[:-1], "number")
    assert "a scheme for each" in refused(*command, "--class", "Class", "--join", "id")


@pytest.mark.slow
def test_the_best_model_of_two_parties_is_told_in_words(parties: Path) -> None:
    command = ("mine", "best", parties / "one.parquet", parties / "other.parquet", "--scheme", parties / "one.json")
    told = tacit(*command, "--scheme", parties / "other.json", "--class", "Class", "--join", "id", "--folds", 2)
    assert told.code == 0, told.err
    assert "chosen among 10 models on 600 disguised reports in 2 parts" in told.out
    assert "Accuracies are unbiased" in told.out
    # The document can be applied anywhere, so only what can be written as one is chosen from.
    export = ("--class", "Class", "--join", "id", "--folds", 2, "--export", parties / "best.json", "--json")
    found = tacit(*command, "--scheme", parties / "other.json", *export)
    assert {score["name"] for score in found.json["candidates"]} == {"majority", "naive Bayes", "logistic", "tree"}
    assert json.loads((parties / "best.json").read_text())["format"] == "tacit-classifier/1"


def test_rules_are_mined_across_two_parties(parties: Path) -> None:
    command = ("mine", "rules", parties / "one.parquet", parties / "other.parquet", "--scheme", parties / "one.json")
    found = tacit(*command, "--scheme", parties / "other.json", "--join", "id", "--json").json
    assert found["n_reports"] == 600
    assert any({"Class", "Cell.shape"} <= set(itemset["items"]) for itemset in found["itemsets"])
