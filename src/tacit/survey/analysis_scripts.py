"""Scripts that load an export and estimate every answer: in Python with Tacit, and in base R with nothing else.

An estimate is linear in the reports: each possible report, or each member of a set that is reported, has a weight for each
answer. The R script carries these weights as the scheme gives them, so R neither inverts nor knows any channel.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InvalidInput
from tacit.estimation.group_parts import Part, parts_for
from tacit.schema import RESERVED
from tacit.survey.store.surveys import StoredSurvey

if TYPE_CHECKING:
    from tacit.channel.scheme import Group, Questionnaire
    from tacit.schema import Attribute

# Weights of one question that are written into a script; beyond, `tacit estimate` does it.
MOST_WEIGHTS = 1 << 14


def python_script(survey: StoredSurvey) -> str:
    """Loads the export and estimates every answer."""
    names = list(survey.definition.scheme.schema.names)  # questions, which may share a column of the reports
    return f'''"""Estimates from the survey {survey.definition.name!r}. Needs: pip install tacit"""

import tacit

reports = tacit.Reports.read("reports.parquet", tacit.Scheme.read("scheme.json"))
for name in {names!r}:
    print(tacit.estimate(reports, [name]).summary())
    print()
'''


def r_script(survey: StoredSurvey) -> str:
    """Loads the export in base R and estimates every answer, also of routed questions, groups, sets, bits and versions."""
    blocks = "\n".join(
        line for questionnaire in survey.definition.scheme.questionnaires for line in _version(survey, questionnaire)
    )
    return f"""# Estimates from the survey {_r_text(survey.definition.name)}, in base R.
# The reports are disguised: shares of reports are not shares of answers. Every possible report has a weight for each
# answer, from the known chances of the disguise, and the mean weight is the unbiased estimate. Its error is that of a
# random sample of people. Where reports leave a choice of weights, these are the best ones if all answers are equally
# common; `tacit estimate reports.parquet` chooses by the data, and also pools versions of a questionnaire.
reports <- read.csv("reports.csv", check.names = FALSE, colClasses = "character", na.strings = "", encoding = "UTF-8")

shown <- function(question, answers, share, square, n, version) {{
  told <- data.frame(question = question, answer = answers, share = share,
                     standard_error = sqrt(pmax(square - share^2, 0) / n), reports = n)
  if (version != "") told$version <- version
  print(told, digits = 10)
}}

# Reports of one answer each, in one column or several: weights[answer, report], the last column's answers fastest.
undone <- function(question, answers, rows, levels, weights, version = "") {{
  code <- 0
  for (column in names(levels)) code <- code * length(levels[[column]]) + match(rows[[column]], levels[[column]]) - 1
  shares <- tabulate(code + 1, ncol(weights)) / nrow(rows)
  shown(question, answers, as.numeric(weights %*% shares), as.numeric(weights^2 %*% shares), nrow(rows), version)
}}

# Reports that show several answers: a weight for each that is shown, and the last one for every report.
undone_shown <- function(question, answers, is_shown, weights, version = "") {{
  each <- cbind(matrix(is_shown, ncol = ncol(weights) - 1), 1) %*% t(weights)
  shown(question, answers, colMeans(each), colMeans(each^2), nrow(each), version)
}}

{blocks}
"""


def _version(survey: StoredSurvey, questionnaire: Questionnaire) -> Iterator[str]:
    """What is asked in one version of a questionnaire, from the reports of those who were dealt it."""
    rows, version = "reports", ""
    if survey.definition.scheme.is_dealt:
        rows, version = "dealt", f", {_r_text(questionnaire.name)}"
        yield f"dealt <- reports[reports[[{_r_text(RESERVED)}]] == {_r_text(questionnaire.name)}, ]"
        yield f"cat({_r_text(f'Version {questionnaire.name}, not pooled with the others:')}, fill = TRUE)"
    for attribute in questionnaire.public:
        yield f"print(prop.table(table({rows}[[{_r_text(attribute.name)}]])))"
    for group in questionnaire.groups:
        for attribute in group.attributes:
            (group_part,) = parts_for(questionnaire, [attribute.name])
            yield _estimate(group, attribute, group_part, rows, version)


def _estimate(group: Group, attribute: Attribute, part: Part, rows: str, version: str) -> str:
    if not part.estimator.is_invertible():
        return f"# {attribute.name}: the reports do not tell its answers apart."
    columns = part.channel.report_attributes(
        [attribute for attribute in group.attributes if attribute.name in part.covered]
    )
    read, cells = _read(columns, rows), math.prod(part.estimator.tally_shape)
    if read is None or cells * attribute.size > MOST_WEIGHTS:
        why = "reports that base R does not read" if read is None else "too many possible reports for a script"
        return f"# {attribute.name}: {why}; estimate with: tacit estimate reports.parquet"
    weights = part.estimator.solve(np.eye(cells).reshape(*part.estimator.tally_shape, cells)).reshape(-1)
    matrix = f"matrix(c({', '.join(f'{weight:.17g}' for weight in weights)}), {attribute.size}, byrow = TRUE)"
    function = "undone" if part.shows_one else "undone_shown"
    return f"{function}({_r_text(attribute.name)}, {_r_list(attribute.answers)}, {read}, {matrix}{version})"


def _read(columns: Sequence[Attribute], rows: str) -> str | None:
    """How R reads these columns of the reports; None where it would have to know the channel."""
    first = columns[0]
    if all(column.shows == "one" for column in columns):
        levels = ", ".join(f"{_r_text(column.name)} = {_r_list(column.answers)}" for column in columns)
        return f"{rows}, list({levels})"
    if len(columns) == 1 and first.shows == "bits":
        bits = _r_list([f"{first.name}={answer}" for answer in first.answers])
        return f"sapply({rows}[{bits}], as.numeric)"
    # A set is a JSON list; a quoted answer is searched in it, unless it holds what quotes or separates answers.
    is_plain = not any(answer.startswith(", ") or '"' in answer or "\\" in answer for answer in first.answers)
    if len(columns) == 1 and first.shows == "set" and is_plain:
        quoted = _r_list([json.dumps(answer, ensure_ascii=False) for answer in first.answers])
        return f"sapply({quoted}, grepl, {rows}[[{_r_text(first.name)}]], fixed = TRUE)"
    return None


def _r_list(texts: Sequence[str]) -> str:
    return f"c({', '.join(map(_r_text, texts))})"


def _r_text(text: str) -> str:
    if "\0" in text:
        raise InvalidInput(f"The text {text!r} holds a NUL character, which no file of these formats takes.")
    return json.dumps(text, ensure_ascii=False)
