"""``tacit disguise``: a file of truths becomes a file of reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_text, progress
from tacit.cli.writing import check_apart
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme


def disguise(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="File of true answers, folder or pattern of files, or Spark table.")
    ],
    scheme: Annotated[Path, typer.Option(help="Scheme document, or document of an open question (JSON).")],
    out: Annotated[
        str, typer.Option(help="Report file to write (.csv or .parquet), or spark:TABLE; - is standard output (CSV).")
    ],
    seed: Annotated[
        int | None, typer.Option(help="Seed for a repeatable simulation; without it the system's randomness is used.")
    ] = None,
    drop_others: Annotated[bool, typer.Option(help="Leave out columns that the scheme does not name.")] = False,
    missing: Annotated[Literal["refuse", "drop"], typer.Option(help="What to do with missing values.")] = "refuse",
    missing_mark: Annotated[
        list[str] | None, typer.Option(help="Text that means a missing value, such as '?'; repeatable.")
    ] = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Write the reports in random order, so that their position tells nothing.")
    ] = False,
    key: Annotated[
        str | None, typer.Option(help="Column to copy undisguised, for joining the reports with another party's.")
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Disguise every record of a file, a part at a time; the report file appears when all records are written."""
    from tacit.channel.document import OPEN_QUESTION, read_json
    from tacit.table.encode import Missing
    from tacit.table.files import data_places, sidecar

    on_spark = _is_on_spark(source, out)
    policy = Missing(tuple(missing_mark or ()), drop=missing == "drop")
    wishes: dict[str, Any] = {"seed": seed, "missing": policy, "drop_others": drop_others}
    if on_spark and shuffle:
        raise InvalidInput("A table of Spark has no order of its own, so there is nothing to --shuffle. Leave it out.")
    if not on_spark:
        for file in (Path(out), sidecar(out)):
            check_apart(file, [scheme])
        wishes["shuffle"] = shuffle
    document = read_json(scheme)
    if key is not None:
        wishes["key"] = key
    if not on_spark:
        data_places(source)
    if isinstance(document, dict) and str(document.get("format")).startswith(OPEN_QUESTION):
        written, named = _disguise_answers(source, scheme, out, wishes)
    else:
        written, named = _disguise_records(source, scheme, out, wishes)
    if seed is not None:
        note("A seed was given: this is a simulation, and the file says so. Never disguise real answers with a seed.")
    if json:
        print_json({"n_reports": written, "out": str(out), "scheme": named, "simulation": seed is not None})
    else:
        print_text(f"{written:,} reports written to {out}.")


def _disguise_records(source: str, scheme: Path, out: str, wishes: Mapping[str, Any]) -> tuple[int, str]:
    """Disguise under a scheme; returns the number of reports and the scheme's hash."""
    from tacit.channel.scheme import Scheme

    plan = Scheme.read(scheme)
    if "key" in wishes:
        note(f"Going out as it is, to join the reports by: {wishes['key']}. It should say nothing of a person.")
    if plan.public_names:
        note(f"Going out undisguised, as the scheme has them in no group: {', '.join(plan.public_names)}.")
    certainties = _told_for_certain(plan)
    if certainties:
        note(
            f"Some reports tell the answer for certain, as the scheme's chances leave no other: {', '.join(certainties)}."
        )
    if _is_on_spark(source, out):
        from tacit.spark_disguising import disguise_on_spark

        _refuse_key(wishes)
        return disguise_on_spark(source, plan, out, **wishes), plan.hash
    from tacit.disguising import disguise_file
    from tacit.leaks import Leaks

    # A simulation tells nothing of anybody.
    leaks = Leaks(plan) if wishes["seed"] is None else None
    with progress("Disguising") as bar:
        written = disguise_file(source, plan, out, **wishes, on_rows=bar.advance, leaks=leaks)
    for sentence in [] if leaks is None else leaks.sentences(is_mixed=wishes["shuffle"]):
        note(sentence)
    return written, plan.hash


def _told_for_certain(scheme: Scheme) -> list[str]:
    """The attributes of which some report leaves only one answer possible, though the scheme disguises them."""
    every = [group for questionnaire in scheme.questionnaires for group in questionnaire.groups]
    certainties = [
        name
        for group in every
        for axis, name in enumerate(group.names)
        if math.isinf(group.channel.answer_amplification(axis))
    ]
    return list(dict.fromkeys(certainties))


def _disguise_answers(source: str, scheme: Path, out: str, wishes: Mapping[str, Any]) -> tuple[int, str]:
    """Disguise the answers to an open question; returns the number of reports and the hash of its document."""
    from tacit.mine.open_question_files import disguise_answers, question_document, read_question

    _refuse_key(wishes)
    question = read_question(scheme)
    if _is_on_spark(source, out):
        raise InvalidInput("Answers to an open question are disguised from files. Write the column to a Parquet file.")
    with progress("Disguising") as bar:
        written = disguise_answers(source, question, out, **wishes, on_rows=bar.advance)
    return written, str(question_document(question)["hash"])


def _refuse_key(wishes: Mapping[str, Any]) -> None:
    if "key" in wishes:
        raise InvalidInput(
            "--key goes with files of records: neither the answers to an open question nor reports on a cluster are joined."
        )


def _is_on_spark(source: str, out: str) -> bool:
    places = [place.startswith("spark:") for place in (source, out)]
    if places[0] != places[1]:
        raise InvalidInput(
            "Truths on a Spark cluster are disguised there, and their reports stay there: give spark: addresses for both IN "
            "and --out, or for neither."
        )
    return places[0]
