"""Names that `tacit.channel.base` and `tacit.channel.codes` now hold."""

from tacit.channel.base import Channel, Estimator
from tacit.channel.codes import (
    MATRIX_ENTRIES,
    Array,
    Codes,
    checked_axes,
    checked_matrix_size,
    flat,
    grid,
    joint_codes,
    joint_labels,
    joint_name,
    outer,
    split_codes,
)

__all__ = [
    "MATRIX_ENTRIES",
    "Array",
    "Channel",
    "Codes",
    "Estimator",
    "checked_axes",
    "checked_matrix_size",
    "flat",
    "grid",
    "joint_codes",
    "joint_labels",
    "joint_name",
    "outer",
    "split_codes",
]
