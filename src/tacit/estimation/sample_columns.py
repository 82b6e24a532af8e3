"""The sample that named columns of a table describe: weights, strata, clusters, replicate weights."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.weighted import SampleColumns
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import Lonely, SampleDesign
from tacit.estimation.device_reports import column, numbers
from tacit.table.columns import missing_values


def design_of(
    table: pa.Table,
    columns: SampleColumns,
    lonely: Lonely = "refuse",
    *,
    bootstrap: int | None = None,
    seed: int | None = None,
    rows: NDArray[np.bool_] | None = None,
) -> SampleDesign | None:
    """The design that the named columns describe for some rows of a table; None if nothing is named or asked.

    What is refused is named by its row in the whole table.
    """
    if bootstrap is not None and columns.replicates:
        raise InvalidInput("Errors come from a bootstrap or from replicate weights. Give one of them.")
    if not columns.column_names and columns.sampled is None and bootstrap is None and columns.replicate_scale is None:
        return None
    share = columns.sampled
    chosen = np.ones(table.num_rows, dtype=bool) if rows is None else rows
    return SampleDesign.of(
        int(chosen.sum()),
        weights=None if columns.weights is None else _weights(table, columns.weights, chosen),
        strata=None if columns.strata is None else _names(table, columns.strata, "strata", chosen),
        clusters=None if columns.clusters is None else _names(table, columns.clusters, "clusters", chosen),
        sampled=numbers(table, share, chosen) if isinstance(share, str) else share,
        lonely=lonely,
        bootstrap=bootstrap,
        replicates=_replicates(table, columns, chosen),
        replicate_scale=columns.replicate_scale,
        seed=seed,
    )


def _weights(table: pa.Table, name: str, chosen: NDArray[np.bool_]) -> Array:
    weights = numbers(table, name, chosen)
    wrong = ~(np.isfinite(weights) & (weights > 0))
    if wrong.any():
        row = int(np.flatnonzero(chosen)[np.argmax(wrong)])
        raise InvalidInput(
            f"The weight in row {row + 1:,} is {weights[np.argmax(wrong)]:g}; weights must be above 0. Leave out who does not "
            "count."
        )
    return weights


def _names(table: pa.Table, name: str, what: str, chosen: NDArray[np.bool_]) -> pa.ChunkedArray:
    """The strata or clusters of some rows, each of which needs one."""
    values = column(table, name)
    absent = missing_values(values) & chosen
    if absent.any():
        raise InvalidInput(
            f"The {what} have no value in row {int(np.argmax(absent)) + 1:,}; every respondent needs one."
        )
    return values.filter(pa.array(chosen))


def _replicates(table: pa.Table, columns: SampleColumns, chosen: NDArray[np.bool_]) -> Array | None:
    """The replicate weights as ``[respondent, repeat]``."""
    if not columns.replicates:
        return None
    values = [numbers(table, name, chosen) for name in columns.replicates]
    for name, weights in zip(columns.replicates, values, strict=True):
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise InvalidInput(f"The replicate weights {name!r} must be numbers of at least 0, not all of them 0.")
    return np.stack(values, axis=1)
