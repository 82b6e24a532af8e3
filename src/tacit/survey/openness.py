"""What is sent or shown in the clear must not depend on a sensitive answer: it would tell that answer again.

Whether a public question was asked is sent undisguised, as its answer "not asked". The same holds of everything else that
leaves the page in the clear: which options a public question offers, who is screened out, which quota is full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tacit.survey.questionnaire import Question
from tacit.survey.yaml_lines import Located


def refuse_telling(
    place: Located, what: str, depends_on: Iterable[str], asked: Mapping[str, Question], *, may_be_hidden: bool = False
) -> None:
    """Refuse, at its line, something public that depends on the answer to a sensitive question.

    A question `may_be_hidden` instead; a quota, a screen-out or a text cannot be.
    """
    for name in depends_on:
        if name in asked and asked[name].is_hidden:
            public = [name for name, question in asked.items() if question.mode == "public" and question.attributes]
            way = (
                f"Ask everybody (leave out the condition on {name!r}), or mark it with sensitive: true."
                if may_be_hidden
                else f"Name public questions only: {', '.join(public) or 'there is none yet'}."
            )
            place.refuse(
                f"{what} depends on the answer to {name!r}, which is sensitive, and would send that answer undisguised. {way}"
            )
