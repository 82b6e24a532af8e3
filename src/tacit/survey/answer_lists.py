"""Questions with thousands of answers: read from a file beside the questionnaire, and kept apart from the definition.

A definition names a long list of answers by its hash and says how many there are, so that its own hash covers every name
and text while the page stays small: it fetches the list when it is needed and takes it only with that hash. Here the two
are put together and taken apart again. A file of a definition carries its lists in ``lists``, which its hash leaves out.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.channel.document import canonical
from tacit.errors import InvalidInput
from tacit.survey.definition_questions import has_one_answer
from tacit.survey.questionnaire import Texts
from tacit.survey.yaml_lines import Located

# Up to so many answers stand in the definition itself, and in the page.
IN_DEFINITION = 500
# More than this is more than a phone should load before it can ask: 100,000 codes with a name of 30 letters are about 5 MB,
# 1 to 1.5 MB of them sent.
MOST_ANSWERS = 100_000
LARGEST_LIST = 16 << 20

Document = dict[str, Any]
_LABEL = re.compile(r"label(?:_(?P<language>[A-Za-z0-9-]+))?")


def is_file(entry: Located) -> bool:
    """Whether answers are given as ``{file: codes.csv}``; a choice of one answer called "file" would be none."""
    return isinstance(entry.value, dict) and set(entry.value) == {"file"}


def read_file(entry: Located, folder: Path | None, languages: Sequence[str]) -> list[tuple[str, Located, Texts]]:
    """Names and texts of the answers in a CSV file with the columns ``name`` and ``label``, and where each stands.

    A column ``label_de`` holds the texts in that language; ``label`` stands for every language without one, and the name
    where there is no label at all.
    """
    path = entry.entries()["file"].file_beside(folder, "A file of answers")
    name = path.name
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        entry.refuse(f"{name} cannot be read as CSV in UTF-8: {error}.")
    columns = _columns(rows[0] if rows else [], entry, name, languages)
    answers = []
    for number, row in enumerate(rows[1:], 2):
        place = Located(row, name, number)
        if not row:
            continue
        if len(row) != len(rows[0]):
            place.refuse(
                f"this line has {len(row)} cells, the first line {len(rows[0])}. Put texts with a comma in quotes."
            )
        texts = {language: row[at].strip() for language, at in columns.items()}
        answers.append((row[rows[0].index("name")].strip(), place, texts))
        if not all((answers[-1][0], *texts.values())):
            place.refuse("a name or a label is empty. Give every answer both.")
    return answers


def _columns(header: Sequence[str], entry: Located, name: str, languages: Sequence[str]) -> dict[str, int]:
    """Which column holds the texts of each language."""
    columns = {}
    for at, column in enumerate(header):
        label = _LABEL.fullmatch(column)
        if column != "name" and (label is None or label["language"] not in (None, *languages)):
            entry.refuse(
                f"{name} has a column {column!r}. Allowed are name, label, and label_ with a language of the questionnaire: "
                f"{', '.join(languages)}."
            )
        if label is not None:
            columns[label["language"]] = at
    if "name" not in header or len(set(header)) < len(header):
        entry.refuse(f"{name} must begin with a line that names its columns, each once, such as: name,label")
    return {language: columns.get(language, columns.get(None, header.index("name"))) for language in languages}


def check_count(entry: Located, count: int) -> None:
    if count > MOST_ANSWERS:
        entry.refuse(
            f"{count:,} answers are more than a page can offer; at most {MOST_ANSWERS:,} are allowed. Offer shorter codes "
            "(the first digits), or ask in two steps that do not depend on each other."
        )


def list_text(answers: Sequence[Mapping[str, Any]], languages: Sequence[str]) -> str:
    """A list of answers as it is served and hashed."""
    names = [answer["name"] for answer in answers]
    texts = {language: [answer["text"][language] for answer in answers] for language in languages}
    return canonical({"names": names, "texts": texts})


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def taken_apart(document: Document) -> tuple[Document, dict[str, str]]:
    """The document with its long lists of answers as hashes, and their texts by hash."""
    lists: dict[str, str] = {}
    shortened: dict[str, Document] = {}
    for question in (question for page in document["pages"] for question in page["questions"]):
        if has_one_answer(question) and len(question["answers"]) > IN_DEFINITION:
            text = list_text(question["answers"], document["languages"])
            lists[text_hash(text)] = text
            shortened[question["name"]] = {"list": text_hash(text), "count": len(question["answers"])}
    if not shortened:
        return document, {}
    pages = [
        {**page, "questions": [_with(question, shortened.get(question["name"])) for question in page["questions"]]}
        for page in document["pages"]
    ]
    scheme = document["scheme"]
    attributes = [
        _with(
            attribute,
            {**shortened[attribute["name"]], "more": attribute["answers"][shortened[attribute["name"]]["count"] :]},
        )
        if attribute["name"] in shortened
        else attribute
        for attribute in scheme["attributes"]
    ]
    return {**document, "pages": pages, "scheme": {**scheme, "attributes": attributes}}, lists


def _with(one: Document, answers: Document | None) -> Document:
    return one if answers is None else {**one, "answers": answers}


def put_together(document: Document, lists: Mapping[str, str]) -> Document:
    """The document with every answer in its place; a list that is not the one its hash names is refused."""
    read = {mark: _read(mark, text) for mark, text in lists.items()}
    pages = [
        {**page, "questions": [_with(question, _answers(question["answers"], read)) for question in page["questions"]]}
        for page in document["pages"]
    ]
    attributes = [
        _with(attribute, _names(attribute["answers"], read)) for attribute in document["scheme"]["attributes"]
    ]
    return {**document, "pages": pages, "scheme": {**document["scheme"], "attributes": attributes}}


def _read(mark: str, text: str) -> Document:
    if text_hash(text) != mark:
        raise InvalidInput(
            "A list of answers was changed after the definition was made: its hash differs. Take the list of the same "
            "export as the definition, or the address of the running survey."
        )
    return dict(json.loads(text))


def _answers(given: Any, lists: Mapping[str, Document]) -> Any:
    if not isinstance(given, dict):
        return given
    content = _named_list(given, lists)
    languages = list(content["texts"])
    rows = zip(content["names"], *content["texts"].values(), strict=True)
    return [{"name": name, "text": dict(zip(languages, texts, strict=True))} for name, *texts in rows]


def _names(given: Any, lists: Mapping[str, Document]) -> Any:
    return [*_named_list(given, lists)["names"], *given["more"]] if isinstance(given, dict) else given


def _named_list(given: Mapping[str, Any], lists: Mapping[str, Document]) -> Document:
    if given.get("list") not in lists:
        raise InvalidInput(
            "The definition names a list of answers that is missing. Give definition.json of the export, or the address "
            "of the running survey."
        )
    content = lists[given["list"]]
    if len(content["names"]) != given["count"]:
        raise InvalidInput(
            f"The definition says that a list has {given['count']:,} answers, and it has {len(content['names']):,}."
        )
    return content


def lists_named(document: Document) -> list[str]:
    """The hashes of the lists that a document names, each once."""
    every = [question["answers"] for page in document["pages"] for question in page["questions"]]
    every += [attribute["answers"] for attribute in document["scheme"]["attributes"]]
    return list(dict.fromkeys(str(attribute.get("list")) for attribute in every if isinstance(attribute, dict)))
