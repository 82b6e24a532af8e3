"""A table of reports with the scheme they were disguised under."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.channel.scheme import Questionnaire, Scheme
from tacit.display import Shown
from tacit.errors import InvalidInput, SchemeMismatch
from tacit.schema import PANEL, RESERVED, Attribute, Schema
from tacit.table import Table, as_arrow, decode, encode, inferred_table, read_table
from tacit.table.columns import as_text, checked_columns, file_columns, missing_values, plain
from tacit.table.files import data_places, read_metadata, table_writer, with_partitions
from tacit.table.heads import is_parquet
from tacit.table.standard_input import spoken_name


class MissingSchemeNote(UserWarning):
    """A report file does not say which scheme it belongs to."""


class HoldsTable(Protocol):
    """Whatever holds a coded table of truths."""

    @property
    def table(self) -> Table: ...


@dataclass(frozen=True, eq=False, repr=False)
class Reports(Shown):
    """Disguised records: for each questionnaire of the scheme the table of its reports.

    Parameters
    ----------
    scheme : Scheme
        How they were disguised.
    parts : tuple of Table
        The coded reports of each questionnaire; `from_arrow` and `read` make them.
    is_simulation : bool
        Whether a seed was used.
    places : tuple of array, optional
        Of a dealt scheme: where the rows of each part stood in the table they come from, so that weights find them.

    Examples
    --------
    >>> from tacit import Attribute, Reports, Schema, Scheme
    >>> clear = Scheme.of([Attribute("smokes", ("no", "yes"))])
    >>> Reports.from_arrow({"smokes": ["no", "yes", "no"]}, clear).n_reports
    3
    """

    scheme: Scheme
    parts: tuple[Table, ...]
    is_simulation: bool = False
    places: tuple[NDArray[np.intp], ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Scheme) or not isinstance(self.parts, tuple):
            raise InvalidInput(
                "Reports hold coded tables. Of a data frame of reports they are made by Reports.from_arrow(frame, scheme), of a "
                "file by Reports.read(path, scheme); truths become reports by tacit.disguise(data, scheme)."
            )
        if len(self.parts) != len(self.scheme.questionnaires):
            raise InvalidInput(
                f"The scheme deals {len(self.scheme.questionnaires)} questionnaires, and there are {len(self.parts)} "
                "tables. Give one table for each, in the scheme's order."
            )
        for questionnaire, rows in self:
            if rows.schema.names != questionnaire.report_schema.names:
                raise SchemeMismatch(
                    f"Reports under this scheme have the columns {list(questionnaire.report_schema.names)}, not "
                    f"{list(rows.schema.names)}."
                )

    def __iter__(self) -> Iterator[tuple[Questionnaire, Table]]:
        return iter(zip(self.scheme.questionnaires, self.parts, strict=True))

    @property
    def n_reports(self) -> int:
        return sum(rows.n_rows for rows in self.parts)

    def __len__(self) -> int:
        return self.n_reports

    @property
    def shape(self) -> tuple[int, int]:
        """How many reports and columns there are: what scikit-learn asks before it divides them."""
        return self.n_reports, len(report_columns(self.scheme))

    def __getitem__(self, which: Any) -> Reports:
        """Some of the reports: a mask, positions or a slice, as scikit-learn divides them."""
        chosen = which[0] if isinstance(which, tuple) else which
        if isinstance(chosen, str):
            raise InvalidInput(
                f"Reports are chosen by position, not by a column such as {chosen!r}. For columns: "
                f"reports.to_pandas()[{chosen!r}]."
            )
        try:
            places = np.atleast_1d(np.arange(self.n_reports)[chosen])
        except (IndexError, TypeError, ValueError):
            raise IndexError(f"There are {self.n_reports:,} reports; {chosen!r} does not choose among them.") from None
        starts = np.cumsum([0, *(rows.n_rows for rows in self.parts)])
        parts = [
            rows.rows(places[(places >= start) & (places < start + rows.n_rows)] - start)
            for rows, start in zip(self.parts, starts, strict=False)
        ]
        return Reports(self.scheme, tuple(parts), self.is_simulation)

    plotted = "reported"

    def headline(self) -> str:
        columns = ", ".join(report_columns(self.scheme))
        return f"{self.n_reports:,} {'simulated ' if self.is_simulation else ''}reports of {columns}"

    def shown_rows(self) -> list[dict[str, Any]]:
        """How often each answer is shown, among the reports that were asked: shares of reports, not of truths."""

        def questionnaire_column(questionnaire: Questionnaire) -> dict[str, Any]:
            return {"questionnaire": questionnaire.name} if self.scheme.is_dealt else {}

        return [
            questionnaire_column(questionnaire) | {"column": column.name, "answer": answer, "reported": float(share)}
            for questionnaire, rows in self
            for column in rows.schema
            for answer, share in _shown_shares(column, rows[column.name])
        ]

    @property
    def table(self) -> Table:
        """The reports of a scheme that deals only one questionnaire."""
        if self.scheme.is_dealt:
            raise InvalidInput(
                "These reports come from several questionnaires. Read the table of each: reports.parts[0]."
            )
        return self.parts[0]

    @classmethod
    def from_truth(cls, truth: HoldsTable | Table | Any) -> Reports:
        """Clear records as reports of the scheme that disguises nothing: the one explicit door from truth to mining.

        The answers of a plain data frame are those that occur in it.
        """
        table = truth if isinstance(truth, Table) else getattr(truth, "table", None)
        if not isinstance(table, Table):
            table = inferred_table(truth)
        return cls(Scheme.from_groups(table.schema), (table,))

    @classmethod
    def from_arrow(cls, data: Any, scheme: Scheme, *, is_simulation: bool = False) -> Reports:
        """Reports in any data frame; their columns must be the scheme's, in any order."""
        table = as_arrow(data)
        if not scheme.is_dealt:
            _check_columns(table.column_names, scheme)
            return cls(scheme, (encode(table, scheme.report_schema, drop_others=True),), is_simulation)
        parts, places = zip(*_dealt_parts(table, scheme), strict=True)
        return cls(scheme, parts, is_simulation, places)

    @classmethod
    def read(cls, path: str | Path, scheme: Scheme) -> Reports:
        """The reports in a file, a folder or a pattern, which must have been disguised under this scheme."""
        notes = [checked_scheme_note(file, scheme) for file in data_places(path)]
        table = with_partitions(read_table(path), path, report_columns(scheme))
        return cls.from_arrow(table, scheme, is_simulation=any(notes))

    def to_arrow(self, *, text_only: bool = False) -> pa.Table:
        """An Arrow table of reports, as a report file holds them; `text_only` writes sets and bits as CSV has them."""
        if not self.scheme.is_dealt:
            return decode(self.parts[0], text_only=text_only)
        parts = _named_parts(self, text_only=text_only)
        return pa.concat_tables(parts, promote_options="permissive").select(report_columns(self.scheme))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path) -> None:
        """Write a report file; it says which scheme it belongs to and whether it is a simulation."""
        with table_writer(path, scheme_note(self.scheme, is_simulation=self.is_simulation)) as writer:
            writer.write(file_table(self, path))

    def rows(self, which: Any) -> Reports:
        """Some of the reports (a mask, positions or a slice) of a scheme that deals only one questionnaire."""
        return Reports(self.scheme, (self.table.rows(which),), self.is_simulation)


def _check_columns(present: Sequence[str], scheme: Scheme) -> None:
    wanted = report_columns(scheme)
    checked_columns(present, wanted, drop_others=True)
    others = [name for name in present if name not in (*wanted, PANEL)]
    if others:
        raise InvalidInput(
            f"The reports have the column(s) {', '.join(map(repr, others[:8]))}, but reports of this scheme have only "
            f"{', '.join(map(repr, wanted[:12]))}. Take the others out of the file, or give the scheme that names them."
        )


def report_columns(scheme: Scheme) -> list[str]:
    """The columns of a report file of this scheme."""
    columns = [RESERVED] if scheme.is_dealt else []
    for questionnaire in scheme.questionnaires:
        for attribute in questionnaire.report_schema:
            columns.extend(name for name in file_columns(attribute) if name not in columns)
    return columns


def _named_parts(reports: Reports, *, text_only: bool) -> list[pa.Table]:
    """One Arrow table per questionnaire, the name of the questionnaire in a column of its own."""
    parts = []
    for questionnaire, table in reports:
        arrow = decode(table, text_only=text_only)
        # Dictionaries of different questionnaires need not agree, so a common file holds plain text.
        columns = {name: plain(column) for name, column in zip(arrow.column_names, arrow.columns, strict=True)}
        name = pa.repeat(pa.scalar(questionnaire.name), table.n_rows)
        parts.append(pa.table({RESERVED: name, **columns}))
    return parts


def file_table(reports: Reports, path: str | Path) -> pa.Table:
    """The Arrow table of a report file, as its format holds sets and bits."""
    return reports.to_arrow(text_only=not is_parquet(path))


def scheme_note(scheme: Scheme, *, is_simulation: bool) -> dict[str, Any]:
    """What a report file says of itself: its scheme, so that it can be estimated alone; a simulation bears the mark of one."""
    note = {"scheme": scheme.hash, "scheme_document": scheme.to_document()}
    return note | ({"simulation": True} if is_simulation else {})


def carried_scheme(path: str | Path) -> Scheme:
    """The scheme that a report file carries."""
    note = read_metadata(path) or {}
    if "question_document" in note:
        raise InvalidInput(f"{spoken_name(path)} holds reports of an open question, which `tacit mine heavy` reads.")
    if "scheme_document" not in note:
        raise InvalidInput(
            f"{spoken_name(path)} does not carry its scheme. Give the document it was disguised with: --scheme S."
        )
    scheme = Scheme.from_document(note["scheme_document"])
    if scheme.hash != note.get("scheme"):
        raise SchemeMismatch(
            f"The scheme that {spoken_name(path)} carries was changed: its hash is another. Give --scheme S."
        )
    return scheme


def scheme_of_files(place: str | Path) -> Scheme | None:
    """The scheme that the report files of a place carry; None where the first of them carries none."""
    first, *others = data_places(place)
    if "scheme_document" not in (read_metadata(first) or {}):
        return None
    scheme = carried_scheme(first)
    for file in others:
        checked_scheme_note(file, scheme)
    return scheme


def checked_scheme_note(path: str | Path, scheme: Scheme) -> bool:
    """Whether a report file is a simulation; refuses one that belongs to another scheme."""
    note = read_metadata(path)
    if note is None or "scheme" not in note:
        if not scheme.is_identity:
            warnings.warn(
                f"{spoken_name(path)} does not say under which scheme it was disguised; going on as if it were this one.",
                MissingSchemeNote,
                stacklevel=3,
            )
        return False
    return is_noted_simulation(note, scheme, spoken_name(path))


def is_noted_simulation(note: Mapping[str, Any], scheme: Scheme, place: str) -> bool:
    """What a note says of reports that must have been disguised under this scheme: whether they are a simulation."""
    if note["scheme"] != scheme.hash:
        raise SchemeMismatch(
            f"{place} was disguised under the scheme {str(note['scheme'])[:12]}..., not under {scheme.hash[:12]}.... "
            "Estimates with the wrong chances would be wrong: give the scheme it was disguised with."
        )
    return bool(note.get("simulation", False))


def _dealt_parts(table: pa.Table, scheme: Scheme) -> Iterator[tuple[Table, NDArray[np.intp]]]:
    """The reports of each questionnaire, and their rows in the table."""
    _check_columns(table.column_names, scheme)
    for name in table.column(RESERVED).unique().to_pylist():
        scheme.questionnaire(str(name))
    for questionnaire in scheme.questionnaires:
        questionnaire_column = pc.equal(as_text(table.column(RESERVED)), questionnaire.name)
        mine = table.filter(questionnaire_column)
        _checked_empty(mine, questionnaire)
        rows = np.flatnonzero(pc.fill_null(questionnaire_column, False).to_numpy())
        yield encode(mine, questionnaire.report_schema, drop_others=True), rows


def _checked_empty(table: pa.Table, questionnaire: Questionnaire) -> None:
    """Refuse a value where nothing was asked: such a file was not written by this scheme."""
    asked = {name for attribute in questionnaire.report_schema for name in file_columns(attribute)}
    for name in table.column_names:
        if name not in asked and name not in (RESERVED, PANEL) and not missing_values(table.column(name)).all():
            raise SchemeMismatch(
                f"A report of the questionnaire {questionnaire.name!r} has a value for {name!r}, which it does not ask."
            )


def joined(left: Reports, right: Reports, left_keys: Sequence[Any], right_keys: Sequence[Any]) -> Reports:
    """One table of reports from two parties' tables about the same people, matched by key.

    Each party's records stay disguised by its own scheme, so the joint scheme has the groups of both (the two-party use
    of multi-group randomized response). Rows without a partner are left out; a key that occurs twice is refused.
    """
    scheme = joint_scheme(left.scheme, right.scheme)
    keys, positions_left, positions_right = np.intersect1d(
        _unique_keys(left_keys, left.n_reports), _unique_keys(right_keys, right.n_reports), return_indices=True
    )
    if not len(keys):
        raise InvalidInput("The two tables have no key in common, so nothing can be joined.")
    first, second = left.table.rows(positions_left), right.table.rows(positions_right)
    columns = {**first.columns, **second.columns}
    schema: Schema = scheme.report_schema
    table = Table(schema, {name: columns[name] for name in schema.names})
    return Reports(scheme, (table,), left.is_simulation or right.is_simulation)


def join_waves(first: Reports, second: Reports, first_people: Sequence[Any], second_people: Sequence[Any]) -> Reports:
    """One table of those who reported in both waves of a panel: attribute `a` is `a@1` in the first and `a@2` in the second."""
    return joined(_with_suffix(first, "@1"), _with_suffix(second, "@2"), first_people, second_people)


def _with_suffix(reports: Reports, suffix: str) -> Reports:
    """The reports, with `suffix` behind the name of every attribute."""
    scheme = reports.scheme
    if scheme.is_dealt:
        raise InvalidInput(
            "Each respondent was dealt one of several questionnaires; waves of such a survey cannot be put together by person. "
            "Estimate the change without the people."
        )
    schema = [dataclasses.replace(attribute, name=attribute.name + suffix) for attribute in scheme.schema]
    groups = [group.recipe._replace(names=[name + suffix for name in group.names]) for group in scheme.groups]
    prior = None if scheme.prior is None else {name + suffix: shares for name, shares in scheme.prior.items()}
    renamed = Scheme.from_groups(schema, groups, prior=prior)
    names = zip(renamed.report_schema.names, scheme.report_schema.names, strict=True)
    table = Table(renamed.report_schema, {name: reports.table.columns[old] for name, old in names})
    return Reports(renamed, (table,), reports.is_simulation)


def _unique_keys(keys: Sequence[Any], n_reports: int) -> Any:
    values = np.asarray([str(key) for key in keys])
    if len(values) != n_reports:
        raise InvalidInput(f"There are {len(values)} keys for {n_reports} reports; each report needs one.")
    unique, counts = np.unique(values, return_counts=True)
    if (counts > 1).any():
        raise InvalidInput(f"The key {str(unique[counts > 1][0])!r} occurs twice; every person may be there once.")
    return values


def joint_scheme(left: Scheme, right: Scheme) -> Scheme:
    """The scheme of two tables joined on a key: the attributes, groups and assumed priors of both."""
    common = [name for name in left.schema.names if name in right.schema.names]
    if common:
        raise InvalidInput(
            f"Both tables hold {common[0]!r}; joined tables must ask different things. Leave it out of one."
        )
    groups = [group.recipe for group in (*left.groups, *right.groups)]
    priors = None if left.prior is None and right.prior is None else {**(left.prior or {}), **(right.prior or {})}
    return Scheme.from_groups((*left.schema, *right.schema), groups, prior=priors)


def _shown_shares(column: Attribute, codes: Any) -> Iterator[tuple[str, Any]]:
    """What reports show, answer by answer or bucket by bucket, and the share of reports that do."""
    reports = max(len(codes), 1)
    if column.shows == "hashed":
        buckets = [f"bucket {bucket}" for bucket in range(column.buckets)]
        return zip(buckets, np.bincount(codes[:, 0], minlength=column.buckets) / reports, strict=True)
    if column.shows == "bits":
        return zip(column.answers, codes.sum(axis=0) / reports, strict=True)
    counts = np.bincount(codes.reshape(-1), minlength=column.size)[: column.size]
    return zip(column.answers, counts / reports, strict=True)
