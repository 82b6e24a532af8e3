"""The questionnaire a researcher writes.

Texts are mappings from language to text in every place that a respondent reads; where the file gives a plain text, it
stands for the only language.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from tacit.channel.routing import NOT_ASKED
from tacit.survey.yaml_lines import Located

__all__ = [
    "ACCESS",
    "KINDS",
    "MODES",
    "NOT_ASKED",
    "NO_ANSWER",
    "PREFER_NOT_TO_SAY",
    "Condition",
    "Page",
    "Question",
    "SurveyQuestionnaire",
    "Texts",
    "Unrelated",
    "WrittenGroup",
]

KINDS = ("yes-no", "choice", "scale", "number", "several")
ACCESS = ("open", "codes")

# How a question is answered: disguised by the page, sent as it is, disguised by the respondent's own device (coin,
# birthday; its law is an assumption), or sensitive and asked directly, for comparison.
MODES = ("disguised", "public", "self", "direct")

PREFER_NOT_TO_SAY = "prefer not to say"
NO_ANSWER = "no answer"

Texts = dict[str, str]


@dataclass(frozen=True)
class Condition:
    """A question is asked only if an earlier one has one of these answers."""

    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Unrelated:
    """The unrelated question: with chance `keep` the sensitive answer is sent, else the harmless one.

    `ask` is the harmless question's text if the respondent is asked it; without it the page draws the harmless answer.
    """

    keep: float
    distribution: tuple[float, ...]
    ask: Texts | None


@dataclass(frozen=True)
class Question:
    """One question. `answers` are its own; the ones for not saying and for not being asked follow in `attributes`."""

    name: str
    kind: str
    text: Texts
    help: Texts | None
    answers: tuple[tuple[str, Texts], ...]
    ordered: bool
    mode: str
    may_decline: bool
    is_optional: bool
    when: tuple[Condition, ...]
    unrelated: Unrelated | None
    place: Located

    @property
    def is_sensitive(self) -> bool:
        return self.mode != "public"

    @property
    def is_hidden(self) -> bool:
        """Whether its answer is disguised before it leaves the respondent's hands."""
        return self.mode in ("disguised", "self")

    @property
    def special(self) -> tuple[str, ...]:
        """What can be said in place of an answer, of all its options at once."""
        return (PREFER_NOT_TO_SAY,) * self.may_decline + (NO_ANSWER,) * self.is_optional

    @property
    def attributes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names and answers of the attributes this question is reported as."""
        special = self.special + (NOT_ASKED,) * bool(self.when)
        if self.kind == "several":
            return tuple((f"{self.name}_{option}", ("no", "yes", *special)) for option, _ in self.answers)
        return ((self.name, (*(name for name, _ in self.answers), *special)),)


@dataclass(frozen=True)
class WrittenGroup:
    """A group as the researcher wrote it."""

    questions: tuple[str, ...]
    channel: Located
    prior: tuple[float, ...] | None
    place: Located


@dataclass(frozen=True)
class Page:
    title: Texts | None
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class SurveyQuestionnaire:
    """A questionnaire as written: what is asked, and how it is to be protected."""

    name: str
    wave: str
    title: Texts
    introduction: Texts
    contact: Texts
    languages: tuple[str, ...]
    words: dict[str, dict[str, Any]]  # the page's own words in languages that it does not know
    access: str
    privacy: str | None
    allow_unbounded: bool
    second_round: bool
    pages: tuple[Page, ...]
    groups: tuple[WrittenGroup, ...]
    together: tuple[tuple[str, ...], ...]  # questions whose joint answers are wanted, beside each alone
    retention: date | None  # after this day the reports are deleted
    place: Located

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(question for page in self.pages for question in page.questions)
