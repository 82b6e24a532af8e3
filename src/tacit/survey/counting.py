"""Reports of a survey as something to count: read as codes while they fit memory, counted in the database itself beyond."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from tacit.channel.scheme import Scheme
from tacit.reports import Reports
from tacit.survey.exports import reports_of
from tacit.survey.store.database import quote_name
from tacit.survey.store.sqlite import SqliteDatabase
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.table import Table
from tacit.table.coded import code_type

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource

# Codes take a byte each: so many reports of forty questions are about 80 MB. Asking a database several questions about them
# takes longer than reading them once.
READ_UP_TO = 2_000_000
# Reads whole rows as one text, which no answer may hold: the database joins them faster than it hands them out one by one.
SEPARATOR = "\x1f"
BATCHES_AT_ONCE = 25


def countable(store: Store, survey: StoredSurvey, n_reports: int, *, read_up_to: int = READ_UP_TO) -> ReportSource:
    """What estimators and miners take. Sets lie in a database as text, so their surveys are always read."""
    has_sets = any(column.members for column in survey.wire.columns)
    if n_reports <= read_up_to or has_sets:
        return coded_reports(store, survey) if _is_plain(survey) else reports_of(store, survey)
    from tacit.count.connections import open_table
    from tacit.count.stored import StoredReports

    return StoredReports(open_table(_address(store, survey)), survey.definition.scheme)


def _is_plain(survey: StoredSurvey) -> bool:
    """Whether every column shows one answer, whose text the separators are not in."""
    scheme = survey.definition.scheme
    if scheme.is_dealt or any(attribute.shows != "one" for attribute in scheme.report_schema):
        return False
    texts = [answer for attribute in scheme.report_schema for answer in attribute.answers]
    return all(SEPARATOR not in text and len(text.splitlines()) == 1 for text in texts)


def coded_reports(store: Store, survey: StoredSurvey) -> Reports:
    """All reports as codes, a byte for most answers."""
    scheme = survey.definition.scheme
    parts = [_code_column(table, scheme) for table in _tables(store, survey)]
    types = {attribute.name: code_type(attribute.size) for attribute in scheme.report_schema}
    columns = {
        name: np.concatenate([batch[name] for batch in parts]) if parts else np.zeros(0, dtype=kind)
        for name, kind in types.items()
    }
    return Reports(scheme, (Table(scheme.report_schema, columns),))


def _tables(store: Store, survey: StoredSurvey) -> Iterator[pa.Table]:
    """The reports, some batches at a time, every column as numbers of the texts that occur in it."""
    names = survey.wire.names
    joined = f" || '{SEPARATOR}' || ".join(f"CAST({quote_name(name)} AS TEXT)" for name in names)
    batches = store.database.stream(f"SELECT {joined} FROM {survey.table('reports')}")
    options: dict[str, Any] = {
        "read_options": csv.ReadOptions(column_names=list(names)),
        "parse_options": csv.ParseOptions(delimiter=SEPARATOR, quote_char=False, ignore_empty_lines=False),
        "convert_options": csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())), strings_can_be_null=False
        ),
    }
    while some := list(itertools.islice(batches, BATCHES_AT_ONCE)):
        text = "\n".join(row[0] for batch in some for row in batch) + "\n"
        yield csv.read_csv(io.BytesIO(text.encode()), **options)


def _code_column(table: pa.Table, scheme: Scheme) -> dict[str, Any]:
    codes = {}
    for attribute in scheme.report_schema:
        places = {answer: code for code, answer in enumerate(attribute.answers)}
        column = table.column(attribute.name).unify_dictionaries()
        chunks = [
            np.array([places[answer] for answer in chunk.dictionary.to_pylist()], dtype=code_type(attribute.size))[
                chunk.indices.to_numpy()
            ]
            for chunk in column.chunks
        ]
        codes[attribute.name] = np.concatenate(chunks)
    return codes


def _address(store: Store, survey: StoredSurvey) -> str:
    """The table of the reports, as the counting engine names it."""
    url = store.database.url
    if isinstance(store.database, SqliteDatabase):
        url = f"sqlite:///{url}"
    return f"{url}{'&' if '?' in url else '?'}table={survey.table('reports')}"
