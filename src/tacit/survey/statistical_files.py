"""Reports for the programs that analysts use: SPSS and Stata files, and a DDI codebook.

Every label of a disguised variable begins with "disguised": whoever opens the file must not take a report for an answer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from tacit.extras import require
from tacit.schema import PANEL, RESERVED
from tacit.survey.answer_lists import IN_DEFINITION
from tacit.survey.store.surveys import Store, StoredSurvey

if TYPE_CHECKING:
    import pandas as pd

    from tacit.survey.definition import Definition
    from tacit.survey.wire import Column

NOTE = (
    "The answers were disguised by chance before they were sent. A single row says nothing reliable about a person; shares and "
    "links must be estimated with the chances in scheme.json, for example by: tacit estimate reports.parquet"
)
# Limits of the formats themselves: names of variables, and labels of variables in Stata and in SPSS, in bytes.
LONGEST_NAME = 32
LONGEST_STATA_LABEL = 80
LONGEST_SPSS_LABEL = 255


@dataclass(frozen=True)
class Variable:
    """A column of the reports as statistical programs know it."""

    column: str
    name: str
    label: str
    answers: tuple[str, ...]  # empty where the values stand for themselves
    is_text: bool

    @property
    def codes(self) -> dict[str, int]:
        """The number of each answer: its own where all answers are whole numbers, as on a scale from 0 to 10, else 1, 2, ..."""
        if all(re.fullmatch(r"-?\d{1,9}", answer) for answer in self.answers):
            return {answer: int(answer) for answer in self.answers}
        return {answer: code for code, answer in enumerate(self.answers, 1)}


def variables(survey: StoredSurvey) -> list[Variable]:
    """All columns, with names that every program takes."""
    taken: set[str] = set()
    marks = (
        [Variable(PANEL, PANEL, "random mark of a respondent", (), is_text=True)] if survey.definition.is_panel else []
    )
    return [*(_variable(survey, column, taken) for column in survey.wire.columns), *marks]


def _variable(survey: StoredSurvey, column: Column, taken: set[str]) -> Variable:
    short = re.sub(r"[^A-Za-z0-9_]+", "_", column.name).strip("_")[: LONGEST_NAME - 4] or "v"
    short = short if short[0].isalpha() else f"v_{short}"
    name, number = short, 2
    while name.lower() in taken:
        name, number = f"{short}_{number}", number + 1
    taken.add(name.lower())
    definition = survey.definition
    asked = re.split(r"[=:]", column.name)[0]
    is_public = asked in (*definition.scheme.public_names, RESERVED)
    text = " + ".join(definition.label(name) for name in asked.split("+"))
    label = f"{'not disguised' if is_public else 'disguised'}: {text}"
    values = [str(value) for value in column.table.values()]
    is_many = len(values) > IN_DEFINITION
    answers = () if column.members or column.is_whole_number or is_many else tuple(values)
    # Thousands of answers keep their own names; numbers that stand for sets of answers are numbers.
    is_text = bool(column.members) or (is_many and values != list(map(str, range(len(values)))))
    return Variable(column.name, name, " ".join(label.split()), answers, is_text=is_text)


def _shorten_label(label: str, longest: int) -> str:
    cut = label.encode()[:longest].decode(errors="ignore")
    return label if cut == label else cut[:-3].rstrip() + "..."


def coded_frame(store: Store, survey: StoredSurvey) -> pd.DataFrame:
    """All reports as numbers, in the order of the store, which says nothing."""
    import pandas as pd

    columns_shown = variables(survey)
    codes = [variable.codes for variable in columns_shown]
    columns: list[list[Any]] = [[] for _ in columns_shown]
    for rows in store.rows(survey, survey.exported):
        for values, one, codes_of, column in zip(zip(*rows, strict=True), columns_shown, codes, columns, strict=True):
            column.extend(values if one.is_text or not one.answers else [codes_of.get(str(value)) for value in values])
    # Whole numbers have no place for what was not dealt.
    kinds = [
        "float64" if None in column else _kind(variable)
        for variable, column in zip(columns_shown, columns, strict=True)
    ]
    data = {
        variable.name: pd.Series(column, dtype=kind)
        for variable, column, kind in zip(columns_shown, columns, kinds, strict=True)
    }
    return pd.DataFrame(data)


def _kind(variable: Variable) -> str:
    return "str" if variable.is_text else "int32" if variable.answers else "float64"


def write_spss(store: Store, survey: StoredSurvey, path: Path) -> None:
    """A .sav file with labels of variables and values."""
    require("files")
    import pyreadstat

    pyreadstat.write_sav(
        coded_frame(store, survey),
        path,
        file_label=survey.definition.title()[:60],
        note=[NOTE[start : start + 80] for start in range(0, len(NOTE), 80)],
        **_labels(survey, LONGEST_SPSS_LABEL),
    )


def write_stata(store: Store, survey: StoredSurvey, path: Path) -> None:
    """A .dta file with labels of variables and values."""
    require("files")
    import pyreadstat

    pyreadstat.write_dta(
        coded_frame(store, survey),
        path,
        file_label=survey.definition.title()[:60],
        version=15,
        **_labels(survey, LONGEST_STATA_LABEL),
    )


def _labels(survey: StoredSurvey, longest: int) -> dict[str, Any]:
    columns_shown = variables(survey)
    return {
        "column_labels": {variable.name: _shorten_label(variable.label, longest) for variable in columns_shown},
        "variable_value_labels": {
            variable.name: _value_labels(survey, variable) for variable in columns_shown if variable.answers
        },
    }


def _value_labels(survey: StoredSurvey, variable: Variable) -> dict[int, str]:
    """The words of the page for each number; the answer's own name where they differ in capitals only.

    An answer that is its number itself needs no label.
    """
    texts = {answer: survey.definition.answer_text(variable.column, answer) for answer in variable.codes}
    labels = {answer: answer if text.lower() == answer.lower() else text for answer, text in texts.items()}
    return {code: labels[answer] for answer, code in variable.codes.items() if labels[answer] != str(code)}


def ddi_codebook(survey: StoredSurvey) -> str:
    """What each column means, as a DDI Codebook 2.5 document (ddialliance.org)."""
    definition = survey.definition
    root = ElementTree.Element("codeBook", {"xmlns": "ddi:codebook:2_5", "version": "2.5"})
    study = ElementTree.SubElement(root, "stdyDscr")
    citation = ElementTree.SubElement(ElementTree.SubElement(study, "citation"), "titlStmt")
    ElementTree.SubElement(citation, "titl").text = definition.title()
    ElementTree.SubElement(citation, "IDNo", {"agency": "tacit"}).text = definition.hash
    method = ElementTree.SubElement(ElementTree.SubElement(study, "method"), "notes")
    method.text = NOTE
    data = ElementTree.SubElement(root, "dataDscr")
    laws = {name: json.dumps(group.to_document()["channel"]) for group in definition.groups for name in group.names}
    for variable in variables(survey):
        _ddi_variable(data, variable, laws, definition)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _ddi_variable(data: ElementTree.Element, one: Variable, laws: dict[str, str], definition: Definition) -> None:
    element = ElementTree.SubElement(data, "var", {"ID": one.name, "name": one.column})
    ElementTree.SubElement(element, "labl").text = one.label
    for answer in one.answers:
        category = ElementTree.SubElement(element, "catgry")
        ElementTree.SubElement(category, "catValu").text = answer
        ElementTree.SubElement(category, "labl").text = definition.answer_text(one.column, answer)
    law = laws.get(re.split(r"[+=:]", one.column)[0])
    if law is not None:
        ElementTree.SubElement(element, "notes", {"subject": "disguise"}).text = law
