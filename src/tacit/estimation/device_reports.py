"""Reports that were collected with a device, as they lie in a file: which value is which report, and in which sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.channel.device_parameters import same_value
from tacit.channel.devices import DeviceDesign
from tacit.channel.moment_devices import MomentDesign
from tacit.errors import InvalidInput, UnknownName
from tacit.table.columns import as_text, missing_values
from tacit.table.study_columns import numbers_of

Codes = NDArray[np.intp]
# What people write for no and yes, always in this order.
PAIRS = (("0", "1"), ("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"))
MISSING = -1
DIRECT = -2  # the sample that was asked directly


@dataclass(frozen=True)
class Understood:
    """How the values of a column were read: a code for each value, and a sentence where they were not the device's own words."""

    codes: Codes
    sentence: str


def column(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        raise UnknownName("Column", name, table.column_names)
    return table.column(name)


def values_of(values: pa.ChunkedArray) -> tuple[Codes, list[str]]:
    """For each row the position of its value among the different values; missing ones have none."""
    absent = missing_values(values)
    encoded = pc.dictionary_encode(as_text(values)).combine_chunks()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.float64)
    positions = np.where(absent | np.isnan(codes), MISSING, np.nan_to_num(codes)).astype(np.intp)
    return positions, [str(value) for value in encoded.dictionary.to_pylist()]


def understand_reports(table: pa.Table, name: str, reports: Sequence[str], yes: str | None = None) -> Understood:
    """The reports of a column as codes, `reports[code]`; missing values have the code -1."""
    positions, values = values_of(column(table, name))
    occurring = [value for at, value in enumerate(values) if (positions == at).any()]
    if not occurring:
        raise InvalidInput(f"{name!r} has no reports: every value is missing.")
    read = _meaning(name, occurring, reports, yes)
    codes = np.array([read.get(value, MISSING) for value in values], dtype=np.intp)
    return Understood(np.where(positions == MISSING, MISSING, codes[positions]), _in_words(name, read, reports))


def _in_words(name: str, read: dict[str, int], reports: Sequence[str]) -> str:
    """How the values were read; nothing where each is a report's own word."""
    renamed = [f"{value!r} means {reports[code]!r}" for value, code in sorted(read.items(), key=lambda one: one[1])]
    return f"In {name}, {', '.join(renamed)}" if any(value != reports[code] for value, code in read.items()) else ""


def _meaning(name: str, values: Sequence[str], reports: Sequence[str], yes: str | None) -> dict[str, int]:
    keys = {value: same_value(value) for value in values}
    if yes is not None:
        return _named_yes(name, keys, reports, yes)
    vocabularies = [tuple(same_value(report) for report in reports)]
    if len(reports) == 2:
        vocabularies.extend(PAIRS)
    for labels in vocabularies:
        if set(keys.values()) <= set(labels):
            return {value: labels.index(key) for value, key in keys.items()}
    listed = ", ".join(map(repr, list(values)[:8]))
    wanted = " and ".join(map(repr, reports[:8]))
    advice = (
        f"Say which value means {reports[1]!r}: yes=VALUE (on the command line --yes VALUE), and which mean no answer: "
        "missing_marks=[...] (--missing-mark VALUE)."
        if len(reports) == 2
        else "Recode them in the file first, or name those that mean no answer: missing_marks=[...] (--missing-mark VALUE)."
    )
    raise InvalidInput(f"{name!r} holds {listed}, which is not understood as {wanted}. {advice}")


def _named_yes(name: str, keys: dict[str, str], reports: Sequence[str], yes: str) -> dict[str, int]:
    if len(reports) != 2:
        raise InvalidInput(f"This device has {len(reports)} different reports, so one value cannot be the yes.")
    wanted = same_value(yes)
    others = sorted({key for key in keys.values() if key != wanted})
    if len(others) > 1:
        listed = ", ".join(repr(value) for value, key in keys.items() if key != wanted)
        raise InvalidInput(
            f"Beside {yes!r} the column {name!r} holds {listed}; there may be only one other value, which means "
            f"{reports[0]!r}. Name those that mean no answer: missing_marks=[...] (on the command line --missing-mark VALUE)."
        )
    return {value: int(key == wanted) for value, key in keys.items()}


def no_and_yes(name: str, values: Sequence[str], yes: str | None) -> tuple[str, str]:
    """Which of two values means no and which yes: as people write them, as `yes` says, else the second one in order."""
    keys = [same_value(value) for value in values]
    if yes is not None and same_value(yes) in keys:
        read = _named_yes(name, dict(zip(values, keys, strict=True)), ("no", "yes"), yes)
    else:
        pair_of_words = next((pair for pair in PAIRS if set(keys) == set(pair)), tuple(sorted(keys)))
        read = {value: pair_of_words.index(key) for value, key in zip(values, keys, strict=True)}
    no, chosen = sorted(values, key=lambda value: read[value])
    return no, chosen


def samples(table: pa.Table, name: str | None, design: DeviceDesign | MomentDesign) -> Codes:
    """For each row the number of its sample, or `DIRECT`."""
    named = [sample.name for sample in design.samples if sample.name is not None]
    if name is None:
        if named or design.direct is not None:
            sample_names = [*named, *([design.direct] if design.direct is not None else [])]
            raise InvalidInput(
                f"Which column tells the samples {', '.join(map(str, sample_names))} apart? Give it: "
                "sample=NAME (on the command line --sample NAME)."
            )
        return np.zeros(table.num_rows, dtype=np.intp)
    positions, values = values_of(column(table, name))
    if (positions == MISSING).any():
        row = int(np.argmax(positions == MISSING))
        raise InvalidInput(f"{name!r} does not say to which sample row {row + 1:,} belongs. Leave such rows out.")
    numbers = {same_value(sample): number for number, sample in enumerate(named)}
    if design.direct is not None:
        numbers[same_value(design.direct)] = DIRECT
    others = [value for value in values if same_value(value) not in numbers]
    if not named:
        _checked_single(name, others, design)
        numbers.update({same_value(value): 0 for value in others})
    elif others:
        raise InvalidInput(
            f"{name!r} holds the sample {others[0]!r}, which no parameter names; named are {', '.join(map(str, named))}. "
            "Give its chances too, say direct=... if it was asked directly, or leave it out of the file."
        )
    return np.array([numbers[same_value(value)] for value in values], dtype=np.intp)[positions]


def _checked_single(name: str, others: Sequence[str], design: DeviceDesign | MomentDesign) -> None:
    """Refuse samples that no parameter tells apart."""
    if design.direct is None or len({same_value(value) for value in others}) > 1:
        raise InvalidInput(
            f"{name!r} holds the samples {', '.join(map(repr, others[:8]))}, but the parameters give one chance for all. "
            "Name a chance for each sample (p=1:1/4,2:3/4), or leave --sample out."
        )


def numbers(table: pa.Table, name: str, rows: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """A column of numbers without gaps, such as weights, of some rows of the table; a decimal comma is understood."""
    values, chosen = column(table, name), np.ones(table.num_rows, dtype=bool) if rows is None else rows
    absent = missing_values(values) & chosen
    if absent.any():
        raise InvalidInput(f"{name!r} has no value in row {int(np.argmax(absent)) + 1:,}; every row needs one.")
    parsed = numbers_of(name, values)
    if parsed is None:
        texts = as_text(values).filter(pa.array(chosen)).to_pylist()
        bad = next((text for text in texts if not _is_number(text)), texts[0])
        raise InvalidInput(f"{name!r} must hold numbers, not {bad!r}.")
    return np.asarray(parsed[chosen])


def _is_number(text: Any) -> bool:
    try:
        float(str(text).replace(",", "."))
    except ValueError:
        return False
    return True
