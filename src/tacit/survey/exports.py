"""Taking disguised reports out: CSV and Parquet with the scheme and a codebook, as `tacit estimate` reads them."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacit.errors import InvalidInput
from tacit.reports import scheme_note
from tacit.schema import PANEL, RESERVED, Attribute
from tacit.survey.answer_lists import IN_DEFINITION
from tacit.survey.questionnaire import RESPONSIBLE
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.survey.wire import Column
from tacit.table.files import table_writer

if TYPE_CHECKING:
    from tacit.reports import Reports

CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Download:
    """A file of the export: how it is made, piece by piece."""

    media_type: str
    chunks: Callable[[Store, StoredSurvey], Iterator[bytes]]


# What the mark of a panel is, in code books and labels.
PANEL_LABEL = "random mark of a respondent, the same in every wave of the panel (not disguised)"


def arrow_batches(store: Store, survey: StoredSurvey) -> Iterator[pa.Table]:
    """The reports in batches of columns, sets as lists."""
    schema = empty_table(survey).schema
    for rows in store.rows(survey, survey.exported):
        columns: dict[str, Any] = {}
        if survey.definition.is_panel:
            columns[PANEL] = pa.array([row[-1] for row in rows], pa.string())
            rows = [row[:-1] for row in rows]
        for column, values in zip(survey.wire.columns, zip(*rows, strict=True), strict=True):
            # What was not dealt is empty.
            read = [None if value is None else json.loads(value) for value in values] if column.members else values
            columns[column.name] = pa.array(read, schema.field(column.name).type)
        yield pa.table({name: columns[name] for name in schema.names})


def reports_of(store: Store, survey: StoredSurvey) -> Reports:
    """All reports in memory."""
    from tacit.reports import Reports

    batches = list(arrow_batches(store, survey))
    table = pa.concat_tables(batches) if batches else empty_table(survey)
    return Reports.from_arrow(table.select(list(survey.wire.names)), survey.definition.scheme)


def empty_table(survey: StoredSurvey) -> pa.Table:

    def kind(column: Column) -> pa.DataType:
        return pa.list_(pa.string()) if column.members else pa.int64() if column.is_whole_number else pa.string()

    columns = {column.name: pa.array([], kind(column)) for column in survey.wire.columns}
    return pa.table(columns | ({PANEL: pa.array([], pa.string())} if survey.definition.is_panel else {}))


def codebook(survey: StoredSurvey) -> str:
    """What each column means, as CSV; every label of a disguised column says so."""
    definition = survey.definition
    public = set(definition.scheme.public_names)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["column", "label", "answers", "channel"])
    for group in definition.groups:
        channel = json.dumps(group.to_document()["channel"])
        label = " + ".join(definition.label(name) for name in group.names)
        for attribute in group.report_attributes:
            shown = definition.label(attribute.name) if attribute.name in group.names else label
            cells = [attribute.name, f"{shown} (disguised)", _answers_cell(attribute), channel]
            writer.writerow(map(_harmless, cells))
    for attribute in definition.columns:
        if attribute.name in public:
            label = f"{definition.label(attribute.name)} (not disguised)"
            writer.writerow(map(_harmless, [attribute.name, label, _answers_cell(attribute), ""]))
    if definition.is_panel:
        writer.writerow([PANEL, PANEL_LABEL, "", ""])
    return text.getvalue()


def _answers_cell(attribute: Attribute) -> str:
    """All answers, or how many there are."""
    if attribute.size <= IN_DEFINITION + 3:
        return " | ".join(attribute.answers)
    if attribute.answers == tuple(map(str, range(attribute.size))):
        return f"a number from 0 to {attribute.size - 1}, which stands for many answers"
    return f"{attribute.size:,} answers: see answers-{attribute.name}.csv"


def _csv_chunks(store: Store, survey: StoredSurvey) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(survey.exported)
    for rows in store.rows(survey, survey.exported):
        writer.writerows(rows)
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def _file_chunks(
    name: str, write: Callable[[Store, StoredSurvey, Path], None]
) -> Callable[[Store, StoredSurvey], Iterator[bytes]]:
    """A file that must be complete before its first byte is known."""

    def chunks(store: Store, survey: StoredSurvey) -> Iterator[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(store, survey, path)
            with path.open("rb") as file:
                while piece := file.read(CHUNK_BYTES):
                    yield piece

    return chunks


def write_parquet(store: Store, survey: StoredSurvey, path: Path) -> None:

    fields = [field.with_metadata({"label": _label(survey, field.name)}) for field in empty_table(survey).schema]
    schema = pa.schema(fields)
    with table_writer(path, scheme_note(survey.definition.scheme, is_simulation=False)) as writer:
        writer.write(empty_table(survey).cast(schema))
        for table in arrow_batches(store, survey):
            writer.write(table.cast(schema))


def _label(survey: StoredSurvey, column: str) -> str:
    name = column.split("=")[0]
    if survey.definition.is_panel and name == PANEL:
        return PANEL_LABEL
    is_public = name in (*survey.definition.scheme.public_names, RESERVED)
    return f"{survey.definition.label(name)} ({'not disguised' if is_public else 'disguised'})"


def _text(make: Callable[[StoredSurvey], str]) -> Callable[[Store, StoredSurvey], Iterator[bytes]]:
    return lambda store, survey: iter([make(survey).encode()])


def _scheme_text(survey: StoredSurvey) -> str:
    return json.dumps(survey.definition.scheme.to_document(), indent=1, ensure_ascii=False) + "\n"


def _definition_text(survey: StoredSurvey) -> str:
    """What was frozen and promised, as its hash was taken: outsiders can enumerate it, and `tacit survey verify` does."""
    return survey.definition.to_json() + "\n"


def _label_text(survey: StoredSurvey) -> str:
    """What a report tells about each answer, as `tacit survey open --json` gave it."""
    from tacit.survey.promise import promise

    return json.dumps(promise(survey.definition)[0], indent=1, ensure_ascii=False) + "\n"


def consent_text(survey: StoredSurvey) -> str:
    """What everybody behind these reports agreed to, who answers for it, and the hash of the definition that it stood in."""
    definition = survey.definition
    kept = definition.document
    agreed = {language: definition.page_words(language)["consent"] for language in kept["languages"]}
    document = {
        "survey": definition.name,
        "wave": definition.wave,
        "definition_hash": definition.hash,
        "version": definition.fingerprint,
        "languages": kept["languages"],
        "consent": kept.get("consent"),
        "ticked": agreed,
        **{name: kept.get(name) for name in ("introduction", "contact", *RESPONSIBLE[1:], "retention")},
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _spss(store: Store, survey: StoredSurvey, path: Path) -> None:
    from tacit.survey.statistical_files import write_spss

    write_spss(store, survey, path)


def _stata(store: Store, survey: StoredSurvey, path: Path) -> None:
    from tacit.survey.statistical_files import write_stata

    write_stata(store, survey, path)


def _ddi(survey: StoredSurvey) -> str:
    from tacit.survey.statistical_files import ddi_codebook

    return ddi_codebook(survey)


def _python_script(survey: StoredSurvey) -> str:
    from tacit.survey.analysis_scripts import python_script

    return python_script(survey)


def _r_script(survey: StoredSurvey) -> str:
    from tacit.survey.analysis_scripts import r_script

    return r_script(survey)


DOWNLOADS = {
    "reports.csv": Download("text/csv; charset=utf-8", _csv_chunks),
    "reports.parquet": Download("application/vnd.apache.parquet", _file_chunks("reports.parquet", write_parquet)),
    "scheme.json": Download("application/json", _text(_scheme_text)),
    "definition.json": Download("application/json", _text(_definition_text)),
    "label.json": Download("application/json", _text(_label_text)),
    "consent.json": Download("application/json", _text(consent_text)),
    "codebook.csv": Download("text/csv; charset=utf-8", _text(codebook)),
    "codebook.ddi.xml": Download("application/xml; charset=utf-8", _text(_ddi)),
    "analysis.py": Download("text/x-python; charset=utf-8", _text(_python_script)),
    "analysis.R": Download("text/plain; charset=utf-8", _text(_r_script)),
    "questionnaire.yaml": Download("text/yaml; charset=utf-8", _text(lambda survey: survey.source)),
}
# Written where the extra `files` is installed.
STATISTICAL_DOWNLOADS = {
    "reports.sav": Download("application/x-spss-sav", _file_chunks("reports.sav", _spss)),
    "reports.dta": Download("application/x-stata-dta", _file_chunks("reports.dta", _stata)),
}
if importlib.util.find_spec("pyreadstat") is not None:
    DOWNLOADS |= STATISTICAL_DOWNLOADS


def downloads_of(survey: StoredSurvey) -> dict[str, Download]:
    """The files of a survey's export."""
    texts = (
        {"texts.csv": Download("text/csv; charset=utf-8", _texts_chunks)} if survey.definition.text_questions else {}
    )
    lists = {
        f"answers-{question['name']}.csv": Download("text/csv; charset=utf-8", _text(_list_of(question)))
        for question in survey.definition.questions
        if len(question["answers"]) > IN_DEFINITION
    }
    return DOWNLOADS | texts | lists


def _list_of(question: dict[str, Any]) -> Callable[[StoredSurvey], str]:
    """A long list of answers as a questionnaire names it in ``answers: {file: ...}``."""

    def make(survey: StoredSurvey) -> str:
        languages = survey.definition.document["languages"]
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(["name", *(f"label_{language}" for language in languages)])
        for answer in question["answers"]:
            writer.writerow([answer["name"], *(_harmless(answer["text"][language]) for language in languages)])
        return text.getvalue()

    return make


def _texts_chunks(store: Store, survey: StoredSurvey) -> Iterator[bytes]:
    """What people wrote, apart from their reports; cells that a spreadsheet would run are made harmless."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["question", "text"])
    writer.writerows((name, _harmless(content)) for name, content in store.texts(survey))
    yield text.getvalue().encode()


# What begins a formula: at the beginning of a cell, and after what other countries' spreadsheets take for the end of one
# (they split at semicolons or tabs, and then do not heed the quotes around a cell). The wide forms are East Asian.
_FORMULA = re.compile(r"(^|[;\t\r\n])(?=[\s\"]*[=+\-@＝＋－＠\t\r])")


def _harmless(cell: str) -> str:
    return _FORMULA.sub(r"\1'", cell)


def export_folder(
    store: Store, survey: StoredSurvey, folder: Path, progressed: Callable[[float], None] = lambda amount: None
) -> list[Path]:
    """Write all files of the export, as of one moment, into a new folder; it appears whole or not at all."""
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"The folder {str(folder)!r} is not empty. Name a new one with --out.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".export-") as temporary:
        whole = Path(temporary) / "export"
        whole.mkdir()
        with store.at_one_moment() as still:
            for name, download in downloads_of(survey).items():
                with (whole / name).open("wb") as file:
                    for chunk in download.chunks(still, survey):
                        file.write(chunk)
                        progressed(1)
        note = scheme_note(survey.definition.scheme, is_simulation=False)
        (whole / "reports.csv.json").write_text(json.dumps(note) + "\n", encoding="utf-8")
        for file_path in whole.iterdir():
            file_path.chmod(0o600)
        whole.chmod(0o700)
        if folder.exists():
            folder.rmdir()
        whole.rename(folder)
    return sorted(folder.iterdir())
