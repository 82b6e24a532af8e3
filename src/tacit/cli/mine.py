"""``tacit mine tree|bayes``: a classifier from disguised reports, and how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from tacit.cli.mine_options import ClassifierOptions, KnownClass, known_shares, print_scores
from tacit.cli.output import JsonFlag, compiling_told, note, print_json, print_text, progress
from tacit.cli.writing import check_picture
from tacit.mine import NaiveBayesClassifier, TreeClassifier
from tacit.mine.itemset_result import ERRORS
from tacit.report.page import write_picture

Criterion = Literal["gain", "ratio", "gini"]
Splits = Literal["multiway", "binary"]
Method = Literal["auto", "inversion", "likelihood", "joint"]
Sampling = Literal["population", "respondents"]


def tree(
    asked: ClassifierOptions,
    prune: Annotated[str | None, typer.Option(help="Further disguised reports to prune the tree with.")] = None,
    known_class: KnownClass = None,
    criterion: Annotated[
        Criterion, typer.Option(help="What a split maximizes: information gain, gain ratio, or Gini purity.")
    ] = "gain",
    splits: Annotated[
        Splits, typer.Option(help="Split into two branches (binary), or one per answer (multiway).")
    ] = "binary",
    significance: Annotated[
        float | None,
        typer.Option(help="Standard errors by which branches must differ (0: the published rule); default: 90% sure."),
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(min=0, help="Largest number of splits from the root to a leaf; unlimited if not said.")
    ] = None,
    method: Annotated[
        Method, typer.Option(help="How to estimate; auto chooses by the disguise and by held-out reports.")
    ] = "auto",
    sampling: Annotated[
        Sampling, typer.Option(help="Whom the splits must hold for: the sampled population, or the respondents only.")
    ] = "respondents",
    rules: Annotated[bool, typer.Option("--rules", help="Print one sentence for each leaf, not an outline.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Write a picture of the tree (.svg, .png, .pdf).")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Grow a decision tree for a class."""
    check_picture(plot)
    model = TreeClassifier(
        asked.target, criterion=criterion, splits=splits, significance=significance, max_depth=max_depth, method=method,
        sampling=sampling, class_shares=known_shares(known_class),
    )  # fmt: skip
    sources = asked.sources()
    with progress("Growing the tree") as bar, compiling_told(bar):
        model.fit(sources)
    leaves = model.tree_.n_leaves
    if prune is not None:
        model = model.pruned(asked.further(prune, "--prune"))
        note(f"Pruned from {leaves} leaves to {model.tree_.n_leaves}.")
    if plot is not None:
        write_picture(model.plot(), plot, bbox_inches="tight")
    asked.save(model)
    scored = asked.scores(model)
    if json:
        learned = {"method": model.method_, "learned_from": model.learned_from_, "error_rule": model.error_rule_}
        print_json({"model": model.to_document(), **learned, "n_leaves": model.tree_.n_leaves, **scored})
    else:
        print_text(model.learned_from_)
        print_text("\n".join([*model.rules(), ERRORS]) if rules else model.to_text())
        print_scores(scored)


def bayes(asked: ClassifierOptions, known_class: KnownClass = None, json: Annotated[bool, JsonFlag] = False) -> None:
    """Fit a naive Bayes classifier for a class."""
    model = NaiveBayesClassifier(asked.target, class_shares=known_shares(known_class)).fit(asked.sources())
    if model.left_out_:
        note(f"Never asked together with {asked.target}, so left out: {', '.join(model.left_out_)}.")
    asked.save(model)
    scored = asked.scores(model)
    if json:
        learned = {"method": model.method_, "learned_from": model.learned_from_}
        print_json({"model": model.to_document(), **learned, **scored})
    else:
        print_text(model.learned_from_)
        print_text(model.to_text())
        print_scores(scored)
