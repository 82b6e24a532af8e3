"""The RAND health insurance table in the shape of FRAPP's HEALTH."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow.compute as pc

from tacit.dataset import Dataset
from tacit.errors import InvalidInput
from tacit.schema import Attribute, Schema, numeric
from tacit.table import read_table

LEVELS = ("excellent", "good", "fair", "poor")


def health_table(path: str | Path) -> Dataset:
    """Seven attributes of the person-years of the RAND Health Insurance Experiment (Deb and Trivedi 2002).

    The file is not bundled: it is ``DoctorContacts`` of R's package Ecdat, as CSV or Parquet. All cuts are closed on the
    left: age, doctor visits (`mdu`) and chronic diseases (`ndisease`) in five steps, coinsurance (`lc`, the logarithm of
    one plus the rate) as none, below 95%, or 95%, yearly income (from `linc`) below 8000 or not.
    """
    # No coinsurance rate lies between 0 and 1 percent, so any edge between 0 and log(2) sets zero apart.
    coinsurance = numeric("lc", (math.log(2) / 2, 4.5), closed="left", labels=("0", "below 4.5", "rest"))
    schema = Schema(
        (
            numeric("age", (13, 26, 39, 52), closed="left"),
            numeric("mdu", (7, 15, 30, 60), closed="left"),
            numeric("ndisease", (6, 12, 18, 24), closed="left"),
            coinsurance,
            Attribute("sex", ("female", "male")),
            numeric("income", (8000,), closed="left"),
            Attribute("health", LEVELS, ordered=True),
        )
    )
    table = read_table(path)
    if "linc" not in table.column_names:
        raise InvalidInput(f"{str(path)!r} has no column 'linc': it is not the table DoctorContacts.")
    try:
        income = pc.exp(table["linc"].cast("float64"))
    except ValueError as error:  # Arrow's complaint names the value
        raise InvalidInput(f"The column 'linc' must hold logarithms of incomes. {error}") from None
    return Dataset.from_arrow(table.append_column("income", income), schema, drop_others=True)
