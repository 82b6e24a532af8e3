"""``tacit mine best``: the classifier that is most often right, chosen on disguised reports."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.mine_options import ClassifierOptions, print_scores
from tacit.cli.output import JsonFlag, note, print_json, print_table, print_text
from tacit.mine import choose_model
from tacit.mine.candidates import exportable_candidates
from tacit.mine.selection_result import CandidateScore, ModelChoice


def best(
    asked: ClassifierOptions,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Number of cross-validation folds; if not said 5, or 3 from 2,000 reports on."),
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Choose the best classifier for a class, among trees, naive Bayes, logistic and joint models, their average and others.

    With --export only models are compared that can be written as a tree or as scores.
    """
    models = None if asked.export is None else exportable_candidates(asked.target)
    choice = choose_model(models, asked.sources(), target=asked.target, folds=folds)
    for score in choice.candidates:
        if score.problem is not None:
            note(f"Left out: {score.name}. {score.problem}")
    asked.save(choice.model)
    results = asked.scores(choice.model)
    if json:
        document = choice.to_document()
        warnings = [*document["warnings"], *results.pop("warnings", [])]
        print_json({"model": choice.model.to_document(), **document, **results, "warnings": warnings})
        return
    _print_choice(choice)
    print_text(f"\nThe chosen model, {choice.chosen}, fitted to all reports:\n")
    print_text(choice.model.to_text())
    print_scores(results)


def _print_choice(choice: ModelChoice) -> None:
    columns = ("model", "accuracy", "standard error", "behind the chosen", "its error", "expected", "judged")
    rows = [_row(score) for score in choice.candidates if score.problem is None]
    print_table(choice.headline(), columns, rows)
    print_text(
        "Accuracies are unbiased and may leave 0 to 1 where their errors are large. The choice goes by the last column: "
        "accuracies on the same reports and what models of whole records expect, each weighed by its error."
    )


def _row(score: CandidateScore) -> tuple[str, ...]:
    numbers = (
        score.accuracy,
        score.standard_error,
        score.behind,
        score.behind_error,
        score.expected,
        score.judged,
    )
    return (score.name, *("-" if number is None else f"{number:.4f}" for number in numbers))
