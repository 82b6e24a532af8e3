"""What a questionnaire promises its respondents, in numbers and in words, before it is opened."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.design.plan import plan
from tacit.errors import InvalidInput, NotEstimable
from tacit.survey.block_figures import made_sure
from tacit.survey.definition import Definition, surest
from tacit.survey.needs import need_lines, question_needs
from tacit.survey.proposal import LEVELS
from tacit.survey.quotas import MET_NOT_GUARANTEED
from tacit.survey.series import series_cap, split_gamma, waves_of
from tacit.survey.verification import WHOLE_CAP, examine, second_round_gamma

if TYPE_CHECKING:
    from tacit.channel.scheme import Group
    from tacit.design.plan import Plan
    from tacit.measures.whole_report import AnswerMeasures

# Of all answers of one person together: above this it is said before consent, above WHOLE_CAP refused (static/checks.js).
WHOLE_NOTICE = 1e6
# From here on `open` says that many answers together tell more than each.
MANY = 1000
MOST_NOTES = 3  # of a plan's; each question may have one


def promise(definition: Definition, margin: float | None = None) -> tuple[dict[str, Any], list[str]]:
    """What the whole report tells of each answer, what routing costs and how many people it takes, as a document and as lines.

    `margin` is the wanted margin of error; without one, the questionnaire's own counts.
    """
    try:
        wanted_margin = definition.margin if margin is None else margin
        needs = question_needs(definition, wanted_margin)
        purposes = {entry["name"]: entry["purpose"] for entry in needs if entry["purpose"] != "shares"}
        needed = plan(definition.scheme, wanted_margin, purposes=purposes)
    except NotEstimable as error:
        raise NotEstimable(f"{untold(definition)}: {error}") from error
    answers, gamma = definition.whole.answers(), definition.whole.gamma
    second = second_round_gamma(definition.document)
    sure = {group.names: _surest_of(group, answers) for group in definition.groups}
    with_second = _with_second(gamma, max(sure.values(), default=0.0), second) if second > 1 else None
    apart = never_dealt_together(definition)
    public = definition.scheme.public_names
    warnings = _warnings(gamma * second)
    series, series_lines = series_figures(definition, needed.margin)
    if "quotas" in definition.document:
        warnings.append(
            f"Quotas are compared on the device when the page is opened and before it sends. {MET_NOT_GUARANTEED}"
        )
    described = {
        "name": definition.name,
        "wave": definition.wave,
        "fingerprint": definition.fingerprint,
        "groups": [
            {
                **group.to_document(),
                "worst_posterior": sure[group.names],
                "gamma": _finite(group.channel.amplification),
            }
            for group in definition.groups
        ],
        "answers": [answer.to_document() for answer in answers],
        "never_together": apart,
        "public": list(public),
        "gamma": _finite(gamma),
        **({"second_round": with_second} if with_second else {}),
        **series,
        "respondents": needed.respondents,
        "questions": needs,
        "plan": needed.to_document(),
        "warnings": warnings,
    }
    lines = [f"{definition.title()} (wave {definition.wave}), fingerprint {definition.fingerprint}"]
    for group in definition.groups:
        lines += _group_lines(group, sure[group.names], _versions_with(definition, group))
    if apart:
        lines.append(_apart_line(apart))
    if public:
        lines.append(f"  not disguised: {', '.join(public)}")
    lines.append(f"  all answers of one person together: amplification {_times(gamma)}")
    if with_second:
        lines.append(
            f"  with the one bit more of a second round: amplification {_times(gamma * second)}, and its best guesser at most "
            f"{with_second['worst_posterior']:.0%} sure of an answer"
        )
    return described, [*lines, *series_lines, *plan_lines(needed), *need_lines(needs), *warnings]


def series_figures(definition: Definition, margin: float) -> tuple[dict[str, Any], list[str]]:
    """What all declared waves together tell (FORMULAS 17), and how many respondents each way to protect them takes.

    As a document and as lines; both are empty for a survey that is asked once.
    """
    waves = definition.waves
    if waves is None:
        return {}, []
    examination = examine(definition.document)
    second = examination.second
    blocks = [block for deal in examination.deals for block in deal]
    gamma = max((block.gamma for block in blocks), default=1.0) * second
    sure = max(made_sure(max(block.worst.values()), second * (block.gamma * second) ** (waves - 1)) for block in blocks)
    whole = (examination.gamma * second) ** waves
    ways = _ways(definition, margin)
    described = {
        "waves": waves,
        "series": definition.series,
        "series_gamma": _finite(gamma**waves),
        "series_cap": series_cap(definition.document),
        "series_whole_gamma": _finite(whole),
        "series_worst_posterior": sure,
        "panel": definition.is_panel,
        "series_ways": ways,
    }
    lines = [
        f"  wave {definition.wave} of {waves}; all waves together: amplification {_times(gamma**waves)} of one answer (at most "
        f"{series_cap(definition.document):g} is allowed), {_times(whole)} of all, and at most {sure:.0%} sure of an answer",
        *(
            f"    {way['way']}: amplification {way['gamma']:.4g} a wave, {_times(way['series_gamma'])} in all, "
            f"{way['respondents']:,} respondents a wave"
            for way in ways
        ),
    ]
    if definition.is_panel:
        lines.append("  a panel: the reports of one person can be put together, by a random mark of their device")
    return described, lines


def _ways(definition: Definition, margin: float) -> list[dict[str, Any]]:
    """The privacy word in every wave, and the cap of the series split by the m-th root, each with its respondents."""
    written, waves = vars(definition).get("questionnaire"), definition.waves
    if written is None or waves is None:
        return []
    cap = series_cap(definition.document)
    split = (
        f"a cap of {cap:g} split over {waves} waves",
        split_gamma(cap, waves),
        replace(written, privacy=None, series_gamma=cap),
    )
    ways = [split]
    if written.privacy is not None:
        level = LEVELS[written.privacy]
        allowed = max(cap, level**waves * (1 + 1e-6))
        ways.insert(0, (f"{written.privacy} in every wave", level, replace(written, series_gamma=allowed)))
    return [
        {
            "way": way,
            "gamma": gamma,
            "series_gamma": gamma**waves,
            "respondents": plan(Definition.from_questionnaire(questionnaire).scheme, margin).respondents,
        }
        for way, gamma, questionnaire in ways
    ]


def _with_second(gamma: float, sure: float, second: float) -> dict[str, Any]:
    """What reports tell together with the bit of the second round."""
    return {"gamma": _finite(gamma * second), "worst_posterior": made_sure(sure, second)}


def _surest_of(group: Group, answers: Iterable[AnswerMeasures]) -> float:
    """How sure the whole report makes its best guesser of an answer of a group, at most."""
    return max(surest(answer) for answer in answers if answer.attribute in group.names)


def _versions_with(definition: Definition, group: Group) -> str:
    """Which versions of a questionnaire have a group, in words; nothing where all do."""
    versions = definition.scheme.questionnaires
    having = [
        version.name for version in versions if any(own.to_document() == group.to_document() for own in version.groups)
    ]
    return "" if len(having) == len(versions) else f" (in {', '.join(having)})"


def _group_lines(group: Group, sure: float, versions: str) -> list[str]:
    said = f"{sure:.0%}" if sure >= 0.01 else f"{100 * sure:.2g}%"
    return [
        f"  {', '.join(group.names)}{versions}: {group.channel.kind}; the whole report makes its best guesser at most {said} "
        "sure of an answer",
        *(f"    {line}" for line in routing_lines(group)),
    ]


def _apart_line(apart: Sequence[str]) -> str:
    more = f"; and {len(apart) - 5} more such lists (--json gives all)" if len(apart) > 6 else ""
    listed = "; ".join(apart[:5] if more else apart)
    return f"  cannot be estimated together, because nobody is asked both: {listed}{more}"


def untold(definition: Definition) -> str:
    """The questions whose reports say nothing that can be estimated, and how they are disguised."""
    channels = {
        name: group.channel.kind
        for version in definition.scheme.questionnaires
        for group in version.groups
        for axis, name in enumerate(group.names)
        if not group.channel.margin([axis]).is_invertible()
    }
    return ", ".join(f"{name} (disguised by {kind!r})" for name, kind in channels.items()) or "A question"


def check_whole(definition: Definition) -> None:
    """Refuse a questionnaire whose answers together tell more than the page allows."""
    bounded = [group.channel.amplification for group in definition.groups]
    gamma = definition.whole.gamma
    if math.isinf(gamma):
        gamma = definition.whole.bounded_gamma
    gamma *= second_round_gamma(definition.document)
    gamma **= waves_of(definition.document)
    if gamma <= WHOLE_CAP * (1 + 1e-9):
        return
    typical = max(answer for answer in bounded if math.isfinite(answer))
    most = int(math.log(WHOLE_CAP) / math.log(typical))
    raise InvalidInput(
        f"The answers of one person together would have an amplification of {gamma:.3g}; the page refuses more than "
        f"{WHOLE_CAP:.0e}. Deal each respondent a part instead: {most} of these questions keep within it, so split the file "
        "into surveys with as many each and give every respondent one of their links at random; or choose a stronger "
        "privacy level."
    )


def plan_lines(needed: Plan) -> list[str]:
    """How many people the wanted margin takes, and which questions take the most."""
    most = sorted(needed.per_attribute, key=lambda name: -needed.per_attribute[name])[:3]
    notes = needed.warnings if len(needed.warnings) <= MOST_NOTES else needed.warnings[: MOST_NOTES - 1]
    more = len(needed.warnings) - len(notes)
    listed = ", ".join(f"{name} {needed.per_attribute[name]:,}" for name in most)
    return [
        f"  for a margin of {100 * needed.margin:g} percentage points at {needed.level:.0%}: {needed.respondents:,} respondents; "
        f"asked directly {needed.direct_questioning:,} would do (most are needed for: {listed})",
        *(f"    {line}" for line in notes),
        *([f"    and {more} more notes like these (--json gives all)"] if more else []),
    ]


def routing_lines(group: Group) -> Iterator[str]:
    """What routing or grouping costs, and what can no longer be estimated together."""
    if group.records is None:
        if len(group.names) > 1:
            yield (
                f"disguised together: for the same precision each needs about {routing_cost(group):.1f} times the respondents of "
                "a question that is disguised on its own with the same amplification"
            )
        return
    yield (
        "routing, or declining them together, connects these questions: disguised together on their "
        f"{len(group.records)} legal records. For the same precision they need about "
        f"{routing_cost(group):.1f} times the respondents of questions that everybody is asked"
    )
    apart = never_together(group)
    if apart:
        yield f"cannot be estimated together: {'; '.join(apart)}. State `together:` for those that are wanted"


def routing_cost(group: Group) -> float:
    """How many times the respondents the worst answer needs, against a question of its own with the same amplification."""
    from tacit.channel import gamma_diagonal
    from tacit.channel.routing import NOT_ASKED
    from tacit.channel.scheme import Questionnaire, Scheme
    from tacit.measures.cost import report_variance
    from tacit.measures.prior import Prior
    from tacit.schema import Schema

    schema = Schema(group.attributes)
    scheme = Scheme(schema, (Questionnaire("", 1.0, (group,), ()),))
    prior = Prior.of(schema, routed=scheme.routed_records)
    worst = 1.0
    for attribute in group.attributes:
        is_answer = [answer != NOT_ASKED for answer in attribute.answers]
        size = sum(is_answer)
        alone = gamma_diagonal(group.channel.amplification).build((size,))
        even = np.full(size, 1 / size)
        variance = float(alone.solve_squares(alone.apply(even)).max()) - 1 / size**2
        worst = max(worst, float(report_variance(scheme, prior, [attribute.name])[is_answer].max()) / variance)
    return worst


def never_together(group: Group) -> list[str]:
    """Which questions of a group have no joint estimate, as short lists."""
    places = range(len(group.names))
    pairs = {pair for pair in itertools.combinations(places, 2) if group.channel.margin(pair).is_invertible()}
    return _apart(group.names, {(group.names[one], group.names[other]) for one, other in pairs})


def never_dealt_together(definition: Definition) -> list[str]:
    """Which sensitive questions stand in no version together, as short lists; none where everybody is asked the same."""
    if not definition.scheme.is_dealt:
        return []
    versions = [
        [name for group in version.groups for name in group.names] for version in definition.scheme.questionnaires
    ]
    asked = {name for version in versions for name in version}
    names = [name for name in definition.scheme.schema.names if name in asked]
    return _apart(names, {pair for version in versions for pair in itertools.permutations(version, 2)})


def _apart(names: Sequence[str], together: set[tuple[str, str]]) -> list[str]:
    apart = []
    for place, name in enumerate(names):
        others = [other for other in names[place + 1 :] if (name, other) not in together]
        if others:
            apart.append(f"{name} with {', '.join(others)}")
    return apart


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _times(gamma: float) -> str:
    return f"{gamma:,.4g}" if math.isfinite(gamma) else "unbounded"


def _warnings(gamma: float) -> list[str]:
    if math.isinf(gamma):
        return ["Some answers are ruled out by what is sent (no finite amplification); the page says so."]
    if gamma > MANY:
        said = " The page says so before anybody consents." if gamma > WHOLE_NOTICE else ""
        return [
            f"All answers of one person together: the odds of a guess can change up to {gamma:,.0f} times. Each question is "
            f"protected as said; someone who knows how answers are related learns more from many of them.{said}"
        ]
    return []
