import math

import pytest

from tacit.bundled import health_table
from tacit.errors import InvalidInput

HEADER = "mdu,lc,idp,ndisease,health,linc,age,sex\n"


def table(tmp_path, *rows: str):
    path = tmp_path / "contacts.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n")
    return health_table(path).to_arrow().to_pydict()


def test_every_cut_is_closed_on_the_left(tmp_path):
    just = math.log(8000) + 1e-9
    found = table(
        tmp_path,
        f"7,0,True,6,good,{just},13,male",
        "6,3.258096,True,5.999,poor,8.9,12.999,female",
        "60,4.564348,False,24,fair,9.9,52,female",
        "15,4.5,False,12,excellent,0,26,male",
    )
    assert found["mdu"] == ["[7,15)", "<7", ">=60", "[15,30)"]
    assert found["ndisease"] == ["[6,12)", "<6", ">=24", "[12,18)"]
    assert found["age"] == ["[13,26)", "<13", ">=52", "[26,39)"]
    assert found["lc"] == ["0", "below 4.5", "rest", "rest"]
    assert found["income"] == [">=8000", "<8000", ">=8000", "<8000"]
    assert found["health"] == ["good", "poor", "fair", "excellent"]


def test_the_seven_attributes_have_the_sizes_of_the_recipe(tmp_path):
    path = tmp_path / "contacts.csv"
    path.write_text(HEADER + "7,0,True,6,good,9,13,male\n")
    assert health_table(path).schema.shape() == (5, 5, 5, 3, 2, 2, 4)


def test_another_table_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match="has no column 'linc'"):
        health_table(path)


def test_incomes_that_are_no_numbers_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"'linc' must hold logarithms of incomes.*lots"):
        table(tmp_path, "7,0,True,6,good,lots,13,male")
