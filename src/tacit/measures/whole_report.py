"""What everything that one person sends tells of each of their answers.

A promise about one answer must hold against whoever reads the whole report, not only the answer's own column: answers
that are related are hints at each other, within a group because its reports show them together, and across groups because
people's answers do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tacit.channel.dense import UNKNOWN, Figures
from tacit.channel.routing import NOT_ASKED, Asked, Mask, Routing
from tacit.channel.scheme import Group, Questionnaire, Scheme
from tacit.measures.amplification import Situation, amplification_among, amplification_together, answer_amplification
from tacit.measures.exposure import Component, blind, components, exposures, is_enumerable
from tacit.measures.prior import Prior, by_name
from tacit.randomness import ONE
from tacit.schema import Attribute

# What a figure was computed from: every whole report; if these are too many, simulated whole reports of people drawn from
# a joint model; or one group, if there is no model.
Scope = Literal["whole report", "joint model", "group"]
SCOPES: tuple[Scope, ...] = ("whole report", "joint model", "group")


@dataclass(frozen=True)
class AnswerMeasures:
    """What a whole report tells of one answer.

    `gamma` needs no prior. The three figures hold under the stated prior, `even` under the even one: every answer to
    each asked question equally likely. `scope` says what they come from: every whole report, or (where these are too many)
    reports simulated from a joint model of the population, or the answer's own group as if groups were independent. They
    are for people who were asked the question.
    """

    attribute: str
    gamma: float
    map_privacy: float | None
    worst_posterior: float | None
    pse: float | None
    even: Figures
    scope: Scope

    def to_document(self) -> dict[str, Any]:
        return {**asdict(self), "gamma": self.gamma if math.isfinite(self.gamma) else None}


@dataclass(frozen=True, eq=False)
class WholeReport:
    """Everything that one person sends under a scheme, and what it tells of them.

    `routing` says which questions are asked only after which answers. Without it the legal records of each group, and
    the answer "not asked", are all that is known of it.

    >>> from tacit import Attribute, Scheme, channels
    >>> questions = [Attribute(f"q{n}", ("no", "yes")) for n in range(12)]
    >>> whole = WholeReport(Scheme.of(questions, [([question.name], channels.warner(0.7)) for question in questions]))
    >>> f"{whole.gamma:,.0f}"
    '26,045'
    """

    scheme: Scheme
    routing: Routing | None = None

    @cached_property
    def gamma(self) -> float:
        """Amplification of the whole questionnaire: between any two legal records with the same public answers."""
        if self.scheme.is_identity:
            return math.inf
        return max(self._questionnaire_gamma(questionnaire.groups) for questionnaire in self.scheme.questionnaires)

    @property
    def bounded_gamma(self) -> float:
        """Amplification of the groups whose own is finite; the other groups are reported separately."""
        finite = (
            [group for group in questionnaire.groups if math.isfinite(group.channel.amplification)]
            for questionnaire in self.scheme.questionnaires
        )
        return max(map(self._questionnaire_gamma, finite))

    def _questionnaire_gamma(self, groups: Sequence[Group]) -> float:
        if self.routing is None:
            return math.prod(group.channel.amplification for group in groups)
        return amplification_together([self._amplifications(group) for group in groups])

    def _amplifications(self, group: Group) -> list[Situation]:
        """The amplification of a group after each combination of the public answers that decide what it asks."""
        situations = self._public_situations(group)
        masks = [self._possible(group, situation) for situation in situations]
        different_masks = {mask.tobytes(): mask for mask in masks}
        amplifications = {key: amplification_among(group, mask) for key, mask in different_masks.items()}
        return [(situation, amplifications[mask.tobytes()]) for situation, mask in zip(situations, masks, strict=True)]

    def _public_situations(self, group: Group) -> list[dict[str, str]]:
        assert self.routing is not None
        return self.routing.public_situations(self._members(group))

    def _members(self, group: Group) -> list[Asked]:
        """The questions that a group reports."""
        assert self.routing is not None
        return [question for question in self.routing.questions if set(question.attributes) & set(group.names)]

    def _possible(self, group: Group, public_answers: Mapping[str, str]) -> Mask:
        """Which of a group's records are legal after these public answers."""
        assert self.routing is not None
        return self.routing.possible(self._members(group), public_answers, group.legal)

    def _situations(self, group: Group) -> Sequence[Mask]:
        """The legal records of a group in each public situation."""
        if self.routing is None:
            return group.legal.situations
        masks = [self._possible(group, situation) for situation in self._public_situations(group)]
        return list({mask.tobytes(): mask for mask in masks}.values())

    def answers(self, prior: Any = None) -> tuple[AnswerMeasures, ...]:
        """The figures of every disguised answer, in the order of the schema.

        `prior` is as `measure` takes it: distributions by name, a table of truths, or nothing.
        """
        if not isinstance(prior, Prior):
            prior = Prior.of(
                self.scheme.schema, by_name(self.scheme, prior), self.scheme.prior, self.scheme.routed_records
            )
        by_questionnaire = [self._answers(questionnaire, prior) for questionnaire in self.scheme.questionnaires]
        chances = (self.scheme.dealing_weights / ONE).tolist()
        disguised = set().union(*by_questionnaire)
        return tuple(
            _over_questionnaires(
                attribute, [measures.get(attribute.name) for measures in by_questionnaire], chances, prior
            )
            for attribute in self.scheme.schema
            if attribute.name in disguised
        )

    def _answers(self, questionnaire: Questionnaire, prior: Prior) -> dict[str, AnswerMeasures]:
        """The answers that one questionnaire disguises."""
        named: dict[str, AnswerMeasures] = {}
        for component in components(questionnaire, prior):
            stated, scope = _figures_under(component, questionnaire, prior)
            for group in component.groups:
                named |= self._group_answers(group, stated, scope)
        return named

    def _group_answers(self, group: Group, stated: Mapping[str, Figures], scope: Scope) -> dict[str, AnswerMeasures]:
        even, named = self._even(group), {}
        situations = self._situations(group) if group.is_routed and is_enumerable(group) else ()
        for axis, name in enumerate(group.names):
            gamma = answer_amplification(group, axis, situations)
            named[name] = AnswerMeasures(name, gamma, **asdict(stated[name]), even=even[name], scope=scope)
        return named

    def _even(self, group: Group) -> dict[str, Figures]:
        """Figures under the even prior, where groups are independent; of all public situations the worst counts."""
        if not is_enumerable(group):
            return _alone(group, Prior(self.scheme.schema, "uniform", {}))
        alone = Component((group,), ())
        if not group.is_routed:
            return exposures(alone, np.full(group.shape, 1 / math.prod(group.shape)))
        worst: dict[str, Figures] = {}
        for possible in self._situations(group):
            table = group.legal.table(group.legal.even(possible))
            figures = exposures(alone, table)
            for axis, name in enumerate(group.names):
                if group.legal.asked_mask[possible, axis].any():
                    worst[name] = _worse(worst.get(name), figures[name])
        return {name: worst.get(name, UNKNOWN) for name in group.names}


def _figures_under(
    component: Component, questionnaire: Questionnaire, prior: Prior
) -> tuple[dict[str, Figures], Scope]:
    """The figures of a component's answers under a prior, and what they come from."""
    if component.is_enumerable:
        return exposures(component, prior.joint(component.names)), "whole report"
    group_figures = {name: figures for group in component.groups for name, figures in _alone(group, prior).items()}
    if len(component.groups) == 1 and not component.public:
        return group_figures, "whole report"
    modelled = None
    if prior.table is not None:
        from tacit.measures.modelled import modelled_exposures

        modelled = modelled_exposures(questionnaire, prior.table)
    if modelled is None:
        return group_figures, "group"
    # The group's own figures are exact, so what simulated reports do not show still counts.
    return {name: _worse(group_figures[name], modelled[name]) for name in group_figures}, "joint model"


def _alone(group: Group, prior: Prior) -> dict[str, Figures]:
    """The figures of a group's answers as if nothing else were sent."""
    if is_enumerable(group):
        return exposures(Component((group,), ()), prior.joint(group.names))
    if len(group.names) == 1 and group.records is None:
        (attribute,) = group.attributes
        asked = np.where([answer != NOT_ASKED for answer in attribute.answers], prior.joint([attribute.name]), 0.0)
        return {attribute.name: group.channel.independent_answer_figures(0, [asked / asked.sum()])}
    if group.is_routed or not prior.are_independent(group.names):
        return dict.fromkeys(group.names, UNKNOWN)
    shares = [prior.joint([name]) for name in group.names]
    figures = [group.channel.independent_answer_figures(axis, shares) for axis in range(len(shares))]
    return dict(zip(group.names, figures, strict=True))


def _worse(figures: Figures | None, other: Figures) -> Figures:
    """The less private of two figures, each of which may be unknown."""
    if figures is None:
        return other

    def pick(choose: Callable[..., float], *values: float | None) -> float | None:
        numbers = [value for value in values if value is not None]
        return choose(numbers) if numbers else None

    return Figures(
        pick(min, figures.map_privacy, other.map_privacy),
        pick(max, figures.worst_posterior, other.worst_posterior),
        pick(min, figures.pse, other.pse),
    )


def _over_questionnaires(
    attribute: Attribute, answers: Sequence[AnswerMeasures | None], chances: Sequence[float], prior: Prior
) -> AnswerMeasures:
    """The measures of one answer over all dealt questionnaires: the draw is public, so the worst of them can happen."""
    asking = [(measures, chance) for measures, chance in zip(answers, chances, strict=True) if measures is not None]
    first = asking[0][0]
    if len(answers) == 1:
        return first
    even = np.array([answer != NOT_ASKED for answer in attribute.answers], dtype=np.float64)
    return replace(
        first,
        gamma=max(measures.gamma for measures, _ in asking),
        **asdict(_mean_figures(asking, blind(prior.joint([attribute.name]), attribute))),
        even=_mean_figures(
            [(measures.even, chance) for measures, chance in asking], blind(even / even.sum(), attribute)
        ),
        scope=max((measures.scope for measures, _ in asking), key=SCOPES.index),
    )


def _mean_figures(asking: Sequence[tuple[Figures | AnswerMeasures, float]], unasked: Figures) -> Figures:
    """Means over the dealt questionnaires, some of which do not ask; the worst posterior is the largest of them."""

    def mean(name: str) -> float | None:
        values = [(getattr(figures, name), chance) for figures, chance in asking]
        if any(value is None for value, _ in values):
            return None
        rest = 1 - sum(chance for _, chance in values)
        return float(sum(value * chance for value, chance in values) + rest * getattr(unasked, name))

    worst = [figures.worst_posterior for figures, _ in asking]
    numbers = [posterior for posterior in worst if posterior is not None]
    return Figures(mean("map_privacy"), max(numbers) if len(numbers) == len(worst) else None, mean("pse"))
