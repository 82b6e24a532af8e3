"""``tacit design front``: the privacy/error front of one or several ways of designing a channel."""

from __future__ import annotations

import dataclasses
import json as json_module
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli import design_options as given
from tacit.cli.output import JsonFlag, note, print_json, print_text, progress
from tacit.cli.writing import check_picture, check_writable

if TYPE_CHECKING:
    from tacit.design import Bounds, Front, FrontPreferences, SearchEffort
    from tacit.design.settings import FrontSettings


def front(
    method: given.Methods = "exact",
    distribution: given.Distribution = None,
    categories: given.Categories = 10,
    prior: given.Priors = None,
    ball: given.Ball = 0.0,
    answers: given.Answers = None,
    data: given.Data = None,
    attribute: given.AttributeName = None,
    schema: given.SchemaFile = None,
    records: given.Records = None,
    delta: given.Delta = None,
    gamma: given.Gammas = None,
    epsilon: given.Epsilons = None,
    privacy: given.Privacies = None,
    points: given.Points = 12,
    purpose: given.Purpose = None,
    generations: given.Generations = 20_000,
    population: given.Population = 100,
    archive: given.Archive = 100,
    slots: given.Slots = 1000,
    patience: given.Patience = None,
    polish: given.Polish = True,
    closeness: given.Closeness = False,
    seed: given.Seed = None,
    out: given.Out = None,
    plot: given.Plot = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Design channels: the least error for every privacy, by search and exactly."""
    from tacit import design
    from tacit.design.problem import DesignProblem

    methods = given.checked_methods(method)
    stated, others = (prior[0], prior[1:]) if prior else (None, [])
    expected = given.ExpectedFrom(
        distribution=distribution, categories=categories, prior=stated, answers=answers, data=data, attribute=attribute,
        schema=schema, records=records,
    ).read()  # fmt: skip
    bounds = design.Bounds(
        delta=delta, gamma=given.amplifications(gamma, epsilon), ball=ball,
        privacy=None if privacy is None else given.numbers("--privacy", privacy),
        others=[given.numbers("--prior", text) for text in others],
    )  # fmt: skip
    accuracy = design.closeness(len(expected.shares)) if closeness else None
    effort = design.SearchEffort(
        generations=generations, population=population, archive=archive, slots=slots, patience=patience, polish=polish,
        seed=seed,
    )  # fmt: skip
    preferences = [
        design.FrontPreferences(method=each, points=points, accuracy=accuracy, purpose=expected.purpose(purpose))
        for each in methods
    ]
    asked = _settings(preferences, bounds, effort)
    # Refuse before anything is searched.
    DesignProblem.of(
        expected.shares, expected.records, delta=delta, answers=expected.answers, purpose=expected.purpose(purpose)
    )
    check_writable(out)
    check_picture(plot)
    _deliver([_with_progress(expected, settings) for settings in asked], out, plot, json)


def _settings(preferences: Sequence[FrontPreferences], bounds: Bounds, effort: SearchEffort) -> list[FrontSettings]:
    """What each method is asked for; wanted privacies are for the exact one, beside which others show all of theirs."""
    from tacit.design.settings import FrontSettings

    beside = bounds  # without the exact method nobody keeps wanted privacies, and they are refused
    if any(each.method == "exact" for each in preferences) and not bounds.is_for_several_priors:
        beside = dataclasses.replace(bounds, privacy=None)
    return [FrontSettings(bounds if each.method == "exact" else beside, each, effort) for each in preferences]


def _with_progress(expected: given.Expected, settings: FrontSettings) -> Front:
    from tacit.design import design_front

    with progress(f"Designing ({settings.preferences.method})", total=1.0) as bar:
        done = 0.0

        def tell(share: float) -> None:
            nonlocal done
            bar.advance(share - done)
            done = share

        return design_front(
            expected.shares, expected.records, bounds=settings.bounds, preferences=settings.preferences,
            effort=settings.effort, answers=expected.answers, progress=tell,
        )  # fmt: skip


def _deliver(fronts: Sequence[Front], out: Path | None, plot: Path | None, json: bool) -> None:
    documents = [each.to_document() for each in fronts]
    document: dict[str, Any] = documents[0] if len(documents) == 1 else {"methods": documents}
    if out is not None:
        _write_json(out, document)
    if plot is not None:
        _write_plot(plot, fronts)
    if json:
        print_json(document)
        return
    for each in fronts:
        print_text(f"{each}\n")
    for warning in dict.fromkeys(text for each in fronts for text in each.all_warnings):
        note(f"Warning: {warning}")
    print_text(_other_priors(fronts[0]))


def _other_priors(front: Front) -> str:
    """The robustness table of the middle of the first front."""
    from tacit.design import robustness

    if not front.points:
        return "No channel of this kind keeps the bound. Use a larger delta, or the method exact."
    middle = front.points[len(front.points) // 2]
    title = f"If the prior was wrong: the {front.method} channel of privacy {middle.privacy:.3f}"
    advice = "Only a bound on gamma (--gamma, --epsilon) holds whatever the truth is."
    return f"{title}\n{robustness(front, middle)}\n{advice}"


def _write_json(path: Path, document: dict[str, Any]) -> None:

    from tacit.table.outputs import written_whole

    with written_whole(path) as temporary:
        temporary.write_text(
            json_module.dumps({"format": "tacit-front/1"} | document, allow_nan=False), encoding="utf-8"
        )


def _write_plot(path: Path, fronts: Sequence[Front]) -> None:
    from tacit.report.page import write_picture
    from tacit.report.plots import draw_fronts

    write_picture(draw_fronts(fronts), path)
