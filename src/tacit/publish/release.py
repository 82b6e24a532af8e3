"""The release: what is published, what it cost, what else there was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.publish.achievement import Preference
from tacit.publish.check import size_spread
from tacit.publish.held import Held
from tacit.publish.recoding import Recoding

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "tacit-release/1"


@dataclass(frozen=True)
class Alternative:
    """One release that no other beats in loss, bias and effective k at once."""

    nwp: float
    necd: float
    effective_k: int
    suppressed: int


@dataclass(frozen=True, eq=False)
class Release:
    """A k-anonymous table with its measures; nothing is written until `write` is called.

    `nwp` is the mean weighted share of detail lost (suppressed rows lose all), `necd` how unevenly rows are hidden,
    `ach` how well both meet the preference. No generalization of this kind loses less than `lower_bound`.
    """

    method: str
    k: int
    effective_k: int
    nwp: float
    necd: float
    ach: float
    lower_bound: float | None
    preference: Preference
    weights: dict[str, float]
    partitions: dict[str, list[list[str]]]
    losses: dict[str, float]  # share of each attribute's detail that is lost
    front: tuple[Alternative, ...]
    recoding: Recoding
    held: Held
    others: tuple[str, ...]  # columns published as they are
    sensitive: tuple[str, ...]
    seed: int
    evaluations: int
    complete: bool  # False when it was interrupted; `warnings` says in what
    keep_order: bool  # whether the rows stand in the order of the input
    warnings: tuple[str, ...]

    @property
    def suppressed(self) -> int:
        return self.recoding.suppressed

    @property
    def rows(self) -> int:
        return int(self.recoding.counts.sum())

    @property
    def mean_risk(self) -> float:
        """Chance to be re-identified by someone who knows the quasi-identifiers, on average over the published rows."""
        sets = len(self.recoding.tally.sets)
        return len(self.recoding.class_sizes) / ((self.rows - self.suppressed) * sets)

    @property
    def is_proven(self) -> bool:
        return self.lower_bound is not None and self.nwp - self.lower_bound < 1e-9

    def batches(self) -> Iterator[pa.Table]:
        """The published rows, sorted by their texts, or in the order of the input if that was asked for."""
        return self.held.published(self.recoding, self.others, keep_order=self.keep_order)

    def to_arrow(self) -> pa.Table:
        import pyarrow as pa

        return pa.concat_tables(map(as_text_columns, self.batches()))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path) -> Path:
        """Write the table and ``PATH.manifest.json``; k is counted from the file before it takes its name."""
        from tacit.publish.writing import write_file

        return write_file(self, Path(path))

    def write_table(self, name: str) -> str:
        """Write into a new table of the database that holds the input, and the manifest into ``NAME_manifest``.

        The database does it alone, and counts k before the table takes its name.
        """
        from tacit.publish.writing import write_table

        return write_table(self, name)

    def to_document(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "method": self.method,
            "k": self.k,
            "effective_k": self.effective_k,
            "nwp": self.nwp,
            "necd": self.necd,
            "ach": self.ach,
            "suppressed": self.suppressed,
            "rows": self.rows,
            "lower_bound": self.lower_bound,
            "proven": self.is_proven,
            "complete": self.complete,
            "partitions": self.partitions,
            "losses": self.losses,
            "front": [vars(entry) for entry in self.front],
            "class_sizes": size_spread(self.recoding.class_sizes),
            "classes": len(self.recoding.class_sizes),
            "highest_risk": 1 / self.effective_k,
            "mean_risk": self.mean_risk,
            "evaluations": self.evaluations,
            "seed": self.seed,
            "warnings": list(self.warnings),
        }

    def manifest(self) -> dict[str, Any]:
        """What someone needs to know, or to make the release again."""
        from tacit import __version__

        document = self.to_document()
        del document["front"]
        # Answers that only suppressed people gave must not be listed anywhere.
        document["partitions"] = {
            name: list(labels.values()) for name, labels in self.recoding.released_labels().items()
        }
        known_by = self.held.fingerprint(self.recoding.tally)
        return {
            "format": FORMAT,
            "tacit": __version__,
            "numpy": np.__version__,
            "input_sha256": known_by.sha256,
            "input_hash_of": known_by.of,
            "quasi_identifiers": [
                [self.recoding.tally.names[j] for j in members] for members in self.recoding.tally.sets
            ],
            "sensitive": list(self.sensitive),
            "weights": self.weights,
            "prefer_loss": self.preference.loss,
            "prefer_bias": self.preference.bias,
            **document,
        }

    def describe(self) -> str:
        """The release in words."""
        sizes = size_spread(self.recoding.class_sizes)
        published = self.rows - self.suppressed
        lines = [
            f"{published:,} of {self.rows:,} rows published in {len(self.recoding.class_sizes):,} classes; everyone hides "
            f"among at least {self.effective_k} (wanted: {self.k}).",
            f"{self.nwp:.1%} of the weighted detail is lost; {_bound_words(self)}",
            f"Class sizes: {sizes['least']} to {sizes['greatest']}, half of them up to {sizes['median']}. Who knows a "
            f"person's attributes picks the right row with a chance of at most {1 / self.effective_k:.1%}, and of "
            f"{self.mean_risk:.2%} on average.",
            "Detail lost: " + ", ".join(f"{name} {loss:.0%}" for name, loss in self.losses.items()) + ".",
        ]
        better = [
            entry for entry in self.front if entry.effective_k > self.effective_k and entry.nwp <= self.nwp + 1e-4
        ]
        if better:
            lines.append(f"k = {max(entry.effective_k for entry in better)} would cost practically no more.")
        return "\n".join([*lines, *(f"Note: {warning}" for warning in self.warnings)])


def _bound_words(release: Release) -> str:
    if release.lower_bound is None:
        return "how much less is possible was not proven."
    if release.is_proven:
        return "this is proven to be the least possible."
    if release.lower_bound <= 0:
        return "no better bound than 0 was proven in the time given."
    return f"at least {release.lower_bound:.1%} has to be."


def as_text_columns(batch: pa.Table) -> pa.Table:
    import pyarrow as pa

    return batch.cast(pa.schema([(name, pa.string()) for name in batch.column_names]))
