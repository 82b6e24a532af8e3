"""What all classifiers of ``tacit mine`` are asked: the reports, the class, and how good the model turns out to be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.output import print_text
from tacit.cli.reading import read_or_joined
from tacit.cli.truths import complete_truths
from tacit.cli.writing import check_writable
from tacit.count.sources import ReportSource
from tacit.display import with_error
from tacit.errors import InvalidInput
from tacit.mine import disguised_accuracy
from tacit.mine.accuracy import AccuracyEstimate
from tacit.mine.classifier import ReportClassifier
from tacit.mine.exported import classifier_document
from tacit.table.outputs import written_whole

Reports = Annotated[
    list[str], typer.Argument(metavar="REPORTS...", help="Report files, folders, tallies, or database tables.")
]
Schemes = Annotated[
    list[Path] | None,
    typer.Option("--scheme", help="One scheme for all reports, or one per file; not needed if the files contain it."),
]
Join = Annotated[str | None, typer.Option("--join", help="Column that identifies people, to join two parties' files.")]
KnownClass = Annotated[
    str | None, typer.Option("--known-class", help="Known shares of the classes, such as .24,.76, or A=.24,B=.76.")
]


@dataclass(frozen=True, kw_only=True)
class ClassifierOptions:
    """The reports to learn from, the class to predict, what to test on and where to write the model."""

    reports: Reports
    target: Annotated[str, typer.Option("--class", help="The attribute to predict.")]
    scheme: Schemes = None
    test: Annotated[str | None, typer.Option("--test", help="Disguised reports to estimate the accuracy from.")] = None
    test_scheme: Annotated[
        Path | None,
        typer.Option("--test-scheme", help="Scheme of the test and pruning reports, if it differs from --scheme."),
    ] = None
    truth: Annotated[Path | None, typer.Option("--truth", help="File of true answers to measure the accuracy on.")] = (
        None
    )
    join: Join = None
    export: Annotated[
        Path | None,
        typer.Option("--export", help="Write the model to this file, for the second round of a survey (survey offer)."),
    ] = None

    def sources(self) -> list[ReportSource]:
        """The reports to learn from."""
        check_writable(self.export)
        return _read(self.reports, self.scheme or [], self.join)

    def further(self, place: str, option: str) -> list[ReportSource]:
        """Reports that `option` names, under the scheme of the tests."""
        if self.test_scheme is not None:
            return _read([place], [self.test_scheme])
        if self.scheme is not None and len(self.scheme) > 1:
            raise InvalidInput(
                f"Several schemes are given; say with --test-scheme which one {option} was disguised with."
            )
        return _read([place], self.scheme or [])

    def save(self, model: ReportClassifier) -> None:
        """Write the document that a survey's second round offers, where it is asked for."""
        if self.export is None:
            return

        text = json.dumps(classifier_document(model), ensure_ascii=False, indent=1)
        with written_whole(self.export) as temporary:
            temporary.write_text(text + "\n", encoding="utf-8")

    def scores(self, model: ReportClassifier) -> dict[str, Any]:
        """What is known of the accuracy: from disguised reports, from true answers, and what answering blindly gets."""
        scored: dict[str, Any] = {"n_reports": model.n_reports_, "majority_share": float(model.majority_share_)}
        if self.test is not None:
            scored["test_accuracy"] = _test_accuracy(model, self.further(self.test, "--test")).to_document()
            scored["warnings"] = scored["test_accuracy"].pop("warnings")
        if self.truth is not None:
            needed = model.schema_.select((*model.needed_names_, model.target_.name))
            scored["truth_accuracy"] = model.score(complete_truths(self.truth, needed))
        return scored


def known_shares(text: str | None) -> list[float] | dict[str, float] | None:
    """Shares in the order of the answers, or by answer."""
    if text is None:
        return None
    parts = [entry.strip() for entry in text.split(",")]
    try:
        if all("=" in entry for entry in parts):
            pairs = (entry.rsplit("=", 1) for entry in parts)
            return {answer.strip(): float(share) for answer, share in pairs}
        return [float(entry) for entry in parts]
    except ValueError:
        raise InvalidInput(f"--known-class takes shares such as .24,.76 or A=.24,B=.76, not {text!r}.") from None


def _test_accuracy(model: ReportClassifier, reports: list[ReportSource]) -> AccuracyEstimate:
    return disguised_accuracy(model, reports)


def print_scores(scored: dict[str, Any]) -> None:
    print_text(f"\nThe most frequent class has an estimated share of {scored['majority_share']:.4f}.")
    if "test_accuracy" in scored:
        tested = scored["test_accuracy"]
        if tested["estimate"] is None:
            print_text(f"Accuracy on disguised test reports: {scored['warnings'][0]}")
        else:
            print_text(
                f"Accuracy on disguised test reports: {with_error(tested['estimate'], tested['standard_error'])} (one "
                "standard error)."
            )
    if "truth_accuracy" in scored:
        print_text(f"Accuracy on true answers: {scored['truth_accuracy']:.4f}.")


def _read(places: Sequence[str], schemes: Sequence[Path], key: str | None = None) -> list[ReportSource]:
    return read_or_joined(places, schemes, key)
