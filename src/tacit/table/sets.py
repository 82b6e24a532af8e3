"""Reports that show more than one answer: sets, and one bit per answer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownAnswer
from tacit.schema import Attribute
from tacit.table.coded import code_type
from tacit.table.columns import as_numpy, as_text, file_columns


def encode_bits(table: pa.Table, attribute: Attribute) -> NDArray[np.bool_]:
    """Rows x answers: which answers a report shows."""
    return np.stack([_encode_bit(table.column(name), name) for name in file_columns(attribute)], axis=1)


def _encode_bit(column: pa.ChunkedArray, name: str) -> NDArray[np.bool_]:

    if pa.types.is_boolean(column.type) and column.null_count == 0:
        return as_numpy(column).astype(np.bool_)
    text = pc.utf8_lower(as_text(column))
    codes = pc.index_in(text, value_set=pa.array(["0", "1", "false", "true"]))
    if codes.null_count:
        bad = text.filter(pc.is_null(codes))[0].as_py()
        raise InvalidInput(f"The bit {name!r} must be 0 or 1, not {bad!r}.")
    return (as_numpy(codes) % 2).astype(np.bool_)


def encode_sets(column: pa.ChunkedArray, attribute: Attribute) -> NDArray[Any]:
    """Rows x members: the codes of the answers each report names."""
    if not _is_list(column.type):
        column = pa.chunked_array([_sets_from_text(as_text(column), attribute)])
    if column.null_count:
        raise InvalidInput(f"{attribute.name!r} has an empty report; every report must show a set.")
    lengths = np.unique(as_numpy(pc.list_value_length(column)))
    if len(lengths) > 1:
        raise InvalidInput(f"All sets of {attribute.name!r} must have one size, not {lengths.tolist()}.")
    members = as_text(pc.list_flatten(column))
    codes = pc.index_in(members, value_set=pa.array(attribute.answers))
    if codes.null_count:
        raise UnknownAnswer(attribute.name, str(members.filter(pc.is_null(codes))[0].as_py()), attribute.answers)
    size = int(lengths[0]) if len(lengths) else 0
    sets = as_numpy(codes).reshape(len(column), size).astype(code_type(attribute.size))
    if size > 1 and (np.diff(np.sort(sets, axis=1).astype(np.int64), axis=1) == 0).any():
        raise InvalidInput(f"A set of {attribute.name!r} names the same answer twice.")
    return sets


def _is_list(kind: pa.DataType) -> bool:

    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _sets_from_text(text: pa.ChunkedArray, attribute: Attribute) -> pa.Array:

    written = text.combine_chunks().dictionary_encode()  # every different set is parsed once
    try:
        sets = pa.array([json.loads(value) for value in written.dictionary.to_pylist()], type=pa.list_(pa.string()))
        return sets.take(written.indices)
    except (TypeError, ValueError, pa.ArrowInvalid):
        raise InvalidInput(f'Sets of {attribute.name!r} are written as ["a", "b"] in a CSV file.') from None


def decode_bits(codes: NDArray[np.bool_], attribute: Attribute, *, text_only: bool) -> dict[str, pa.Array]:
    """One column per answer: truth values, or 0 and 1 where a file holds text only."""
    kind = np.uint8 if text_only else np.bool_
    return {name: pa.array(codes[:, position].astype(kind)) for position, name in enumerate(file_columns(attribute))}


def decode_sets(codes: NDArray[Any], attribute: Attribute, *, text_only: bool) -> pa.Array:
    """Lists of answers, or their JSON where a file holds text only."""
    names = [json.dumps(answer, ensure_ascii=False) for answer in attribute.answers] if text_only else attribute.answers
    members = pa.array(names, pa.string()).take(pa.array(codes.ravel()))
    offsets = np.arange(len(codes) + 1, dtype=np.int32) * codes.shape[1]
    sets = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), members)
    return pc.binary_join_element_wise("[", pc.binary_join(sets, ", "), "]", "") if text_only else sets
