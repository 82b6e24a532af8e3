"""Versions of a questionnaire of which chance deals each respondent one: parts of the questions, or arms that ask them otherwise.

An arm asks some questions as this device disguises them, as people disguise them themselves, or directly. What device and
self arms report is one attribute, under two laws, so that estimates pool them; a direct answer is an attribute of its own
and never pooled: its bias is why one randomizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tacit.survey.conditions import names_in
from tacit.survey.question_kinds import NAME, read_texts
from tacit.survey.questionnaire import Deal, OwnDevice, Page, Question
from tacit.survey.yaml_lines import Located

DEVICE, SELF, DIRECT = "device", "self", "direct"
DIRECT_SUFFIX = "_direct"


def read_deals(
    top: Mapping[str, Located], questions: Mapping[str, Question], languages: tuple[str, ...]
) -> tuple[Deal, ...]:
    """The versions that a questionnaire names; none where everybody is asked the same."""
    parts = _check_shares(_parts(top["split"], questions), top["split"]) if "split" in top else ()
    arms = _check_shares(_arms(top["arms"], questions, languages), top["arms"]) if "arms" in top else ()
    if not parts or not arms:
        return parts or arms
    return tuple(deal for deal_part in parts for deal in _arms_of(deal_part, arms))


def _check_shares(deals: tuple[Deal, ...], place: Located) -> tuple[Deal, ...]:
    shares = sum(deal.share for deal in deals)
    if len(deals) < 2 or any(not 0 < deal.share < 1 for deal in deals) or abs(shares - 1) > 1e-6:
        place.refuse("at least two versions are needed, each with a share above 0, and the shares sum to 1.")
    return deals


def _arms_of(part: Deal, arms: Sequence[Deal]) -> list[Deal]:
    """A part of the questions, asked in each way; in one way only where it has none of the questions of the arms."""
    in_arms = frozenset(name for arm in arms for name in (*arm.own, *arm.direct, *arm.asked))
    if in_arms <= part.left_out:
        return [part]
    return [
        Deal(
            f"{part.name}_{arm.name}",
            part.share * arm.share,
            part.left_out | arm.left_out,
            {name: device for name, device in arm.own.items() if name not in part.left_out},
            arm.place,
            arm.direct - part.left_out,
        )
        for arm in arms
    ]


def _parts(entry: Located, questions: Mapping[str, Question]) -> tuple[Deal, ...]:
    items = entry.items("split")
    read = [item.mapping("A part", {"name": True, "questions": True, "share": False}) for item in items]
    asked = [
        tuple(_sensitive(question, questions) for question in fields["questions"].items("questions")) for fields in read
    ]
    parted = {name for names in asked for name in names}
    names = [_read_part_name(fields["name"]) for fields in read]
    for name, fields in zip(names, read, strict=True):
        if names.count(name) > 1:
            fields["name"].refuse(f"the part {name!r} stands here twice. Give each part its own name.")
    return tuple(
        Deal(
            name,
            fields["share"].number("share") if "share" in fields else 1 / len(items),
            frozenset(parted - set(own)),
            {},
            item,
        )
        for name, fields, own, item in zip(names, read, asked, items, strict=True)
    )


def _read_part_name(entry: Located) -> str:
    name = entry.text("A part's name")
    if not NAME.fullmatch(name):
        entry.refuse(f"A part's name {name!r} must be a short word of a-z, 0-9 and _ that starts with a letter.")
    return name


def _sensitive(entry: Located, questions: Mapping[str, Question]) -> str:
    hidden = tuple(name for name, question in questions.items() if question.is_hidden)
    return entry.one_of("The sensitive question", hidden)


def _arms(entry: Located, questions: Mapping[str, Question], languages: tuple[str, ...]) -> tuple[Deal, ...]:
    fields = entry.mapping("arms", {"questions": True, DEVICE: False, SELF: False, DIRECT: False})
    names = [_sensitive(question, questions) for question in fields["questions"].items("questions")]
    if DEVICE not in fields and SELF not in fields:
        entry.refuse("arms need one that disguises: device, or self.")
    for name in names:
        _check_asked(fields, questions, name)
    deals = []
    if DEVICE in fields:
        device_share = fields[DEVICE].number("device")
        deals.append(Deal(DEVICE, device_share, frozenset(), {}, entry, asked=frozenset(names)))
    if SELF in fields:
        self_fields = fields[SELF].mapping("The arm self", {"share": True, "channel": True, "help": True})
        device = OwnDevice(self_fields["channel"], read_texts(self_fields["help"], "The help", languages))
        deals.append(
            Deal(SELF, self_fields["share"].number("share"), frozenset(), dict.fromkeys(names, device), fields[SELF])
        )
    if DIRECT in fields:
        deals.append(Deal(DIRECT, fields[DIRECT].number("direct"), frozenset(names), {}, entry, frozenset(names)))
    return tuple(deals)


def _check_asked(fields: Mapping[str, Located], questions: Mapping[str, Question], name: str) -> None:
    """What is asked in several ways is asked alone, of everybody, with one answer."""
    question = questions[name]
    depends = [question.name for question in questions.values() if name in names_in(question.when)]
    if not question.has_one_answer or question.when or depends or question.unrelated or question.mode != "disguised":
        fields["questions"].refuse(
            f"{name!r} cannot be asked in arms: only a disguised question with one answer can, that is asked of everybody and "
            "on which nothing depends."
        )
    if SELF in fields and question.special:
        fields["questions"].refuse(
            f"{name!r} is also asked with a device of the respondent's own, which shows its answers only: set "
            "prefer_not_to_say: false and leave optional out."
        )


def with_direct_questions(pages: Sequence[Page], deals: Sequence[Deal]) -> tuple[Page, ...]:
    """The pages, with a direct question beside each that some version asks directly."""
    return tuple(
        replace(page, questions=tuple(made for question in page.questions for made in _beside(question, deals)))
        for page in pages
    )


def _beside(question: Question, deals: Sequence[Deal]) -> list[Question]:
    directly = tuple(deal.name for deal in deals if question.name in deal.direct)
    if not directly:
        return [question]
    direct = replace(
        question, name=f"{question.name}{DIRECT_SUFFIX}", mode="direct", deals=directly, known=None, is_shuffled=False
    )
    return [question, direct]
