"""The programs of a survey's groups: what a respondent's page will run, for everybody to read in the definition."""

from __future__ import annotations

from typing import Any

from tacit.channel.chances import numerator
from tacit.channel.scheme import Scheme
from tacit.survey.questionnaire import SurveyQuestionnaire

Program = dict[str, Any]

# Right or wrong is a bit about somebody's answers, so it is disguised as they are: amplification 1.5, which every privacy
# level has room for below the page's caps.
SECOND_PROGRAM: Program = {"toss": numerator(0.6), "heads": {"same": 1}, "tails": {"reverse": 1}}


def programs_of(scheme: Scheme, questionnaire: SurveyQuestionnaire) -> list[list[Program]]:
    """One list for each questionnaire that may be dealt, of one program for each of its groups."""
    asked = {question.name for question in questionnaire.questions if question.unrelated and question.unrelated.ask}
    return [
        [_mark_asked(group.channel.program(), group.names[0] in asked) for group in dealt.groups]
        for dealt in scheme.questionnaires
    ]


def _mark_asked(program: Program, is_asked: bool) -> Program:
    """The program whose harmless answer is the respondent's own, where the page asks for it."""
    return {**program, "tails": {**program["tails"], "asked": 1}} if is_asked else program
