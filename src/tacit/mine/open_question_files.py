"""Files of an open question: the document that says how its answers are disguised, and reports that carry it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tacit.channel.document import document_hash, read_json
from tacit.disguising import numbered_batches, shuffle_reports, write_reports
from tacit.errors import InvalidInput, SchemeMismatch
from tacit.mine.heavy_hitters import OpenQuestion
from tacit.randomness import randomness_from
from tacit.table import Missing, read_table
from tacit.table.columns import as_text, checked_columns, missing_values
from tacit.table.files import column_names, data_places, read_metadata
from tacit.table.outputs import written_whole

FORMAT = "tacit-open-question/1"
FIELDS: dict[str, type | tuple[type, ...]] = {
    "attribute": str,
    "gamma": (int, float),
    "length": int,
    "step": int,
    "characters": str,
}
COLUMNS = ("level", "bucket", "seed")


def question_document(question: OpenQuestion) -> dict[str, Any]:
    """All that respondents, collectors and analysts need to know of a question."""
    document = {"format": FORMAT} | {name: getattr(question, name) for name in FIELDS}
    return document | {"hash": document_hash(document)}


def question_of(document: Any, where: str) -> OpenQuestion:
    """The question that a document states."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidInput(
            f"{where} is not the document of an open question. Write one with: tacit design open --out F"
        )
    for name, kind in FIELDS.items():
        if not isinstance(document.get(name), kind) or isinstance(document.get(name), bool):
            raise InvalidInput(f"{where} must state {name!r}, not {document.get(name)!r}.")
    if "hash" in document and document["hash"] != document_hash({k: v for k, v in document.items() if k != "hash"}):
        raise SchemeMismatch(f"{where} was changed: its hash is another. Take the original, or remove the hash.")
    return OpenQuestion(**{name: document[name] for name in FIELDS})


def read_question(path: str | Path) -> OpenQuestion:
    return question_of(read_json(path), repr(str(path)))


def write_question(question: OpenQuestion, path: str | Path) -> None:
    with written_whole(path) as temporary:
        text = json.dumps(question_document(question), indent=1, ensure_ascii=False)
        temporary.write_text(text + "\n", encoding="utf-8")


def disguise_answers(
    source: str | Path,
    question: OpenQuestion,
    out: str | Path,
    *,
    seed: int | None = None,
    missing: Missing | None = None,
    drop_others: bool = False,
    shuffle: bool = False,
    on_rows: Callable[[int], None] = lambda rows: None,
) -> int:
    """Disguise the answers in a file, batch by batch; returns the number of reports.

    Nothing appears under the name `out` until everything is written. The reports are in the order of the answers unless
    `shuffle` mixes them.
    """
    randomness, policy = randomness_from(seed), missing or Missing()

    def reports_of(batch: pa.Table, first_row: int) -> pa.Table:
        answers = _answers(batch.column(question.attribute), policy, first_row)
        return pa.table(question.draw_reports(answers, randomness))

    document = question_document(question)
    note: dict[str, Any] = {"question": document["hash"], "question_document": document}
    if randomness.is_simulation:
        note["simulation"] = True
    answers = numbered_batches(source, [question.attribute], drop_others=drop_others, on_rows=on_rows)
    reports = (reports_of(*batch) for batch in answers)
    return write_reports(shuffle_reports(reports, randomness) if shuffle else reports, out, note, source)


def _answers(column: pa.ChunkedArray, missing: Missing, first_row: int) -> list[str]:
    absent = missing_values(column, missing.marks)
    if absent.any() and not missing.drop:
        raise InvalidInput(
            f"Row {first_row + int(absent.argmax()) + 1:,} has no answer. Drop such rows (--missing drop), or state an answer."
        )

    texts: list[str] = pc.utf8_trim_whitespace(as_text(column)).filter(~absent).to_pylist()
    return texts


def read_open_reports(places: Sequence[str], stated: OpenQuestion | None = None) -> tuple[OpenQuestion, pa.Table]:
    """The reports of one open question in all these files, folders and patterns, and the question itself."""
    question, tables = stated, []
    for file in (file for place in places for file in data_places(place)):
        carried = _carried_question(file)
        if question is None and carried is None:
            raise InvalidInput(
                f"{str(file)!r} does not carry its question. Give the document it was disguised with: --scheme Q."
            )
        question = question or carried
        if carried is not None and carried != question:
            raise SchemeMismatch(
                f"{str(file)!r} was disguised for another open question. Give its own document, and one question at a time."
            )
        checked_columns(column_names(file), COLUMNS, drop_others=True)
        tables.append(_whole_numbers(read_table(file, COLUMNS), file))
    if question is None:
        raise InvalidInput("Which reports? Name the files of an open question.")
    return question, pa.concat_tables(tables)


def _whole_numbers(table: pa.Table, file: Path) -> pa.Table:

    try:
        return table.select(COLUMNS).cast(pa.schema([(name, pa.int64()) for name in COLUMNS]))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidInput(
            f"{str(file)!r} must hold whole numbers in {', '.join(COLUMNS)}. Is it a report file?"
        ) from None


def _carried_question(file: Path) -> OpenQuestion | None:
    note = read_metadata(file) or {}
    document = note.get("question_document")
    return None if document is None else question_of(document, f"The note in {str(file)!r}")
