import numpy as np
import pytest

from tacit import Attribute, Schema
from tacit.errors import InvalidInput, UnknownName
from tacit.table import Table

SCHEMA = Schema((Attribute("smokes", ("no", "yes")), Attribute("age", ("young", "middle", "old"), ordered=True)))


def table() -> Table:
    return Table.from_codes(SCHEMA, {"smokes": [0, 1, 0], "age": [2, 0, 1]})


def test_codes_are_held_in_the_smallest_type():
    assert table()["age"].dtype == np.uint8
    large = Schema((Attribute("x", tuple(map(str, range(300)))),))
    assert Table.from_codes(large, {"x": [299]})["x"].dtype == np.uint16


def test_truth_values_of_one_answer_become_codes():
    # As truth values they would select rows where codes look up weights.
    codes = Table.from_codes(SCHEMA.select(["smokes"]), {"smokes": np.array([True, False])})["smokes"]
    assert codes.dtype == np.uint8
    assert codes.tolist() == [1, 0]


def test_bits_and_sets_have_two_dimensions():
    bits = Schema((Attribute("x", ("a", "b", "c"), shows="bits"),))
    assert Table.from_codes(bits, {"x": [[0, 1, 1]]})["x"].dtype == np.bool_
    with pytest.raises(InvalidInput, match="have 1 dimension"):
        Table.from_codes(bits, {"x": [0, 1, 1]})
    with pytest.raises(InvalidInput, match="have 2 dimension"):
        Table.from_codes(SCHEMA.select(["smokes"]), {"smokes": [[0, 1]]})


def test_selecting_attributes_and_rows():
    chosen = table().select(["age"]).rows(slice(1, None))
    assert chosen.schema.names == ("age",)
    assert chosen["age"].tolist() == [0, 1]
    assert table().rows(np.array([True, False, True]))["smokes"].tolist() == [0, 0]


def test_tables_one_after_the_other():
    both = Table.concatenate([table(), table()])
    assert len(both) == 6
    with pytest.raises(InvalidInput, match="Only tables with the same schema"):
        Table.concatenate([table(), table().select(["age"])])
    with pytest.raises(InvalidInput, match="There are no tables"):
        Table.concatenate([])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"smokes": [0]}, "The column 'age' is missing"),
        ({"smokes": [0, 1], "age": [0]}, "must have one length"),
        ({"smokes": [2], "age": [0]}, "'smokes' has the codes 0 to 1, not 2"),
        ({"smokes": [-1], "age": [0]}, "'smokes' has the codes 0 to 1, not -1"),
        ({"smokes": [0.5], "age": [0]}, "must be whole numbers, not float64"),
    ],
)
def test_codes_that_do_not_fit_are_refused(columns, message):
    with pytest.raises(InvalidInput, match=message):
        Table.from_codes(SCHEMA, columns)


def test_an_unknown_attribute_is_refused_with_the_closest():
    with pytest.raises(UnknownName, match=r"Attribute 'smoke' does not exist. Did you mean 'smokes'\?"):
        table()["smoke"]
