"""What a written release shows, read from the file and its public manifest alone.

The writer believes nothing it computed: this module shares no code with the search, the recoding or the check, knows neither
the input nor what was suppressed, and judges the bytes as a stranger who was handed both files would.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import csv

from tacit.errors import TacitError

ROWS = "rows that show it"
PEOPLE = "people who show it"
CELLS_AT_A_TIME = 1 << 22
MOST_CLASSES = 1 << 22  # that are counted without numbering those that occur
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
    recursive: float | None = None  # the c that recursive (c, l) must be above, where it is promised
    beta: float | None = None  # where it is promised
    k_map: int | None = None  # fewest people of the population in a class, where a table of them is at hand
    presence: tuple[float, float] | None = None
    one_answer: int | None = None  # classes that show one answer of a sensitive column, of the column with most of them

    def to_document(self) -> dict[str, Any]:
        further = {name: getattr(self, name) for name in ("recursive", "beta", "k_map", "presence", "one_answer")}
        promised = {name: value for name, value in further.items() if value is not None}
        return {"k": self.k, "l": self.l, "t": self.t, "rows": self.rows} | promised


def read_back(path: Path, manifest: Mapping[str, Any], *, parquet: bool, people: pa.Table | None = None) -> ReadBack:
    """Count k, l, t and the rows of a file; refuse one that holds anything its rows do not show.

    `people` are the answers of the population with their numbers, where promises are about it.
    """
    names = [*manifest["columns"]]
    parts = list(_counted_parts(path, names, parquet=parquet, is_sorted=manifest["sorted"]))
    if not parts:
        raise BrokenPromise("the file has no rows")
    return judge(_sum_of_parts(parts, names, is_sorted=manifest["sorted"]), manifest, people)


def count_synthetic(path: Path, manifest: Mapping[str, Any], *, parquet: bool) -> int:
    """The rows of a file of synthetic ones; refused where it holds others than its manifest says, or more than they show."""
    parts = _counted_parts(path, [*manifest["columns"]], parquet=parquet, is_sorted=True)
    rows = sum(int(np.sum(counted[ROWS].to_numpy())) for counted in parts)
    if rows != manifest["released"]:
        raise BrokenPromise(f"{rows:,} rows were written where the manifest says {manifest['released']:,}")
    return rows


def judge(counted: pa.Table, manifest: Mapping[str, Any], people: pa.Table | None = None) -> ReadBack:
    """The promises of a manifest held against counted rows: all of its columns, and how many rows show each combination."""
    _refuse_unknown_labels(counted, manifest)
    rows = int(np.sum(counted[ROWS].to_numpy()))
    if rows != manifest["released"]:
        raise BrokenPromise(f"{rows:,} rows were written where the manifest says {manifest['released']:,}")
    sets = manifest["quasi_identifiers"]
    smallest = _smallest_of_sets(counted, _known_together(manifest))
    spread_over = [list(names) for names in _known_together(manifest)] if _asks_diversity(manifest) else sets
    spreads = [_spread(counted, names, spread, manifest) for names in spread_over for spread in manifest["sensitive"]]
    measures: dict[str, Any] = {
        "l": min((spread.least_l for spread in spreads), default=None),
        "t": max((spread.greatest_t for spread in spreads), default=None),
        "recursive": max((spread.recursive for spread in spreads), default=None) if manifest.get("recursive") else None,
        "beta": max((spread.beta for spread in spreads), default=None) if manifest.get("beta") is not None else None,
        "one_answer": max((spread.one_answer for spread in spreads), default=None),
    }
    if people is not None:
        matched = [_people_shares(counted, names, manifest["labels"], people) for names in sets]
        measures["k_map"] = min(fewest for fewest, _, _ in matched)
        measures["presence"] = (min(least for _, least, _ in matched), max(most for _, _, most in matched))
    read_back = ReadBack(rows, smallest, counted=counted, **measures)
    _refuse_broken(read_back, manifest)
    return read_back


def _asks_diversity(manifest: Mapping[str, Any]) -> bool:
    return any(manifest.get(what) is not None for what in ("l", "t", "beta"))


def _refuse_broken(read_back: ReadBack, manifest: Mapping[str, Any]) -> None:
    if manifest.get("persons"):
        return  # rows tell nothing of persons: those are counted by who holds their ids
    wanted_l, wanted_t, c = manifest.get("l"), manifest.get("t"), manifest.get("recursive")
    beta, k_map, presence = manifest.get("beta"), manifest.get("k_map"), manifest.get("presence")
    low, high = read_back.presence or (-math.inf, math.inf)
    broken = {
        "k": read_back.k < manifest["k"],
        "l": wanted_l is not None and c is None and (read_back.l is None or read_back.l < wanted_l - TOLERANCE),
        "t": wanted_t is not None and (read_back.t is None or read_back.t > wanted_t + TOLERANCE),
        "recursive": c is not None and (read_back.recursive is None or read_back.recursive >= c),
        "beta": beta is not None and (read_back.beta is None or read_back.beta > beta + TOLERANCE),
        "k_map": k_map is not None and (read_back.k_map is None or read_back.k_map < k_map),
        "presence": presence is not None and not (presence[0] - TOLERANCE <= low and high <= presence[1] + TOLERANCE),
    }
    for what in (name for name, is_broken in broken.items() if is_broken):
        raise BrokenPromise(
            f"the written rows show {what} = {getattr(read_back, what)} where {manifest[what]} was promised"
        )


def _people_shares(
    counted: pa.Table, names: list[str], labels: Mapping[str, Mapping[str, list[str]]], people: pa.Table
) -> tuple[int, float, float]:
    """The fewest people in a class, and the least and greatest share of a class's people who are in the table.

    A person is in a class if each of her answers stands behind its label. Whoever is in none could not be in the table, so
    the least share is then 0.
    """
    classes = counted.group_by(names).aggregate([(ROWS, "sum")])
    rows, numbers = classes[f"{ROWS}_sum"].to_numpy(), people[PEOPLE].to_numpy()
    holders = [_holders(people[name].to_pylist(), labels[name]) for name in names]
    labels_of_classes = zip(*(classes[name].to_pylist() for name in names), strict=True)
    reached, fewest, shares = np.zeros(len(numbers), np.bool_), [], []
    for size, texts in zip(rows.tolist(), labels_of_classes, strict=True):
        inside = min((holder[text] for holder, text in zip(holders, texts, strict=True)), key=len)
        for holder, text in zip(holders, texts, strict=True):
            inside = np.intersect1d(inside, holder[text], assume_unique=True) if holder[text] is not inside else inside
        reached[inside] = True
        everyone = int(numbers[inside].sum())
        fewest.append(everyone)
        shares.append(size / everyone if everyone else math.inf)
    return min(fewest), 0.0 if not reached.all() else min(shares), max(shares)


def _holders(answers: list[str | None], labels: Mapping[str, list[str]]) -> dict[str, Any]:
    """Which of the people every label could be."""
    column = np.array(answers, dtype=object)
    return {label: np.flatnonzero(np.isin(column.astype(str), values)) for label, values in labels.items()}


@dataclass(frozen=True)
class _Runs:
    """Rows alike that follow each other, as one with their number; of each column the texts and which of them they show."""

    codes: dict[str, NDArray[np.int64]]
    texts: dict[str, pa.Array]
    times: NDArray[np.int64]

    @classmethod
    def of(cls, rows: pa.Table) -> _Runs:

        whole = {name: _in_one_piece(rows.column(name)) for name in rows.column_names}
        differs = np.ones(rows.num_rows, np.bool_)
        differs[1:] = np.logical_or.reduce([_differs(column) for column in whole.values()])
        starts = np.flatnonzero(differs)
        coded = {name: _codes_and_texts(column.take(pa.array(starts))) for name, column in whole.items()}
        return cls(
            {name: codes for name, (codes, _) in coded.items()},
            {name: texts for name, (_, texts) in coded.items()},
            np.diff(starts, append=rows.num_rows),
        )

    def to_arrow(self) -> pa.Table:
        """The runs with their rows; columns hold each text once."""
        columns = {
            name: pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), self.texts[name])
            for name, codes in self.codes.items()
        }
        return pa.table(columns | {ROWS: pa.array(self.times)})


def _in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _differs(column: pa.Array) -> NDArray[np.bool_]:
    """Whether each row but the first shows another text than the one before it."""
    compared = column.indices if pa.types.is_dictionary(column.type) else column
    unequal = pc.not_equal(compared.slice(1), compared.slice(0, len(compared) - 1))
    return pc.fill_null(unequal, True).to_numpy(zero_copy_only=False)


def _codes_and_texts(column: pa.Array) -> tuple[NDArray[np.int64], pa.Array]:
    """Which text every row shows, and the texts; of a Parquet file those of its own dictionary."""
    if not pa.types.is_dictionary(column.type) or column.null_count:
        column = column.cast(pa.string()).dictionary_encode("encode")
    return column.indices.to_numpy().astype(np.int64), column.dictionary.cast(pa.string())


def _counted_parts(path: Path, names: list[str], *, parquet: bool, is_sorted: bool) -> Iterator[pa.Table]:
    """The rows of a file in parts, those alike that follow each other counted.

    Refused where columns are others, where rows stand in another order than the promised, or where a Parquet file holds
    anything that no row shows.
    """
    if parquet:
        _refuse_notes(path)
    last: tuple[Any, ...] | None = None
    for rows, statistics in _row_groups(path) if parquet else _csv_batches(path):
        if rows.column_names != names:
            raise BrokenPromise(f"the file has the columns {rows.column_names} where the manifest says {names}")
        if not rows.num_rows:
            continue
        runs = _Runs.of(rows)
        if parquet:
            _refuse_hidden_texts(runs, statistics)
        if is_sorted:
            last = _refuse_disorder(runs, last)
        yield runs.to_arrow()


def _row_groups(path: Path) -> Iterator[tuple[pa.Table, list[Any]]]:
    """The row groups of a Parquet file, columns with their dictionaries, and the statistics of the columns."""
    names = pq.read_schema(path).names
    with pq.ParquetFile(path, read_dictionary=names) as file:
        for group in range(file.num_row_groups):
            columns = file.metadata.row_group(group)
            statistics = [columns.column(position).statistics for position in range(len(names))]
            yield file.read_row_group(group), statistics


def _csv_batches(path: Path) -> Iterator[tuple[pa.Table, list[Any]]]:

    lines = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(path, parse_options=lines) as reader:
        header = reader.schema.names
    texts = csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False)
    with csv.open_csv(path, parse_options=lines, convert_options=texts) as reader:
        yield from ((pa.Table.from_batches([batch]), []) for batch in reader)


def _refuse_notes(path: Path) -> None:

    notes = {key for key in (pq.read_metadata(path).metadata or {}) if key != b"ARROW:schema"}
    notes |= set(pq.read_schema(path).metadata or {})
    if notes:
        raise BrokenPromise(f"the file carries notes that no reader needs: {sorted(notes)}")


def _refuse_hidden_texts(runs: _Runs, statistics: list[Any]) -> None:
    """Refuse a row group whose dictionaries or statistics hold more than its rows show."""
    for bounds, (name, codes) in zip(statistics, runs.codes.items(), strict=True):
        texts = runs.texts[name].to_pylist()
        ends = {str(bounds.min), str(bounds.max)} if bounds is not None and bounds.has_min_max else set()
        if not np.bincount(codes, minlength=len(texts)).all() or not ends <= set(map(str, texts)):
            raise BrokenPromise(f"the column {name!r} holds texts in the file that no row shows")


def _refuse_disorder(runs: _Runs, last: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """Refuse rows that do not ascend; returns the last one, with which the next part goes on."""
    settled = np.zeros(len(runs.times) - 1, np.bool_)
    first, final = [], []
    for name, codes in runs.codes.items():
        places = [_place(text) for text in runs.texts[name].to_pylist()]
        rank = {place: number for number, place in enumerate(sorted(set(places)))}
        step = np.diff(np.array([rank[place] for place in places])[codes])
        if (~settled & (step < 0)).any():
            raise BrokenPromise("the rows are not sorted by what they show")
        settled |= step > 0
        first.append(places[codes[0]])
        final.append(places[codes[-1]])
    if last is not None and tuple(first) < last:
        raise BrokenPromise("the rows are not sorted by what they show")
    return tuple(final)


def _place(text: str | None) -> tuple[bool, bytes]:
    return not text, (text or "").encode()


def _sum_of_parts(parts: list[pa.Table], names: list[str], *, is_sorted: bool) -> pa.Table:
    """How many rows show each combination of the columns; of sorted rows some may be listed twice, where a part ends."""
    together = pa.concat_tables(parts).unify_dictionaries()
    if is_sorted:
        return together
    return together.group_by(names).aggregate([(ROWS, "sum")]).rename_columns([*names, ROWS])


def _refuse_unknown_labels(counted: pa.Table, manifest: Mapping[str, Any]) -> None:
    """Labels and sensitive answers in the file must be those of the manifest, all of them and no others."""
    explained = {name: set(labels) for name, labels in manifest["labels"].items()}
    explained |= {entry["name"]: set(entry["answers"]) for entry in manifest["sensitive"]}
    for name, texts in explained.items():
        found = set(pc.unique(counted[name]).to_pylist())
        if found != texts:
            strange = sorted(map(str, found ^ texts))[0]
            raise BrokenPromise(f"the file and the manifest do not agree on {strange!r} in the column {name!r}")


def _known_together(manifest: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The columns that somebody may know together: each set of the manifest, or every so many of it."""
    sets, every = manifest["quasi_identifiers"], manifest.get("every")
    if every is None:
        return [tuple(names) for names in sets]
    return [chosen for names in sets for chosen in itertools.combinations(names, every)]


def _smallest_of_sets(counted: pa.Table, sets: list[tuple[str, ...]]) -> int:
    """Rows of the smallest class of any set."""
    rows, codes = counted[ROWS].to_numpy(), {}
    for name in {name for names in sets for name in names}:
        encoded = counted[name].combine_chunks().dictionary_encode()
        codes[name] = (encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary))
    smallest = math.inf
    for names in sets:
        classes, possible = np.zeros(len(rows), np.int64), 1
        for name in names:
            column, texts = codes[name]
            classes, possible = classes * texts + column, possible * texts
            if possible > MOST_CLASSES:
                classes = np.unique(classes, return_inverse=True)[1].ravel()
                possible = int(classes.max()) + 1
        sizes = np.bincount(classes, rows)
        smallest = min(smallest, int(sizes[sizes > 0].min()))
    return int(smallest)


@dataclass(frozen=True)
class _Spread:
    """How a sensitive column is spread over the classes, at worst."""

    least_l: float
    greatest_t: float
    recursive: float
    beta: float
    one_answer: int  # classes that show one answer


def _spread(counted: pa.Table, names: list[str], sensitive: Mapping[str, Any], manifest: Mapping[str, Any]) -> _Spread:
    """What a sensitive column shows in the worst classes, some classes at a time."""
    place = {answer: position for position, answer in enumerate(sensitive["answers"])}
    counted = counted.cast(pa.schema([(n, pa.int64() if n == ROWS else pa.string()) for n in counted.column_names]))
    classes = counted.select(names).group_by(names).aggregate([])
    classes = classes.append_column("class", pa.array(np.arange(classes.num_rows)))
    cells = counted.join(classes, names).group_by(["class", sensitive["name"]]).aggregate([(ROWS, "sum")])
    number = cells["class"].to_numpy()
    column = np.array([place[answer] for answer in cells[sensitive["name"]].to_pylist()])
    rows = cells[f"{ROWS}_sum"].to_numpy().astype(np.float64)
    overall = np.bincount(column, rows, len(place)) / rows.sum()
    tail, parts = max(1, math.ceil((manifest.get("l") or 1) - TOLERANCE)), []
    step = max(1, CELLS_AT_A_TIME // len(place))
    for start in range(0, classes.num_rows, step):
        here = (number >= start) & (number < start + step)
        table = np.zeros((min(step, classes.num_rows - start), len(place)))
        np.add.at(table, (number[here] - start, column[here]), rows[here])
        shares = table / table.sum(axis=1, keepdims=True)
        parts.append(
            _Spread(
                _least_l(shares, entropy=bool(manifest.get("entropy"))),
                _greatest_t(shares, overall, ordered=sensitive["ordered"]),
                _greatest_ratio(table, tail),
                float(((shares - overall) / overall).max()),
                int(((table > 0).sum(axis=1) == 1).sum()),
            )
        )
    return _Spread(
        min(spread.least_l for spread in parts),
        max(spread.greatest_t for spread in parts),
        max(spread.recursive for spread in parts),
        max(spread.beta for spread in parts),
        sum(spread.one_answer for spread in parts),
    )


def _greatest_ratio(table: Any, tail: int) -> float:
    """The most frequent answer over the `tail`-th most frequent and all after it, in the worst class."""
    ordered = np.sort(table, axis=1)[:, ::-1]
    rest = ordered[:, tail - 1 :].sum(axis=1)
    return float(np.divide(ordered[:, 0], rest, out=np.full(len(rest), math.inf), where=rest > 0).max())


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
