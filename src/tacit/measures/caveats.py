"""Where a promise is weaker than it sounds: the sentences that stand beside the figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tacit.channel.flip import FlipChannel
from tacit.channel.matrix import MatrixChannel
from tacit.channel.mixture import MixtureLaw
from tacit.channel.protocol import joint_labels
from tacit.channel.scheme import Group, Scheme
from tacit.measures.cost import ExpectedError
from tacit.measures.group import GroupMeasures
from tacit.measures.prior import Prior

# Above this chance to report the truth (or surely its opposite) there is hardly a disguise.
NEARLY_SURE = 0.95
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
            f"{_listed(scheme.public_names)} {_is(scheme.public_names)} public: reported as given. Every figure speaks "
            "of the other attributes only, and public answers may betray related private ones."
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
    channel, where = group.channel, _listed(group.names)
    if isinstance(channel, FlipChannel):
        yield from _flip_caveats(channel, where)
    elif math.isinf(figures.gamma):
        yield _infinite(group)
    if isinstance(channel, MixtureLaw):
        yield from _mixture_caveats(channel, group.channel.kind, where)
    if figures.determinable is not None:
        seen = figures.determinable
        yield (
            f"{where}: the randomized matrix shows the collector a range of posteriors, {seen.low:.0%} to {seen.high:.0%} "
            f"for a property of prior {seen.share:.0%}, but hides nothing more. Respondents draw their matrices on their "
            f"own, so reports follow the expected matrix and the true posterior is {seen.expected:.0%}, as without the "
            f"extra draw; whoever drew the far end even has amplification {_number(seen.largest_gamma)}."
        )
    if not channel.is_invertible() and channel.kind != "cut-and-paste":
        yield f"{where}: the reports cannot be turned back into an estimate of the joint answers."
    if isinstance(channel, MatrixChannel) and figures.worst_posterior is not None:
        yield (
            f"{where}: the worst posterior {figures.worst_posterior:.3g} holds only if the truth is distributed as "
            "assumed; for another prior the same matrix may reveal more. A bound on gamma needs no prior."
        )
    if figures.pse is not None:
        yield (
            "PSE is an average over reports and over the guesser's luck, each entry seen on its own: single reports may "
            "reveal much more. It is no guarantee; amplification is."
        )
    yield from _unknown(figures)


def _flip_caveats(channel: FlipChannel, where: str) -> Iterator[str]:
    if len(channel.shape) > 1:
        yield (
            f"{where}: a flip of a whole group leaves only two records possible, the report and its opposite, so the "
            "amplification is infinite. Whoever learns one answer of the group knows the others. Real records are "
            "correlated and skewed, and then the joint report mostly betrays its own coin: do not count on theta."
        )
    elif channel.chance in (0, 1):
        yield f"{where}: with theta = {channel.chance:g} every report tells the truth; nothing is disguised."
    sure = max(channel.chance, 1 - channel.chance)
    if NEARLY_SURE <= sure < 1:
        yield f"{where}: theta = {channel.chance:.3g} gives the truth away {sure:.1%} of the time; hardly a disguise."


def _mixture_caveats(channel: MixtureLaw, kind: str, where: str) -> Iterator[str]:
    if channel.keep >= NEARLY_SURE:
        yield f"{where}: the truth is reported at least {channel.keep:.1%} of the time; hardly a disguise."
    if kind == "mixture" and len(channel.shape) > 1 and channel.keep > 0:
        yield (
            f"{where}: whether a report is the record or the harmless draw can often be told from the report itself, "
            "because real records are correlated and draws are not; the chance to keep is no protection, amplification is."
        )


def _infinite(group: Group) -> str:
    where = _listed(group.names)
    if isinstance(group.channel, MatrixChannel):
        report, answer = _zero(group, group.channel)
        return (
            f"{where}: the matrix holds zeros (the report {report!r} rules out the answer {answer!r}), so the amplification "
            "is infinite: what the figures promise depends on the prior."
        )
    return f"{where}: some report is impossible under some answers, so it rules them out and the amplification is infinite."


def _zero(group: Group, channel: MatrixChannel) -> tuple[str, str]:
    """A report that can occur, and an answer under which it cannot."""
    occurs = channel.weights.max(axis=1, keepdims=True) > 0
    report, truth = np.argwhere((channel.weights == 0) & occurs)[0]
    answers = joint_labels(group.attributes)
    return (channel.labels or answers)[report], answers[truth]


def _unknown(figures: GroupMeasures) -> Iterator[str]:
    names = {"map_privacy": "MAP privacy", "worst_posterior": "worst posterior", "pse": "PSE", "condition": "condition"}
    missing = [text for field, text in names.items() if getattr(figures, field) is None]
    if missing:
        yield (
            f"{_listed(figures.attributes)}: too many possible reports to compute {', '.join(missing)}. Amplification holds "
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
            "Groups are disguised independently, so related attributes in different groups speak twice of the same thing: "
            "what anyone may learn about a person is bounded by the amplification of the whole record, not of one group."
        )
    if not scheme.is_identity:
        yield (
            "The amplification is that of one report. Whoever answers again with fresh draws multiplies it by itself."
        )


def _cost_caveats(errors: Sequence[ExpectedError]) -> Iterator[str]:
    failed = [error for error in errors if error.standard_errors is None]
    for error in failed[:LISTED]:
        yield f"No estimate of {_listed(error.attributes)}: {error.reason}"
    if len(failed) > LISTED:
        yield f"The same holds for {len(failed) - LISTED} more combinations of attributes."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _number(value: float) -> str:
    return "without bound" if math.isinf(value) else f"{value:.3g}"
