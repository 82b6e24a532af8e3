"""Disguise: truths and a scheme and chance become reports; files are streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.channel.scheme import Questionnaire, Scheme
from tacit.dataset import Dataset
from tacit.errors import InvalidInput
from tacit.leaks import Leaks
from tacit.randomness import Randomness, randomness_from
from tacit.reports import Reports, file_table, scheme_note
from tacit.table import Missing, Table, read_batches
from tacit.table.columns import checked_columns, missing_values
from tacit.table.encode import encoded_rows
from tacit.table.files import column_names, data_places, table_writer


def disguise(
    dataset: Dataset | Any,
    scheme: Scheme,
    *,
    seed: int | None = None,
    drop_others: bool = False,
    missing: Literal["refuse", "drop"] = "refuse",
) -> Reports:
    """One report for each true record of a dataset, or of any data frame, which is read with the scheme's schema.

    Randomness comes from the operating system; a `seed` makes a repeatable simulation, and the reports say so.

    Parameters
    ----------
    dataset : Dataset or data frame
        The truths.
    scheme : Scheme
        How they are disguised.
    seed : int, optional
        Makes a repeatable simulation.
    drop_others : bool
        Leave out columns that the scheme does not name; they are refused otherwise.
    missing : {"refuse", "drop"}
        What becomes of rows with a missing value.

    Returns
    -------
    Reports

    Raises
    ------
    InvalidInput
        Where the data and the scheme list different answers.

    Examples
    --------
    >>> from tacit import Dataset, Scheme, channels, disguise
    >>> truth = Dataset.from_arrow({"smokes": ["no", "yes", "no", "no"]})
    >>> scheme = Scheme.of(truth.schema, [(["smokes"], channels.warner(0.8))])
    >>> disguise(truth, scheme, seed=1).n_reports
    4
    """
    if not isinstance(scheme, Scheme):
        designed = " Of a design take its `scheme`." if isinstance(getattr(scheme, "scheme", None), Scheme) else ""
        raise InvalidInput(
            f"disguise takes the truths, then their scheme: disguise(data, scheme), not {type(dataset).__name__} and "
            f"{type(scheme).__name__}.{designed}"
        )
    if isinstance(dataset, Reports):
        raise InvalidInput(
            "These are reports, disguised already. Disguise the truths once; a second time would only add to the errors."
        )
    if isinstance(dataset, Dataset):
        truths = dataset.select(scheme.schema.names) if drop_others else dataset
    else:
        truths = Dataset.from_arrow(dataset, scheme.schema, missing=missing, drop_others=drop_others)
    return disguise_table(truths.table, scheme, randomness_from(seed))


def disguise_table(table: Table, scheme: Scheme, randomness: Randomness) -> Reports:
    """Reports of coded truths, by the words of one source of randomness."""
    missing = [name for name in scheme.schema.names if name not in table.schema]
    if missing:
        raise InvalidInput(f"The scheme asks for {missing[0]!r}, which the data do not have.")
    for attribute in scheme.schema:
        if table.schema[attribute.name].answers != attribute.answers:
            raise InvalidInput(
                f"The data and the scheme list the answers of {attribute.name!r} differently. "
                "Read the data with the scheme's schema."
            )
    parts = []
    dealt = _dealing(table.n_rows, scheme, randomness)
    for position, questionnaire in enumerate(scheme.questionnaires):
        mine = table if dealt is None else table.rows(dealt == position)
        parts.append(_disguised_part(mine, questionnaire, randomness))
    places = None if dealt is None else tuple(np.flatnonzero(dealt == at) for at in range(len(parts)))
    return Reports(scheme, tuple(parts), randomness.is_simulation, places)


def _dealing(rows: int, scheme: Scheme, randomness: Randomness) -> NDArray[np.int64] | None:
    """Which questionnaire each respondent is dealt; None where there is only one."""
    if not scheme.is_dealt:
        return None
    thresholds = np.cumsum(scheme.dealing_weights)
    return np.searchsorted(thresholds, randomness.words(rows).astype(np.int64), side="right")


def _disguised_part(table: Table, questionnaire: Questionnaire, randomness: Randomness) -> Table:
    columns: dict[str, NDArray[Any]] = {}
    for group in questionnaire.groups:
        reports = group.channel.sample([table[name] for name in group.names], randomness)
        columns.update(zip((column.name for column in group.report_attributes), reports, strict=True))
    columns.update({attribute.name: table[attribute.name] for attribute in questionnaire.public})
    return Table(questionnaire.report_schema, columns)


def disguise_file(
    source: str | Path,
    scheme: Scheme,
    out: str | Path,
    *,
    seed: int | None = None,
    missing: Missing | None = None,
    drop_others: bool = False,
    shuffle: bool = False,
    key: str | None = None,
    on_rows: Callable[[int], None] = lambda rows: None,
    leaks: Leaks | None = None,
) -> int:
    """Disguise a file into a CSV or Parquet file, batch by batch; returns the number of reports.

    Nothing appears under the name `out` until everything is written. The reports are in the order of the truths unless
    `shuffle` mixes them, which holds all at once. The column `key`, by which another party's reports of the same people are
    joined, is written beside the reports as it is. `on_rows` is told how many rows each batch had, `leaks` sees the truths.
    """
    _check_key(key, scheme)
    randomness, policy = randomness_from(seed), missing or Missing()
    names = scheme.schema.names

    def reports_of(batch: pa.Table, first_row: int) -> pa.Table:
        truths, complete = encoded_rows(batch.select(names), scheme.schema, missing=policy, first_row=first_row)
        if leaks is not None:
            leaks.add(truths)
        reports = file_table(disguise_table(truths, scheme, randomness), out)
        return reports if key is None else _with_key(reports, key, batch.column(key), complete)

    read = names if key is None else (*names, key)
    truths = numbered_batches(source, read, drop_others=drop_others, on_rows=on_rows)
    reports = (reports_of(*batch) for batch in truths)
    return write_reports(
        shuffle_reports(reports, randomness) if shuffle else reports,
        out,
        scheme_note(scheme, is_simulation=randomness.is_simulation),
        source,
    )


def _check_key(key: str | None, scheme: Scheme) -> None:
    if key is None:
        return
    if key in scheme.schema:
        raise InvalidInput(
            f"{key!r} is an attribute of the scheme, not a key. Name the column that tells the people apart."
        )
    if scheme.is_dealt:
        raise InvalidInput(
            "Reports of several questionnaires are not joined with another party's, so they take no key. Give a scheme with "
            "one questionnaire."
        )


def _with_key(reports: pa.Table, key: str, column: pa.ChunkedArray, kept: NDArray[np.bool_]) -> pa.Table:
    if key in reports.column_names:
        raise InvalidInput(f"The reports have a column {key!r} themselves. Give the key another name.")
    keys = column.filter(kept)
    gaps = int(missing_values(keys).sum())
    if gaps:
        raise InvalidInput(f"The key {key!r} is missing in {gaps:,} row(s). Every person needs one: fill them in.")
    return reports.append_column(key, keys)


def numbered_batches(
    source: str | Path, names: Sequence[str], *, drop_others: bool, on_rows: Callable[[int], None]
) -> Iterator[tuple[pa.Table, int]]:
    """The truths of a file, batch by batch, each with the number of rows before it."""
    checked_columns(column_names(source), names, drop_others=drop_others)
    first_row = 0
    for batch in read_batches(source, names):
        yield batch, first_row
        first_row += batch.num_rows
        on_rows(batch.num_rows)


def shuffle_reports(reports: Iterable[pa.Table], randomness: Randomness) -> Iterator[pa.Table]:
    """All reports as one table, in an order that says nothing of the one they came in."""
    together = pa.concat_tables(reports)
    # Two rows share 64 bits about never, and then only these two keep their order.
    keys = randomness.words(2 * together.num_rows).view(np.uint64)
    yield together.take(pa.array(np.argsort(keys)))


def write_reports(reports: Iterable[pa.Table], out: str | Path, note: Mapping[str, Any], source: str | Path) -> int:
    """Write the reports of a file's truths; returns how many they are."""
    if Path(out).resolve() in {file.resolve() for file in data_places(source)}:
        raise InvalidInput(f"The reports would overwrite the truths in {str(out)!r}. Give another name for the output.")
    written = 0
    with table_writer(out, note) as writer:
        for table in reports:
            writer.write(table)
            written += table.num_rows
        if not written:
            raise InvalidInput(f"{str(source)!r} has no rows to disguise.")
    return written
