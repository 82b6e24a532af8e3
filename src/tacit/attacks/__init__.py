"""The attack: what the best guesser we know learns about single people from their reports alone.

>>> import tacit
>>> from tacit.bundled import binary_breast_cancer
>>> truth = binary_breast_cancer()
>>> scheme = tacit.Scheme.of(truth.schema, [(truth.schema.names, tacit.channels.flip(0.7))])
>>> found = tacit.attack(tacit.disguise(truth, scheme, seed=1990), truth=truth)
>>> found.coins.with_reports > 0.9, found.records.with_reports > 0.9
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tacit.attacks.caveats import attack_warnings
from tacit.attacks.result import AttackResult, CoinShare, Share, Shares, Stability
from tacit.attacks.score import Batch, GuessTarget, batches_of, batches_with, score_guesses, with_blind
from tacit.channel.scheme import Scheme
from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput
from tacit.joint import JointModel, fit_joint
from tacit.reports import HoldsTable, Reports
from tacit.table import Table, encode

__all__ = ["AttackResult", "CoinShare", "Share", "Shares", "Stability", "attack"]

# Latent classes in the mixture: more describe finer dependence between answers, and cost time.
MOST_COMPONENTS = 8
# Models this far behind the best, in log-likelihood a held-out report, count as fitting about as well.
ABOUT_AS_WELL = 0.005
COMPARED_MODELS = 3
# Distinct reports on which models are compared.
COMPARED_ROWS = 1 << 12


def attack(
    reports: ReportSource,
    *,
    truth: HoldsTable | Table | Any = None,
    known: Sequence[str] = (),
    components: int = MOST_COMPONENTS,
    seed: int = 0,
    joint: JointModel | None = None,
    on_share: Callable[[float], None] = lambda share: None,
) -> AttackResult:
    """The shares of coins, whole records and single answers that the best guesser we know gets right.

    The guesser sees the reports and the scheme, fits a model of whole records to them (see `fit_joint`) and guesses what
    is likeliest for each person. Whoever guesses may leave the reports aside, so no share is below that without them.

    Parameters
    ----------
    reports
        Reports under one scheme, in memory or stored; stored ones are read in batches.
    truth
        Row by row the people behind the reports, as a Dataset or a data frame: right guesses are then counted as well.
    known
        Attributes whose true answers the guesser has from elsewhere; for these the truth is needed.
    components
        Latent classes at most.
    seed
        Makes the fit repeatable.
    joint
        A model that was fitted already; without it one is fitted.
    on_share
        Is told what share of the work is done.

    Returns
    -------
    AttackResult
        What the guesser expects, what was counted, the shares without reports, and how stable the figure is.

    Raises
    ------
    InvalidInput
        If there are no reports, nothing is left to guess, or the truth is not that of the people who reported.

    Examples
    --------
    >>> import tacit
    >>> truth = tacit.Dataset.from_arrow({"smokes": ["no"] * 80 + ["yes"] * 20, "coughs": ["no"] * 80 + ["yes"] * 20})
    >>> scheme = tacit.Scheme.of(truth.schema, [(["smokes", "coughs"], tacit.channels.flip(0.8))])
    >>> found = tacit.attack(tacit.disguise(truth, scheme, seed=1), truth=truth)
    >>> found.records.without_reports
    0.8
    """
    scheme = _scheme(reports)
    _check_arguments(reports, components)
    clear = None if truth is None else _truth_in_report_order(truth, reports)
    guessed = _guessed_attributes(scheme, known, clear)
    model = joint or fit_joint(reports, classes=components, seed=seed, on_share=lambda share: on_share(0.8 * share))
    target = GuessTarget(model.schema, guessed, tuple(known))
    expected, counted = score_guesses(model.model, _batches(reports, clear, target), target)
    if clear is not None and counted is not None:
        expected, counted = (with_blind(shares, clear, target, scheme.public_names) for shares in (expected, counted))
        counted = counted.with_floor()
    expected = expected.with_floor()
    stability = _stability(model, expected, reports, clear, target)
    on_share(1.0)
    warnings = attack_warnings(scheme, known, model.n_reports, expected=expected, counted=counted, stability=stability)
    return AttackResult(expected, counted, stability, model.what, tuple(known), model.n_reports, warnings)


def _scheme(reports: ReportSource) -> Scheme:
    scheme = getattr(reports, "scheme", None)
    if not isinstance(scheme, Scheme):
        raise InvalidInput(
            f"Expected reports with their scheme, not {type(reports).__name__}. Truths are disguised first: "
            "tacit.attack(tacit.disguise(data, scheme), truth=data)."
        )
    return scheme


def _check_arguments(reports: ReportSource, components: int) -> None:
    if not getattr(reports, "n_reports", 1):
        raise InvalidInput("There are no reports to attack.")
    if components < 1:
        raise InvalidInput(f"The mixture needs at least one component, not {components}.")


def _batches(reports: ReportSource, truth: Table | None, target: GuessTarget) -> Iterator[Batch]:
    if truth is None or not isinstance(reports, Reports):
        return batches_of(reports, target)
    return batches_with(reports, truth, target)


def _stability(
    joint: JointModel, expected: Shares, reports: ReportSource, truth: Table | None, target: GuessTarget
) -> Stability:
    """What the next best models expect on some of the reports, if they fit about as well as the best."""
    others = [
        candidate
        for candidate in joint.candidates[1:]
        if candidate.behind <= max(ABOUT_AS_WELL, candidate.behind_error)
    ]
    records, answers = [expected.records.with_reports], [expected.answers.with_reports]
    models = [joint.what]
    for other in others[: COMPARED_MODELS - 1]:
        other_expected, _ = score_guesses(other.model, _some(_batches(reports, truth, target)), target)
        models.append(other.what)
        # A guesser with this model may ignore the reports too.
        records.append(max(other_expected.records.with_reports, expected.records.without_reports))
        answers.append(max(other_expected.answers.with_reports, expected.answers.without_reports))
    return Stability(tuple(models), (min(records), max(records)), (min(answers), max(answers)))


def _some(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The first batches, up to a number of rows that is enough to compare models."""
    rows = 0
    for batch in batches:
        yield batch
        rows += batch.reports.n_rows
        if rows >= COMPARED_ROWS:
            return


def _truth_in_report_order(truth: HoldsTable | Table | Any, reports: ReportSource) -> Table:
    """The true records, in the order of the reports and with the scheme's attributes."""
    if not isinstance(reports, Reports):
        raise InvalidInput(
            "Stored reports have no order, so the truth cannot be laid beside them. Read them into memory with "
            "Reports.read, or leave the truth out: the shares are then what the guesser expects."
        )
    if reports.scheme.is_dealt:
        raise InvalidInput(
            "Reports of dealt questionnaires are not in the order of the people, so the truth cannot be laid beside them. "
            "Leave it out: the shares are then estimated."
        )
    schema = reports.scheme.schema
    table = truth if isinstance(truth, Table) else getattr(truth, "table", None)
    if not isinstance(table, Table):  # a data frame, or another source of Arrow data
        table = encode(truth, schema, drop_others=True)
    for attribute in schema:
        if attribute.name not in table.schema or table.schema[attribute.name].answers != attribute.answers:
            raise InvalidInput(
                f"The truth must have {attribute.name!r} with the scheme's answers. Read it with the scheme's schema."
            )
    if table.n_rows != reports.n_reports:
        raise InvalidInput(
            f"The truth has {table.n_rows:,} rows for {reports.n_reports:,} reports; they must be about the same people, "
            "row by row."
        )
    return table.select(schema.names)


def _guessed_attributes(scheme: Scheme, known: Sequence[str], truth: Table | None) -> tuple[str, ...]:
    """The private answers that the guesser does not know yet."""
    for name in known:
        scheme.schema[name]
    if known and truth is None:
        raise InvalidInput(
            f"Someone who knows {known[0]!r} of each person can only be tried where these answers are at hand: give the "
            "truth (on the command line --data)."
        )
    hidden = tuple(name for name in scheme.schema.names if name not in scheme.public_names and name not in known)
    if not hidden:
        raise InvalidInput("Every answer is public or known already, so nothing is left to guess.")
    return hidden
