"""The questionnaire a researcher writes.

Texts are mappings from language to text in every place that a respondent reads; where the file gives a plain text, it
stands for the only language.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from tacit.channel.routing import NOT_ASKED
from tacit.design.question import Purpose
from tacit.survey.question_kinds import NO_ANSWER, PREFER_NOT_TO_SAY, Texts, kind_of
from tacit.survey.yaml_lines import Located

__all__ = [
    "ACCESS",
    "LONGEST_TEXT",
    "LONGEST_TEXTS",
    "MODES",
    "NOT_ASKED",
    "NO_ANSWER",
    "PREFER_NOT_TO_SAY",
    "RESPONSIBLE",
    "Alternatives",
    "Condition",
    "Deal",
    "Grid",
    "Margins",
    "OwnDevice",
    "Page",
    "Question",
    "Quota",
    "ScreenOut",
    "SurveyQuestionnaire",
    "Texts",
    "Unrelated",
    "WrittenGroup",
]

ACCESS = ("open", "codes")

# How a question is answered: disguised by the page, sent as it is, disguised by the respondent's own device (coin,
# birthday; its law is an assumption), or sensitive and asked directly, for comparison.
MODES = ("disguised", "public", "self", "direct")

# Characters of an open text, and of all of them together: a report stays small.
LONGEST_TEXT, LONGEST_TEXTS = 500, 3000
# Shares of a population by public answers: of each question, of each of its answers.
Margins = dict[str, dict[str, float]]
# Who asks, and what an ethics board asks for beside: the text that people agree to, who is responsible for the data, who
# judged the study, where to turn for help, and what people get for taking part.
RESPONSIBLE = ("institution", "consent", "controller", "ethics", "help", "incentive")


@dataclass(frozen=True)
class Condition:
    """An earlier question has one of these answers; of a question with several answers, its option has."""

    question: str
    answers: tuple[str, ...]
    option: str | None = None


# Something holds where all conditions of at least one of these hold; without any it always does.
Alternatives = tuple[tuple[Condition, ...], ...]


@dataclass(frozen=True)
class ScreenOut:
    """People for whom the questionnaire is not meant: they are asked no further and send nothing."""

    when: Alternatives
    text: Texts | None


@dataclass(frozen=True)
class Quota:
    """Of people with these public answers no more than so many reports are wanted."""

    when: Alternatives
    most: int


@dataclass(frozen=True)
class Grid:
    """What alike scales have in common: they are shown under one text."""

    name: str
    text: Texts


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
    when: Alternatives
    unrelated: Unrelated | None
    place: Located
    details: dict[str, Any] = field(default_factory=dict)  # what only its kind has, as a definition says it
    grid: Grid | None = None
    is_shuffled: bool = False  # its answers stand in an order that the device draws
    known: tuple[float, ...] | None = None  # a control item: the true shares of its answers
    correct: str | None = None  # a comprehension check: the right answer,
    explain: Texts | None = None  # and what is said to whoever gives another
    deals: tuple[str, ...] = ()  # a public question that only these versions ask
    estimate: Purpose | None = None  # what it is asked for: shares, mean or both; None for what is usual

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
        """Names and answers of the attributes this question is reported as; an open text is none."""
        special = self.special + (NOT_ASKED,) * bool(self.when or self.deals)
        return kind_of(self.kind).attributes(self, special)

    @property
    def numbers(self) -> list[float] | None:
        """The numbers of its answers, where all are numbers and it is answered by one of them."""
        if not (self.ordered and self.has_one_answer) or self.special or self.when or self.deals:
            return None
        try:
            return [float(name) for name, _ in self.answers]
        except ValueError:
            return None

    @property
    def has_one_answer(self) -> bool:
        """Whether one attribute reports it, instead of one for each of its options, or none."""
        return [name for name, _ in self.attributes] == [self.name]


@dataclass(frozen=True)
class WrittenGroup:
    """A group as the researcher wrote it."""

    questions: tuple[str, ...]
    channel: Located
    prior: tuple[float, ...] | None
    place: Located


@dataclass(frozen=True)
class OwnDevice:
    """How a question is asked of those who disguise it themselves."""

    channel: Located
    help: Texts


@dataclass(frozen=True)
class Deal:
    """One of several versions of the questions; each respondent is dealt one at random.

    `left_out` are sensitive questions that it does not ask disguised, `own` those that its respondents disguise themselves,
    `direct` those that it asks directly, and `asked` those of an arm that asks them as usual.
    """

    name: str
    share: float
    left_out: frozenset[str]
    own: dict[str, OwnDevice]
    place: Located
    direct: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Page:
    """Questions that are shown together; shuffled, in an order that the device draws."""

    title: Texts | None
    questions: tuple[Question, ...]
    is_shuffled: bool = False


@dataclass(frozen=True)
class SurveyQuestionnaire:
    """A questionnaire as written: what is asked, and how it is to be protected."""

    name: str
    wave: str | int  # of declared waves a number, else any text
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
    responsible: dict[str, Texts]  # of RESPONSIBLE, what is given
    population: Margins | None  # known shares of public answers
    margin: float | None  # wanted margin of error of every share
    screen_outs: tuple[ScreenOut, ...]
    quotas: tuple[Quota, ...]
    deals: tuple[Deal, ...]  # none where everybody is asked the same
    place: Located
    logo: str | None = None  # of the institution, as the address of a picture that holds its data
    minutes: int | None = None  # that answering takes
    waves: int | None = None  # how often the same people are asked, where that is declared
    series_gamma: float | None = None  # the most that a block may tell over all waves, where that is stated
    is_panel: bool = False  # whether the reports of one person can be put together

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(question for page in self.pages for question in page.questions)
