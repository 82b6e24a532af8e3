"""Sentences that stand beside the shares: what they rest on, and which answers are hints at others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tacit.attacks.result import Shares, Stability
from tacit.channel.scheme import Group, Scheme
from tacit.measures.caveats import name_list

# What colleagues, neighbours or a register often know of a person; a guess by the attribute's name.
EASILY_KNOWN = frozenset(
    {
        "age",
        "sex",
        "gender",
        "race",
        "ethnicity",
        "education",
        "occupation",
        "job",
        "profession",
        "workclass",
        "employer",
    }
    | {"marital-status", "married", "relationship", "children", "native-country", "country", "nationality", "region"}
    | {"city", "town", "zip", "zip-code", "religion", "party"}
)
NEARLY_ALL = 0.9
# Standard errors by which a fit must differ from its mirror image to be trusted.
DECIDED = 3.0
# Shares that differ by more than this are not the same figure.
UNSTABLE = 0.05


def attack_warnings(
    scheme: Scheme,
    known: Sequence[str],
    n_reports: int,
    *,
    expected: Shares,
    counted: Shares | None,
    stability: Stability,
) -> tuple[str, ...]:
    """Every sentence that applies, the gravest first."""
    sentences = list(_weak_disguise(scheme, expected if counted is None else counted))
    sentences += _shared_groups(scheme, known)
    sentences += _mirror_images(scheme, known, n_reports)
    sentences += _unsure(expected, counted, stability)
    if expected.coins is None:
        sentences.append("No group's report looks like a record, so there are no coins to guess; look at the answers.")
    if counted is None:
        sentences.append(
            "Without the truth the shares are what the guesser expects under the joint distribution fitted to the reports, "
            "not what was counted."
        )
    return tuple(dict.fromkeys(sentences))


def _weak_disguise(scheme: Scheme, shares: Shares) -> Iterator[str]:
    records, coins = shares.records, shares.coins
    if records.with_reports >= NEARLY_ALL and not scheme.is_identity:
        yield (
            f"This scheme hides almost nothing: {records.with_reports:.0%} of the whole records are guessed right from the "
            "reports alone."
        )
    elif coins is not None and coins.with_reports >= NEARLY_ALL and coins.with_reports > coins.without_reports + 0.01:
        yield (
            f"Whether a report tells the truth is guessed right {coins.with_reports:.0%} of the time "
            f"({coins.without_reports:.0%} without looking at the rest of the report)."
        )


def _unsure(expected: Shares, counted: Shares | None, stability: Stability) -> Iterator[str]:
    """Where the figure depends on the model that was fitted, or the guesser expects more or less than is right."""
    low, high = stability.records
    if high - low > UNSTABLE:
        yield (
            f"The figure for whole records is not stable: models that fit about as well expect from {low:.0%} to {high:.0%}. "
            "More reports would decide between them."
        )
    if counted is not None and abs(expected.records.with_reports - counted.records.with_reports) > UNSTABLE:
        yield (
            f"The guesser expected {expected.records.with_reports:.0%} of the whole records to be right, and "
            f"{counted.records.with_reports:.0%} are: trust what was counted."
        )


def _shared_groups(scheme: Scheme, known: Sequence[str]) -> Iterator[str]:
    for group in (group for questionnaire in scheme.questionnaires for group in questionnaire.groups):
        if len(group.names) < 2 or not _looks_like_records(group):
            continue
        known_names = [name for name in group.names if name in known]
        likely = [name for name in group.names if name.lower() in EASILY_KNOWN and name not in known]
        others = [name for name in group.names if name not in known_names]
        if known_names and others:
            yield (
                f"{name_list(known_names)}, known to the guesser, {_share(known_names)} a group with "
                f"{name_list(others)}: {_hint(group)}"
            )
        elif likely and len(likely) < len(group.names):
            others = [name for name in group.names if name not in likely]
            yield (
                f"{name_list(likely)} may easily be known of a person and {_share(likely)} a group with {name_list(others)}: "
                f"{_hint(group)} Put what others know into another group."
            )


def _mirror_images(scheme: Scheme, known: Sequence[str], n_reports: int) -> Iterator[str]:
    """Where so few reports cannot tell a fit from its mirror image, the guesser may have everything reversed."""
    for questionnaire in scheme.questionnaires:
        people = n_reports * questionnaire.probability
        for group in questionnaire.groups:
            right = group.channel.coin_guessed()
            if right is None or len(group.names) < 2 or set(known) & set(group.names):
                continue
            apart = abs(2 * right - 1) * math.sqrt(people)
            if apart < DECIDED:
                yield (
                    f"{name_list(group.names)}: which of a record and its opposite is the true one is decided by only "
                    f"{apart:.1f} standard errors, so the guesser may have all of them reversed; nearly everything but this "
                    "one bit is revealed all the same."
                )


def _looks_like_records(group: Group) -> bool:
    report_forms = [(column.shows, column.answers) for column in group.report_attributes]
    return report_forms == [("one", attribute.answers) for attribute in group.attributes]


def _hint(group: Group) -> str:
    if group.channel.coin_guessed() is not None:
        return "whoever knows one answer of a flipped group knows them all."
    return (
        "an answer that is reported wrongly shows that the others are not the person's own, and a right one hints that "
        "they are."
    )


def _share(names: Sequence[str]) -> str:
    return "shares" if len(names) == 1 else "share"
