"""``tacit mine tree|bayes``: a classifier from disguised reports, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_text
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource
    from tacit.mine.accuracy import AccuracyEstimate
    from tacit.mine.classifier import ReportClassifier

Reports = Annotated[list[str], typer.Argument(metavar="REPORTS...", help="Report files, or database tables.")]
SchemeOption = Annotated[
    list[Path] | None,
    typer.Option("--scheme", help="Scheme of the reports; one for all, one each, none where carried."),
]
ClassOption = Annotated[str, typer.Option("--class", help="The attribute to predict.")]
TestOption = Annotated[str | None, typer.Option("--test", help="Disguised reports to estimate the accuracy from.")]
TestSchemeOption = Annotated[
    Path | None, typer.Option("--test-scheme", help="Scheme of the test and pruning reports, if another one.")
]
TruthOption = Annotated[Path | None, typer.Option("--truth", help="File of true answers to count the accuracy on.")]
KnownOption = Annotated[
    str | None, typer.Option("--known-class", help="Known shares of the classes, such as .24,.76, or A=.24,B=.76.")
]
JoinOption = Annotated[
    str | None, typer.Option("--join", help="Column that identifies people, to join two parties' files.")
]
ExportOption = Annotated[
    Path | None, typer.Option("--export", help="Write the model as a document that devices apply in a second round.")
]
Criterion = Literal["gain", "ratio", "gini"]
Splits = Literal["multiway", "binary"]
Method = Literal["auto", "inversion", "likelihood", "joint"]


def tree(
    reports: Reports,
    target: ClassOption,
    scheme: SchemeOption = None,
    test: TestOption = None,
    test_scheme: TestSchemeOption = None,
    prune: Annotated[str | None, typer.Option(help="Further disguised reports to prune the tree with.")] = None,
    truth: TruthOption = None,
    known_class: KnownOption = None,
    join: JoinOption = None,
    export: ExportOption = None,
    criterion: Annotated[Criterion, typer.Option(help="What a split should gain.")] = "gain",
    splits: Annotated[Splits, typer.Option(help="Two branches, or one per answer.")] = "binary",
    significance: Annotated[
        float | None,
        typer.Option(
            help="Standard errors by which branches must differ, instead of being sure at 90%; 0: as published."
        ),
    ] = None,
    max_depth: Annotated[int | None, typer.Option(min=0, help="Most splits from the root to a leaf.")] = None,
    method: Annotated[
        Method, typer.Option(help="How to estimate; auto: what makes held-out reports likelier.")
    ] = "auto",
    rules: Annotated[bool, typer.Option("--rules", help="Print one sentence for each leaf, not an outline.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Write a picture of the tree (.svg, .png, .pdf).")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Grow a decision tree for a class."""
    from tacit.mine import TreeClassifier
    from tacit.mine.itemset_result import ERRORS

    model = TreeClassifier(
        target,
        criterion=criterion,
        splits=splits,
        significance=significance,
        max_depth=max_depth,
        method=method,
        class_shares=_known(known_class),
    ).fit(read(reports, scheme or [], join))
    leaves = model.tree_.n_leaves
    if prune is not None:
        model = model.pruned(read([prune], _test_schemes(scheme, test_scheme, "--prune")))
        note(f"Pruned from {leaves} leaves to {model.tree_.n_leaves}.")
    if plot is not None:
        _save(model.plot(), plot)
    if export is not None:
        save_classifier(model, export)
    scored = scores(model, test, scheme, test_scheme, truth)
    if json:
        print_json({"model": model.to_document(), "method": model.method_, "n_leaves": model.tree_.n_leaves, **scored})
    else:
        print_text("\n".join([*model.rules(), ERRORS]) if rules else model.to_text())
        print_scores(scored)


def bayes(
    reports: Reports,
    target: ClassOption,
    scheme: SchemeOption = None,
    test: TestOption = None,
    test_scheme: TestSchemeOption = None,
    truth: TruthOption = None,
    known_class: KnownOption = None,
    join: JoinOption = None,
    export: ExportOption = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Fit a naive Bayes classifier for a class."""
    from tacit.mine import NaiveBayesClassifier

    model = NaiveBayesClassifier(target, class_shares=_known(known_class)).fit(read(reports, scheme or [], join))
    if model.left_out_:
        note(f"Never asked together with {target}, so left out: {', '.join(model.left_out_)}.")
    if export is not None:
        save_classifier(model, export)
    scored = scores(model, test, scheme, test_scheme, truth)
    if json:
        print_json({"model": model.to_document(), **scored})
    else:
        print_text(model.to_text())
        print_scores(scored)


def read(places: Sequence[str], schemes: Sequence[Path], key: str | None = None) -> list[ReportSource]:
    from tacit.cli.reading import read_or_joined

    return read_or_joined(places, schemes, key)


def _test_schemes(schemes: Sequence[Path] | None, other: Path | None, option: str) -> list[Path]:
    if other is not None:
        return [other]
    if schemes is not None and len(schemes) > 1:
        raise InvalidInput(f"Several schemes are given; say with --test-scheme which one {option} was disguised with.")
    return list(schemes or [])


def _known(text: str | None) -> list[float] | dict[str, float] | None:
    """Shares in the order of the answers, or by answer."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    try:
        if all("=" in part for part in parts):
            pairs = (part.rsplit("=", 1) for part in parts)
            return {answer.strip(): float(share) for answer, share in pairs}
        return [float(part) for part in parts]
    except ValueError:
        raise InvalidInput(f"--known-class takes shares such as .24,.76 or A=.24,B=.76, not {text!r}.") from None


def save_classifier(model: ReportClassifier, path: Path) -> None:
    """Write the document that a survey's second round offers."""
    import json

    from tacit.mine.exported import classifier_document
    from tacit.table.files import written_whole

    text = json.dumps(classifier_document(model), ensure_ascii=False, indent=1)
    with written_whole(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def _save(figure: Any, path: Path) -> None:
    from tacit.table.files import written_whole

    formats = figure.canvas.get_supported_filetypes()
    kind = path.suffix.lstrip(".").lower()
    if kind not in formats:
        raise InvalidInput(f"A plot can be written as .svg, .png or .pdf, not as {path.name!r}.")
    with written_whole(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=150, bbox_inches="tight")


def scores(
    model: ReportClassifier, test: str | None, schemes: list[Path] | None, test_scheme: Path | None, truth: Path | None
) -> dict[str, Any]:
    """What is known of the accuracy: from disguised reports, from true answers, and what answering blindly gets."""
    scored: dict[str, Any] = {"n_reports": model.n_reports_, "majority_share": float(model.majority_share_)}
    if test is not None:
        disguised = read([test], _test_schemes(schemes, test_scheme, "--test"))
        scored["test_accuracy"] = _tested(model, disguised).to_document()
        scored["warnings"] = scored["test_accuracy"].pop("warnings")
    if truth is not None:
        from tacit.dataset import Dataset

        needed = model.schema_.select((*model.needed_names_, model.target_.name))
        scored["truth_accuracy"] = model.score(Dataset.read(truth, needed, drop_others=True))
    return scored


def _tested(model: ReportClassifier, reports: list[ReportSource]) -> AccuracyEstimate:
    from tacit.mine import disguised_accuracy

    return disguised_accuracy(model, reports)


def print_scores(scored: dict[str, Any]) -> None:
    print_text(f"\nThe most frequent class has an estimated share of {scored['majority_share']:.4f}.")
    if "test_accuracy" in scored:
        tested = scored["test_accuracy"]
        if tested["estimate"] is None:
            print_text(f"Accuracy on disguised test reports: {scored['warnings'][0]}")
        else:
            print_text(
                f"Accuracy on disguised test reports: {tested['estimate']:.4f} ± {tested['standard_error']:.4f} (one standard "
                "error)."
            )
    if "truth_accuracy" in scored:
        print_text(f"Accuracy on true answers: {scored['truth_accuracy']:.4f}.")
