import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.dataset import Dataset
from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Cut
from tacit.table import Missing, encode, equal_width, infer_schema, middle, quantiles


def test_answers_are_the_values_that_occur():
    (attribute,) = infer_schema({"city": ["Ulm", "Bonn", "Ulm"]})
    assert attribute.answers == ("Bonn", "Ulm")
    assert not attribute.ordered


def test_answers_that_are_numbers_are_ordered_by_size():
    (attribute,) = infer_schema({"rooms": ["10", "9", "2.5"]})
    assert attribute.answers == ("2.5", "9", "10")
    assert attribute.ordered


@pytest.mark.parametrize("odd", ["nan", "inf"])
def test_texts_that_only_look_like_numbers_have_no_order(odd):
    (attribute,) = infer_schema({"x": ["2", odd, "10"]})
    assert attribute.answers == tuple(sorted(["2", odd, "10"]))
    assert not attribute.ordered


@pytest.mark.parametrize("column", [["4", " 7", "10"], [4, 7, 10], [4.0, 7.0, 10.0]])
def test_numbers_are_cut_by_a_rule(column):
    (attribute,) = infer_schema({"x": column}, cuts={"x": middle()})
    assert attribute.cut == Cut((7.0,))
    assert attribute.answers == ("<=7", ">7")
    assert infer_schema({"x": column}, cuts={"x": Cut((5, 9), "left")})["x"].answers == ("<5", "[5,9)", ">=9")


def test_rules_are_per_column():
    schema = infer_schema({"a": list(range(10)), "b": list(range(10))}, cuts={"a": quantiles(2), "b": equal_width(3)})
    assert schema.shape() == (2, 3)


def policies():
    data = {"x": ["a", "b", "b", None, "?"], "y": ["1", "2", "2", "1", "1"]}
    return lambda policy: infer_schema(data, missing=policy, marks=("?",))


def test_missing_values_are_refused_unless_a_policy_is_stated():
    with pytest.raises(
        InvalidInput, match=r"'x' has 2 missing value\(s\); 2 of 5 rows lack something. State what .*--missing"
    ):
        policies()("refuse")


def test_all_columns_with_gaps_are_named_at_once():
    gaps = {"x": ["a", None, "b", ""], "y": [1, 2, None, 3], "z": [1, 2, 3, 3]}
    with pytest.raises(InvalidInput, match=r"'x' has 2 missing value\(s\), 'y' 1; 3 of 4 rows lack something"):
        infer_schema(gaps)
    many = {f"q{at}": ["a", None, "b"] for at in range(12)}
    with pytest.raises(InvalidInput, match=r"'q7' 1 and 4 more columns have some; 1 of 3 rows"):
        infer_schema(many)


def test_missing_values_as_an_answer_of_their_own():
    attribute = policies()("answer")["x"]
    assert attribute.answers == ("a", "b", "missing")
    assert attribute.missing == "missing"


def test_the_answer_for_missing_values_takes_a_name_that_is_free():
    assert infer_schema({"x": ["a", "missing", None]}, missing="answer")["x"].answers == ("a", "missing", "missing_")


def test_missing_values_as_the_most_frequent_answer():
    assert policies()("most-frequent")["x"].missing == "b"
    assert policies()("most-frequent")["y"].missing is None


def test_dropping_rows_also_drops_the_answers_that_only_they_have():
    schema = infer_schema({"x": ["a", "b", "c"], "y": ["1", "2", None]}, missing="drop")
    assert schema["x"].answers == ("a", "b")


def test_a_cut_attribute_reads_missing_values_as_its_most_frequent_interval():
    data = {"x": [1.0, 8.0, 9.0, None]}
    schema = infer_schema(data, cuts={"x": middle()}, missing="most-frequent")
    assert encode(data, schema)["x"].tolist() == [0, 1, 1, 1]
    with pytest.raises(InvalidInput, match="its intervals leave no place for an answer of its own"):
        infer_schema(data, cuts={"x": middle()}, missing="answer")


@pytest.mark.parametrize("policy", ["answer", "most-frequent", "drop"])
def test_data_fit_the_schema_inferred_from_them(policy):
    data = {"x": ["a", "b", "b", None, "?"], "y": ["1", "2", "?", "1", "1"]}
    schema = infer_schema(data, missing=policy, marks=("?",))
    table = encode(data, schema, missing=Missing(("?",), drop=policy == "drop"))
    assert table.n_rows == (2 if policy == "drop" else 5)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"id": list(range(5000))}, {}, "'id' has 5,000 different values: too many to be the answers of a question"),
        ({"x": ["a", "a"]}, {}, r"'x' has 1 answer\(s\): there is nothing to hide and nothing to learn"),
        ({"x": pa.array([], pa.string())}, {}, "The table has no rows, so its answers cannot be inferred"),
        ({"x": [None, "a"], "y": ["b", None]}, {"missing": "drop"}, "dropping them leaves nothing"),
        ({"x": ["a", "b"]}, {"cuts": {"x": middle()}}, "'x' holds values that are not numbers, so it cannot be cut"),
        ({"x": [3, 3]}, {"cuts": {"x": middle()}}, "All numbers are 3"),
        ({"x": ["nan", "3"]}, {"cuts": {"x": middle()}}, "all of them are finite"),
    ],
)
def test_data_without_a_schema_are_refused(data, options, message):
    with pytest.raises(InvalidInput, match=message):
        infer_schema(pa.table(data) if "x" in data and isinstance(data["x"], pa.Array) else data, **options)


def test_a_larger_domain_is_inferred_where_it_is_asked_for():
    assert infer_schema({"id": list(range(5000))}, most_answers=5000)["id"].size == 5000


def test_unknown_policies_and_columns_are_refused():
    with pytest.raises(UnknownName, match=r"Policy for missing values 'dropp' does not exist. Did you mean 'drop'\?"):
        infer_schema({"x": ["a", "b"]}, missing="dropp")
    with pytest.raises(UnknownName, match=r"Column 'agee' does not exist. Did you mean 'age'\?"):
        infer_schema({"age": [1, 2]}, cuts={"agee": middle()})


def test_all_columns_with_too_many_values_are_named_at_once_with_what_to_type():
    crowded = {"id": list(range(5000)), "sex": ["f", "m"] * 2500, "pay, net": [f"x{at}" for at in range(5000)]}
    with pytest.raises(
        InvalidInput, match=r"'id' has 5,000 different values, 'pay, net' 5,000: .*--drop 'id,\"pay, net\"'"
    ):
        infer_schema(crowded)


def test_an_ordered_categorical_keeps_its_order():
    levels = ["low", "mid", "high"]
    column = pd.Categorical(["mid", "high", "low"], categories=levels, ordered=True)
    attribute = infer_schema(pd.DataFrame({"x": column}))["x"]
    assert (attribute.answers, attribute.ordered) == (("low", "mid", "high"), True)
    free = infer_schema(pd.DataFrame({"x": pd.Categorical(["mid", "high", "low"], categories=levels)}))["x"]
    assert (free.answers, free.ordered) == (("low", "mid", "high"), False)


def test_declared_categories_are_answers_though_nobody_gave_them():
    levels = ["none", "some", "much"]
    told = {"x": ["some", "none", None]}
    frames = [
        pd.DataFrame({"x": pd.Categorical(told["x"], categories=levels, ordered=True)}),
        pl.DataFrame(told, schema={"x": pl.Enum(levels)}),
    ]
    for frame in frames:
        attribute = infer_schema(frame, missing="drop")["x"]
        assert (attribute.answers, attribute.ordered) == (tuple(levels), True)
    # Categories that polars listed as they occurred were declared by nobody.
    assert infer_schema(pl.DataFrame({"x": ["b", "a"]}, schema={"x": pl.Categorical}))["x"].answers == ("a", "b")


def test_intervals_periods_durations_and_days_are_ordered_answers():
    ages = pd.Series([70, 3, 20, 20])
    frame = pd.DataFrame(
        {
            "age": pd.cut(ages, [0, 18, 65, 100]),
            "bands": pd.Series(pd.arrays.IntervalArray.from_tuples([(2, 3), (0, 1), (0, 1), (2, 3)], closed="left")),
            "month": pd.PeriodIndex(["2024-11", "2024-02", "2024-02", "2024-10"], freq="M"),
            "wait": pd.to_timedelta([10, 9, 9, 2], unit="D"),
            "day": pd.to_datetime(["2024-01-05", "2023-02-01", "2023-02-01", "2024-01-05"]),
        }
    )
    schema = infer_schema(frame)
    assert {attribute.name: attribute.answers for attribute in schema} == {
        "age": ("(0, 18]", "(18, 65]", "(65, 100]"),
        "bands": ("[0, 1)", "[2, 3)"),
        "month": ("2024-02", "2024-10", "2024-11"),
        "wait": ("2 days 00:00:00", "9 days 00:00:00", "10 days 00:00:00"),
        "day": ("2023-02-01", "2024-01-05"),
    }
    assert all(attribute.ordered for attribute in schema)
    read = Dataset(frame)
    assert read.to_pandas()["age"].tolist() == ["(65, 100]", "(0, 18]", "(18, 65]", "(18, 65]"]


def test_answers_come_out_as_ordered_categories_of_the_whole_list():
    levels = ["none", "some", "much"]
    read = Dataset(pd.DataFrame({"x": pd.Categorical(["some", "none"], categories=levels, ordered=True)}))
    column = read.to_pandas()["x"]
    assert (column.cat.categories.tolist(), column.cat.ordered) == (levels, True)
    assert read.to_polars().schema["x"] == pl.Enum(levels)
    assert Dataset(read.to_pandas()).schema == Dataset(read.to_polars()).schema == read.schema
