"""The sample that named columns of a table describe: weights, strata, clusters, replicate weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.channel.base import Array
from tacit.count.weighted import SampleColumns
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import Lonely, SampleDesign
from tacit.estimation.device_reports import column, numbers

if TYPE_CHECKING:
    import pyarrow as pa


def design_of(
    table: pa.Table,
    columns: SampleColumns,
    lonely: Lonely = "refuse",
    *,
    bootstrap: int | None = None,
    seed: int | None = None,
) -> SampleDesign | None:
    """The design that the named columns of a table describe; None where nothing is named or asked."""
    if bootstrap is not None and columns.replicates:
        raise InvalidInput("Errors come from a bootstrap or from replicate weights. Give one of them.")
    if not columns.named and columns.sampled is None and bootstrap is None and columns.replicate_scale is None:
        return None
    share = columns.sampled
    return SampleDesign.of(
        table.num_rows,
        weights=None if columns.weights is None else numbers(table, columns.weights),
        strata=None if columns.strata is None else column(table, columns.strata),
        clusters=None if columns.clusters is None else column(table, columns.clusters),
        sampled=numbers(table, share) if isinstance(share, str) else share,
        lonely=lonely,
        bootstrap=bootstrap,
        replicates=_replicates(table, columns),
        replicate_scale=columns.replicate_scale,
        seed=seed,
    )


def _replicates(table: pa.Table, columns: SampleColumns) -> Array | None:
    """The replicate weights as ``[respondent, repeat]``."""
    if not columns.replicates:
        return None
    values = [numbers(table, name) for name in columns.replicates]
    for name, weights in zip(columns.replicates, values, strict=True):
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise InvalidInput(f"The replicate weights {name!r} must be numbers of at least 0, not all of them 0.")
    return np.stack(values, axis=1)
