"""Where a promise is weaker than it sounds: the sentences that stand beside the figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tacit.channel.base import Channel
from tacit.channel.codes import joint_labels
from tacit.channel.scheme import Group, Scheme
from tacit.measures.amplification import posterior_bound
from tacit.measures.cost import ExpectedError
from tacit.measures.group import GroupMeasures
from tacit.measures.prior import Prior

# Above this chance to guess the truth from a report there is hardly a disguise.
NEARLY_SURE = 0.95
# Posteriors that another prior may raise by less than this are not worth a sentence.
PRIOR_MATTERS = 0.005
# More than this many sentences of one kind become one.
LISTED = 3


def caveats(
    scheme: Scheme, prior: Prior, measured: Sequence[tuple[Group, GroupMeasures]], errors: Sequence[ExpectedError]
) -> tuple[str, ...]:
    """Every caveat of a scheme, each once, the gravest first."""
    sentences: list[str] = []
    if scheme.is_identity:
        sentences.append("Nothing is disguised: every answer is reported as it is, so no figure protects anyone.")
    elif scheme.public_names:
        sentences.append(
            f"{name_list(scheme.public_names)} {_is(scheme.public_names)} public: reported as given. Every figure is for "
            "the other attributes only, and public answers may be a hint at related private ones."
        )
    for group, figures in measured:
        sentences += _group_caveats(group, figures)
    sentences += _scheme_caveats(scheme, measured)
    if prior.source == "uniform" and not scheme.is_identity:
        sentences.append(
            "No prior was given, so all answers count as equally likely. MAP privacy, worst posterior, PSE and the "
            "expected errors depend on it; amplification does not."
        )
    sentences += _cost_caveats(errors)
    return tuple(dict.fromkeys(sentences))


def _group_caveats(group: Group, figures: GroupMeasures) -> Iterator[str]:
    channel, where = group.channel, name_list(group.names)
    if math.isinf(figures.gamma):
        yield _infinite(group)
    if (caveat := channel.caveat()) is not None:
        yield f"{where}: {caveat}"
    yield from _weak(channel, where)
    if figures.determinable is not None:
        seen = figures.determinable
        yield (
            f"{where}: the randomized matrix shows the collector a range of posteriors, {seen.low:.0%} to {seen.high:.0%} "
            f"for a property of prior {seen.share:.0%}, but hides nothing more. Respondents draw their matrices on their "
            f"own, so reports follow the expected matrix and the true posterior is {seen.expected:.0%}, as without the "
            f"extra draw; whoever drew the far end even has amplification {_number(seen.largest_gamma)}."
        )
    if not any(channel.margin([axis]).is_invertible() for axis in range(len(channel.shape))):
        yield f"{where}: the reports cannot be turned back into an estimate of the answers."
    if _depends_on_prior(figures):
        yield (
            f"{where}: the worst posterior {figures.worst_posterior:.3g} holds only if the truth is distributed as "
            "assumed; for another prior the same channel may reveal more. A bound on gamma needs no prior."
        )
    if figures.pse is not None:
        yield (
            "PSE is an average over reports and over the guesser's luck, each entry seen on its own: single reports may "
            "reveal much more. It is no guarantee; amplification is."
        )
    yield from _unknown(figures)


def _weak(channel: Channel, where: str) -> Iterator[str]:
    """Where a report tells the truth nearly always, even if all answers are equally likely."""
    even = [np.full(size, 1 / size) for size in channel.shape]
    missed = channel.independent_figures(even).map_privacy
    if missed is None:
        return
    if missed <= np.finfo(np.float64).eps:
        yield f"{where}: every report tells the truth; nothing is disguised."
    elif 1 - missed >= NEARLY_SURE:
        yield (
            f"{where}: a report shows the truth {1 - missed:.1%} of the time where all answers are equally likely; "
            "hardly a disguise."
        )


def _depends_on_prior(figures: GroupMeasures) -> bool:
    """Whether another prior, as sure of its likeliest answer, may have a worse posterior."""
    if figures.worst_posterior is None or figures.blind_privacy is None:
        return False
    return posterior_bound(1 - figures.blind_privacy, figures.gamma) > figures.worst_posterior + PRIOR_MATTERS


def _infinite(group: Group) -> str:
    where, zero = name_list(group.names), _zero(group)
    example = "" if zero is None else f" (the report {zero[0]!r} rules out the answer {zero[1]!r})"
    return (
        f"{where}: some report is impossible under some answers{example}, so it rules them out and the amplification is "
        "infinite: what the figures promise depends on the prior."
    )


def _zero(group: Group) -> tuple[str, str] | None:
    """A report that can occur, and an answer under which it cannot, where reports show one answer or label."""
    channel, columns = group.channel, group.report_attributes
    if not channel.is_small or any(column.shows != "one" for column in columns):
        return None
    law = channel.matrix
    report, truth = np.argwhere((law == 0) & (law.max(axis=1, keepdims=True) > 0))[0]
    labels = [column.answers[codes[report]] for column, codes in zip(columns, channel.reports(), strict=True)]
    return "+".join(labels), joint_labels(group.attributes)[truth]


def _unknown(figures: GroupMeasures) -> Iterator[str]:
    names = {"map_privacy": "MAP privacy", "worst_posterior": "worst posterior", "pse": "PSE", "condition": "condition"}
    missing = [text for field, text in names.items() if getattr(figures, field) is None]
    if missing:
        yield (
            f"{name_list(figures.attributes)}: too many possible reports to compute {', '.join(missing)}. Amplification holds "
            "all the same; measure a group of fewer attributes, or a prior without joint data, for the rest."
        )


def _scheme_caveats(scheme: Scheme, measured: Sequence[tuple[Group, GroupMeasures]]) -> Iterator[str]:
    coins = [figures.coin_guessed for _, figures in measured if figures.coin_guessed is not None]
    if len(coins) > 1 and not scheme.is_dealt:
        yield (
            f"The coins of all {len(coins)} flipped groups are guessed with chance {math.prod(coins):.3g} only by someone "
            "who knows nothing else, and only if answers are independent and evenly spread."
        )
    if any(len(questionnaire.groups) > 1 for questionnaire in scheme.questionnaires):
        yield (
            "Groups are disguised independently, so two related answers in different groups both tell of the same thing: "
            "what anyone may learn about a person is bounded by the amplification of the whole record, not of one group."
        )
    if not scheme.is_identity:
        yield (
            "The amplification is that of one report. Whoever answers again with fresh draws multiplies it by itself."
        )


def _cost_caveats(errors: Sequence[ExpectedError]) -> Iterator[str]:
    failed = [error for error in errors if error.standard_errors is None]
    for error in failed[:LISTED]:
        yield f"No estimate of {name_list(error.attributes)}: {error.reason}"
    if len(failed) > LISTED:
        yield f"The same holds for {len(failed) - LISTED} more combinations of attributes."


def name_list(names: Sequence[str]) -> str:
    """Names as a sentence lists them: ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _number(value: float) -> str:
    return "without bound" if math.isinf(value) else f"{value:.3g}"
