"""Codes of records and reports, and the arrays that are indexed by them.

A record is a code for each attribute; its *joint code* numbers it among all records, the last attribute running fastest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.schema import Attribute
from tacit.table.coded import code_type
from tacit.table.hashed import Hashing

Array = NDArray[np.float64]
Codes = NDArray[Any]  # integer codes of one column: rows, or rows x members for a set, or rows x answers for bits

# A dense matrix beyond this is a mistake of whoever asks for it: 2**24 entries are 128 MB.
MATRIX_ENTRIES = 1 << 24


def flat(array: Array, axes: int) -> Array:
    """`array` with its first `axes` axes as one and all others as a second."""
    size = int(np.prod(array.shape[:axes]))
    return array.reshape(size, -1)


def checked_matrix_size(n_reports: int, n_truths: int) -> None:
    if n_reports * n_truths > MATRIX_ENTRIES:
        # The logarithm also holds numbers that a float does not.
        raise InvalidInput(
            f"A dense matrix of about 10**{math.log10(n_reports):.0f} reports by 10**{math.log10(n_truths):.0f} truths is "
            "too large to write out. Ask for a marginal of fewer attributes."
        )


def checked_axes(axes: Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    positions = tuple(axes)
    if not positions or list(positions) != sorted(set(positions)) or not set(positions) <= set(range(len(shape))):
        raise InvalidInput(f"A marginal needs ascending positions among {len(shape)} attributes, not {positions}.")
    return positions


def outer(masks: Sequence[NDArray[np.bool_]]) -> Array:
    """The indicator of a product of per-attribute sets, as an array over the joint domain."""
    result: Array = np.ones(())
    for mask in masks:
        result = np.multiply.outer(result, mask.astype(np.float64))
    return result


def outer_product(factors: Sequence[Array]) -> Array:
    """The product of one distribution per attribute, as an array over the joint domain."""
    joint: Array = np.ones(())
    for factor in factors:
        joint = np.multiply.outer(joint, factor)
    return joint


def joint_labels(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """Names of the joint answers of a group, in the order of their codes."""
    if len(attributes) == 1:
        return attributes[0].answers
    labels = [""]
    for position, attribute in enumerate(attributes):
        joint = "+" if position else ""
        labels = [label + joint + answer for label in labels for answer in attribute.answers]
    return tuple(labels)


def joint_name(attributes: Sequence[Attribute]) -> str:
    return "+".join(attribute.name for attribute in attributes)


def joint_codes(columns: Sequence[Codes], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """One code per record for several columns: mixed radix, the last column fastest."""
    codes = columns[0].astype(np.int64)
    for column, size in zip(columns[1:], shape[1:], strict=True):
        codes *= size
        codes += column
    return codes


def split_codes(codes: NDArray[np.int64], shape: tuple[int, ...]) -> tuple[Codes, ...]:
    """The columns whose joint codes these are."""
    columns: list[Codes] = []
    for size in reversed(shape[1:]):
        codes, digit = np.divmod(codes, size)
        columns.append(digit.astype(code_type(size)))
    return (codes.astype(code_type(shape[0])), *reversed(columns))


def grid(shape: tuple[int, ...]) -> tuple[Codes, ...]:
    """Every record of a joint domain, as columns, in the order of their joint codes."""
    return split_codes(np.arange(int(np.prod(shape)), dtype=np.int64), shape)


def slots(column: Codes, size: int) -> Array:
    """What each report adds to the `size` slots of one axis of a tally.

    A column that shows one answer has a slot per answer. A set (members of each row) or bits (an indicator per answer) fill
    a slot for every answer they show, and a last slot that counts every report.
    """
    if column.ndim == 1:
        return (column[:, None] == np.arange(size)).astype(np.float64)
    if column.dtype == np.bool_:
        return np.concatenate([column, np.ones((len(column), 1))], axis=1)
    indicators = np.zeros((len(column), size))
    np.put_along_axis(indicators, column.astype(np.intp), 1, axis=1)
    indicators[:, -1] = 1
    return indicators


def shown_slots(column: Codes, attribute: Attribute) -> Array:
    """What each report adds to the slots of a column that shows an attribute, hashed sets included."""
    if attribute.shows != "hashed":
        return slots(column, attribute.tally_size)
    holding = Hashing.of(attribute).holding(column)
    return np.concatenate([holding, np.ones((len(holding), 1))], axis=1)


def row_products(factors: Sequence[Array]) -> Array:
    """For each row the outer product of its parts, as one row: ``(rows, joint size)``."""
    joint = factors[0]
    for factor in factors[1:]:
        joint = (joint[:, :, None] * factor[:, None, :]).reshape(len(joint), -1)
    return joint
