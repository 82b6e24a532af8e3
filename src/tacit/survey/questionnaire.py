"""The questionnaire a researcher writes.

Texts are mappings from language to text in every place that a respondent reads; where the file gives a plain text, it
stands for the only language.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.survey.located import Located

# Languages whose own words (buttons, the privacy label) the page knows; the tests hold this against static/words.js.
LANGUAGES = ("en", "de", "ar")
KINDS = ("yes-no", "choice", "scale", "number", "several")
ACCESS = ("open", "codes")

PREFER_NOT_TO_SAY = "prefer not to say"
NOT_ASKED = "not asked"

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
    is_sensitive: bool
    may_decline: bool
    when: tuple[Condition, ...]
    unrelated: Unrelated | None
    place: Located

    @property
    def attributes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names and answers of the attributes this question is reported as."""
        special = (PREFER_NOT_TO_SAY,) * self.may_decline + (NOT_ASKED,) * bool(self.when)
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
class Questionnaire:
    """A questionnaire as written: what is asked, and how it is to be protected."""

    name: str
    wave: str
    title: Texts
    introduction: Texts
    contact: Texts
    languages: tuple[str, ...]
    access: str
    privacy: str | None
    allow_unbounded: bool
    second_round: bool
    pages: tuple[Page, ...]
    groups: tuple[WrittenGroup, ...]
    place: Located

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(question for page in self.pages for question in page.questions)
