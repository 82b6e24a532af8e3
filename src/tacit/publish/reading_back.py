"""What a written release shows, read from the file and its public manifest alone.

The writer believes nothing it computed: this module shares no code with the search, the recoding or the check, knows neither
the input nor what was suppressed, and judges the bytes as a stranger who was handed both files would.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import TacitError

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = "rows that show it"
CELLS_AT_A_TIME = 1 << 22
TOLERANCE = 1e-9


class BrokenPromise(TacitError):
    """A written release that does not show what its manifest says."""


@dataclass(frozen=True)
class ReadBack:
    """What the rows of a file show."""

    rows: int
    k: int
    l: float | None  # noqa: E741  the letters of the literature
    t: float | None
    counted: pa.Table  # the combinations of released columns that promises are about, with their rows

    def to_document(self) -> dict[str, Any]:
        return {"k": self.k, "l": self.l, "t": self.t, "rows": self.rows}


def read_back(path: Path, manifest: Mapping[str, Any], *, parquet: bool) -> ReadBack:
    """Count k, l, t and the rows of a file; refuse one that holds anything its rows do not show."""
    if parquet:
        _refuse_hidden_texts(path)
    names = [*manifest["columns"]]
    batches = _parquet_batches(path) if parquet else _csv_batches(path)
    counted = _counted(_checked_order(batches, names, is_sorted=manifest["sorted"]), names)
    return judge(counted, manifest)


def judge(counted: pa.Table, manifest: Mapping[str, Any]) -> ReadBack:
    """The promises of a manifest held against counted rows: all of its columns, and how many rows show each combination."""
    _refuse_unknown_labels(counted, manifest)
    rows = int(np.sum(counted[ROWS].to_numpy()))
    if rows != manifest["released"]:
        raise BrokenPromise(f"{rows:,} rows were written where the manifest says {manifest['released']:,}")
    sets = manifest["quasi_identifiers"]
    smallest = min(_smallest_class(counted, names) for names in sets)
    ls, ts = [], []
    for names in sets:
        for sensitive in manifest["sensitive"]:
            least, greatest = _spread(counted, names, sensitive, entropy=bool(manifest.get("entropy")))
            ls.append(least)
            ts.append(greatest)
    found = ReadBack(rows, smallest, min(ls, default=None), max(ts, default=None), counted)
    _refuse_broken(found, manifest)
    return found


def _refuse_broken(found: ReadBack, manifest: Mapping[str, Any]) -> None:
    if manifest.get("persons"):
        return  # rows tell nothing of persons: those are counted by who holds their ids
    wanted_l, wanted_t = manifest.get("l"), manifest.get("t")
    broken = {
        "k": found.k < manifest["k"],
        "l": wanted_l is not None and (found.l is None or found.l < wanted_l - TOLERANCE),
        "t": wanted_t is not None and (found.t is None or found.t > wanted_t + TOLERANCE),
    }
    for what in (name for name, is_broken in broken.items() if is_broken):
        raise BrokenPromise(
            f"the written rows show {what} = {getattr(found, what)} where {manifest[what]} was promised"
        )


def _parquet_batches(path: Path) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            yield pa.Table.from_batches([batch])


def _csv_batches(path: Path) -> Iterator[pa.Table]:
    import pyarrow as pa
    from pyarrow import csv

    lines = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(path, parse_options=lines) as reader:
        header = reader.schema.names
    texts = csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False)
    with csv.open_csv(path, parse_options=lines, convert_options=texts) as reader:
        yield from (pa.Table.from_batches([batch]) for batch in reader)


def _refuse_hidden_texts(path: Path) -> None:
    """Refuse a Parquet file whose dictionaries, statistics or notes hold more than its rows show."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    notes = {key for key in (pq.read_metadata(path).metadata or {}) if key != b"ARROW:schema"}
    notes |= set(pq.read_schema(path).metadata or {})
    if notes:
        raise BrokenPromise(f"the file carries notes that no reader needs: {sorted(notes)}")
    names = pq.read_schema(path).names
    with pq.ParquetFile(path, read_dictionary=names) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            for position, name in enumerate(names):
                column = table.column(name)
                shown = pc.unique(column.cast(pa.string()))
                kept = pa.concat_arrays([chunk.dictionary.cast(pa.string()) for chunk in column.chunks])
                own = file.metadata.row_group(group).column(position).statistics
                ends = [own.min, own.max] if own is not None and own.has_min_max else []
                told = pa.concat_arrays([kept, pa.array([str(end) for end in ends], pa.string())])
                if not pc.all(pc.is_in(told, value_set=shown)).as_py():
                    raise BrokenPromise(f"the column {name!r} holds texts in the file that no row shows")


def _checked_order(batches: Iterator[pa.Table], names: list[str], *, is_sorted: bool) -> Iterator[pa.Table]:
    """The batches as text, refused where columns are others, or where rows stand in another order than the promised."""
    import pyarrow as pa

    last: tuple[Any, ...] | None = None
    for batch in batches:
        if batch.column_names != names:
            raise BrokenPromise(f"the file has the columns {batch.column_names} where the manifest says {names}")
        text = batch.cast(pa.schema([(name, pa.string()) for name in names]))
        if is_sorted:
            last = _refuse_disorder(text, last)
        yield text


def _refuse_disorder(text: pa.Table, last: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """Refuse rows that do not ascend; returns the last one, with which the next part goes on."""
    import pyarrow.compute as pc

    if not text.num_rows:
        return last
    codes = []
    for column in text.columns:
        texts = pc.unique(column).to_pylist()
        place = {value: rank for rank, value in enumerate(sorted(texts, key=_place))}
        encoded = column.combine_chunks().dictionary_encode()
        ranks = np.array([place[value] for value in encoded.dictionary.to_pylist()])
        codes.append(ranks[encoded.indices.to_numpy()])
    settled = np.zeros(text.num_rows - 1, np.bool_)
    for code in codes:
        step = np.diff(code)
        if (~settled & (step < 0)).any():
            raise BrokenPromise("the rows are not sorted by what they show")
        settled |= step > 0
    first, final = ([_place(column[row].as_py()) for column in text.columns] for row in (0, -1))
    if last is not None and tuple(first) < last:
        raise BrokenPromise("the rows are not sorted by what they show")
    return tuple(final)


def _place(text: str | None) -> tuple[bool, bytes]:
    return not text, (text or "").encode()


def _counted(batches: Iterator[pa.Table], names: list[str]) -> pa.Table:
    """How many rows show each combination of the columns."""
    import pyarrow as pa

    parts = [batch.group_by(names).aggregate([([], "count_all")]) for batch in batches]
    if not parts:
        raise BrokenPromise("the file has no rows")
    together = pa.concat_tables(parts).group_by(names).aggregate([("count_all", "sum")])
    return together.rename_columns([*names, ROWS])


def _refuse_unknown_labels(counted: pa.Table, manifest: Mapping[str, Any]) -> None:
    """Labels and sensitive answers in the file must be those of the manifest, all of them and no others."""
    import pyarrow.compute as pc

    explained = {name: set(labels) for name, labels in manifest["labels"].items()}
    explained |= {entry["name"]: set(entry["answers"]) for entry in manifest["sensitive"]}
    for name, texts in explained.items():
        shown = set(pc.unique(counted[name]).to_pylist())
        if shown != texts:
            strange = sorted(map(str, shown ^ texts))[0]
            raise BrokenPromise(f"the file and the manifest do not agree on {strange!r} in the column {name!r}")


def _smallest_class(counted: pa.Table, names: list[str]) -> int:
    sizes = counted.group_by(names).aggregate([(ROWS, "sum")])[f"{ROWS}_sum"]
    return int(np.min(sizes.to_numpy()))


def _spread(counted: pa.Table, names: list[str], sensitive: Mapping[str, Any], *, entropy: bool) -> tuple[float, float]:
    """The least l and the greatest t of a sensitive column over the classes, some classes at a time."""
    import pyarrow as pa

    place = {answer: position for position, answer in enumerate(sensitive["answers"])}
    classes = counted.select(names).group_by(names).aggregate([])
    classes = classes.append_column("class", pa.array(np.arange(classes.num_rows)))
    cells = counted.join(classes, names).group_by(["class", sensitive["name"]]).aggregate([(ROWS, "sum")])
    number = cells["class"].to_numpy()
    column = np.array([place[answer] for answer in cells[sensitive["name"]].to_pylist()])
    rows = cells[f"{ROWS}_sum"].to_numpy().astype(np.float64)
    overall = np.bincount(column, rows, len(place)) / rows.sum()
    least, greatest, step = math.inf, 0.0, max(1, CELLS_AT_A_TIME // len(place))
    for start in range(0, classes.num_rows, step):
        here = (number >= start) & (number < start + step)
        table = np.zeros((min(step, classes.num_rows - start), len(place)))
        np.add.at(table, (number[here] - start, column[here]), rows[here])
        shares = table / table.sum(axis=1, keepdims=True)
        least = min(least, _least_l(shares, entropy=entropy))
        greatest = max(greatest, _greatest_t(shares, overall, ordered=sensitive["ordered"]))
    return least, greatest


def _least_l(shares: Any, *, entropy: bool) -> float:
    if not entropy:
        return int((shares > 0).sum(axis=1).min())
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return float(np.exp(-(shares * logs).sum(axis=1).max()))


def _greatest_t(shares: Any, overall: Any, *, ordered: bool) -> float:
    moved = shares - overall
    if ordered and len(overall) > 1:
        return float(np.abs(moved.cumsum(axis=1)).sum(axis=1).max() / (len(overall) - 1))
    return float(np.abs(moved).sum(axis=1).max() / 2)
