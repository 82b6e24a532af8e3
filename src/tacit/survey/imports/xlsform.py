"""XLSForm: a workbook with the sheets survey, choices and settings, as ODK, KoboToolbox and SurveyCTO write it."""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.extras import require
from tacit.survey.imports.draft import LONGEST_SCALE, Draft, Texts, as_day, check_size
from tacit.survey.imports.expressions import as_number

Row = dict[str, str]

LANGUAGE_NAMES = {
    "english": "en", "german": "de", "deutsch": "de", "french": "fr", "français": "fr", "spanish": "es",
    "español": "es", "arabic": "ar", "chinese": "zh",
}  # fmt: skip
# What is asked about the device or the interview and not of the person; disguised surveys keep none of it.
METADATA = {
    "start", "end", "today", "deviceid", "subscriberid", "simserial", "phonenumber", "username", "email", "audit",
    "start-geopoint", "background-audio",
}  # fmt: skip
WAYS = {
    "note": "texts between questions are not shown. Put it into the introduction, a page's title or a question's help.",
    "time": "times of day are not asked. Ask for them in ranges, with kind: number and the hours.",
    "calculate": "nothing is calculated on the way. Calculate it from the estimates.",
    **dict.fromkeys(("acknowledge", "trigger"), "consent is asked for by the page itself."),
    **dict.fromkeys(
        ("geopoint", "geotrace", "geoshape"),
        "a place on the map says who answered. Ask for a region, with kind: choice.",
    ),
    **dict.fromkeys(("image", "audio", "video", "file", "barcode"), "files, pictures, sounds and scans are not sent."),
    **dict.fromkeys(("hidden", "csv-external", "xml-external"), "nothing is looked up or handed on unseen."),
    "rank": "rankings are not asked. Ask for the first choice, with kind: choice.",
}
FROM_FILE = (
    "its answers are in a file. Write the question with kind: choice and answers: {{file: {file}}}, and put the file beside the "
    "questionnaire, with the columns name and label."
)
COLUMNS_NOT_CARRIED = {
    "constraint": "answers come from a list, so they need no constraint.",
    "calculation": "nothing is calculated on the way.",
    "default": "an answer that stands there already would be sent unread.",
    "choice_filter": "all answers are offered. Write two questions where the lists differ.",
    "repeat_count": "nothing is repeated.",
    "trigger": "nothing is calculated on the way.",
    "readonly": "it can be answered. Take it out if it only shows something.",
}
MEDIA = ("image", "audio", "video", "big-image")
MOST_COLUMNS, MOST_EMPTY_ROWS = 300, 1000
# A form of 100,000 answers in three languages has about 30 MB unpacked. A few kilobytes can be packed that unpack to gigabytes.
MOST_ROWS, MOST_UNPACKED = 120_000, 40_000_000
SHEETS = ("survey", "choices", "settings")
_OLD_SELECT = re.compile(
    r"(?i)select[ _](?P<many>one|multiple|all that apply)\s+(?:from\s+)?(?P<list>\S+)(?P<other>\s+or[ _](?:specify[ _])?other)?$"
)


def read(path: Path) -> Draft:
    """The draft of a workbook; SurveyCTO's and KoboToolbox's spellings of columns are understood."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of pictures and the like, which no form needs
        sheets = _sheets(path)
    settings = sheets.get("settings", [{}])[0] if sheets.get("settings") else {}
    languages = _languages(sheets["survey"], settings.get("default_language", ""))
    draft = Draft(settings.get("form_id") or settings.get("form_title") or path.stem, tuple(languages.values()))
    draft.title = {draft.languages[0]: settings.get("form_title") or path.stem}
    _Form(draft, languages, _choices(sheets.get("choices", []), languages)).carry(sheets["survey"])
    return draft


def _sheets(path: Path) -> dict[str, list[Row]]:
    require("files")

    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(path) as packed:  # no more of a member is unpacked than the size that stands here
            unpacked = sum(
                member.file_size for member in packed.infolist() if not member.filename.startswith("xl/media/")
            )
        check_size(path, unpacked, MOST_UNPACKED, " when it is unpacked")
        workbook = load_workbook(path, read_only=True, data_only=True)
        names = [sheet.title for sheet in workbook.worksheets]
        sheets = {sheet.title.lower(): _rows(sheet) for sheet in workbook.worksheets if sheet.title.lower() in SHEETS}
        workbook.close()
    except InvalidInput:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, SyntaxError, ValueError) as problem:
        raise InvalidInput(f"{path.name!r} cannot be read as an Excel workbook: {problem}") from None
    if "survey" not in sheets:
        raise InvalidInput(f"{path.name!r} has no sheet 'survey', so it is no XLSForm. It has {', '.join(names)}.")
    return sheets


def _rows(sheet: Any) -> list[Row]:
    """The rows of a sheet under its header; more than a form has are refused, not read on.

    The first row names all columns; the others leave their empty cells out.
    """
    filled = _filled_rows(sheet)
    header = [name if "::" in name else name.lower().replace(" ", "_") for name in next(filled, [])]
    rows: list[Row] = []
    for texts in filled:
        if len(rows) >= MOST_ROWS:
            raise InvalidInput(
                f"The sheet {sheet.title!r} has more than {MOST_ROWS:,} rows. Put long lists of answers into a CSV file "
                "(answers: {file: ...})."
            )
        rows.append({name: text for name, text in zip(header, texts, strict=False) if text or not rows})
    return rows


def _filled_rows(sheet: Any) -> Iterator[list[str]]:
    """The rows of a sheet that hold something; sheets that were painted to their end have a million that do not."""
    sheet.reset_dimensions()
    empty = 0
    for row in sheet.iter_rows(values_only=True, max_col=MOST_COLUMNS):
        texts = ["" if cell is None else str(cell).strip() for cell in row]
        empty = 0 if any(texts) else empty + 1
        if not empty:
            yield texts
        elif empty > MOST_EMPTY_ROWS:
            return


def _languages(survey: list[Row], default: str) -> dict[str, str]:
    """From the column's own name of a language to its tag; ``""`` is a column without one."""
    named = [column.partition("::")[2].strip() for column in (survey[0] if survey else {}) if _is_label(column)]
    named = [name for name in named if name]
    if not named:
        return {"": _tag(default) if default and default != "default" else "en"}
    ordered = sorted(named, key=lambda name: name != default)
    return {name: _tag(name) for name in ordered}


def _is_label(column: str) -> bool:
    return column.partition("::")[0].strip().lower() == "label"


def _tag(name: str) -> str:
    within = re.search(r"\(([A-Za-z-]{2,8})\)", name)
    short = name.lower()
    tag = within[1] if within else LANGUAGE_NAMES.get(short, short if re.fullmatch(r"[a-z]{2,3}", short) else "")
    if not tag:
        raise InvalidInput(f"The language {name!r} has no tag. Write it behind the name, as in 'label::Polski (pl)'.")
    return tag


def _texts(row: Mapping[str, str], column: str, languages: Mapping[str, str]) -> Texts:
    given: Texts = {}
    for name, tag in languages.items():
        spellings = (column, f"{column}::{name}", f"{column}:{name}")
        text = next((row[spelling] for spelling in spellings if row.get(spelling)), row.get(column, ""))
        if text:
            given[tag] = text
    return given


def _choices(rows: list[Row], languages: Mapping[str, str]) -> dict[str, list[tuple[str, Texts]]]:
    lists: dict[str, list[tuple[str, Texts]]] = {}
    for row in rows:
        name = row.get("list_name") or row.get("list-name") or ""
        value = row.get("name") or row.get("value") or ""
        lists.setdefault(name, []).append(
            (value, _texts(row, "label", languages) or dict.fromkeys(languages.values(), value))
        )
    return lists


@dataclass
class _Form:
    """The rows of a survey, one after the other."""

    draft: Draft
    languages: Mapping[str, str]
    lists: Mapping[str, list[tuple[str, Texts]]]
    repeats: int = 0  # how many repeated groups the row at hand stands in
    within: list[tuple[str, bool]] = field(default_factory=list)  # the conditions of its groups, and which are carried

    def carry(self, rows: list[Row]) -> None:
        for row in rows:
            if not _is_true(row.get("disabled")):
                self._row(row)
        metadata = sorted({row.get("type", "").lower() for row in rows} & METADATA)
        if metadata:
            self.draft.leave_out(", ".join(metadata), "nothing about the device, the place or the time is kept.")

    def _row(self, row: Row) -> None:
        row_type, _, rest = _plain_spelling(row.get("type", "")).partition(" ")
        row_type = row_type.lower()
        begins, ends = row_type.startswith("begin"), row_type.startswith("end")
        if (begins or ends) and "repeat" in f"{row_type} {rest}".lower():
            self.repeats = max(0, self.repeats + (1 if begins else -1))  # an end without its beginning ends nothing
            if begins:
                self._leave_row(
                    row, "repeated questions are asked once at most. Ask about the number, and about one of them."
                )
        elif self.repeats:
            if not (begins or ends or row_type in ("", *METADATA)):
                self._leave_row(row, "it is repeated. Ask about one of them, with a question of its own.")
        elif begins:
            self._begin_group(row)
        elif ends:
            del self.within[-1:]
        elif row_type not in ("", *METADATA):
            self._question(row, row_type, rest.strip())

    def _begin_group(self, row: Row) -> None:
        self.draft.page(_texts(row, "label", self.languages) or None)
        said = row.get("relevant", "")
        self.within.append((said, not said or self.draft.when(said) is not None))
        self._columns(row, is_group=True)

    def _question(self, row: Row, row_type: str, rest: str) -> None:
        text, name = _texts(row, "label", self.languages), row.get("name", "")
        if row_type in ("select_one", "select_multiple"):
            question = self._selection(row, row_type, rest, text)
        elif row_type in ("integer", "decimal", "range"):
            question = self._number(row, row_type, text)
        elif row_type in ("date", "datetime"):
            question = self._day(name, row_type, text, row.get("constraint", ""))
        elif row_type == "text":
            needed = _is_true(row.get("required"))
            left = [said for said, is_carried in self.within if not is_carried]
            question = self.draft.open_text(name, text, is_required=needed, only_if=" and ".join(left))
        else:
            is_in_file = row_type.endswith(("_from_file", "_external"))
            way = FROM_FILE.format(file=rest.strip() or "answers.csv") if is_in_file else WAYS.get(row_type)
            self._leave_row(row, way or f"questions of type {row_type!r} are not asked. Write it anew.")
            return
        if question is None:
            return
        hint = _texts(row, "hint", self.languages)
        if hint:
            question["help"] = self.draft.text(hint)
        around = [said for said, is_carried in self.within if is_carried]
        left = [said for said, is_carried in self.within if not is_carried]
        self.draft.condition(name, question, *around, row.get("relevant", ""), left=" ".join(left))
        self._columns(row, is_group=False)

    def _selection(self, row: Row, row_type: str, rest: str, text: Texts) -> dict[str, Any] | None:
        listed, *others = rest.split()[:2] if rest else ("",)
        name = row.get("name", "")
        if others and others[0].startswith("or_other"):
            self.draft.leave_out(
                f"'or_other' of {name!r}", "open text identifies people. Add an answer 'other' to the list."
            )
        if listed not in self.lists:
            self._leave_row(row, f"its list {listed!r} is not in the sheet 'choices'. Add it there.")
            return None
        ask = self.draft.several if row_type == "select_multiple" else self.draft.choice
        question = ask(name, text, self.lists[listed])
        return self.draft.shuffle(question) if _is_true(_parameters(row).get("randomize")) else question

    def _number(self, row: Row, row_type: str, text: Texts) -> dict[str, Any] | None:
        name = row.get("name", "")
        if row_type == "range":
            given = _parameters(row)
            low, high, step = (
                as_number(given.get(key, other)) for key, other in (("start", 0), ("end", 10), ("step", 1))
            )
            if low is None or high is None or step != 1 or low != int(low) or not 1 <= high - low <= LONGEST_SCALE:
                return self.draft.number(name, text, low, high)
            return self.draft.scale(name, text, int(low), int(high))
        return self.draft.number(name, text, *_bounds(row.get("constraint", "")))

    def _day(self, name: str, row_type: str, text: Texts, constraint: str) -> dict[str, Any] | None:
        if row_type == "datetime":
            self.draft.leave_out(f"the time of day of {name!r}", "only the day is asked.")
        day = r"date\(\s*['\"](\d{4}-\d{2}-\d{2})['\"]\s*\)"
        low, high = (re.search(rf"\.\s*{sign}=?\s*{day}", constraint) for sign in "><")
        return self.draft.day(name, text, as_day(low and low[1]), as_day(high and high[1]))

    def _columns(self, row: Row, *, is_group: bool) -> None:
        """Name the columns that mean something and are not carried over."""
        is_ranged = row.get("type", "").lower() in ("integer", "decimal", "date", "datetime")
        carried = {"constraint"} if is_ranged else set()
        for column, way in COLUMNS_NOT_CARRIED.items():
            if row.get(column) and column not in carried:
                self.draft.leave_out(f"{column} of {row.get('name', '')!r}", way)
        if any(value and _is_media(column) for column, value in row.items()):
            self.draft.leave_out(
                f"the picture or sound of {row.get('name', '')!r}", "only texts are shown. Say it in words."
            )
        if is_group and not self.within[-1][1]:
            way = "its questions are asked of everybody. Write the condition with each of them."
            self.draft.leave_out(f"the condition of the group {row.get('name', '')!r} ({row['relevant']})", way)

    def _leave_row(self, row: Row, way: str) -> None:
        self.draft.leave_out(f"{row.get('type', '')} {row.get('name', '')!r}", way)


def _is_true(said: str | None) -> bool:
    return (said or "").lower() in ("yes", "true", "true()")


def _is_media(column: str) -> bool:
    """Whether a column names files to show: ``media::image``, ``image::English (en)``, ``audio``."""
    return next((word for word in column.lower().split("::") if word != "media"), "") in MEDIA


def _parameters(row: Row) -> dict[str, str]:
    pieces = row.get("parameters", "").replace(",", " ").replace(";", " ").split()
    return {key: value for key, _, value in (piece.partition("=") for piece in pieces)}


def _plain_spelling(row_type: str) -> str:
    """A type as it is written today: ``select one from towns or specify other`` is ``select_one towns or_other``."""
    old = _OLD_SELECT.match(row_type.strip())
    if old is None:
        return row_type
    name = "select_one" if old["many"].lower() == "one" else "select_multiple"
    return f"{name} {old['list']}{' or_other' if old['other'] else ''}"


def _bounds(constraint: str) -> tuple[float | None, float | None]:
    """The least and the greatest value in ``. >= 0 and . <= 120``."""
    number = r"(-?\d+(?:\.\d+)?)"
    low = re.search(rf"\.\s*>=?\s*{number}", constraint)
    high = re.search(rf"\.\s*<=?\s*{number}", constraint)
    return float(low[1]) if low else None, float(high[1]) if high else None
