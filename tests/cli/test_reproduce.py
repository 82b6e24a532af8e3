"""`tacit reproduce`: chosen studies are run as asked, shown, and written to a page. The studies have tests of their own."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tacit.experiments import registry
from tacit.experiments.registry import STUDIES, PublishedComparison, StudyResult, StudyTable
from tests.cli.run import tacit


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What every study was asked for; instead of the studies a tiny one runs in each one's name."""
    calls: list[dict[str, Any]] = []

    def tiny(module: str) -> SimpleNamespace:
        name = module.rpartition(".")[2]

        def run(quick: bool, seed: int, progress: registry.Progress, **options: Any) -> StudyResult:
            calls.append({"name": name, "quick": quick, "seed": seed, **options})
            progress(0.5)
            progress(1.0)
            compared = PublishedComparison("least privacy", "about 0.4", f"0.401 in {name}", True)
            more = PublishedComparison("most privacy", None, "0.9")
            table = StudyTable("Errors", ("a", "b"), ((1, 2),))
            return StudyResult(
                name, f"A study of {name}", (compared, more), (table,), settings=f"435 records, seed {seed}."
            )

        return SimpleNamespace(run=run)

    monkeypatch.setattr(registry, "importlib", SimpleNamespace(import_module=tiny))
    return calls


def test_one_study_is_shown_beside_what_was_published(tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    shown = tacit("reproduce", "optrr", "--out", tmp_path, "--quick", "--seed", 5)
    assert shown.code == 0
    assert asked == [{"name": "optrr", "quick": True, "seed": 5}]
    assert "about 0.4" in shown.out
    assert "0.401 in optrr" in shown.out
    assert "435 records, seed 5." in shown.out
    assert "435 records, seed 5." in (tmp_path / "optrr.html").read_text()
    document = json.loads((tmp_path / "optrr.json").read_text())
    assert document["comparisons"][0]["ours"] == "0.401 in optrr"
    assert document["comparisons"][1]["published"] is None
    assert document["settings"] == "435 records, seed 5."


def test_all_five_studies_are_run_at_full_size_unless_asked_otherwise(
    tmp_path: Path, asked: list[dict[str, Any]]
) -> None:
    answer = tacit("reproduce", "--out", tmp_path, "--json").json
    assert [study["name"] for study in answer["studies"]] == list(STUDIES)
    assert sorted(STUDIES) == ["bayes", "frapp", "kanon", "optrr", "trees"]
    assert [call["name"] for call in asked] == list(STUDIES)
    assert not any(call["quick"] for call in asked)
    for study in answer["studies"]:
        page = Path(study["page"]).read_text()
        assert f"0.401 in {study['name']}" in page


def test_without_a_name_the_studies_are_listed_and_none_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = tacit("reproduce").out
    assert all(name in listed for name in STUDIES)
    assert "tacit reproduce all" in listed
    assert [study["name"] for study in tacit("reproduce", "--json").json["studies"]] == list(STUDIES)
    assert not asked
    assert not list(tmp_path.iterdir())


def test_all_are_announced_before_they_run(tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    assert tacit("reproduce", "all", "--out", tmp_path).err.startswith("Running optrr, trees, ")
    assert len(asked) == len(STUDIES)


def test_only_the_study_that_takes_the_health_table_gets_it(tmp_path: Path, asked: list[dict[str, Any]]) -> None:
    table = tmp_path / "health.csv"
    for name in ("frapp", "trees"):
        assert tacit("reproduce", name, "--out", tmp_path, "--health", table).code == 0
    assert asked[0]["health"] == table
    assert "health" not in asked[1]


def test_every_study_has_the_door_the_command_calls() -> None:
    """The tiny study stands for modules that exist and take what the command gives."""

    for study in STUDIES.values():
        taken = list(inspect.signature(importlib.import_module(study.module).run).parameters)
        assert taken == ["quick", "seed", "progress", *study.options]


def test_an_unknown_study_is_refused_with_the_nearest(tmp_path: Path) -> None:
    refused = tacit("reproduce", "optr", "--out", tmp_path)
    assert refused.code == 2
    assert "Did you mean 'optrr'" in refused.err
