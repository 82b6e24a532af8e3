"""The bundled files hold what was published: every row, every column, missing values as null."""

from importlib import resources

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tacit.bundled import raw_adult, raw_breast_cancer, raw_nursery, raw_votes

# Missing values by column, as the sets' own documentation counts them.
MISSING = {
    "adult": {"workclass": 2799, "occupation": 2809, "native-country": 857},
    "breast_cancer": {"Bare.nuclei": 16},
    "nursery": {},
    "votes": dict(
        zip(
            (f"V{i}" for i in range(1, 17)),
            (12, 48, 11, 11, 15, 11, 14, 15, 22, 7, 21, 31, 25, 17, 28, 104),
            strict=True,
        )
    ),
}


@pytest.mark.parametrize(
    ("name", "load", "rows", "columns"),
    [
        ("adult", raw_adult, 48_842, 16),
        ("breast_cancer", raw_breast_cancer, 699, 11),
        ("nursery", raw_nursery, 12_960, 9),
        ("votes", raw_votes, 435, 17),
    ],
)
def test_a_raw_set_has_all_its_rows_columns_and_missing_values(name, load, rows, columns):
    table = load()
    assert (table.num_rows, table.num_columns) == (rows, columns)
    nulls = {column: table[column].null_count for column in table.column_names if table[column].null_count}
    assert nulls == MISSING[name]
    for column in table.column_names:
        if pa.types.is_string(table[column].type):
            values = table[column].drop_null()
            assert pc.all(pc.equal(values, pc.utf8_trim_whitespace(values))).as_py()
            assert not pc.any(pc.is_in(values, value_set=pa.array(["?", ""]))).as_py()


@pytest.mark.parametrize("name", ["adult", "breast_cancer", "nursery", "votes"])
def test_the_files_are_compressed_and_free_of_foreign_metadata(name):
    file = pq.ParquetFile(pa.BufferReader(resources.files("tacit.bundled").joinpath(f"{name}.parquet").read_bytes()))
    assert file.schema_arrow.metadata is None
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_adult_marks_the_rows_of_adult_test():
    table = raw_adult()
    from_test = table["from_test"].to_numpy()
    assert from_test.sum() == 16_281
    assert not from_test[:32_561].any()
    shares = {"all": (pc.mean(pc.equal(table["income"], ">50K")).as_py(), 0.2393)}
    complete = table.drop_null()
    shares["complete"] = (pc.mean(pc.equal(complete["income"], ">50K")).as_py(), 0.2478)
    for found, documented in shares.values():
        assert round(found, 4) == documented
    assert complete.num_rows == 45_222
    assert set(table["income"].unique().to_pylist()) == {"<=50K", ">50K"}


def test_adult_begins_and_ends_as_published():
    table = raw_adult()
    first, last = (list(row.values()) for row in table.take([0, table.num_rows - 1]).to_pylist())
    assert first == [
        39, "State-gov", 77516, "Bachelors", 13, "Never-married", "Adm-clerical", "Not-in-family", "White", "Male", 2174,
        0, 40, "United-States", "<=50K", False,
    ]  # fmt: skip
    assert last[-2:] == [">50K", True]
