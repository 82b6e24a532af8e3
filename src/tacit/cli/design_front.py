"""``tacit design front``: the privacy/error front of one or several ways of designing a channel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, note, print_json, print_text, progress
from tacit.cli.shares import expected_shares, numbers
from tacit.cli.writing import check_picture, check_writable, picture_kind
from tacit.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from tacit.design import Front

METHODS = ("optrr", "exact", "warner", "uniform-perturbation", "gamma-diagonal")


def front(
    method: Annotated[str, typer.Option(help=f"One or several of: {', '.join(METHODS)}.")] = "exact",
    distribution: Annotated[str | None, typer.Option(help="Expected distribution: normal, gamma or uniform.")] = None,
    categories: Annotated[int, typer.Option(help="Number of answers of the named distribution.")] = 10,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="Expected share of each answer, separated by commas; more than once: keep delta for each."),
    ] = None,
    ball: Annotated[float, typer.Option(help="Keep delta too where this share of people answers otherwise.")] = 0.0,
    answers: Annotated[str | None, typer.Option(help="Names of the answers, in the order of the prior.")] = None,
    data: Annotated[Path | None, typer.Option(help="File of truths to take the shares from.")] = None,
    attribute: Annotated[str | None, typer.Option(help="Attribute of the file.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Scheme document that says how the file is read.")] = None,
    records: Annotated[int | None, typer.Option(help="Number of respondents; 10000, or the rows of the file.")] = None,
    delta: Annotated[float | None, typer.Option(help="How sure any report may make anyone of any answer.")] = None,
    gamma: Annotated[str | None, typer.Option(help="Bounds on amplification, separated by commas (exact).")] = None,
    epsilon: Annotated[str | None, typer.Option(help="The same as logarithms of gamma.")] = None,
    privacy: Annotated[str | None, typer.Option(help="Wanted privacies, separated by commas (exact).")] = None,
    points: Annotated[int, typer.Option(help="Points of the exact front.")] = 12,
    generations: Annotated[int, typer.Option(help="Generations of OptRR's search.")] = 20_000,
    population: Annotated[int, typer.Option(help="Matrices of each generation.")] = 100,
    archive: Annotated[int, typer.Option(help="Matrices kept from one generation to the next.")] = 100,
    slots: Annotated[int, typer.Option(help="Steps of privacy in OptRR's optimal set.")] = 1000,
    patience: Annotated[int | None, typer.Option(help="Stop after so many generations without improvement.")] = None,
    polish: Annotated[bool, typer.Option(help="Descend from OptRR's set with exact derivatives at the end.")] = True,
    closeness: Annotated[bool, typer.Option(help="Count near guesses of ordered answers in part (optrr).")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the search.")] = None,
    out: Annotated[Path | None, typer.Option(help="File for the front, as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option(help="File for the picture (png, svg, pdf).")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Design channels: the least error for every privacy, by search and exactly."""
    from tacit import design
    from tacit.design.problem import DesignProblem

    methods = _checked_methods(method)
    stated = prior[0] if prior else None
    shares, counted, n_rows = expected_shares(distribution, categories, stated, data, attribute, schema)
    others = [numbers("--prior", text) for text in (prior or [])[1:]]
    if others or ball:
        _check_set(methods, delta, {"--gamma": gamma, "--epsilon": epsilon, "--privacy": privacy})
    names = checked_answers(answers, counted)
    gammas = _gammas(gamma, epsilon)
    if gammas and methods != ["exact"]:
        raise InvalidInput("--gamma and --epsilon bound the exact method only. Use --method exact, or --delta.")
    n_records = records if records is not None else n_rows or 10_000
    DesignProblem.of(shares, n_records, delta=delta, answers=names)  # refuse before anything is searched
    check_writable(out)
    check_picture(plot)

    def make(name: str, tell: Callable[[float], None]) -> Front:
        if (others or ball) and delta is not None:
            return design.safe_front(shares, n_records, delta=delta, others=others, ball=ball, answers=names)
        if name == "exact":
            levels = None if privacy is None else numbers("--privacy", privacy)
            return design.exact_front(
                shares, n_records, delta=delta, points=points, gamma=gammas or None, privacy=levels,
                answers=names, progress=tell,
            )  # fmt: skip
        return design.optimal_front(
            shares, records=n_records, delta=delta, method=name, generations=generations, population=population,
            archive=archive, slots=slots, patience=patience, polish=polish, seed=seed,
            accuracy=design.closeness(len(shares)) if closeness else None, answers=names, progress=tell,
        )  # fmt: skip

    fronts = [_with_progress(name, make) for name in methods]
    _deliver(fronts, out, plot, json)


def _check_set(methods: list[str], delta: float | None, refused: dict[str, str | None]) -> None:
    """A set of priors is for the exact method under delta alone."""
    if methods != ["exact"] or delta is None:
        raise InvalidInput("A set of priors (--prior twice, --ball) is for the method exact with --delta.")
    for option, value in refused.items():
        if value is not None:
            raise InvalidInput(f"A set of priors gives one channel under --delta, so {option} cannot be given with it.")


def _with_progress(name: str, make: Callable[[str, Callable[[float], None]], Front]) -> Front:
    with progress(f"Designing ({name})", total=1.0) as bar:
        done = 0.0

        def tell(share: float) -> None:
            nonlocal done
            bar.advance(share - done)
            done = share

        return make(name, tell)


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


def _other_priors(found: Front) -> str:
    """The robustness table of the middle of the first front."""
    from tacit.design import robustness

    if not found.points:
        return "No channel of this kind keeps the bound. Use a larger delta, or the method exact."
    middle = found.points[len(found.points) // 2]
    title = f"If the prior was wrong: the {found.method} channel of privacy {middle.privacy:.3f}"
    advice = "Only a bound on gamma (--gamma, --epsilon) holds whatever the truth is."
    return f"{title}\n{robustness(found, middle)}\n{advice}"


def _checked_methods(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            raise UnknownName("Method", name, METHODS)
    if not names:
        raise InvalidInput(f"No method is named. There is: {', '.join(METHODS)}.")
    return names


def checked_answers(named: str | None, counted: list[str] | None) -> list[str] | None:
    """The names of the answers: those of the file, or those given for a prior that has none."""
    if named is None:
        return counted
    if counted is not None:
        raise InvalidInput("--answers names the answers of --prior or --distribution; --data has names of its own.")
    return listed_names(named)


def _gammas(gamma: str | None, epsilon: str | None) -> list[float]:
    if gamma is not None and epsilon is not None:
        raise InvalidInput("Give --gamma or --epsilon, not both: gamma is e to the epsilon.")
    if gamma is not None:
        return numbers("--gamma", gamma)
    return [] if epsilon is None else [math.exp(value) for value in numbers("--epsilon", epsilon)]


def _write_json(path: Path, document: dict[str, Any]) -> None:
    import json as json_module

    from tacit.table.files import written_whole

    with written_whole(path) as temporary:
        temporary.write_text(json_module.dumps(document, allow_nan=False), encoding="utf-8")


def _write_plot(path: Path, fronts: Sequence[Front]) -> None:
    from tacit.report.plots import draw_fronts
    from tacit.table.files import written_whole

    with written_whole(path) as temporary:
        draw_fronts(fronts).savefig(temporary, format=picture_kind(path), dpi=150)
