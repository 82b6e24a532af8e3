"""``tacit survey status | results | offer``: what the reports say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.survey.store import DEFAULT_STORE, JsonOption, StoreOption, SurveyArgument, opened_store, record, show
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.survey.questionnaire import Margins
    from tacit.survey.store.surveys import Store, StoredSurvey


def status(
    survey: Annotated[
        str | None, typer.Argument(help="The survey's name, name/wave, or fingerprint; all surveys if not said.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show how many reports each survey has."""
    with opened_store(store) as opened:
        surveys = [opened.named(survey)] if survey else opened.surveys()
        rows = [_status_row(opened, stored) for stored in surveys]
    lines = [
        f"{row['name']} (wave {row['wave']}, {row['state']}): {row['reports']} reports, {row['tests']} tests, "
        f"{row['codes']} codes, {row['started']} started, {row['withdrawn']} withdrawn"
        + "".join(f"\n  quota {quota['said']}" for quota in row["quotas"])
        + "".join(f"\n  panel: {stored['said']}" for stored in row["attrition"])
        for row in rows
    ]
    if any(row["quotas"] for row in rows):
        from tacit.survey.quotas import MET_NOT_GUARANTEED

        lines.append(MET_NOT_GUARANTEED)
    show({"surveys": rows}, lines or ["No survey has been opened in this store."], as_json=as_json)


def _status_row(store: Store, survey: StoredSurvey) -> dict[str, Any]:
    from tacit.survey.quotas import quota_counts

    counts = store.counts(survey)
    return {
        "name": survey.definition.name,
        "wave": survey.definition.wave,
        "state": survey.state,
        "fingerprint": survey.fingerprint,
        "reports": counts.reports,
        "tests": counts.tests,
        "codes": counts.codes,
        "started": counts.started,
        "withdrawn": counts.withdrawn,
        "quotas": [{**quota.to_document(), "said": str(quota)} for quota in quota_counts(store, survey)],
        "attrition": [{**round.to_document(), "said": str(round)} for round in store.attrition(survey)],
    }


def results(
    survey: SurveyArgument,
    by: Annotated[str | None, typer.Option(help="Also show tables of each question by this question.")] = None,
    fakes: Annotated[
        int, typer.Option(min=0, help="Show how far this many fake respondents could move each share.")
    ] = 10,
    population: Annotated[
        Path | None,
        typer.Option(help="File of the population's shares of public answers (YAML), to weight the reports."),
    ] = None,
    change: Annotated[
        bool, typer.Option("--change", help="Show instead how far each share changed between the declared waves.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Show estimates with 95% intervals, and whether the reports look as the page would make them."""
    if change:
        _changes(survey, by, store, population, as_json=as_json)
        return
    with opened_store(store) as opened:
        from tacit.survey.dashboard import results_document

        stored = opened.named(survey)
        if by is not None:
            stored.definition.scheme.schema[by]  # refuses an unknown name with a suggestion
        margins = _margins(stored, population)
        document = results_document(opened, stored, by, fakes=fakes, population=margins)
    show(document, _result_lines(document), as_json=as_json)


def _changes(survey: str, by: str | None, store: str, population: Path | None, *, as_json: bool) -> None:
    from tacit.survey.changes import series_changes

    if population is not None:
        raise InvalidInput(
            "--population weights the shares of one wave; --change compares the reports of two as they came."
        )
    with opened_store(store) as opened:
        stored = opened.named(survey)
        if by is not None:
            stored.definition.scheme.schema[by]  # refuses an unknown name with a suggestion
        document = series_changes(opened, stored, by)
    show(document, _change_lines(document), as_json=as_json)


def _change_lines(document: dict[str, Any]) -> list[str]:
    lines = ["; ".join(f"wave {wave['wave']}: {wave['n_reports']:,} reports" for wave in document["waves"])]
    heading = None
    for row in document["changes"]:
        title = f"\n{row['label']}, from wave {row['from_wave']} to wave {row['to_wave']}"
        if title != heading:
            lines.append(heading := title)
        answer = f"{row['group_label']} / {row['answer_label']}" if row["group_label"] else row["answer_label"]
        if row["difference"] is None:
            lines.append(f"  {answer:30} too few people to tell")
            continue
        points = f"{100 * row['difference']:+.1f} points ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})"
        lines.append(f"  {answer:30} {row['from']:.1%} to {row['to']:.1%}: {points}, p = {row['p']:.3g}")
    note = "Errors are for a population in which one person's answers are not negatively correlated over time."
    return [*lines, "", note]


def _margins(survey: StoredSurvey, file: Path | None) -> Margins | None:
    if file is None:
        return None
    from tacit.survey.weighting import given_margins

    if not file.is_file():
        raise InvalidInput(f"There is no file {str(file)!r} with the shares of a population.")
    return given_margins(survey.definition, file.read_text(encoding="utf-8"), file.name)


def _result_lines(document: dict[str, Any]) -> list[str]:
    lines = [f"{document['n_reports']} disguised reports", *document["warnings"]]
    for table in [*document["questions"], *document["crossed"]]:
        lines.append(f"\n{table['label']} ({'disguised' if table['disguised'] else 'not disguised'})")
        for cell in table["cells"]:
            answer = f"{cell['by_label']} / {cell['label']}" if "by" in cell else cell["label"]
            lines.append(_cell_line(answer, cell))
        if table.get("hidden"):
            lines.append(f"  ({table['hidden']} rows about too few people are not shown)")
        if table.get("unlisted"):
            lines.append(f"  ({table['unlisted']:,} more answers: smaller, or not to be told from none)")
    lines += _weighted_lines(document)
    for table in document["groups"]:
        lines.append(f"\n{table['label']}: {table['verdict']}")
        lines += [_cell_line(f"{cell['by_label']}: {cell['label']}", cell) for cell in table["cells"]]
    lines += _compared_lines(document["arms"], "asked directly") + _compared_lines(document["controls"], "known")
    lines.append("")
    if document["second_round"] is not None:
        lines.extend([f"Second round. {document['second_round']['text']}", ""])
    lines.extend(f"{', '.join(fit['attributes'])}: {fit['verdict']}" for fit in document["fit"])
    return lines


def _cell_line(answer: str, cell: dict[str, Any]) -> str:
    return f"  {answer:30} {cell['probability']:7.1%}   {cell['low']:.1%} to {cell['high']:.1%}"


def _weighted_lines(document: dict[str, Any]) -> list[str]:
    weighted = document["weighted"]
    if weighted is None:
        return []
    lines = ["", *weighted["notes"]]
    for table in weighted["questions"]:
        lines.append(f"\n{table['label']} (weighted)")
        lines += [_cell_line(cell["label"], cell) for cell in table["cells"]]
    return lines


def _compared_lines(compared: list[dict[str, Any]], other: str) -> list[str]:
    lines = [""] if compared else []
    for comparison in compared:
        shares = f"disguised {comparison['disguised']:.1%}, {other} {comparison['other']:.1%}"
        error = f"standard error {100 * comparison['standard_error']:.1f}, p = {comparison['p']:.3g}"
        lines.append(
            f"{comparison['label']} {comparison['answer_label']}: {shares}, "
            f"difference {100 * comparison['difference']:+.1f} points ({error})"
        )
    return lines


def offer(
    survey: SurveyArgument,
    target: Annotated[
        str | None, typer.Option("--class", help="Question whose answers the classifier predicts.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="Classifier: tree, bayes, logistic, best, or a file written by tacit mine ... --export.")
    ] = "tree",
    about: Annotated[
        Literal["true", "personal"],
        typer.Option(
            help="What the classifier is tested on: true answers (one disguised bit), or random answers, as published."
        ),
    ] = "true",
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Freeze a classifier, mined from the reports or read from a file, and offer it for the second round."""
    with opened_store(store) as opened:
        from tacit.survey.second_round import offer_classifier

        document = offer_classifier(opened, opened.named(survey), target, model, about)
        record(opened, "offered a classifier", document["target"])
    sentence = f"A classifier of {document['target']!r} ({model}) is offered; results show how often it was right."
    show(document, [sentence], as_json=as_json)
