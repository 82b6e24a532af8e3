import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Attribute, Schema
from tacit.errors import InvalidInput, UnknownAnswer
from tacit.schema import numeric
from tacit.table import Missing, Table, decode, encode
from tacit.table.encode import encoded_rows

COLOURS = Schema((Attribute("colour", ("red", "green", "blue")),))
AGE = Schema((numeric("age", (18, 65)),))


def coded(values, schema=COLOURS, **options) -> list[int]:
    return encode({schema.names[0]: values}, schema, **options)[schema.names[0]].tolist()


def test_answers_become_their_positions():
    assert coded(["blue", "red", "green"]) == [2, 0, 1]


@pytest.mark.parametrize(
    "values", [[1, 2, 1], [1.0, 2.0, 1.0], ["1", "2", "1"], pa.array([1, 2, 1]).dictionary_encode()]
)
def test_numbers_are_answers_by_their_text(values):
    assert encode(pa.table({"n": pa.array(values) if isinstance(values, list) else values}),
                  Schema((Attribute("n", ("1", "2")),)))["n"].tolist() == [0, 1, 0]  # fmt: skip


def test_truth_values_are_answers():
    assert encode(pa.table({"b": [True, False]}), Schema((Attribute("b", ("false", "true")),)))["b"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("closed", "expected"), [("right", [0, 0, 1, 1, 1, 2]), ("left", [0, 1, 1, 1, 2, 2])], ids=["right", "left"]
)
@pytest.mark.parametrize("kind", [pa.string(), pa.int32(), pa.float64(), pa.uint8(), pa.large_string()])
def test_numbers_at_an_edge_belong_to_the_closed_side(closed, expected, kind):
    schema = Schema((numeric("age", (18, 65), closed=closed),))
    column = pa.array([17, 18, 19, 64, 65, 66]).cast(kind)
    assert encode(pa.table({"age": column}), schema)["age"].tolist() == expected


def test_a_number_just_beside_an_edge_falls_where_it_belongs():
    above, below = np.nextafter(18, 19), np.nextafter(18, 17)
    assert coded([below, 18.0, above], AGE) == [0, 0, 1]


def test_a_cut_attribute_also_reads_the_names_of_its_intervals():
    labels = AGE["age"].answers
    assert coded([labels[2], labels[0]], AGE) == [2, 0]
    assert coded([labels[2], ""], AGE, missing=Missing(drop=True)) == [2]


def test_whole_numbers_too_large_for_a_float_are_cut_all_the_same():
    assert coded([2**60 + 1, 3], AGE) == [2, 0]


@pytest.mark.parametrize("bad", ["old", "nan", "1_000"])
def test_a_text_that_is_no_number_is_refused_with_its_row(bad):
    with pytest.raises(
        InvalidInput, match=rf"'age' is cut at \[18.0, 65.0\], so it needs numbers, not '{bad}' \(row 2\)"
    ):
        coded(["20", bad], AGE)


def test_an_unknown_answer_is_refused_with_its_row_and_the_closest_one():
    with pytest.raises(UnknownAnswer, match=r"'colour' has no answer 'gren' \(row 3\). Did you mean 'green'\?"):
        coded(["red", "blue", "gren"])
    with pytest.raises(UnknownAnswer, match=r"'xyz' \(row 1\). There is: 'red', 'green', 'blue'."):
        coded(["xyz"])


def test_rows_are_counted_from_the_start_of_the_file():
    with pytest.raises(UnknownAnswer, match=r"\(row 1,001,002\)"):
        coded(["red", "gren"], first_row=1_001_000)
    with pytest.raises(InvalidInput, match="the first in row 12"):
        coded(["red", None], first_row=10)
    with pytest.raises(InvalidInput, match=r"not 'x' \(row 12\)"):
        coded(["1", "x"], AGE, first_row=10)


@pytest.mark.parametrize("empty", [None, "", "  "])
def test_a_missing_value_is_refused_unless_its_meaning_is_stated(empty):
    with pytest.raises(
        InvalidInput, match=r"'colour' has 1 missing value\(s\), the first in row 2. State what they mean"
    ):
        coded(["red", empty], missing=Missing())
    with pytest.raises(
        InvalidInput, match=r"row 2. Every row must show an answer"
    ):  # nobody can be asked what it means
        coded(["red", empty])
    assert coded(["red", empty, "blue"], missing=Missing(drop=True)) == [0, 2]
    stated = Schema((Attribute("colour", ("red", "green", "blue"), missing="blue"),))
    assert coded(["red", empty], stated) == [0, 2]


def test_marks_count_as_missing():
    with pytest.raises(UnknownAnswer, match=r"no answer '\?'"):
        coded(["red", "?"])
    assert coded(["red", "?", "blue"], missing=Missing(("?",), drop=True)) == [0, 2]
    assert coded([20, -9, 70], AGE, missing=Missing(("-9",), drop=True)) == [1, 2]


def test_dropping_takes_the_row_out_of_every_column():
    schema = Schema((*COLOURS, *AGE))
    table = encode({"colour": ["red", None, "blue"], "age": [20, 30, None]}, schema, missing=Missing(drop=True))
    assert {name: codes.tolist() for name, codes in table.columns.items()} == {"colour": [0], "age": [1]}


def test_all_columns_with_gaps_are_named_at_once():
    schema = Schema((*COLOURS, *AGE))
    gaps = {"colour": ["red", None, "blue", None], "age": [20, 30, None, 40]}
    with pytest.raises(InvalidInput, match=r"'colour' has 2 missing value\(s\), 'age' 1, the first in row 2\."):
        encode(gaps, schema, missing=Missing())


def test_what_stands_in_a_dropped_row_need_not_be_an_answer():
    schema = Schema((*COLOURS, *AGE))
    rows = {"colour": ["red", "mauve", "blue", None], "age": ["20", None, "30", "old"]}
    assert len(encode(rows, schema, missing=Missing(drop=True))) == 2
    with pytest.raises(UnknownAnswer, match=r"no answer 'mauve' \(row 3\)"):
        encode({"colour": ["red", None, "mauve"], "age": [20, 30, 40]}, schema, missing=Missing(drop=True))


def test_it_is_told_which_rows_were_kept():
    schema = Schema((*COLOURS, *AGE))
    gaps = {"colour": ["red", None, "blue", "red"], "age": [20, 30, None, 40]}
    table, kept = encoded_rows(gaps, schema, missing=Missing(drop=True))
    assert (len(table), kept.tolist()) == (2, [True, False, False, True])


def test_columns_in_another_order_and_dropped_ones():
    schema = Schema((*COLOURS, *AGE))
    table = encode({"age": [20], "name": ["Eve"], "colour": ["red"]}, schema, drop_others=True)
    assert list(table.columns) == ["colour", "age"]
    with pytest.raises(InvalidInput, match=r"does not name the column\(s\) 'name'"):
        encode({"age": [20], "name": ["Eve"], "colour": ["red"]}, schema)


@pytest.mark.parametrize("size", [2, 127, 128, 129, 256, 257, 40_000])
def test_codes_of_every_width_go_out_and_come_back(size):
    schema = Schema((Attribute("x", tuple(map(str, range(size)))),))
    table = Table.from_codes(schema, {"x": np.arange(size)})
    assert (encode(decode(table), schema)["x"] == np.arange(size)).all()


answers = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), min_size=2, max_size=6, unique=True
)


@given(answers, st.data())
def test_any_answers_go_out_and_come_back(names, data):
    schema = Schema((Attribute("x", tuple(names)),))
    codes = data.draw(st.lists(st.integers(0, len(names) - 1), min_size=1, max_size=20))
    table = Table.from_codes(schema, {"x": np.array(codes)})
    for text_only in (False, True):
        assert encode(decode(table, text_only=text_only), schema)["x"].tolist() == codes
