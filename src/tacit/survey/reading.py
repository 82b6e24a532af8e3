"""Reading a questionnaire from YAML: everything is checked here once, and every refusal names its line."""

from __future__ import annotations

import itertools
import re
from datetime import date
from pathlib import Path
from typing import Any

from tacit.survey.openness import refuse_telling
from tacit.survey.questionnaire import (
    ACCESS,
    KINDS,
    MODES,
    NO_ANSWER,
    NOT_ASKED,
    PREFER_NOT_TO_SAY,
    Condition,
    Page,
    Question,
    SurveyQuestionnaire,
    Texts,
    Unrelated,
    WrittenGroup,
)
from tacit.survey.words import LANGUAGE_TAG, RELEASED, Words, checked_words
from tacit.survey.yaml_lines import Located, read

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TOP = {
    "name": True, "wave": False, "title": True, "introduction": True, "contact": True, "languages": False,
    "access": False, "privacy": False, "allow_unbounded": False, "second_round": False, "pages": True, "groups": False,
    "together": False, "retention": False, "words": False,
}  # fmt: skip
_QUESTION = {
    "name": True, "kind": True, "text": True, "help": False, "answers": False, "scale": False, "ranges": False,
    "options": False, "sensitive": False, "mode": False, "optional": False, "prefer_not_to_say": False,
    "when": False, "unrelated": False,
}  # fmt: skip
_OWN_KEY = {"choice": "answers", "scale": "scale", "number": "ranges", "several": "options"}


def read_questionnaire(root: Located, folder: Path | None = None) -> SurveyQuestionnaire:
    """The questionnaire in `root`, or a refusal that says the line and what to change.

    Files of words are looked for in `folder`.
    """
    top = root.mapping("A questionnaire", _TOP)
    words = _words(top["words"], folder) if "words" in top else {}
    languages = _languages(top.get("languages"), words)
    for language in set(words) - set(languages):
        top["words"].refuse(f"words are given in {language!r}, but languages lists {', '.join(languages)}.")
    return _Reader(languages).questionnaire(root, top, words)


def _languages(entry: Located | None, words: dict[str, Words]) -> tuple[str, ...]:
    if entry is None:
        return ("en",)
    languages = tuple(_language(item, words) for item in entry.items("languages"))
    if not languages or len(set(languages)) < len(languages):
        entry.refuse("languages must name at least one language, and each once.")
    return languages


def _language(item: Located, words: dict[str, Words]) -> str:
    language = item.text("A language")
    if not LANGUAGE_TAG.fullmatch(language):
        item.refuse(f"{language!r} is no language: write its short tag, such as en, tr or pt-BR.")
    if language not in words and language not in RELEASED:
        item.refuse(
            f"the page has no words of its own (buttons, the privacy label) in {language!r}; it has them in "
            f"{', '.join(RELEASED)}. Write them with: tacit survey words {language}.yaml, translate, and name the file at "
            f"the top: words: {{{language}: {language}.yaml}}"
        )
    return language


def _words(entry: Located, folder: Path | None) -> dict[str, Words]:
    """Words written for this survey: in a file beside it, or here."""
    given = {}
    for language, source in entry.entries().items():
        if isinstance(source.value, dict):
            given[language] = checked_words(source)
            continue
        name = source.text("A file of words")
        path = (folder or Path()) / name
        if not path.is_file():
            source.refuse(
                f"there is no file of words {name!r} beside this one. Write it with: tacit survey words {name}"
            )
        given[language] = checked_words(read(path))
    return given


class _Reader:
    """Reads the parts of one questionnaire, whose languages are known."""

    def __init__(self, languages: tuple[str, ...]) -> None:
        self.languages = languages

    def questionnaire(self, root: Located, top: dict[str, Located], words: dict[str, Words]) -> SurveyQuestionnaire:
        pages = self.pages(top["pages"])
        groups = tuple(_group(item) for item in top["groups"].items("groups")) if "groups" in top else ()
        return SurveyQuestionnaire(
            name=_name(top["name"], "The survey's name"),
            wave=top["wave"].text("wave") if "wave" in top else "1",
            title=self.texts(top["title"], "title"),
            introduction=self.texts(top["introduction"], "introduction"),
            contact=self.texts(top["contact"], "contact"),
            languages=self.languages,
            words=words,
            access=top["access"].one_of("The access", ACCESS) if "access" in top else "open",
            privacy=top["privacy"].text("privacy") if "privacy" in top else None,
            allow_unbounded=top["allow_unbounded"].flag("allow_unbounded") if "allow_unbounded" in top else False,
            second_round=top["second_round"].flag("second_round") if "second_round" in top else False,
            pages=pages,
            groups=groups,
            together=_together(top["together"], pages) if "together" in top else (),
            retention=_day(top["retention"]) if "retention" in top else None,
            place=root,
        )

    def texts(self, entry: Located, what: str) -> Texts:
        if not isinstance(entry.value, dict):
            if len(self.languages) > 1:
                entry.refuse(f"{what} needs a text for each language: {', '.join(self.languages)}.")
            return {self.languages[0]: entry.text(what)}
        given = entry.entries()
        for language, text in given.items():
            if language not in self.languages:
                text.refuse(f"{what} has a text in {language!r}, but languages lists {', '.join(self.languages)}.")
        missing = [language for language in self.languages if language not in given]
        if missing:
            entry.refuse(f"{what} has no text in {missing[0]!r}. Add it, or take the language out of languages.")
        return {language: given[language].text(what) for language in self.languages}

    def pages(self, entry: Located) -> tuple[Page, ...]:
        seen: dict[str, Question] = {}
        pages = tuple(self.page(item, seen) for item in entry.items("pages"))
        if not pages:
            entry.refuse("pages must hold at least one page with a question.")
        if not any(question.is_hidden for question in seen.values()):
            entry.refuse("no question is sensitive, so there is nothing to disguise. Mark one with: sensitive: true")
        return pages

    def page(self, item: Located, seen: dict[str, Question]) -> Page:
        fields = item.mapping("A page", {"title": False, "questions": True})
        title = self.texts(fields["title"], "A page's title") if "title" in fields else None
        questions: list[Question] = []
        for entry in fields["questions"].items("questions"):
            question = self.question(entry, seen)
            seen[question.name] = question
            questions.append(question)
        if not questions:
            fields["questions"].refuse("a page needs at least one question.")
        return Page(title, tuple(questions))

    def question(self, item: Located, seen: dict[str, Question]) -> Question:
        fields = item.mapping("A question", _QUESTION)
        name = _name(fields["name"], "A question's name")
        if name in seen:
            fields["name"].refuse(
                f"the question {name!r} stands also in line {seen[name].place.line}. Give each question its own name."
            )
        kind = fields["kind"].one_of("The kind", KINDS)
        _refuse_foreign_keys(kind, fields)
        mode = _mode(item, fields)
        is_optional = fields["optional"].flag("optional") if "optional" in fields else False
        declines = fields.get("prefer_not_to_say")
        # Several-of-many has a no for each option already, so not saying is offered there only on demand.
        # Who runs a device of their own enters what it shows, and no device shows that somebody would rather not say.
        is_asked_so = mode not in ("public", "self") and kind != "several"
        may_decline = declines.flag("prefer_not_to_say") if declines else is_asked_so
        answers, ordered = self.answers(kind, item, fields)
        question = Question(
            name=name,
            kind=kind,
            text=self.texts(fields["text"], "A question's text"),
            help=self.texts(fields["help"], "A question's help") if "help" in fields else None,
            answers=answers,
            ordered=ordered,
            mode=mode,
            may_decline=may_decline,
            is_optional=is_optional,
            when=_conditions(fields["when"], seen) if "when" in fields else (),
            unrelated=self.unrelated(fields["unrelated"]) if "unrelated" in fields else None,
            place=item,
        )
        _check_unrelated(question, fields)
        _check_own_device(question, seen)
        if question.when and not question.is_hidden:
            what = "public" if mode == "public" else "directly asked"
            earlier = [one.question for one in question.when]
            refuse_telling(fields["when"], f"the {what} question {name!r}", earlier, seen)
        return question

    def answers(
        self, kind: str, item: Located, fields: dict[str, Located]
    ) -> tuple[tuple[tuple[str, Texts], ...], bool]:
        """Names and texts of a question's own answers, and whether they are ordered."""
        if kind == "yes-no":
            return (("no", {}), ("yes", {})), False
        if _OWN_KEY[kind] not in fields:
            item.refuse(f"a question of kind {kind!r} needs the key {_OWN_KEY[kind]!r}.")
        entry = fields[_OWN_KEY[kind]]
        if kind == "scale":
            return self.scale(entry), True
        if kind == "number":
            return _ranges(entry, self.languages), True
        answers = self.named_texts(entry, is_option=kind == "several")
        if len(answers) < 2 and kind == "choice":
            entry.refuse("a choice needs at least two answers.")
        return answers, False

    def named_texts(self, entry: Located, *, is_option: bool) -> tuple[tuple[str, Texts], ...]:
        """Answers as a list of names, or as a mapping from names to texts."""
        if isinstance(entry.value, dict):
            pairs = [(name, text, self.texts(text, "An answer")) for name, text in entry.entries().items()]
        else:
            named = [(item.text("An answer"), item) for item in entry.items("The answers")]
            if len(self.languages) > 1:
                entry.refuse("answers need texts in every language: write a mapping from each name to its texts.")
            pairs = [(name, item, {self.languages[0]: name}) for name, item in named]
        names = [name for name, _, _ in pairs]
        for name, place, _ in pairs:
            if names.count(name) > 1:
                place.refuse(f"the answer {name!r} stands here twice. Name each answer once.")
            if name in (PREFER_NOT_TO_SAY, NO_ANSWER, NOT_ASKED):
                place.refuse(f"the answer {name!r} is added by the page itself; see prefer_not_to_say, optional, when.")
            if is_option and not _NAME.fullmatch(name):
                place.refuse(f"the option {name!r} needs a short name of a-z, 0-9 and _; give its text behind it.")
        return tuple((name, texts) for name, _, texts in pairs)

    def scale(self, entry: Located) -> tuple[tuple[str, Texts], ...]:
        fields = entry.mapping("A scale", {"from": True, "to": True, "low": False, "high": False})
        low, high = fields["from"].number("from"), fields["to"].number("to")
        if low != int(low) or high != int(high) or not 1 <= high - low <= 20:
            entry.refuse(
                f"a scale goes up in whole steps from a number to one at most 20 above, not {low:g} to {high:g}."
            )
        numbers = [str(number) for number in range(int(low), int(high) + 1)]
        ends = {numbers[0]: fields.get("low"), numbers[-1]: fields.get("high")}
        return tuple((number, self._scale_texts(number, ends.get(number))) for number in numbers)

    def _scale_texts(self, number: str, end: Located | None) -> Texts:
        meaning = self.texts(end, "The end of a scale") if end else {}
        return {lang: f"{number} ({meaning[lang]})" if lang in meaning else number for lang in self.languages}

    def unrelated(self, entry: Located) -> Unrelated:
        fields = entry.mapping("unrelated", {"keep": True, "distribution": True, "ask": False})
        keep = fields["keep"].number("keep")
        chances = tuple(item.number("A chance") for item in fields["distribution"].items("distribution"))
        if not 0 < keep < 1:
            fields["keep"].refuse(f"keep must lie strictly between 0 and 1, not {keep!r}.")
        if any(chance <= 0 for chance in chances) or abs(sum(chances) - 1) > 1e-6:
            fields["distribution"].refuse("distribution must hold a chance above 0 for every answer, summing to 1.")
        return Unrelated(keep, chances, self.texts(fields["ask"], "ask") if "ask" in fields else None)


def _day(entry: Located) -> date:
    """The last day on which reports may be kept."""
    try:
        return entry.value if isinstance(entry.value, date) else date.fromisoformat(entry.text("retention"))
    except ValueError:
        entry.refuse(f"retention must be a day such as 2030-12-31, not {entry.plain()!r}.")


def _name(entry: Located, what: str) -> str:
    name = entry.text(what)
    if not _NAME.fullmatch(name):
        entry.refuse(f"{what} {name!r} must be a short word of a-z, 0-9 and _ that starts with a letter.")
    return name


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


def _check_own_device(question: Question, seen: dict[str, Question]) -> None:
    """What a respondent's own device shows is sent as it is: nothing else may be entered, and nothing may depend on it."""
    if question.mode == "self" and (
        question.special or question.when or question.kind == "several" or question.unrelated
    ):
        question.place.refuse(
            f"{question.name!r} has mode: self: what the respondent's own device shows is sent as it is. Ask it of everybody, "
            "with one answer, without prefer_not_to_say, optional or unrelated."
        )
    for condition in question.when:
        if seen[condition.question].mode == "self":
            question.place.refuse(
                f"{question.name!r} depends on {condition.question!r}, of which only the disguised answer is known (mode: "
                "self). Ask it of everybody."
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
    for owner, key in _OWN_KEY.items():
        if key in fields and owner != kind:
            fields[key].refuse(f"the key {key!r} belongs to questions of kind {owner!r}, and this is of kind {kind!r}.")


def _ranges(entry: Located, languages: tuple[str, ...]) -> tuple[tuple[str, Texts], ...]:
    edges = [item.number("An edge") for item in entry.items("ranges")]
    if not edges or any(a >= b for a, b in itertools.pairwise(edges)):
        entry.refuse("ranges must be a list of ascending numbers: where one range ends and the next begins.")
    inner = [_between(a, b) for a, b in itertools.pairwise(edges)]
    pairs = [(f"below {edges[0]:g}", f"< {edges[0]:g}"), *inner, (f"{edges[-1]:g} or more", f"≥ {edges[-1]:g}")]
    return tuple((name, dict.fromkeys(languages, text)) for name, text in pairs)


def _between(low: float, high: float) -> tuple[str, str]:
    """Name and language-free text of a range that holds `low` and not `high`."""
    if low == int(low) and high == int(high):
        last = int(high) - 1
        return (f"{low:g}", f"{low:g}") if last == low else (f"{low:g} to {last}", f"{low:g}–{last}")
    return f"{low:g} to below {high:g}", f"{low:g} – < {high:g}"


def _conditions(entry: Located, seen: dict[str, Question]) -> tuple[Condition, ...]:
    return tuple(_condition(name, wanted, seen) for name, wanted in entry.entries().items())


def _condition(name: str, wanted: Located, seen: dict[str, Question]) -> Condition:
    if name not in seen or seen[name].kind == "several":
        wanted.refuse(
            f"when: {name!r} must be an earlier question with one answer. Before this one: {', '.join(seen)}."
        )
    names = [item.text("An answer") for item in (wanted.value if isinstance(wanted.value, list) else [wanted])]
    known = seen[name].attributes[0][1]
    for answer in names:
        if answer not in known:
            wanted.refuse(f"when: {name!r} has no answer {answer!r}. Its answers: {', '.join(known)}.")
    return Condition(name, tuple(names))


def _check_unrelated(question: Question, fields: dict[str, Located]) -> None:
    if question.unrelated is None:
        return
    place = fields["unrelated"]
    if question.kind == "several" or question.mode != "disguised":
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
