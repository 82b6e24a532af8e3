"""Questionnaires of other tools, carried over: XLSForm workbooks and SurveyJS documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.survey.imports import surveyjs, xlsform
from tacit.survey.imports.draft import Draft


def carried_over(
    path: Path, public: Sequence[str] = (), sensitive: Sequence[str] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The questionnaire in another tool's file, as a document for YAML, and what was left out of it."""
    if not path.is_file():
        raise InvalidInput(f"There is no file {str(path)!r}.")
    readers: dict[str, Callable[[Path], Draft]] = {".xlsx": xlsform.read, ".json": surveyjs.read}
    if path.suffix.lower() == ".xls":
        raise InvalidInput(f"{path.name!r} is an old Excel workbook. Save it as .xlsx, and carry that over.")
    if path.suffix.lower() not in readers:
        raise InvalidInput(
            f"{path.name!r} is neither an XLSForm workbook (.xlsx: ODK, KoboToolbox, SurveyCTO) nor a SurveyJS document "
            "(.json), the two that can be carried over. Save it as one of them, or write it anew: tacit survey new"
        )
    draft = readers[path.suffix.lower()](path)
    return draft.document(public, sensitive), draft.left_out


def questionnaire_text(document: Mapping[str, Any], source: str, left_out: Sequence[str]) -> str:
    """The YAML file of a questionnaire that was carried over, which says at its top what was not."""
    import yaml

    head = [f"# Carried over from {source}. Questions are disguised unless they say sensitive: false."]
    head += ["# Left out or changed:", *(f"# - {line}" for line in left_out)] if left_out else []
    written = yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=100)
    return "\n".join([*(line.replace("\n", " ") for line in head), written])
