"""Tallies as things: counts of reports that are saved under their scheme, added, subtracted and estimated from.

A tally of *whole* reports answers everything that the reports do. A smaller one holds all tables up to an order, or
chosen ones, and says what it lacks. Days are counted once; a window is a sum of days, or a total less what came before.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.channel.scheme import Questionnaire, Scheme
from tacit.count.abilities import distinct_in_memory, distinct_rows, held_rows
from tacit.count.counted import CountedEngine
from tacit.count.protocol import CountEngine, Source
from tacit.count.sources import ReportSource, sources
from tacit.count.table import TableEngine
from tacit.count.tabled import Names, TabledEngine
from tacit.count.weighted import SampleColumns
from tacit.count.weighted_rows import WeightedRows
from tacit.errors import InvalidInput, SchemeMismatch
from tacit.reports import Reports
from tacit.schema import RESERVED
from tacit.table import Table
from tacit.table.files import TableWriter, read_metadata, read_table
from tacit.table.outputs import written_whole

FORMAT = "tacit-tally/1"
COUNT = ":count"  # no attribute's reports are in a column of this name

Part = CountedEngine | TabledEngine | WeightedRows
Holds = Literal["whole", "tables", "weighted"]
FileStamp = tuple[int, int | None]  # bytes, and nanoseconds since 1970; tallies of earlier versions know no time
SAMPLE_KEYS = (":stratum", ":cluster", ":weight", ":square")


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of the reports of one scheme, for each of its questionnaires.

    Parameters
    ----------
    scheme : Scheme
        The scheme the reports were disguised under.
    parts : tuple
        The counts of each questionnaire; `Tally.of` makes them.
    is_simulation : bool
        Whether the reports were disguised with a seed.
    files : mapping
        The files of a watched folder that are counted in, by name, each with its size and the time of its last change.

    Examples
    --------
    >>> import tacit
    >>> truth = tacit.Dataset.from_arrow({"smokes": ["no"] * 700 + ["yes"] * 300})
    >>> scheme = tacit.Scheme.of(truth.schema, [(["smokes"], tacit.channels.warner(0.8))])
    >>> monday = tacit.Tally.of(tacit.disguise(truth, scheme, seed=1))
    >>> tuesday = tacit.Tally.of(tacit.disguise(truth, scheme, seed=2))
    >>> (monday + tuesday).n_reports, (monday + tuesday - monday).n_reports
    (2000, 1000)
    """

    scheme: Scheme
    parts: tuple[Part, ...]
    is_simulation: bool = False
    files: Mapping[str, FileStamp] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        reports: ReportSource | Sequence[ReportSource],
        *,
        order: int | None = None,
        tables: Sequence[str | Sequence[str]] | None = None,
    ) -> Tally:
        """Count reports: whole ones, or all tables of up to `order` attributes, or only the named `tables`.

        Parameters
        ----------
        reports : Reports, StoredReports, Tally, or a sequence of these
            Reports of one scheme.
        order : int, optional
            Hold every table of so many attributes.
        tables : sequence of attribute lists, optional
            Hold these tables.

        Returns
        -------
        Tally

        Raises
        ------
        InvalidInput
            Where the reports are of several schemes, or both `order` and `tables` are given.
        """
        if order is not None and tables is not None:
            raise InvalidInput("A tally holds all tables up to an order, or the named ones: give one of the two.")
        scheme, is_simulation = _one_scheme(reports)
        named = None if tables is None else _named_tables(scheme, tables)
        origins = sources(reports)
        parts = tuple(_count_source(source, _wanted_columns(source.questionnaire, order, named)) for source in origins)
        return cls(scheme, parts, is_simulation)

    @classmethod
    def weighted(cls, reports: ReportSource, *, weights: Any = None, strata: Any = None, clusters: Any = None) -> Tally:
        """Count reports of a complex sample: sums of weights and of their squares, by stratum and cluster.

        Parameters
        ----------
        reports : Reports or StoredReports
            Reports of one scheme.
        weights, strata, clusters : sequences, or str for stored reports
            Of each report its weight, its stratum and its cluster; of stored reports the names of their columns.

        Returns
        -------
        Tally
            `tacit.estimate` takes it as it takes the reports with their `SampleDesign`.

        Raises
        ------
        InvalidInput
            Where a weight is not above 0, a stratum or cluster is missing, or reports show sets or bits.
        """
        scheme, is_simulation = _one_scheme(reports)
        given = {"weights": weights, "strata": strata, "clusters": clusters}
        return cls(scheme, _weighted_parts(reports, given), is_simulation)

    @property
    def n_reports(self) -> int:
        return sum(counts.n_rows for counts in self.parts)

    def __len__(self) -> int:
        return self.n_reports

    @property
    def holds(self) -> Holds:
        """Whether whole reports are counted, with weights or without, or only some tables of them."""
        if any(isinstance(counts, WeightedRows) for counts in self.parts):
            return "weighted"
        return "whole" if all(isinstance(counts, CountedEngine) for counts in self.parts) else "tables"

    @property
    def held(self) -> tuple[tuple[Names, ...], ...]:
        """The tables of report columns that are counted, for each questionnaire; none where whole reports are."""
        return tuple(tuple(tuple(names) for names in _table_names(counts)) for counts in self.parts)

    def __repr__(self) -> str:
        tables = sum(len(_table_names(counts)) for counts in self.parts)
        some = f"{tables:,} table{'' if tables == 1 else 's'}"
        content = {"whole": "whole reports", "weighted": "weighted reports"}.get(self.holds, some)
        return f"Tally({self.n_reports:,} reports, {content}, scheme {self.scheme.hash[:12]})"

    def sources(self) -> tuple[Source, ...]:
        """What estimators and miners count, one for each questionnaire."""
        pairs = zip(self.scheme.questionnaires, self.parts, strict=True)
        return tuple(Source(questionnaire, counts, self.scheme.prior) for questionnaire, counts in pairs)

    def __add__(self, other: Tally) -> Tally:
        """The counts of both together."""
        return self._combine(other, 1)

    def __sub__(self, other: Tally) -> Tally:
        """The counts without those of the other, which must be among them."""
        return self._combine(other, -1)

    def _combine(self, other: Tally, sign: int) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if other.scheme.hash != self.scheme.hash:
            raise SchemeMismatch(
                f"These tallies count reports of different schemes ({self.scheme.hash[:12]}... and "
                f"{other.scheme.hash[:12]}...), which cannot be added. Estimate from both: they are pooled."
            )
        parts = tuple(
            _combine_parts(first, second, sign) for first, second in zip(self.parts, other.parts, strict=True)
        )
        files = {**self.files, **other.files} if sign > 0 else dict(self.files)
        return Tally(self.scheme, parts, self.is_simulation or other.is_simulation, files)

    def write(self, path: str | Path) -> None:
        """Save as a Parquet file that carries the scheme; nothing appears under the name before all is written."""
        table = _cells_table(self) if self.holds == "tables" else _whole_table(self)
        note = (
            {
                "format": FORMAT,
                "scheme": self.scheme.hash,
                "scheme_document": self.scheme.to_document(),
                "holds": self.holds,
                "reports": [counts.n_rows for counts in self.parts],
                "tables": [_table_names(counts) for counts in self.parts],
                "files": dict(self.files),
            }
            | _sample_note(self.parts[0])
            | ({"simulation": True} if self.is_simulation else {})
        )
        with written_whole(path) as temporary:
            writer = TableWriter(temporary, parquet=True, metadata=note)
            try:
                writer.write(table.replace_schema_metadata(None))
            finally:
                writer.close()

    @classmethod
    def read(cls, path: str | Path, scheme: Scheme | None = None) -> Tally:
        """A saved tally; where a `scheme` is given it must be the one that was counted under."""
        note = read_metadata(path) or {}
        if note.get("format") != FORMAT:
            raise InvalidInput(f"{str(path)!r} is not a tally. Make one with: tacit tally REPORTS --scheme S --out T")
        file_scheme = Scheme.from_document(note["scheme_document"])
        if scheme is not None and scheme.hash != file_scheme.hash:
            raise SchemeMismatch(
                f"{str(path)!r} counts reports of the scheme {file_scheme.hash[:12]}..., not of {scheme.hash[:12]}.... Give the "
                "scheme it was counted under, or leave --scheme out: the tally carries it."
            )
        reading = {"whole": _read_whole, "weighted": _read_weighted}
        parts = reading.get(note["holds"], _read_cells)(read_table(path), file_scheme, note)
        return cls(file_scheme, parts, bool(note.get("simulation", False)), _stamps(note.get("files", {})))


def _stamps(noted: Mapping[str, Any]) -> dict[str, FileStamp]:
    return {name: (stamp, None) if isinstance(stamp, int) else (stamp[0], stamp[1]) for name, stamp in noted.items()}


def is_tally(path: str | Path) -> bool:
    """Whether a file is a saved tally."""
    file = Path(path)
    return file.is_file() and file.suffix.lower() in (".parquet", ".pq") and _format(file) == FORMAT


def _format(file: Path) -> Any:
    try:
        return (read_metadata(file) or {}).get("format")
    except InvalidInput:
        return None


def _one_scheme(reports: ReportSource | Sequence[ReportSource]) -> tuple[Scheme, bool]:
    each = list(reports) if isinstance(reports, Sequence) else [reports]
    if not each:
        raise InvalidInput("There are no reports to tally.")
    schemes: dict[str, Scheme] = {counts.scheme.hash: counts.scheme for counts in each if hasattr(counts, "scheme")}
    if not schemes:
        raise InvalidInput(
            f"A tally counts reports, not {type(each[0]).__name__}. Truths are disguised first: "
            "tacit.Tally.of(tacit.disguise(data, scheme))."
        )
    if len(schemes) != 1:
        raise InvalidInput(
            f"A tally counts reports of one scheme; these are of {len(schemes)}. Make one tally for each, and estimate "
            "from all of them: they are pooled."
        )
    return next(iter(schemes.values())), any(getattr(counts, "is_simulation", False) for counts in each)


def _named_tables(scheme: Scheme, tables: Sequence[str | Sequence[str]]) -> list[Names]:
    """The attributes of each table; one name alone is a table of one."""
    listed = [tables] if isinstance(tables, str) else tables
    named = [(table,) if isinstance(table, str) else tuple(table) for table in listed]
    if not any(named):
        raise InvalidInput("Which tables should the tally hold? Name their attributes: 'a,b;c' is two tables.")
    return [tuple(scheme.schema[name].name for name in table) for table in named]


def _wanted_columns(
    questionnaire: Questionnaire, order: int | None, tables: Sequence[Sequence[str]] | None
) -> list[Names] | None:
    """The sets of report columns to hold; None for whole reports."""
    asked = questionnaire.attributes
    if tables is not None:
        named = [tuple(name for name in table if name in asked) for table in tables]
    elif order is None:
        return None
    elif not (isinstance(order, int) and order >= 1):
        raise InvalidInput(
            f"The order of a tally is the number of attributes counted together, at least 1, not {order!r}."
        )
    else:
        named = list(itertools.combinations(asked, min(order, len(asked))))
    return list(dict.fromkeys(_columns_for(questionnaire, names) for names in named if names))


def _columns_for(questionnaire: Questionnaire, names: Sequence[str]) -> Names:
    """The report columns that an estimate of these attributes reads, in the order of the report."""
    columns: set[str] = {name for name in names if questionnaire.group_of(name) is None}
    for group in questionnaire.groups_of(names):
        wanted = [axis for axis, name in enumerate(group.names) if name in names]
        if group.channel.has_marginals:
            marginal, attributes = group.channel.marginal(wanted), [group.attributes[axis] for axis in wanted]
            columns.update(column.name for column in marginal.report_attributes(attributes))
        else:
            columns.update(column.name for column in group.report_attributes)
    return tuple(sorted(columns, key=questionnaire.report_schema.place))


def _count_source(source: Source, wanted: list[Names] | None) -> Part:
    if wanted is None:
        return CountedEngine(*distinct_rows(source.engine, source.engine.schema.names))
    return _tabled_engine(source.engine, wanted)


def _tabled_engine(engine: CountEngine, wanted: Sequence[Names]) -> TabledEngine:
    counts = engine.tallies(wanted)
    return TabledEngine(engine.schema, engine.n_rows, dict(zip(wanted, counts, strict=True)))


def _table_names(counts: Part) -> list[list[str]]:
    return [list(names) for names in counts.tables] if isinstance(counts, TabledEngine) else []


def _combine_parts(first: Part, second: Part, sign: int) -> Part:
    if isinstance(first, WeightedRows) and isinstance(second, WeightedRows):
        together = first.combine(second, sign)
        _check_enough(together.counts)
        return together
    if isinstance(first, WeightedRows) or isinstance(second, WeightedRows):
        raise InvalidInput("One of these tallies is weighted and the other is not. Tally both with their weights.")
    if isinstance(first, CountedEngine) and isinstance(second, CountedEngine):
        return _combine_rows(first, second, sign)
    return _combine_tables(first, second, sign)


def _combine_rows(first: CountedEngine, second: CountedEngine, sign: int) -> CountedEngine:
    rows = Table.concatenate([first.table, second.table])
    table, counts = distinct_in_memory(rows, np.concatenate([first.counts, sign * second.counts]), rows.schema.names)
    _check_enough(counts)
    return CountedEngine(table.rows(counts > 0), counts[counts > 0])


def _combine_tables(
    first: CountedEngine | TabledEngine, second: CountedEngine | TabledEngine, sign: int
) -> TabledEngine:
    """The tables, or margins of tables, that both tallies hold; a tally of whole reports holds every table."""
    tabled = [engine for engine in (first, second) if isinstance(engine, TabledEngine)]
    named = dict.fromkeys(names for engine in tabled for names in engine.tables)
    common = [names for names in named if all(engine.holds(names) for engine in tabled)]
    if not common:
        raise InvalidInput(
            "These tallies hold no table in common, so they cannot be added. Tally with the same tables."
        )
    tables = {names: first.tally(names) + sign * second.tally(names) for names in common}
    for counts in tables.values():
        _check_enough(counts)
    return TabledEngine(first.schema, first.n_rows + sign * second.n_rows, tables)


def _check_enough(counts: NDArray[np.int64]) -> None:
    if counts.min(initial=0) < 0:
        raise InvalidInput(
            f"The tally to be taken away (--minus) holds {-int(counts.min()):,} reports that the other does not hold. Only "
            "a part of a tally can be taken away from it; were the two swapped?"
        )


def _weighted_parts(reports: ReportSource, given: Mapping[str, Any]) -> tuple[WeightedRows, ...]:
    """The weighted rows of every questionnaire."""
    origins = sources(reports)
    stored = [source.engine for source in origins if isinstance(source.engine, TableEngine)]
    if len(stored) == len(origins):
        columns = SampleColumns(**given)
        return tuple(WeightedRows.of_stored(engine, columns) for engine in stored)
    tables = [rows for source in origins if (rows := held_rows(source.engine)) is not None]
    if len(tables) < len(origins):
        raise InvalidInput("Only reports are weighted, not tallies: give the reports with their weights.")
    names = {name: None if values is None else name for name, values in given.items()}
    named = SampleColumns(names["weights"], names["strata"], names["clusters"])
    if len(tables) == 1:
        return (WeightedRows.of_table(tables[0], sample=named, **given),)
    places = reports.places if isinstance(reports, Reports) else None
    if places is None:
        raise InvalidInput(
            "The order of the respondents is not known for these reports, so it is not known whose weight is whose. Read "
            "the reports of all questionnaires from one table: Reports.from_arrow(frame, scheme)."
        )
    many = sum(table.n_rows for table in tables)
    return tuple(
        WeightedRows.of_table(
            table, sample=named, **{name: _of_people(listed, rows, many) for name, listed in given.items()}
        )
        for table, rows in zip(tables, places, strict=True)
    )


def _of_people(values: Any, rows: NDArray[np.intp], many: int) -> Any:
    """The weights, strata or clusters at some rows of a table of `many` people."""
    if values is None:
        return None
    listed = np.asarray(values.to_pylist() if hasattr(values, "to_pylist") else values)
    if listed.shape != (many,):
        raise InvalidInput(
            f"There are {listed.size:,} weights, strata or clusters for {many:,} reports; each needs one."
        )
    return listed[rows]


def _whole_table(tally: Tally) -> pa.Table:

    parts = [counts for counts in tally.parts if not isinstance(counts, TabledEngine)]
    rows = Reports(tally.scheme, tuple(counts.table for counts in parts)).to_arrow()
    rows = rows.append_column(COUNT, pa.array(np.concatenate([counts.counts for counts in parts])))
    weighted = [counts for counts in parts if isinstance(counts, WeightedRows)]
    if weighted:
        texts = [[str(name) for counts in weighted for name in getattr(counts, key)] for key in ("strata", "clusters")]
        sums = [np.concatenate([getattr(counts, key) for counts in weighted]) for key in ("sums", "squares")]
        columns = [*(pa.array(names, pa.string()) for names in texts), *map(pa.array, sums)]
        for name, column in zip(SAMPLE_KEYS, columns, strict=True):
            rows = rows.append_column(name, column)
    return rows


def _sample_note(counts: Part) -> dict[str, Any]:
    if not isinstance(counts, WeightedRows):
        return {}
    sample = counts.sample
    return {"sample": {"weights": sample.weights, "strata": sample.strata, "clusters": sample.clusters}}


def _read_weighted(table: pa.Table, scheme: Scheme, note: Mapping[str, Any]) -> tuple[Part, ...]:
    parts = Reports.from_arrow(table.drop_columns([COUNT, *SAMPLE_KEYS]), scheme).parts
    strata, clusters = (np.array(table.column(name).to_pylist(), dtype=np.str_) for name in SAMPLE_KEYS[:2])
    counts, sums, squares = (np.asarray(table.column(name).to_numpy()) for name in (COUNT, *SAMPLE_KEYS[2:]))
    sample = SampleColumns(**note["sample"])
    if not scheme.is_dealt:
        return (WeightedRows(parts[0], strata, clusters, counts, sums, squares, sample),)
    dealt = np.array(table.column(RESERVED).to_pylist(), dtype=object)
    asked = [dealt == questionnaire.name for questionnaire in scheme.questionnaires]
    return tuple(
        WeightedRows(reports, strata[here], clusters[here], counts[here], sums[here], squares[here], sample)
        for reports, here in zip(parts, asked, strict=True)
    )


def _read_whole(table: pa.Table, scheme: Scheme, note: Mapping[str, Any]) -> tuple[Part, ...]:
    counts = table.column(COUNT).to_numpy()
    rows = Reports.from_arrow(table.drop_columns([COUNT]), scheme)
    if not scheme.is_dealt:
        return (CountedEngine(rows.parts[0], counts),)
    dealt = np.array(table.column(RESERVED).to_pylist(), dtype=object)
    pairs = zip(scheme.questionnaires, rows.parts, strict=True)
    return tuple(CountedEngine(reports, counts[dealt == questionnaire.name]) for questionnaire, reports in pairs)


def _cells_table(tally: Tally) -> pa.Table:

    columns: dict[str, list[NDArray[np.int64]]] = {"part": [], "table": [], "cell": [], COUNT: []}
    for at, engine in enumerate(tally.parts):
        tables = engine.tables if isinstance(engine, TabledEngine) else {}
        for position, counts in enumerate(tables.values()):
            cells = np.flatnonzero(counts)
            columns["part"].append(np.full(len(cells), at))
            columns["table"].append(np.full(len(cells), position))
            columns["cell"].append(cells)
            columns[COUNT].append(counts.reshape(-1)[cells])
    return pa.table({name: np.concatenate([np.zeros(0, np.int64), *chunks]) for name, chunks in columns.items()})


def _read_cells(table: pa.Table, scheme: Scheme, note: Mapping[str, Any]) -> tuple[Part, ...]:
    source, number, cell, count = (table.column(name).to_numpy() for name in ("part", "table", "cell", COUNT))
    most = max((len(tables) for tables in note["tables"]), default=0)
    place = source * most + number
    order = np.argsort(
        place, kind="stable"
    )  # so that the cells of a table are one stretch, however many tables there are
    ends = np.searchsorted(place[order], np.arange(len(note["tables"]) * most + 1))
    read: list[Part] = []
    for at, questionnaire in enumerate(scheme.questionnaires):
        schema, tables = questionnaire.report_schema, {}
        for position, names in enumerate(note["tables"][at]):
            here = order[ends[at * most + position] : ends[at * most + position + 1]]
            shape = tuple(schema[name].tally_size for name in names)
            counts = np.zeros(int(np.prod(shape)), dtype=np.int64)
            counts[cell[here]] = count[here]
            tables[tuple(names)] = counts.reshape(shape)
        read.append(TabledEngine(schema, int(note["reports"][at]), tables))
    return tuple(read)
