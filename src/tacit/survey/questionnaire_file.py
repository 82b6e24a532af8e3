"""Reading a questionnaire from YAML: everything is checked here once, and every refusal names its line."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from tacit.design.question import PURPOSES, Purpose
from tacit.schema import PANEL, RESERVED
from tacit.survey.answer_lists import IN_DEFINITION
from tacit.survey.conditions import (
    check_places,
    check_plain,
    check_somebody_is_asked,
    names_in,
    read_conditions,
    read_quota,
    read_screen_out,
)
from tacit.survey.dealing import read_deals, with_direct_questions
from tacit.survey.openness import refuse_telling
from tacit.survey.proposal import LEVELS, OTHER_LEVELS
from tacit.survey.question_kinds import KINDS, NAME, Answers, key_owners, kind_of, read_day, read_texts
from tacit.survey.questionnaire import (
    ACCESS,
    LONGEST_TEXTS,
    MODES,
    RESPONSIBLE,
    Margins,
    Page,
    Question,
    SurveyQuestionnaire,
    Texts,
    Unrelated,
    WrittenGroup,
)
from tacit.survey.series import MOST_WAVES
from tacit.survey.verification import WHOLE_CAP
from tacit.survey.weighting import read_margins
from tacit.survey.words import Words, read_languages
from tacit.survey.yaml_lines import Located

_TOP = {
    "name": True, "wave": False, "title": True, "introduction": True, "contact": True, "languages": False,
    "waves": False, "series": False, "series_gamma": False, "panel": False,
    "access": False, "privacy": False, "allow_unbounded": False, "second_round": False, "pages": True, "groups": False,
    "together": False, "retention": False, "words": False, "screen_out": False, "quotas": False,
    "split": False, "arms": False, "population": False, "margin": False, "logo": False,
    "minutes": False, **dict.fromkeys(RESPONSIBLE, False),
}  # fmt: skip
_QUESTION = {
    "name": True, "kind": True, "text": True, "help": False, "sensitive": False, "mode": False, "optional": False,
    "prefer_not_to_say": False, "when": False, "unrelated": False, "shuffle": False, "known": False, "correct": False,
    "explain": False, "estimate": False,
}  # fmt: skip


LARGEST_LOGO = 8_000
MOST_MINUTES = 240


def read_questionnaire(root: Located, folder: Path | None = None) -> SurveyQuestionnaire:
    """The questionnaire in `root`, or a refusal that says the line and what to change.

    Files of words and of answers are looked for in `folder`.
    """
    top = root.mapping("A questionnaire", _TOP)
    languages, words = read_languages(top.get("languages"), top.get("words"), folder)
    return QuestionnaireReader(languages, folder).questionnaire(root, top, words)


class QuestionnaireReader:
    """Reads the parts of one questionnaire, whose languages are known."""

    def __init__(self, languages: tuple[str, ...], folder: Path | None = None) -> None:
        self.languages = languages
        self.folder = folder
        self.seen: dict[str, Question] = {}

    def questionnaire(self, root: Located, top: dict[str, Located], words: dict[str, Words]) -> SurveyQuestionnaire:
        pages = self.pages(top["pages"])
        deals = read_deals(top, self.seen, self.languages)
        pages = with_direct_questions(pages, deals)
        groups = tuple(_group(item) for item in top["groups"].items("groups")) if "groups" in top else ()
        screen_outs = tuple(
            read_screen_out(item, self.seen, self.optional_texts(item, "text")) for item in _items(top, "screen_out")
        )
        if screen_outs:
            check_somebody_is_asked(top["screen_out"], screen_outs, self.seen)
        if PANEL in top and PANEL in self.seen:
            self.seen[PANEL].place.refuse(
                f"no question of a panel may be called {PANEL!r}: report files use this column."
            )
        return SurveyQuestionnaire(
            name=read_name(top["name"], "The survey's name"),
            **_waves(top),
            title=self.texts(top["title"], "title"),
            introduction=self.texts(top["introduction"], "introduction"),
            contact=self.texts(top["contact"], "contact"),
            languages=self.languages,
            words=words,
            access=top["access"].one_of("The access", ACCESS) if "access" in top else "open",
            privacy=top["privacy"].one_of("The privacy level", tuple(LEVELS), OTHER_LEVELS)
            if "privacy" in top
            else None,
            allow_unbounded=read_flag(top, "allow_unbounded"),
            second_round=read_flag(top, "second_round"),
            pages=pages,
            groups=groups,
            together=_together(top["together"], pages) if "together" in top else (),
            retention=read_day(top["retention"], "retention") if "retention" in top else None,
            responsible={name: self.texts(top[name], name) for name in RESPONSIBLE if name in top},
            population=_population(top["population"], self.seen) if "population" in top else None,
            logo=_logo(top["logo"], self.folder) if "logo" in top else None,
            minutes=_whole_number(top["minutes"], "minutes", MOST_MINUTES) if "minutes" in top else None,
            margin=_margin(top["margin"]) if "margin" in top else None,
            screen_outs=screen_outs,
            quotas=tuple(read_quota(item, self.seen) for item in _items(top, "quotas")),
            deals=deals,
            place=root,
        )

    def texts(self, entry: Located, what: str) -> Texts:
        return read_texts(entry, what, self.languages)

    def optional_texts(self, item: Located, key: str) -> Texts | None:
        fields = item.entries()
        return self.texts(fields[key], f"The {key}") if key in fields else None

    def pages(self, entry: Located) -> tuple[Page, ...]:
        pages = tuple(self.page(item) for item in entry.items("pages"))
        if not pages:
            entry.refuse("pages must hold at least one page with a question.")
        if not any(question.is_hidden for question in self.seen.values()):
            entry.refuse("no question is sensitive, so there is nothing to disguise. Mark one with: sensitive: true")
        if sum(question.details.get("longest", 0) for question in self.seen.values()) > LONGEST_TEXTS:
            entry.refuse(
                f"open texts may have {LONGEST_TEXTS:,} characters together. State a smaller `longest` with each."
            )
        return pages

    def page(self, item: Located) -> Page:
        fields = item.mapping("A page", {"title": False, "questions": True, "shuffle": False})
        title = self.texts(fields["title"], "A page's title") if "title" in fields else None
        if title is not None:
            check_places(fields["title"], title, self.seen)
        questions: list[Question] = []
        for entry in fields["questions"].items("questions"):
            questions.extend(self.entry(entry))
        if not questions:
            fields["questions"].refuse("a page needs at least one question.")
        return Page(title, tuple(questions), read_flag(fields, "shuffle"))

    def entry(self, item: Located) -> list[Question]:
        """One question, or several that are written as one."""
        fields = item.mapping("A question", _QUESTION | dict.fromkeys(key_owners(), False))
        name = fields["kind"].one_of("The kind", KINDS)
        return kind_of(name).read_questions(self, item, fields, name)

    def add(self, question: Question, place: Located) -> Question:
        if question.name in self.seen:
            line = self.seen[question.name].place.line
            place.refuse(f"the question {question.name!r} stands also in line {line}. Give each question its own name.")
        self.seen[question.name] = question
        return question

    def question(self, item: Located, fields: dict[str, Located], kind_name: str) -> Question:
        kind = kind_of(kind_name)
        _refuse_foreign_keys(kind_name, fields)
        mode = _mode(item, fields)
        declines = fields.get("prefer_not_to_say")
        # Who runs a device of their own enters what it shows, and no device shows that somebody would rather not say.
        offers_not_to_say = kind.offers_not_to_say and mode not in ("public", "self")
        if kind.own_key and kind.own_key not in fields:
            item.refuse(f"a question of kind {kind_name!r} needs the key {kind.own_key!r}.")
        answers = kind.read_answers(fields[kind.own_key] if kind.own_key else item, self)
        _check_many(fields, answers)
        question = Question(
            name=read_name(fields["name"], "A question's name"),
            kind=kind_name,
            text=self.texts(fields["text"], "A question's text"),
            help=self.texts(fields["help"], "A question's help") if "help" in fields else None,
            answers=answers.named,
            ordered=answers.ordered,
            mode=mode,
            may_decline=declines.flag("prefer_not_to_say") if declines else offers_not_to_say,
            is_optional=read_flag(fields, "optional"),
            when=read_conditions(fields["when"], self.seen) if "when" in fields else (),
            unrelated=self.unrelated(fields["unrelated"]) if "unrelated" in fields else None,
            place=item,
            details=kind.details(fields, answers),
            is_shuffled=_read_shuffle(fields, answers),
            known=_read_known_shares(fields["known"], answers) if "known" in fields else None,
            correct=fields["correct"].text("correct") if "correct" in fields else None,
            explain=self.texts(fields["explain"], "explain") if "explain" in fields else None,
            estimate=_purpose(fields["estimate"]) if "estimate" in fields else None,
        )
        self.check(question, fields)
        if question.name == RESERVED:
            fields["name"].refuse(f"no question may be called {RESERVED!r}: report files use this column themselves.")
        return question

    def check(self, question: Question, fields: dict[str, Located]) -> None:
        kind = kind_of(question.kind)
        kind.check(question, fields)
        _check_unrelated(question, fields)
        _check_purpose(question, fields)
        _check_own_device(question, self.seen)
        _check_comprehension(question, fields)
        for key, texts in (("text", question.text), ("help", question.help)):
            if texts is not None:
                check_places(fields[key], texts, self.seen)
        if len(question.answers) <= IN_DEFINITION:
            for _, texts in question.answers:
                check_plain(fields.get(kind.own_key or "", question.place), texts, self.seen)
        if question.when and not question.is_hidden:
            what = "public" if question.mode == "public" else "directly asked"
            refuse_telling(
                fields["when"],
                f"the {what} question {question.name!r}",
                names_in(question.when),
                self.seen,
                may_be_hidden=True,
            )

    def unrelated(self, entry: Located) -> Unrelated:
        fields = entry.mapping("unrelated", {"keep": True, "distribution": True, "ask": False})
        keep = fields["keep"].number("keep")
        chances = tuple(item.number("A chance") for item in fields["distribution"].items("distribution"))
        if not 0 < keep < 1:
            fields["keep"].refuse(f"keep must lie strictly between 0 and 1, not {keep!r}.")
        if any(chance <= 0 for chance in chances) or abs(sum(chances) - 1) > 1e-6:
            fields["distribution"].refuse("distribution must hold a chance above 0 for every answer, summing to 1.")
        return Unrelated(keep, chances, self.texts(fields["ask"], "ask") if "ask" in fields else None)


def _population(entry: Located, questions: dict[str, Question]) -> Margins:
    """Margins of questions that everybody answers in the clear."""
    sensitive = [name for name, question in questions.items() if question.is_sensitive]
    everybody = [
        question
        for question in questions.values()
        if question.mode == "public" and not (question.special or question.when)
    ]
    answers = {question.name: question.attributes[0][1] for question in everybody if len(question.attributes) == 1}
    return read_margins(entry, answers, sensitive)


def _waves(top: dict[str, Located]) -> dict[str, Any]:
    """Which wave of how many this is, and what the series may tell. A `wave` without `waves` is the name of a single one."""
    if "waves" not in top:
        for name in ("series", "series_gamma", "panel"):
            if name in top:
                top[name].refuse(
                    f"{name} belongs to declared waves. State how many times people are asked, such as waves: 4"
                )
        return {"wave": top["wave"].text("wave") if "wave" in top else "1"}
    waves = _whole_number(top["waves"], "waves", MOST_WAVES)
    if "series" in top and "series_gamma" in top:
        top["series_gamma"].refuse(
            "series and series_gamma say the same thing in a word and in a number. State one of them."
        )
    gamma = None
    if "series" in top:
        gamma = LEVELS[top["series"].one_of("The privacy level of the series", tuple(LEVELS), OTHER_LEVELS)]
    elif "series_gamma" in top:
        gamma = float(top["series_gamma"].number("series_gamma"))
        if not 1 < gamma <= WHOLE_CAP:
            top["series_gamma"].refuse(
                f"series_gamma is how many times all waves together may change the odds of a guess, above 1 and at most "
                f"{WHOLE_CAP:.0e}, not {gamma:g}."
            )
    is_panel = read_flag(top, PANEL)
    if is_panel and waves == 1:
        top["panel"].refuse(
            "a panel puts the reports of several waves together, and one is declared. Declare more, or none."
        )
    wave = _whole_number(top["wave"], "wave", waves) if "wave" in top else 1
    return {"wave": wave, "waves": waves, "series_gamma": gamma, "is_panel": is_panel}


def _whole_number(entry: Located, what: str, most: int) -> int:
    number = entry.number(what)
    if number != int(number) or not 1 <= number <= most:
        entry.refuse(f"{what} must be a whole number from 1 to {most:,}, not {number!r}.")
    return int(number)


def _logo(entry: Located, folder: Path | None) -> str:
    """A picture beside the questionnaire as an address that holds its data; a page shows it as an image, which runs nothing."""
    path = entry.file_beside(folder, "A logo")
    content = path.read_bytes()
    is_svg = content.lstrip().startswith((b"<svg", b"<?xml")) and b"<svg" in content
    if not (is_svg or content.startswith(b"\x89PNG\r\n\x1a\n")) or len(content) > LARGEST_LOGO:
        entry.refuse(
            f"a logo is an SVG or PNG picture of at most {LARGEST_LOGO:,} bytes, and {path.name!r} has {len(content):,}."
        )
    return f"data:image/{'svg+xml' if is_svg else 'png'};base64,{base64.b64encode(content).decode()}"


def _margin(entry: Located) -> float:
    margin = entry.number("margin")
    if not 0 < margin < 1:
        entry.refuse(f"margin is the wanted margin of error of every share, such as 0.05, not {margin!r}.")
    return float(margin)


def read_flag(fields: dict[str, Located], name: str, *, default: bool = False) -> bool:
    return fields[name].flag(name) if name in fields else default


def _items(top: dict[str, Located], name: str) -> list[Located]:
    return top[name].items(name) if name in top else []


def read_name(entry: Located, what: str) -> str:
    name = entry.text(what)
    if not NAME.fullmatch(name):
        entry.refuse(f"{what} {name!r} must be a short word of a-z, 0-9 and _ that starts with a letter.")
    return name


def _read_shuffle(fields: dict[str, Located], answers: Answers) -> bool:
    is_shuffled = read_flag(fields, "shuffle")
    if is_shuffled and (answers.ordered or len(answers.named) < 2):
        fields["shuffle"].refuse(
            "shuffle goes with answers that have no order of their own: choice, several or yes-no."
        )
    return is_shuffled


def _check_many(fields: dict[str, Located], answers: Answers) -> None:
    """Answers that are searched and not shown all at once have no order to draw and no share each to state."""
    for key in ("shuffle", "known", "unrelated"):
        if key in fields and len(answers.named) > IN_DEFINITION:
            fields[key].refuse(
                f"{key} goes with at most {IN_DEFINITION} answers, and this question has {len(answers.named):,}, which are "
                f"searched for. Leave {key} out."
            )


def _read_known_shares(entry: Located, answers: Answers) -> tuple[float, ...]:
    """The true shares of a control item's answers; the one that is left out has the rest."""
    names = [name for name, _ in answers.named]
    given = {name: share.number("A share") for name, share in entry.entries().items()}
    for name in given:
        if name not in names:
            entry.refuse(f"known has a share for {name!r}, which is no answer. The answers: {', '.join(names)}.")
    rest = 1 - sum(given.values())
    missing = [name for name in names if name not in given]
    if len(missing) > 1 or any(not 0 <= share <= 1 for share in given.values()) or rest < -1e-9:
        entry.refuse(
            "known states the true share of each answer, such as {yes: 0.25}; one may be left out, and they sum to 1."
        )
    if not missing and abs(rest) > 1e-9:
        entry.refuse(f"known sums to {1 - rest:g}, not to 1.")
    return tuple(given.get(name, max(rest, 0.0)) for name in names)


def _mode(item: Located, fields: dict[str, Located]) -> str:
    """How the question is answered: as its mode says, else disguised if it is sensitive."""
    if "mode" not in fields:
        if "sensitive" not in fields:
            item.refuse(
                "A question needs the key 'sensitive': true disguises its answers, false sends them as they are."
            )
        return "disguised" if fields["sensitive"].flag("sensitive") else "public"
    mode = fields["mode"].one_of("The mode", MODES)
    if "sensitive" in fields and fields["sensitive"].flag("sensitive") != (mode != "public"):
        fields["mode"].refuse(
            f"mode: {mode} does not go with sensitive: {str(fields['sensitive'].value).lower()}. Leave sensitive out, or "
            f"write sensitive: {str(mode != 'public').lower()}."
        )
    return mode


def _check_comprehension(question: Question, fields: dict[str, Located]) -> None:
    """A check of what was understood: a public question with a right answer and an explanation."""
    if question.correct is None and question.explain is None:
        return
    place = fields["correct" if "correct" in fields else "explain"]
    names = [name for name, _ in question.answers]
    if question.correct is None or question.explain is None or question.mode != "public" or question.is_optional:
        place.refuse("a comprehension check is a public question with both `correct` and `explain`, and not optional.")
    if not question.has_one_answer or question.correct not in names:
        place.refuse(f"correct must be one of the answers: {', '.join(names)}; not {question.correct!r}.")


def _check_own_device(question: Question, seen: dict[str, Question]) -> None:
    """What a respondent's own device shows is sent as it is: nothing else may be entered, and nothing may depend on it."""
    if question.mode == "self" and (
        question.special or question.when or not question.has_one_answer or question.unrelated
    ):
        question.place.refuse(
            f"{question.name!r} has mode: self: what the respondent's own device shows is sent as it is. Ask it of everybody, "
            "with one answer, without prefer_not_to_say, optional or unrelated."
        )
    for name in names_in(question.when):
        if seen[name].mode == "self":
            question.place.refuse(
                f"{question.name!r} depends on {name!r}, of which only the disguised answer is known (mode: self). Ask it of "
                "everybody."
            )


def _together(entry: Located, pages: tuple[Page, ...]) -> tuple[tuple[str, ...], ...]:
    """Sets of questions whose joint answers are wanted."""
    hidden = [question.name for page in pages for question in page.questions if question.is_hidden]
    sets = []
    for item in entry.items("together"):
        names = tuple(name.one_of("The question", tuple(hidden)) for name in item.items("A set of questions"))
        if len(set(names)) < 2 or len(set(names)) < len(names):
            item.refuse("together lists sets of at least two different sensitive questions, such as [[told, whom]].")
        sets.append(names)
    return tuple(sets)


def _refuse_foreign_keys(kind: str, fields: dict[str, Located]) -> None:
    for key, allowed in key_owners().items():
        if key in fields and kind not in allowed:
            belongs = " or ".join(map(repr, allowed))
            fields[key].refuse(f"the key {key!r} belongs to questions of kind {belongs}, and this is of kind {kind!r}.")


def _purpose(entry: Located) -> Purpose:
    """What a question is asked for."""
    text = entry.text("estimate")
    if text not in PURPOSES:
        entry.refuse(f"estimate says what a question is asked for: {', '.join(PURPOSES)}; not {text!r}.")
    return text


def _check_purpose(question: Question, fields: dict[str, Located]) -> None:
    """Refuse a mean of what has no numbers, and a purpose where no channel is chosen by it."""
    if question.estimate is None:
        return
    if question.mode != "disguised":
        fields["estimate"].refuse("estimate is for questions that the device disguises: it chooses how.")
    if question.estimate != "shares" and (question.special or question.numbers is None):
        fields["estimate"].refuse(
            f"the mean of {question.name!r} needs answers that are all numbers, such as a scale with prefer_not_to_say: false. "
            "Ask it for shares, or give it numbers as answers."
        )


def _check_unrelated(question: Question, fields: dict[str, Located]) -> None:
    if question.unrelated is None:
        return
    place = fields["unrelated"]
    if not question.has_one_answer or question.mode != "disguised":
        place.refuse("an unrelated question goes with one sensitive question that has one answer.")
    if question.unrelated.ask and (question.special or question.when):
        place.refuse(
            "with ask the harmless answer stands in for the sensitive one, so both need the same answers: "
            "set prefer_not_to_say: false and leave optional and when out."
        )
    size = len(question.attributes[0][1])
    if len(question.unrelated.distribution) != size:
        place.refuse(
            f"distribution has {len(question.unrelated.distribution)} chances, but {question.name!r} has {size} answers: "
            f"{', '.join(question.attributes[0][1])}."
        )


def _group(item: Located) -> WrittenGroup:
    fields = item.mapping("A group", {"questions": True, "channel": True, "prior": False})
    questions = tuple(entry.text("A question's name") for entry in fields["questions"].items("questions"))
    prior: Any = fields.get("prior")
    chances = tuple(entry.number("A chance") for entry in prior.items("prior")) if prior else None
    return WrittenGroup(questions, fields["channel"], chances, item)
