"""The measures of a whole scheme, a group, or a single channel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from tacit.channel.base import Channel
from tacit.channel.scheme import Group, Questionnaire, Scheme
from tacit.display import Shown
from tacit.errors import InvalidInput
from tacit.measures.amplification import epsilon, posterior_bound
from tacit.measures.caveats import caveats
from tacit.measures.cost import ExpectedError, expected_errors
from tacit.measures.group import RARE_SHARE, GroupMeasures, group_measures
from tacit.measures.meaning import amplification_meaning, error_document, finite, group_document
from tacit.measures.prior import Prior, by_name
from tacit.measures.whole_report import AnswerMeasures, WholeReport
from tacit.schema import Attribute, Schema

DEFAULT_RESPONDENTS = 1000
# More names than this in a sentence become a number.
SURE = 1 - 1e-9  # as good as known
LISTED = 3


@dataclass(frozen=True, eq=False, repr=False)
class SchemeMeasures(Shown):
    """What a scheme reveals about one person, and the errors to expect of what is learnt about all.

    `gamma` is the amplification of everything private in one person's report: the product over the groups, the most
    over the questionnaires that may be dealt. `answers` says what the whole report tells of each answer.
    """

    gamma: float
    groups: tuple[GroupMeasures, ...]
    answers: tuple[AnswerMeasures, ...]
    public: tuple[str, ...]
    prior: str
    respondents: int
    errors: tuple[ExpectedError, ...]
    condition: float | None
    warnings: tuple[str, ...]

    plotted = "worst_posterior"

    def headline(self) -> str:
        return f"amplification {self.gamma:g} of the private part of a report, prior: {self.prior}"

    def shown_rows(self) -> list[dict[str, Any]]:
        """What the whole report tells of each answer."""
        names = ("attribute", "gamma", "map_privacy", "worst_posterior", "pse")
        return [{name: answer.to_document().get(name) for name in names} for answer in self.answers]

    @property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy: the logarithm of `gamma`."""
        return epsilon(self.gamma)

    def posterior_bound(self, share: float) -> float:
        """The surest anyone can become of something that `share` of all people have: rho2 for rho1 = `share`."""
        return posterior_bound(share, self.gamma)

    @property
    def coins_guessed(self) -> float | None:
        """Chance to guess the coins of all flipped groups, knowing nothing else; None if nothing is flipped."""
        coins = [group.coin_guessed for group in self.groups if group.coin_guessed is not None]
        return math.prod(coins) if coins else None

    @property
    def meaning(self) -> str:
        """What the amplification means for one person."""
        if not self.groups:
            return "Your answers are reported as they are."
        seen = "the disguised part of your report" if self.public else "your report"
        return amplification_meaning(self.gamma, self.posterior_bound(RARE_SHARE), seen)

    def to_document(self) -> dict[str, Any]:
        """Everything as JSON; what is infinite or unknown is None, and a sentence in `warnings` says why."""
        return {
            "gamma": finite(self.gamma),
            "epsilon": finite(self.epsilon),
            "rho1": RARE_SHARE,
            "rho2": self.posterior_bound(RARE_SHARE),
            "meaning": self.meaning,
            "coins_guessed": self.coins_guessed,
            "condition": finite(self.condition),
            "prior": self.prior,
            "public": list(self.public),
            "groups": [group_document(group) for group in self.groups],
            "answers": [answer.to_document() for answer in self.answers],
            "respondents": self.respondents,
            "errors": [error_document(error) for error in self.errors],
            "warnings": list(self.warnings),
        }


def measure(
    measured: Scheme | Group | Channel,
    prior: Mapping[str, Sequence[float]] | Sequence[float] | Any = None,
    respondents: int | None = None,
) -> SchemeMeasures:
    """The privacy of a scheme, a group or a channel in every measure, and the errors to expect.

    `prior` maps attributes (or several at once, ``a+b``) to distributions, or is a table of truths, or one distribution
    where there is only one group; without it the scheme's own prior counts, else a uniform one. Errors are for
    `respondents` people drawn from a population (1,000 if not said).

    Parameters
    ----------
    measured : Scheme, Group or Channel
        What is judged.
    prior : mapping, distribution or table of truths, optional
        The distribution of the truth that is assumed.
    respondents : int, optional
        People the errors are for.

    Returns
    -------
    SchemeMeasures

    Raises
    ------
    InvalidInput
        Where the prior does not fit the scheme.

    Examples
    --------
    >>> from tacit import Attribute, Scheme, channels, measure
    >>> scheme = Scheme.of([Attribute("smokes", ("no", "yes"))], [(["smokes"], channels.warner(0.95))])
    >>> round(measure(scheme).gamma, 6)
    19.0
    """
    scheme = as_scheme(measured)
    if respondents is None:
        respondents = DEFAULT_RESPONDENTS
    if not (isinstance(respondents, Integral) and respondents >= 1):
        raise InvalidInput(f"The number of respondents must be a whole number of at least 1, not {respondents!r}.")
    assumed = Prior.of(scheme.schema, by_name(scheme, prior), scheme.prior, scheme.routed_records)
    groups = [
        (group, group_measures(group, assumed, questionnaire.name))
        for questionnaire in scheme.questionnaires
        for group in questionnaire.groups
    ]
    errors = expected_errors(scheme, assumed, respondents)
    figures = tuple(figures for _, figures in groups)
    whole = WholeReport(scheme)
    answers = whole.answers(assumed)
    return SchemeMeasures(
        gamma=whole.gamma,
        groups=figures,
        answers=answers,
        public=scheme.public_names,
        prior=assumed.source,
        respondents=int(respondents),
        errors=errors,
        condition=None if scheme.is_dealt else _condition(figures),
        warnings=(
            *caveats(scheme, assumed, groups, errors),
            *_scope_caveats(answers),
            *_known_caveats(scheme, assumed, answers),
        ),
    )


def as_scheme(measured: Scheme | Group | Channel) -> Scheme:
    """A scheme of a single group, where a group or a bare channel is given."""
    if isinstance(measured, Scheme):
        return measured
    if not isinstance(measured, Group):
        if not hasattr(measured, "amplification"):
            raise InvalidInput(
                f"A scheme, a group or a channel can be measured, not {type(measured).__name__}. "
                "Make the channel of a recipe with recipe.build(shape)."
            )
        measured = Group(tuple(map(_attribute, range(len(measured.shape)), measured.shape)), measured)
    return Scheme(Schema(measured.attributes), (Questionnaire("", 1.0, (measured,), ()),))


def _attribute(position: int, size: int) -> Attribute:
    return Attribute(f"attribute {position + 1}", tuple(str(code) for code in range(size)))


def _scope_caveats(answers: Sequence[AnswerMeasures]) -> list[str]:
    sentences = {
        "joint model": "There are too many whole reports to look at each: the figures of {} come from simulated reports of "
        "people drawn from a joint model that was fitted to the data; a rarer report may tell more than the worst of them.",
        "group": "There are too many whole reports to look at each: the figures of {} are those of their own group, as if "
        "groups were independent. Related answers in other groups, or public ones, may tell more; see the attack.",
    }
    said = []
    for scope, sentence in sentences.items():
        names = [answer.attribute for answer in answers if answer.scope == scope]
        if names:
            listed = ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
            said.append(sentence.format(listed))
    return said


def _known_caveats(scheme: Scheme, prior: Prior, answers: Sequence[AnswerMeasures]) -> list[str]:
    """Why a guess is sure although its answer is disguised: the data have public answers that only one answer goes with."""
    sure = [
        answer.attribute for answer in answers if answer.worst_posterior is not None and answer.worst_posterior >= SURE
    ]
    if prior.source != "data" or not scheme.public_names or not sure or not math.isfinite(WholeReport(scheme).gamma):
        return []
    return [
        f"In these data all people with certain answers to {', '.join(scheme.public_names[:LISTED])} give the same answer to "
        f"{', '.join(sure[:LISTED])}. Whoever holds the data is sure of it without any report: that is the surest guess of 100%. "
        "Ranges instead of numbers, or fewer public attributes, leave fewer such people."
    ]


def _condition(groups: Sequence[GroupMeasures]) -> float | None:
    numbers = [group.condition for group in groups if group.condition is not None]
    return math.prod(numbers) if len(numbers) == len(groups) else None
