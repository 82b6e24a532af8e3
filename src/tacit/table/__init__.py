"""Integer-coded columns with their schema, in and out of CSV, Parquet and anything that speaks Arrow.

A `Table` is neither truth nor report: `Dataset` and `Reports` say which of the two it is.
"""

from tacit.table.coded import Table
from tacit.table.columns import as_arrow
from tacit.table.discretize import equal_width, middle, quantiles
from tacit.table.encode import Missing, decode, encode
from tacit.table.files import read_batches, read_metadata, read_table
from tacit.table.infer import infer_schema, inferred_table
from tacit.table.outputs import written_whole

__all__ = [
    "Missing",
    "Table",
    "as_arrow",
    "decode",
    "encode",
    "equal_width",
    "infer_schema",
    "inferred_table",
    "middle",
    "quantiles",
    "read_batches",
    "read_metadata",
    "read_table",
    "written_whole",
]
