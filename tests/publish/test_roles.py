from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import InvalidInput, UnknownName
from tacit.publish import Preferences, Protection
from tacit.publish.roles import propose_roles, read_roles


def patients(rows: int = 300) -> dict[str, list[str]]:
    rng = np.random.default_rng(2)
    days = np.datetime64("1940-01-01") + rng.integers(0, 25_000, rows)
    return {
        "record_id": [str(i) for i in range(rows)],
        "PatientID": [f"p{i}" for i in rng.integers(0, 120, rows)],
        "household_id": [f"h{i}" for i in rng.integers(0, 80, rows)],
        "surname": [f"n{i}" for i in rng.integers(0, 200, rows)],
        "date_of_birth": [str(day) for day in days],
        "zip": [f"{z:05d}" for z in rng.integers(1000, 1200, rows)],
        "sex": [str(s) for s in rng.choice(["f", "m"], rows)],
        "diagnosis": [str(d) for d in rng.choice(["flu", "gout", "cold"], rows)],
        "weight": [f"{w:.2f}" for w in rng.random(rows)],
        "colour": [str(c) for c in rng.choice(["red", "blue"], rows)],
        "hospital": ["H"] * rows,
        "notes": [f"A long remark about the person in row {i}, which may well name her" for i in range(rows)],
        "token": [f"t{i:x}" for i in range(rows)],
    }


EXPECTED = {
    "record_id": ("identifier", "number"),
    "PatientID": ("person", "nominal"),
    "household_id": ("household", "nominal"),
    "surname": ("identifier", "nominal"),
    "date_of_birth": ("quasi-identifier", "date"),
    "zip": ("quasi-identifier", "code"),
    "sex": ("quasi-identifier", "nominal"),
    "diagnosis": ("sensitive", "nominal"),
    "weight": ("weight", "number"),
    "colour": ("quasi-identifier", "nominal"),
    "hospital": ("ignored", "nominal"),
    "notes": ("ignored", "nominal"),
    "token": ("identifier", "nominal"),
}


def test_every_column_gets_a_role_a_type_and_a_reason():
    proposed = propose_roles(patients())
    assert {column.name: (column.role, column.type) for column in proposed.columns} == EXPECTED
    assert all(column.reason for column in proposed.columns)


def test_a_column_called_household_alone_numbers_households_where_it_has_very_many_values():
    rng = np.random.default_rng(5)
    table = {
        "household": [f"H{i:03d}" for i in rng.integers(0, 120, 300)],
        "patient": [f"{i}" for i in range(300)],
        "family": [str(kind) for kind in rng.choice(["alone", "couple", "with children"], 300)],
    }
    assert {column.name: column.role for column in propose_roles(table).columns} == {
        "household": "household",
        "patient": "identifier",
        "family": "quasi-identifier",
    }


def test_a_weight_beside_a_height_is_what_a_person_weighs():
    rng = np.random.default_rng(6)
    body = {"height": rng.integers(150, 200, 90).tolist(), "weight": rng.integers(50, 120, 90).tolist()}
    survey = {"pweight": rng.random(90).round(3).tolist()}
    assert [column.role for column in propose_roles(body | survey).columns] == [
        "quasi-identifier",
        "quasi-identifier",
        "weight",
    ]
    assert propose_roles({"weight": body["weight"]}).columns[0].role == "weight"


def test_a_file_of_roles_is_read_as_it_was_written(tmp_path):
    proposed = propose_roles(patients())
    path = tmp_path / "roles.yaml"
    path.write_text(proposed.to_yaml("patients.csv"))
    assert read_roles(path, list(patients())) == proposed
    protection = proposed.protection(Protection(k=3))
    assert protection.attributes == (("date_of_birth", "zip", "sex", "colour"),)
    assert protection.sensitive == ("diagnosis",)
    assert protection.person == "household_id"
    assert proposed.preferences(Preferences()).types["zip"] == "code"


def test_roles_may_be_written_by_hand(tmp_path):
    path = tmp_path / "roles.yaml"
    path.write_text("age: quasi-identifier\nill: {role: sensitive, type: nominal}\n")
    assert [(c.name, c.role) for c in read_roles(path).columns] == [("age", "quasi-identifier"), ("ill", "sensitive")]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("age: quasi", UnknownName, "Role 'quasi' does not exist"),
        ("age: {role: kept, type: text}", UnknownName, "Type 'text' does not exist"),
        ("columns: [{name: age}]", InvalidInput, "needs a name and a role"),
        ("[1, 2", InvalidInput, "cannot be read as YAML, in line 1:"),
        ("just words", InvalidInput, "must list columns"),
        ("agee: kept", UnknownName, "Did you mean 'age'"),
    ],
)
def test_refusals(tmp_path, text, error, message):
    path = tmp_path / "roles.yaml"
    path.write_text(text)
    with pytest.raises(error, match=message):
        read_roles(path, ["age", "sex"])


def test_missing_files_and_missing_quasi_identifiers_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="tacit roles FILE --out F"):
        read_roles(tmp_path / "none.yaml")
    path = tmp_path / "roles.yaml"
    path.write_text("age: kept")
    with pytest.raises(InvalidInput, match="No column has the role quasi-identifier"):
        read_roles(path).protection(Protection())
    with pytest.raises(InvalidInput, match="no rows"):
        propose_roles({"age": []})
