"""A survey as it is opened: one document, frozen under a hash that is part of its link.

The page reads the same document, recomputes the hash and refuses anything else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from tacit.channel.chances import checked_distribution, integer_weights
from tacit.channel.document import canonical, document_hash
from tacit.channel.extremes import among_first
from tacit.channel.recipe import Recipe
from tacit.channel.routing import Routing
from tacit.channel.scheme import Group, GroupRecipe, Scheme
from tacit.errors import InvalidInput, TacitError
from tacit.measures.whole_report import AnswerMeasures, WholeReport
from tacit.randomness import ONE
from tacit.schema import Attribute, Schema
from tacit.survey.answer_lists import IN_DEFINITION, LARGEST_LIST, put_together, taken_apart
from tacit.survey.conditions import to_document
from tacit.survey.definition_questions import whole_text
from tacit.survey.programs import SECOND_PROGRAM, programs_of
from tacit.survey.proposal import GroupDocument, attribute_of, groups_of, written_channel
from tacit.survey.question_kinds import FORMULA
from tacit.survey.questionnaire import Deal, Question, SurveyQuestionnaire
from tacit.survey.questionnaire_file import read_questionnaire
from tacit.survey.routes import routing_of, routing_of_documents
from tacit.survey.series import GAMMA_CAP, series_hash
from tacit.survey.verification import POSTERIOR_CAP, examine
from tacit.survey.words import released_words
from tacit.survey.yaml_lines import Located, parse, read

FORMAT = "tacit-survey/1"
FINGERPRINT_DIGITS = 32  # 128 bits of the hash
# The page follows every branch of a channel to compute its label; beyond this a slow phone would notice.
LARGEST_LAW = 1 << 16
# What respondents are planned for where nothing is said.
USUAL_MARGIN = 0.05


@dataclass(frozen=True, eq=False)
class Definition:
    """A frozen survey."""

    document: dict[str, Any]
    # What its hash is made of, and what the page holds: the same, with long lists of answers apart, by their hashes.
    bare: dict[str, Any] = field(default_factory=dict, repr=False)
    lists: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.bare:
            object.__setattr__(self, "bare", self.document)

    @classmethod
    def frozen(cls, document: dict[str, Any]) -> Definition:
        """The definition under its hash."""
        bare, lists = taken_apart(document)
        series = {"series": series_hash(bare)} if "waves" in bare else {}
        stamp = {**series, "hash": document_hash({**bare, **series})}
        for text in lists.values():
            if len(text) > LARGEST_LIST:
                raise InvalidInput(
                    f"A list of answers has {len(text):,} bytes; a page takes at most {LARGEST_LIST:,}. Shorten its labels."
                )
        return cls({**document, **stamp}, {**bare, **stamp}, lists)

    @classmethod
    def from_yaml(cls, text: str, file: str = "questionnaire") -> Definition:
        return cls.from_questionnaire(read_questionnaire(parse(text, file)))

    @classmethod
    def read(cls, path: Path) -> Definition:
        """The definition of a questionnaire's file, or a refusal that says the line."""
        return cls.from_questionnaire(read_questionnaire(read(path), path.parent))

    @classmethod
    def from_questionnaire(cls, questionnaire: SurveyQuestionnaire) -> Definition:
        scheme = _scheme(questionnaire)
        document: dict[str, Any] = {
            "format": FORMAT,
            "name": questionnaire.name,
            "wave": questionnaire.wave,
            **({"waves": questionnaire.waves} if questionnaire.waves else {}),
            **({"series_gamma": questionnaire.series_gamma} if questionnaire.series_gamma else {}),
            **({"panel": True} if questionnaire.is_panel else {}),
            "title": questionnaire.title,
            "introduction": questionnaire.introduction,
            "contact": questionnaire.contact,
            "languages": list(questionnaire.languages),
            "access": questionnaire.access,
            "allow_unbounded": questionnaire.allow_unbounded,
            "second_round": questionnaire.second_round,
            **({"second_program": SECOND_PROGRAM} if questionnaire.second_round else {}),
            "pages": [
                {
                    "title": page.title,
                    "questions": [_question_document(question, questionnaire.deals) for question in page.questions],
                    **({"shuffle": True} if page.is_shuffled else {}),
                }
                for page in questionnaire.pages
            ],
            "scheme": scheme.to_document(),
            "programs": programs_of(scheme, questionnaire),
        }
        if questionnaire.screen_outs:
            document["screen_out"] = [
                {"when": to_document(screen_out.when), "text": screen_out.text}
                for screen_out in questionnaire.screen_outs
            ]
        if questionnaire.quotas:
            document["quotas"] = [
                {"when": to_document(quota.when), "most": quota.most} for quota in questionnaire.quotas
            ]
        if questionnaire.words:
            document["words"] = questionnaire.words
        if questionnaire.margin is not None:
            document["margin"] = questionnaire.margin
        if questionnaire.population is not None:
            document["population"] = questionnaire.population
        if questionnaire.logo is not None:
            document["logo"] = questionnaire.logo
        if questionnaire.minutes is not None:
            document["minutes"] = questionnaire.minutes
        for name, texts in questionnaire.responsible.items():
            document[name] = texts
        if questionnaire.retention is not None:
            document["retention"] = questionnaire.retention.isoformat()
        document["label"] = _checked_label(document, questionnaire)
        made = cls.frozen(document)
        # The very ones that the document was made from, not read from it again.
        vars(made)["scheme"], vars(made)["questionnaire"] = scheme, questionnaire
        return made

    @classmethod
    def from_json(cls, text: str) -> Definition:
        """A stored definition; one that was changed is refused."""
        bare = json.loads(text)
        lists = {mark: canonical(content) for mark, content in bare.pop("lists", {}).items()}
        if bare.get("format") != FORMAT or bare.get("hash") != document_hash(bare):
            raise InvalidInput("A stored survey definition was changed after it was opened. Restore it from a backup.")
        return cls(put_together(bare, lists) if lists else bare, bare, lists)

    def issued_by(self, issuer: dict[str, str]) -> Definition:
        """The same survey with the public key that signs its tokens: being in the hash, it is one for everybody."""
        return self._with(issuer=issuer)

    def in_wave(self, wave: int) -> Definition:
        """Another wave of the same series, without a key of its own yet."""
        return self._with("issuer", wave=wave)

    def _with(self, *left_out: str, **more: Any) -> Definition:
        """The definition with some of its parts exchanged, under its new hash."""
        gone = ("hash", *left_out)
        document, bare = (
            {name: part for name, part in document.items() if name not in gone} | more
            for document in (self.document, self.bare)
        )
        stamp = {"hash": document_hash(bare)}
        made = Definition({**document, **stamp}, {**bare, **stamp}, self.lists)
        vars(made).update({name: vars(self)[name] for name in ("scheme", "questionnaire") if name in vars(self)})
        return made

    def to_json(self) -> str:
        """All of it as one text: its hash is that of everything but `hash` and `lists`."""
        lists = {"lists": {mark: json.loads(text) for mark, text in self.lists.items()}} if self.lists else {}
        return canonical({**self.bare, **lists})

    @property
    def hash(self) -> str:
        return str(self.document["hash"])

    @property
    def fingerprint(self) -> str:
        """What stands in the link; the page holds the definition against it."""
        return self.hash[:FINGERPRINT_DIGITS]

    @property
    def name(self) -> str:
        return str(self.document["name"])

    @property
    def wave(self) -> str:
        return str(self.document["wave"])

    @property
    def waves(self) -> int | None:
        """How many waves are declared; None for a survey that is asked once."""
        return self.document.get("waves")

    @property
    def series(self) -> str | None:
        """What the waves of a series have in common, as a hash."""
        return self.document.get("series")

    @property
    def is_panel(self) -> bool:
        """Whether reports of one person in several waves can be put together."""
        return bool(self.document.get("panel"))

    @property
    def retention(self) -> date | None:
        """The last day on which reports are kept."""
        stated = self.document.get("retention")
        return date.fromisoformat(stated) if stated else None

    @property
    def margin(self) -> float:
        """The wanted margin of error of every share."""
        return float(self.document.get("margin", USUAL_MARGIN))

    @property
    def population(self) -> dict[str, dict[str, float]] | None:
        """Known shares of public answers that reports are weighted to."""
        return self.document.get("population")

    @property
    def needs_codes(self) -> bool:
        return self.document["access"] == "codes"

    def title(self, language: str | None = None) -> str:
        return str(self.document["title"][language or self.document["languages"][0]])

    @cached_property
    def scheme(self) -> Scheme:
        return Scheme.from_document(self.document["scheme"])

    @property
    def has_programs(self) -> bool:
        """Whether it says what its page will run; surveys of the first version did not."""
        return "programs" in self.document

    @cached_property
    def whole(self) -> WholeReport:
        """Everything that one respondent sends, and what it tells."""
        return WholeReport(self.scheme, routing_of_documents(self.questions))

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:
        """The columns of a report: those of the groups, then the public attributes."""
        if not self.scheme.is_dealt:
            return self.scheme.report_schema.attributes
        every = [attribute for dealt in self.scheme.questionnaires for attribute in dealt.report_schema.attributes]
        return tuple({attribute.name: attribute for attribute in every}.values())

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups of every version that a respondent may be dealt, each once."""
        every = [group for dealt in self.scheme.questionnaires for group in dealt.groups]
        return tuple({json.dumps(group.to_document(), sort_keys=True): group for group in every}.values())

    @property
    def questions(self) -> list[dict[str, Any]]:
        return [question for page in self.document["pages"] for question in page["questions"]]

    def is_long(self, attribute: str) -> bool:
        """Whether it has too many answers to show them all, or to cross them with others."""
        return self.scheme.schema[attribute].size > IN_DEFINITION + 3  # its own, and not to say, none, not asked

    @property
    def text_questions(self) -> list[dict[str, Any]]:
        """The open texts: asked in the clear, and kept apart from the reports."""
        return [question for question in self.questions if not question["attributes"]]

    def label(self, attribute: str, language: str | None = None) -> str:
        """The question behind an attribute, in words."""
        language = language or self.document["languages"][0]
        for question in self.questions:
            for part in question["attributes"]:
                if part["attribute"] == attribute:
                    option = next((a for a in question["answers"] if a["name"] == part["option"]), None)
                    suffix = f" {option['text'].get(language, option['name'])}" if option else ""
                    # A direct arm asks in the same words as the others.
                    arm = f" ({self.page_words(language)['public']})" if "deals" in question else ""
                    return f"{whole_text(question, language)}{suffix}{arm}"
        return attribute

    def answer_text(self, attribute: str, answer: str, language: str | None = None) -> str:
        """An answer as people read it on the page, not the short name that reports hold."""
        language = language or self.document["languages"][0]
        for question in self.questions:
            if {"attribute": attribute, "option": None} in question["attributes"]:
                texts: dict[str, str] = next((one["text"] for one in question["answers"] if one["name"] == answer), {})
                if language in texts:
                    return str(texts[language])
        return str(self.page_words(language)["answers"].get(answer, answer))

    def page_words(self, language: str | None = None) -> dict[str, Any]:
        """The page's own words in one of the survey's languages."""
        language = language or self.document["languages"][0]
        return self.document.get("words", {}).get(language) or json.loads(released_words(language))


def _checked_label(document: dict[str, Any], questionnaire: SurveyQuestionnaire) -> dict[str, Any]:
    """What the page will say of its programs; what it would refuse to ask is refused here already.

    What all answers tell together is refused when the survey opens, with the ways out.
    """
    examination = examine(document)
    places = {question.name: question.place for page in questionnaire.pages for question in page.questions}
    for objection in examination.objections:
        if objection.reason != "exceeds":
            named = [places[name] for name in objection.names if name in places]
            (named[-1] if named else questionnaire.place).refuse(objection.message)
    return examination.label


def _question_document(question: Question, deals: Sequence[Deal] = ()) -> dict[str, Any]:
    arms = {
        deal.name: {"mode": "self", "help": deal.own[question.name].help} for deal in deals if question.name in deal.own
    }
    options = [None] if question.has_one_answer else [name for name, _ in question.answers]
    return {
        "name": question.name,
        "kind": question.kind,
        "text": question.text,
        "help": question.help,
        "answers": [{"name": name, "text": texts} for name, texts in question.answers],
        "sensitive": question.is_sensitive,
        "mode": question.mode,
        "declines": question.may_decline,
        "optional": question.is_optional,
        "when": to_document(question.when),
        "harmless": question.unrelated.ask if question.unrelated else None,
        "attributes": [
            {"attribute": name, "option": option}
            for (name, _), option in zip(question.attributes, options, strict=True)
        ],
        **_more(question),
        **({"arms": arms} if arms else {}),
    }


def _more(question: Question) -> dict[str, Any]:
    """What only some questions have; a definition without it is the one that it always was."""
    return {
        **question.details,
        **({"grid": {"name": question.grid.name, "text": question.grid.text}} if question.grid else {}),
        **({"shuffle": True} if question.is_shuffled else {}),
        **({"known": list(question.known)} if question.known else {}),
        **({"deals": list(question.deals)} if question.deals else {}),
        **({"correct": question.correct, "explain": question.explain} if question.correct else {}),
    }


def _scheme(questionnaire: SurveyQuestionnaire) -> Scheme:
    schema = Schema(tuple(_attributes(questionnaire)))
    groups = groups_of(questionnaire)
    prior = {"+".join(group["attributes"]): group["prior"] for group in groups if "prior" in group}
    document: dict[str, Any] = {
        "format": "tacit-scheme/1",
        "attributes": [attribute.to_document() for attribute in schema],
    }
    routing = routing_of(questionnaire.questions)
    made = [_checked_group(group, schema, routing, questionnaire.allow_unbounded) for group in groups]
    if questionnaire.deals:
        document["questionnaires"] = _versions_document(questionnaire, made, schema, routing)
    else:
        document["groups"] = made
    return Scheme.from_document(document | ({"prior": prior} if prior else {}))


def _versions_document(
    questionnaire: SurveyQuestionnaire, made: list[dict[str, Any]], schema: Schema, routing: Routing
) -> list[dict[str, Any]]:
    """The groups of each version that a respondent may be dealt."""
    home = {name: question.name for question in questionnaire.questions for name, _ in question.attributes}
    dealt = []
    for deal in questionnaire.deals:
        groups = []
        for group in made:
            names = {home[name] for name in group["attributes"]}
            if names & deal.left_out and not names <= deal.left_out:
                deal.place.refuse(
                    f"{deal.name!r} asks only some of {', '.join(sorted(names))}, which are disguised together. Put them all "
                    "into one part, or into groups of their own."
                )
            if not names <= deal.left_out:
                groups.append(_own_version(deal, names, group, schema, routing, questionnaire.allow_unbounded))
        if not groups:
            deal.place.refuse(f"{deal.name!r} asks no disguised question at all. Ask some question in every version.")
        dealt.append({"name": deal.name, "probability": deal.share, "groups": groups})
    return dealt


def _own_version(
    deal: Deal, names: set[str], group: dict[str, Any], schema: Schema, routing: Routing, allow_unbounded: bool
) -> dict[str, Any]:
    """A group as one version disguises it: where people do it themselves, by their own device's law."""
    own = next((device for name, device in deal.own.items() if name in names), None)
    if own is None:
        return group
    if len(group["attributes"]) > 1:
        deal.place.refuse(f"{', '.join(sorted(names))} are disguised together; an own device disguises one question.")
    written = {"attributes": group["attributes"], "channel": written_channel(own.channel), "place": own.channel}
    return _checked_group(written, schema, routing, allow_unbounded)


def _attributes(questionnaire: SurveyQuestionnaire) -> list[Attribute]:
    places: dict[str, Question] = {}
    attributes = []
    for question in questionnaire.questions:
        for name, answers in question.attributes:
            if name in places:
                question.place.refuse(
                    f"{name!r} is also an answer column of {places[name].name!r}. Rename one of them."
                )
            places[name] = question
            attributes.append(attribute_of(question, name, answers))
    return attributes


def _checked_group(group: GroupDocument, schema: Schema, routing: Routing, allow_unbounded: bool) -> dict[str, Any]:
    """The group's document, its chances exact over 2**32, or a refusal at its line."""
    place: Located = group["place"]
    for label in group["channel"].get("reports") or ():
        if FORMULA.match(str(label)):
            place.refuse(
                f"the report {str(label)!r} begins as a formula does, which a spreadsheet that opens the reports would run. Give "
                "it a name."
            )
    prior = {"+".join(group["attributes"]): group["prior"]} if "prior" in group else None
    try:
        recipe = Recipe.from_document(_exact(group["channel"]))
        scheme = Scheme.from_groups(
            schema, [GroupRecipe(group["attributes"], recipe, group.get("records"))], prior=prior
        )
    except TacitError as error:
        place.refuse(str(error))
    _check_size(scheme.groups[0], place)
    _check_told(scheme.groups[0], place)
    _check_protection(scheme, routing, place, allow_unbounded)
    return scheme.groups[0].to_document()


def _exact(channel: dict[str, Any]) -> dict[str, Any]:
    """The channel with its listed chances as multiples of 2**-32, which sum to one in whatever order they are added."""
    personal = channel.get("personal")
    if not isinstance(personal, list) or not personal:
        return channel
    lists = personal if isinstance(personal[0], list) else [personal]
    exact = [(integer_weights(checked_distribution("personal", chances)) / ONE).tolist() for chances in lists]
    return {**channel, "personal": exact if len(exact) > 1 else exact[0]}


def _check_size(group: Group, place: Located) -> None:
    truths, reports = len(group.legal), group.channel.n_reports
    if group.records is not None and truths * reports > LARGEST_LAW:
        place.refuse(
            f"{', '.join(group.names)}, which routing connects, have {truths:,} legal records and {reports:,} possible "
            "reports: too many for a page. Ask fewer questions after one answer, offer fewer answers (prefer_not_to_say: "
            "false), or ask some of them of everybody."
        )
    if group.records is None and truths * reports > LARGEST_LAW and not _is_spread(group):
        way_out = "Split it into smaller groups."
        if len(group.names) == 1:
            way_out = "Disguise it with channel: {kind: local-hashing, gamma: 4} or {kind: hadamard, gamma: 4}."
        elif truths > IN_DEFINITION:
            way_out = "Give a question with very many answers a group of its own."
        place.refuse(
            f"the group {', '.join(group.names)} has {truths:,} joint answers and {reports:,} possible reports: too many "
            f"for a page to explain, and one group for all protects worst. {way_out}"
        )


def _is_spread(group: Group) -> bool:
    """Whether it is one question whose reports stand for many answers each, by a law that is known however many there are."""
    channel = group.channel
    return group.records is None and among_first(channel.program(), channel.shape, channel.shape[0]) is not None


def _check_told(group: Group, place: Located) -> None:
    """Its reports tell the answers of a question apart; of one arm that does not, the others would hide it."""
    if len(group.names) == 1 and not _is_spread(group) and not group.channel.is_invertible():
        place.refuse(
            f"{group.names[0]} (disguised by {group.channel.kind!r}): the reports do not tell its answers apart, so nothing can "
            "be estimated from them. Choose other parameters (for warner another p than 1/2), or another channel."
        )


def _check_protection(scheme: Scheme, routing: Routing, place: Located, allow_unbounded: bool) -> None:
    """A group alone, under its stated prior and under the even one: a stated prior never loosens a cap."""
    (group,) = scheme.groups
    names = ", ".join(group.names)
    sure = max(surest(answer) for answer in WholeReport(scheme, routing).answers())
    if sure > POSTERIOR_CAP + 1e-9:
        place.refuse(
            f"the group {names} would let someone be {sure:.1%} sure of an answer; the page refuses more than "
            f"{POSTERIOR_CAP:.0%}. Choose a channel that disguises more."
        )
    gamma = group.channel.amplification
    if not allow_unbounded and math.isinf(gamma):
        place.refuse(
            f"the group {names} has no finite amplification: its reports rule some answers out. Choose another channel, "
            "smaller groups, or state at the top: allow_unbounded: true"
        )
    if not allow_unbounded and gamma > GAMMA_CAP * (1 + 1e-9):
        place.refuse(
            f"the group {names} has an amplification of {gamma:.4g}; the page refuses more than {GAMMA_CAP:g}. Choose a "
            "channel that disguises more, smaller groups, or state at the top: allow_unbounded: true"
        )


def surest(answer: AnswerMeasures) -> float:
    """How sure the best guesser can become of an answer, under the stated prior or the even one."""
    return max(
        posterior for posterior in (answer.worst_posterior, answer.even.worst_posterior, 0.0) if posterior is not None
    )


def changed_line(opened: str, current: str) -> int:
    """The first line at which an edited file differs from the one a survey was opened with."""
    pairs = zip(opened.splitlines(), current.splitlines(), strict=False)
    same = next((index for index, (a, b) in enumerate(pairs) if a != b), None)
    return (min(len(opened.splitlines()), len(current.splitlines())) if same is None else same) + 1
