"""Identifiers under random pseudonyms: unique per row, unlike from release to release, known only to who holds the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InvalidInput
from tacit.publish import Protection, check_release, remake
from tests.cli.run import tacit
from tests.publish.wishes import anonymize

PEOPLE = {"id": [f"p{i}" for i in range(60)], "age": [str(20 + i % 20) for i in range(60)]}


def test_every_row_has_a_pseudonym_of_its_own_that_the_private_key_finds_again(tmp_path: Path) -> None:
    release = anonymize(PEOPLE, 4, ["age"], method="local", pseudonyms=["id"])
    shown = release.to_arrow().to_pydict()["id"]
    assert len(set(shown)) == 60
    assert not set(shown) & set(PEOPLE["id"])
    again = anonymize(PEOPLE, 4, ["age"], method="local", pseudonyms=["id"])
    assert not set(shown) & set(again.to_arrow().to_pydict()["id"])
    path = release.write(tmp_path / "out.csv")
    assert "p17" not in path.read_text() + Path(f"{path}.manifest.json").read_text()
    assert remake(f"{path}.private.json", PEOPLE).to_arrow() == release.to_arrow()
    assert check_release(path, ["age"]).k >= 4


def test_the_role_pseudonym(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,age\n" + "".join(f"{a},{b}\n" for a, b in zip(*PEOPLE.values(), strict=True)))
    (tmp_path / "roles.yaml").write_text("columns: {id: pseudonym, age: quasi-identifier}\n")
    tacit(
        "publish", tmp_path / "t.csv", "--roles", tmp_path / "roles.yaml", "--k", 4, "--method", "local",
        "--out", tmp_path / "out.csv", "--json",
    )  # fmt: skip
    assert "id" in (tmp_path / "out.csv").read_text().splitlines()[0]
    assert "p17" not in (tmp_path / "out.csv").read_text()


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="would link the rows"):
        anonymize({"id": ["a", "a"], "age": ["1", "2"]}, 1, ["age"], pseudonyms=["id"])
    with pytest.raises(InvalidInput, match="missing values"):
        anonymize({"id": ["a", None], "age": ["1", "2"]}, 1, ["age"], pseudonyms=["id"])
    with pytest.raises(InvalidInput, match="Pseudonyms and person cannot be used together"):
        Protection(pseudonyms=["id"], person="who")
