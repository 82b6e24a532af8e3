"""``tacit survey new | preview | open | close``: the life of a questionnaire."""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.output import print_text
from tacit.cli.survey.store import (
    DEFAULT_PORT,
    DEFAULT_STORE,
    FileArgument,
    JsonOption,
    StoreOption,
    SurveyArgument,
    UrlOption,
    link_to,
    opened_store,
    read_definition,
    record,
    show,
)
from tacit.cli.writing import check_writable
from tacit.errors import InvalidInput


def new(path: FileArgument, as_json: JsonOption = False) -> None:
    """Start a questionnaire from a template."""
    check_writable(path)
    template = files("tacit.survey").joinpath("templates/questionnaire.yaml")
    _write_text(path, template.read_text(encoding="utf-8"))
    lines = [f"Wrote {path}. Change it, then look at it with: tacit survey preview {path}"]
    show({"file": str(path)}, lines, as_json=as_json)


def words(
    path: FileArgument,
    language: Annotated[str, typer.Option("--from", help="The language to translate from.")] = "en",
    as_json: JsonOption = False,
) -> None:
    """Write the page's own words (buttons, the privacy label) to a file, to translate into another language."""
    from tacit.survey.words import RELEASED, template

    if language not in RELEASED:
        raise InvalidInput(f"The page has no words in {language!r}. It has them in {', '.join(RELEASED)}.")
    check_writable(path)
    _write_text(path, "\n".join(template(language)) + "\n")
    lines = [f"Wrote {path}. Translate the texts, then name the file in the questionnaire: words: {{xx: {path.name}}}"]
    show({"file": str(path), "language": language}, lines, as_json=as_json)


def carry_over(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="An XLSForm workbook (.xlsx) or a SurveyJS document (.json).")
    ],
    out: Annotated[Path, typer.Option(help="File for the questionnaire (YAML).")],
    public: Annotated[str, typer.Option(help="Questions to send undisguised; all others are disguised.")] = "",
    sensitive: Annotated[
        str | None,
        typer.Option(help="Questions to disguise, with their follow-ups; all others are sent undisguised."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Convert a questionnaire of another tool, and name each part that cannot be converted."""
    from tacit.cli.names import listed_names
    from tacit.survey.imports import carried_over, questionnaire_text

    check_writable(out)
    if public and sensitive is not None:
        raise InvalidInput("Give --public or --sensitive, not both: each says what the other questions are.")
    named = None if sensitive is None else listed_names(sensitive)
    document, left_out = carried_over(source, listed_names(public), named)
    _write_text(out, questionnaire_text(document, source.name, left_out))
    questions = [question["name"] for page in document["pages"] for question in page["questions"]]
    lines = [
        f"Wrote {out} with {len(questions)} questions. Write its introduction and contact, then: tacit survey preview {out}"
    ]
    lines += ["Left out or changed:", *(f"- {line}" for line in left_out)] if left_out else ["Nothing was left out."]
    show({"file": str(out), "questions": questions, "left_out": left_out}, lines, as_json=as_json)


def _write_text(path: Path, text: str) -> None:
    from tacit.table.outputs import written_whole

    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


MarginOption = Annotated[
    float | None,
    typer.Option(help="Wanted margin of error of every share: gives the number of respondents; 0.05 if not said."),
]


def preregister(
    file: FileArgument,
    out: Annotated[Path | None, typer.Option(help="A new folder for the bundle.")] = None,
    margin: MarginOption = None,
    check: Annotated[
        Path | None,
        typer.Option(help="Check this bundle: every file is as registered, and the survey was opened with it."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write the files to preregister before the first report: definition, plan, scripts, consent, and one hash of all."""
    if (out is None) == (check is None):
        raise InvalidInput(
            "Give --out FOLDER to write a bundle, or --check FOLDER to compare one with what was opened."
        )
    definition = read_definition(file)
    from tacit.survey.preregistration import checked_bundle
    from tacit.survey.preregistration import preregister as write_bundle

    if out is not None:
        wanted = definition.margin if margin is None else margin
        manifest = write_bundle(definition, file.read_text(encoding="utf-8"), out, wanted)
        lines = [f"Wrote {out / name}" for name in (*manifest["files"], "manifest.json")]
        lines.append(f"Register this hash: {manifest['hash']}")
    else:
        assert check is not None
        with opened_store(store) as opened:
            manifest = checked_bundle(check, opened, definition)
        lines = [
            f"Every file is as registered under {manifest['hash']}, and {manifest['survey']!r} was opened with it."
        ]
    show(manifest, lines, as_json=as_json)


def preview(
    file: FileArgument,
    port: Annotated[int, typer.Option(help="Port at which the preview is served.")] = DEFAULT_PORT,
    margin: MarginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a questionnaire promises, and serve its page; no answer is kept. With --json no page is served."""
    definition = read_definition(file)
    from tacit.survey.promise import promise

    document, lines = promise(definition, margin)
    if as_json:
        show(document, lines, as_json=True)
        return
    from tacit.survey.app import SurveyServer
    from tacit.survey.serving import bound_socket, serve

    with tempfile.TemporaryDirectory() as folder:
        url = str(Path(folder) / "preview.db")
        with opened_store(url, must_exist=False) as store:
            survey = store.add(definition, file.read_text(encoding="utf-8"), "draft")
        sock = bound_socket("127.0.0.1", port)
        link = link_to(f"http://localhost:{port}", survey.fingerprint)
        print_text("\n".join([*lines, f"Preview: {link}  (end with Ctrl+C)"]))
        serve(SurveyServer(url), sock)


def open_survey(
    file: FileArgument,
    store: StoreOption = DEFAULT_STORE,
    url: UrlOption = None,
    margin: MarginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Freeze a questionnaire under its hash and accept answers to it."""
    definition = read_definition(file)
    from tacit.survey.promise import check_whole, promise
    from tacit.survey.store.surveys import check_retention

    check_whole(definition)
    check_retention(definition)
    document, lines = promise(
        definition, margin
    )  # what cannot be estimated or planned is refused before anything is opened
    with opened_store(store, must_exist=False) as opened:
        survey = opened.add(definition, file.read_text(encoding="utf-8"))
        record(opened, "opened", definition.name)
    if survey.definition.hash != definition.hash:  # the key of its codes was drawn
        document, lines = promise(survey.definition, margin)
    link = link_to(url, survey.fingerprint)
    answer = {**document, "state": survey.state, "link": link}
    further = [f"Open: {link}", f"Serve it with: tacit survey serve --store {store}"]
    if survey.definition.needs_codes:
        further.append(
            f"Invite people with: tacit survey invite {definition.name} --store {store} --count 100 --out codes.csv"
        )
    show(answer, [*lines, *further], as_json=as_json)


def open_wave(
    survey: SurveyArgument,
    file: Annotated[
        Path | None, typer.Option(help="Questionnaire to check: it must say what the first wave said.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the next declared wave of a survey; earlier waves stay as they are."""
    written = None if file is None else read_definition(file)
    with opened_store(store) as opened:
        stored = opened.open_wave(survey, written)
        record(opened, "opened", f"{stored.definition.name}/{stored.definition.wave}")
        definition = stored.definition
        running = [
            one.definition.wave
            for one in opened.surveys()
            if one.definition.series == definition.series and one.state == "open" and one.number != stored.number
        ]
    link = link_to(url, stored.fingerprint)
    lines = [f"Wave {definition.wave} of {definition.waves} of {definition.name!r}: {link}"]
    lines += [
        f"Wave {wave} is still open. Close it with: tacit survey close {definition.name}/{wave}" for wave in running
    ]
    if definition.needs_codes:
        lines.append(
            f"Invite people with: tacit survey invite {definition.name} --store {store} --count 100 --out codes.csv"
        )
    answer = {
        "name": definition.name,
        "wave": int(definition.wave),
        "waves": definition.waves,
        "series": definition.series,
    }
    show({**answer, "fingerprint": stored.fingerprint, "state": stored.state, "link": link}, lines, as_json=as_json)


def close(survey: SurveyArgument, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Close a survey for good, and erase from the store's files the order in which reports arrived."""
    with opened_store(store) as opened:
        stored = opened.named(survey)
        opened.close_survey(stored)
        record(opened, "closed", stored.definition.name)
        counts = opened.counts(stored)
    show(
        {"name": stored.definition.name, "state": "closed", "reports": counts.reports},
        [f"Closed with {counts.reports} reports."],
        as_json=as_json,
    )
