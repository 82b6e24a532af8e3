"""Reports that stay where they are stored: a file, or a table of a database."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tacit.channel.scheme import Questionnaire, Scheme
from tacit.count.backend import answer
from tacit.count.connections import is_address, open_table, safe_address
from tacit.count.protocol import Source
from tacit.count.spark import is_frame, table_note, table_of
from tacit.count.table import TableEngine
from tacit.reports import MissingSchemeNote, checked_scheme_note, is_noted_simulation, report_columns
from tacit.schema import RESERVED
from tacit.table.columns import checked_columns


@dataclass(frozen=True, eq=False)
class StoredReports:
    """Reports in an ibis table, with the scheme they were disguised under; counted there, never read into memory."""

    table: Any
    scheme: Scheme
    is_simulation: bool = False

    def __post_init__(self) -> None:
        checked_columns(list(self.table.columns), report_columns(self.scheme), drop_others=True)

    @classmethod
    def open(cls, where: str | Path | Any, scheme: Scheme) -> StoredReports:
        """The reports in a file, behind the address of a table (see `connections.open_table`), or in a data frame of Spark.

        A file or a table of Spark that was disguised under another scheme is refused. Other databases do not say under which
        scheme their reports were disguised, so that is a warning, as for a file without a note.
        """
        if is_frame(where):
            return cls(table_of(where), scheme)
        if not is_address(where):
            table = open_table(where)
            return cls(table, scheme, checked_scheme_note(where, scheme))
        table, noted = open_table(where), table_note(where)
        if "scheme" in noted:
            return cls(table, scheme, is_noted_simulation(noted, scheme, safe_address(where)))
        if not scheme.is_identity:
            warnings.warn(
                f"{safe_address(where)} does not say under which scheme it was disguised; going on as if it were this one.",
                MissingSchemeNote,
                stacklevel=2,
            )
        return cls(table, scheme)

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.sources())

    def __len__(self) -> int:
        return self.n_reports

    def sources(self) -> tuple[Source, ...]:
        """One table to count for each questionnaire."""
        return self._sources

    @cached_property
    def _sources(self) -> tuple[Source, ...]:
        if self.scheme.is_dealt:
            self._check_dealt_names()
        return tuple(
            Source(
                questionnaire, TableEngine(self._part(questionnaire), questionnaire.report_schema), self.scheme.prior
            )
            for questionnaire in self.scheme.questionnaires
        )

    def _part(self, questionnaire: Questionnaire) -> Any:
        return self.table.filter(self.table[RESERVED] == questionnaire.name) if self.scheme.is_dealt else self.table

    def _check_dealt_names(self) -> None:
        """Every row must belong to a questionnaire of the scheme, or it would silently not count."""
        for name in answer(self.table.select(name=self.table[RESERVED]).distinct()).column("name").to_pylist():
            self.scheme.questionnaire(str(name))
