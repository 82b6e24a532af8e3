"""When something is asked, said or ended: conditions on earlier answers, as a questionnaire writes them.

``when: {a: "yes", b: [x, y]}`` wants both; a list of such mappings wants one of them; of a question with several answers an
option is named. Whatever leaves the page in the clear may depend on public answers only.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tacit.survey.answer_lists import IN_DEFINITION
from tacit.survey.openness import refuse_telling
from tacit.survey.questionnaire import Alternatives, Condition, Question, Quota, ScreenOut, Texts
from tacit.survey.yaml_lines import Located

# More ways to be asked one question than this are more than anybody can follow.
MOST_ALTERNATIVES = 64
PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_LIKE_A_PLACE = re.compile(r"\{\s*(\w+)\s*\}")


def read_conditions(entry: Located, seen: Mapping[str, Question]) -> Alternatives:
    """The alternatives of a ``when``: lists of conditions, of which one must hold whole."""
    if isinstance(entry.value, list):
        parts = [_alternatives(item, seen) for item in entry.items("when")]
        alternatives = tuple(itertools.chain.from_iterable(parts))
    else:
        alternatives = _alternatives(entry, seen)
    if not alternatives or not all(alternatives):
        entry.refuse("when needs an earlier question and an answer, such as {smokes: yes}.")
    if len(alternatives) > MOST_ALTERNATIVES:
        entry.refuse(f"when has {len(alternatives)} alternatives, more than {MOST_ALTERNATIVES}. Ask in fewer cases.")
    return tuple(dict.fromkeys(alternatives))


def _alternatives(entry: Located, seen: Mapping[str, Question]) -> Alternatives:
    """All of a mapping's entries must hold; one that names several options of a question holds with any of them."""
    each = [_ways(name, wanted, seen) for name, wanted in entry.entries().items()]
    return tuple(itertools.product(*each))


def _ways(name: str, wanted: Located, seen: Mapping[str, Question]) -> tuple[Condition, ...]:
    question = seen.get(name)
    if question is None or not question.attributes:
        wanted.refuse(
            f"when: {name!r} must be an earlier question that has answers. Before this one: {', '.join(seen) or 'none'}."
        )
    if len(question.answers) > IN_DEFINITION:
        wanted.refuse(
            f"when: {name!r} has {len(question.answers):,} answers, too many to decide what is asked next; at most "
            f"{IN_DEFINITION} can. Ask for what matters in a question with few answers."
        )
    names = [item.text("An answer") for item in (wanted.value if isinstance(wanted.value, list) else [wanted])]
    if question.has_one_answer:
        allowed = question.attributes[0][1]
    else:
        allowed = (*(option for option, _ in question.answers), *question.special)
    for answer in names:
        if answer not in allowed:
            wanted.refuse(f"when: {name!r} has no answer {answer!r}. Its answers: {', '.join(allowed)}.")
    if question.has_one_answer:
        return (Condition(name, tuple(names)),)
    first = question.answers[0][0]
    return tuple(
        Condition(name, (one,), first) if one in question.special else Condition(name, ("yes",), one) for one in names
    )


def names_in(alternatives: Alternatives) -> list[str]:
    return list(dict.fromkeys(condition.question for alternative in alternatives for condition in alternative))


def to_document(alternatives: Alternatives) -> list[dict[str, Any]]:
    """As a definition states it: the conditions that must all hold, or one entry with the alternatives."""
    listed = [[_condition_document(condition) for condition in alternative] for alternative in alternatives]
    return listed[0] if len(listed) == 1 else [{"any": listed}] if listed else []


def _condition_document(condition: Condition) -> dict[str, Any]:
    option = {} if condition.option is None else {"option": condition.option}
    return {"question": condition.question, **option, "answers": list(condition.answers)}


def read_screen_out(item: Located, seen: Mapping[str, Question], text: Texts | None) -> ScreenOut:
    fields = item.mapping("A screen-out", {"when": True, "text": False})
    when = read_conditions(fields["when"], seen)
    refuse_telling(fields["when"], "the screen-out", names_in(when), seen)
    return ScreenOut(when, text)


def check_somebody_is_asked(entry: Located, screen_outs: Iterable[ScreenOut], seen: Mapping[str, Question]) -> None:
    """Refuse screen-outs that together end the questions for everybody."""
    gone: dict[str, set[str]] = {}
    for way in (way for screen_out in screen_outs for way in screen_out.when):
        if len(way) == 1 and way[0].option is None:
            gone.setdefault(way[0].question, set()).update(way[0].answers)
    for name, answers in gone.items():
        if answers >= set(seen[name].attributes[0][1]):
            entry.refuse(f"every answer to {name!r} ends the questions, so nobody could take part. Leave one out.")


def read_quota(item: Located, seen: Mapping[str, Question]) -> Quota:
    fields = item.mapping("A quota", {"when": True, "most": True})
    when = read_conditions(fields["when"], seen)
    refuse_telling(fields["when"], "the quota", names_in(when), seen)
    most = fields["most"].number("most")
    if most != int(most) or most < 1:
        fields["most"].refuse(f"most must be a whole number of reports, at least 1, not {most!r}.")
    return Quota(when, int(most))


def check_plain(entry: Located, texts: Texts, seen: Mapping[str, Question]) -> None:
    """Answers are the same for everybody: a place in them would be shown as it stands."""
    for name in (name for text in texts.values() for name in PLACE.findall(text)):
        if name in seen:
            entry.refuse(
                f"an answer cannot repeat {{{name}}}: all are offered the same. Repeat it in the question's text."
            )


def check_places(entry: Located, texts: Texts, seen: Mapping[str, Question]) -> None:
    """A text may repeat what was answered before, as ``{name}``: of public questions with one answer only."""
    for text in texts.values():
        for like in _LIKE_A_PLACE.finditer(text):
            name = like[1].lower()
            if name in seen and like[0] != f"{{{name}}}":
                entry.refuse(
                    f"{like[0]} would be shown as it stands. Write {{{name}}} to repeat the answer to {name!r}."
                )
        for name in PLACE.findall(text):
            question = seen.get(name)
            if question is None or not question.has_one_answer:
                entry.refuse(
                    f"the text repeats {{{name}}}, which is no earlier question with one answer. Before this one: "
                    f"{', '.join(seen) or 'none'}."
                )
            refuse_telling(entry, "the text", [name], seen)
