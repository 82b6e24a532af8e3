"""The attack: what the best guesser learns about single people from their reports alone.

>>> import tacit
>>> from tacit.bundled import binary_breast_cancer
>>> truth = binary_breast_cancer()
>>> scheme = tacit.Scheme.of(truth.schema, [(truth.schema.names, tacit.channels.flip(0.7))])
>>> found = tacit.attack(tacit.disguise(truth, scheme, seed=1990), truth=truth)
>>> found.coins.with_reports > 0.9, found.records.with_reports > 0.9
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.attacks.caveats import attack_warnings
from tacit.attacks.evidence import Evidence, cells_per_row, evidence
from tacit.attacks.fit import fit
from tacit.attacks.result import AttackResult, CoinShare, Share
from tacit.attacks.score import Score, score
from tacit.attacks.shares import starting_shares
from tacit.attacks.tally import distinct
from tacit.errors import InvalidInput
from tacit.reports import HoldsTable, Reports
from tacit.table import Table

__all__ = ["AttackResult", "CoinShare", "Share", "attack"]

# Products in the mixture: more describe finer dependence between answers, and cost time.
MOST_COMPONENTS = 8
# Numbers held while fitting, and while looking for the number of components; of more reports a random part is taken.
FITTED_NUMBERS = 1 << 21
GROWN_NUMBERS = 1 << 19
FEWEST_FITTED = 1 << 12


def attack(
    reports: Reports,
    *,
    truth: HoldsTable | Table | None = None,
    known: Sequence[str] = (),
    components: int = MOST_COMPONENTS,
    seed: int = 0,
    on_share: Callable[[float], None] = lambda share: None,
) -> AttackResult:
    """The shares of coins, whole records and single answers that the best guesser gets right.

    The guesser sees the reports and the scheme, estimates the joint distribution of the truth by a mixture of products
    (at most `components` of them) and guesses what is likeliest for each person. With `truth`, row by row the people
    behind the reports, right guesses are counted; else they are estimated. `known` names attributes whose true answers
    the guesser has from elsewhere; for these the truth is needed.
    """
    _checked(reports, components)
    clear = None if truth is None else _aligned(truth, reports)
    hidden = _guessed_attributes(reports, known, clear)
    rng = np.random.default_rng(seed)
    parts, fewer = _samples(reports, FITTED_NUMBERS, rng), _samples(reports, GROWN_NUMBERS, rng)
    found = fit(parts, fewer, starting_shares(reports), most_components=components, rng=rng, on_share=on_share)
    scores = score(found.joint, reports, clear, tuple(known))
    return _result(scores, reports, hidden, tuple(known), found.joint.components)


def _checked(reports: Reports, components: int) -> None:
    if not reports.n_reports:
        raise InvalidInput("There are no reports to attack.")
    if components < 1:
        raise InvalidInput(f"The mixture needs at least one component, not {components}.")


def _aligned(truth: HoldsTable | Table, reports: Reports) -> Table:
    """The true records, in the order of the reports and with the scheme's attributes."""
    if reports.scheme.is_dealt:
        raise InvalidInput(
            "Reports of dealt questionnaires are not in the order of the people, so the truth cannot be laid beside them. "
            "Leave it out: the shares are then estimated."
        )
    table = truth if isinstance(truth, Table) else truth.table
    schema = reports.scheme.schema
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


def _guessed_attributes(reports: Reports, known: Sequence[str], truth: Table | None) -> tuple[str, ...]:
    """The private answers that the guesser does not know yet."""
    scheme = reports.scheme
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


def _samples(reports: Reports, numbers: int, rng: np.random.Generator) -> list[Evidence]:
    """Distinct reports of each questionnaire to fit the joint to; where they are very many, a random part of them."""
    parts = []
    for questionnaire, table in reports:
        if not table.n_rows:
            continue
        first, kind = distinct([table[name] for name in table.schema.names])
        enough = max(FEWEST_FITTED, numbers // cells_per_row(questionnaire))
        if len(first) > enough:
            table = table.rows(rng.choice(table.n_rows, size=enough, replace=False))
            first, kind = distinct([table[name] for name in table.schema.names])
        counts = np.bincount(kind, minlength=len(first)).astype(np.float64)
        parts.append(evidence(questionnaire, reports.scheme.schema, table.rows(first), counts))
    return parts


def _result(
    scores: Score, reports: Reports, hidden: tuple[str, ...], known: tuple[str, ...], components: int
) -> AttackResult:
    per_attribute = {name: scores.answers[name] for name in hidden}
    answers = Share(
        float(np.mean([share.with_reports for share in per_attribute.values()])),
        float(np.mean([share.without_reports for share in per_attribute.values()])),
    )
    warnings = attack_warnings(
        reports.scheme, known, reports.n_reports, basis=scores.basis, coins=scores.coins, records=scores.records
    )
    return AttackResult(
        coins=scores.coins,
        records=scores.records,
        answers=answers,
        per_attribute=per_attribute,
        groups=scores.groups,
        known=known,
        n_reports=reports.n_reports,
        components=components,
        basis=scores.basis,
        warnings=warnings,
    )
