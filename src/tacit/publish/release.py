"""The release: an anonymous table that writes itself, says what it is, and lets another alternative be picked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tacit.display import Told
from tacit.errors import InvalidInput
from tacit.publish.anonymous_table import AnonymousTable
from tacit.publish.check import size_spread
from tacit.publish.dimension import dimension_document
from tacit.publish.methods import answer_of, wider_alternatives
from tacit.publish.risk import BASIS_WORDS
from tacit.publish.writing import write_file, write_table


@dataclass(frozen=True, eq=False, repr=False)
class Release(AnonymousTable, Told):
    """A k-anonymous table with its measures; nothing is written until `write` is called.

    `nwp` is the mean weighted share of detail lost (suppressed rows lose all), `necd` how unevenly rows are hidden,
    `ach` how well both meet the preference. No generalization of this kind loses less than `lower_bound`.
    """

    def pick(self, number: int) -> Release:
        """The release of an alternative on the front; they are numbered from 0."""
        if not 0 <= number < len(self.front):
            raise InvalidInput(f"There are the alternatives 0 to {len(self.front) - 1}, not {number}.")
        return Release.of(*answer_of(self.publication, self.front[number]))

    def explore(self) -> Release:
        """The same release with further alternatives behind those of its front: local recoding for a greater k."""
        known = {(entry.nwp, entry.effective_k) for entry in self.front}
        wider = [entry for entry in wider_alternatives(self.publication) if (entry.nwp, entry.effective_k) not in known]
        return replace(self, front=(*self.front, *wider))

    def write(self, path: str | Path, *, again: bool = False) -> Path:
        """Write the table, ``PATH.manifest.json`` to go with it, and ``PATH.private.json`` to stay with you.

        What was written is read back and counted before it takes its name. A second release of the same input is refused
        while the private manifest of an earlier one lies beside it, unless it is asked for `again`.
        """
        return write_file(self, Path(path), again=again).path

    def write_table(self, name: str) -> str:
        """Write into a new table of the database that holds the input, and the manifest into ``NAME_manifest``.

        The database does it alone, and counts before the table takes its name.
        """
        write_table(self, name)
        return name

    def to_document(self) -> dict[str, Any]:
        """The answer as JSON, for the publisher: it names answers that only suppressed people gave."""
        return {
            "method": self.method,
            "k": self.k,
            "effective_k": self.effective_k,
            "nwp": self.nwp,
            "nwp_of_file": self.nwp_of_file,
            "read_columns": [column.to_document() for column in self.read_columns],
            "necd": self.necd,
            "ach": self.ach,
            "suppressed": self.suppressed,
            "suppressed_persons": self.suppressed_persons,
            "hidden_cells": self.recoding.hidden_cells,
            "rows": self.rows,
            "lower_bound": self.lower_bound,
            "proven": self.is_proven,
            "complete": self.complete,
            "partitions": self.partitions,
            "labels": self.recoding.released_labels(),
            "losses": self.losses,
            "front": [{"pick": number} | vars(entry) for number, entry in enumerate(self.front)],
            "methods": [result.to_document() for result in self.methods],
            "why": self.why,
            "class_sizes": size_spread(self.class_sizes),
            "classes": len(self.class_sizes),
            "risk": self.risk.to_document(),
            "highest_risk": 1 / self.effective_k,
            "mean_risk": self.mean_risk,
            "evaluations": self.answer.evaluations,
            "seed": self.publication.seed,
            "dimension": dimension_document(self.publication, self.losses),
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """The release in words."""
        sizes = size_spread(self.class_sizes)
        published = self.rows - self.suppressed
        whom = "different persons" if self.publication.persons is not None else ""
        lines = [
            f"{published:,} of {self.rows:,} rows published in {len(self.class_sizes):,} classes; everyone hides "
            f"among at least {self.effective_k}{' ' * bool(whom)}{whom} (wanted: {self.k}).",
            f"{self.nwp:.1%} of the weighted detail is lost; {_bound_words(self)}",
            *_read_words(self),
            f"Class sizes: {sizes['least']} to {sizes['greatest']}, half of them up to {sizes['median']}. Who knows a "
            f"person's attributes picks the right row with a chance of at most {1 / self.effective_k:.1%}, and of "
            f"{self.mean_risk:.2%} on average.",
            *_population_words(self),
            *([f"Persons who lost a row or more: {self.suppressed_persons:,}."] if self.suppressed_persons else []),
            *([_cell_words(self)] if self.recoding.hidden_cells else []),
            *([self.why] if self.why else []),
            "Detail lost: " + ", ".join(f"{name} {loss:.0%}" for name, loss in self.losses.items()) + ".",
        ]
        better = [
            entry
            for entry in self.front
            if entry.effective_k > self.effective_k
            and entry.nwp <= self.nwp + 1e-4
            and entry.suppress <= self.answer.suppress  # with more suppression it would cost rows
        ]
        if better:
            lines.append(f"k = {max(entry.effective_k for entry in better)} would cost practically no more.")
        return "\n".join([*lines, *(f"Note: {warning}" for warning in self.warnings)])


def _read_words(release: Release) -> Iterator[str]:
    """What is lost of the file's own values, where columns were read coarser than they are."""
    if release.nwp_of_file is None or release.nwp_of_file < release.nwp + 5e-4:
        return
    coarse = [column for column in release.read_columns if column.lost_by_reading >= 5e-4]
    read = "; ".join(
        f"{column.name} as {column.read_as} ({column.lost_by_reading:.1%} by that alone"
        + (f"; {column.keep_more} keeps more)" if column.keep_more else ")")
        for column in coarse
    )
    yield f"Of the file's own values {release.nwp_of_file:.1%} is lost, for these were read coarser: {read}."


def _population_words(release: Release) -> Iterator[str]:
    """What is known of those who do not know who is in the table, and of households."""
    risk = release.risk
    if risk.journalist is not None:
        name = release.publication.settings.protection.survey_weights
        how = BASIS_WORDS[risk.journalist.basis] + ("" if name is None else f" in {name!r}")
        yield (
            f"Who does not know who is in the table picks right with a chance of at most {risk.journalist.highest:.2%}, and of "
            f"{risk.journalist.mean:.2%} on average ({how}; a population of {risk.population or 0:,})."
        )
    if risk.household is not None:
        yield (
            f"A household or person is found by any of its rows with a chance of at most {risk.household.highest:.1%}, and of "
            f"{risk.household.mean:.2%} on average."
        )


def _cell_words(release: Release) -> str:
    return f'{release.recoding.hidden_cells:,} single cells of rare rows are hidden ("*") so that the rows could stay.'


def _bound_words(release: Release) -> str:
    if release.lower_bound is None and release.publication.settings.protection.suppress > 0:
        return "where rows may be suppressed, how much less is possible is not proven."
    if release.lower_bound is None:
        return "how much less is possible was not proven (--prove)."
    if release.is_proven:
        return "this is proven to be the least possible."
    if release.lower_bound <= 0:
        return "no better bound than 0 was proven in the time given."
    return f"at least {release.lower_bound:.1%} has to be."
