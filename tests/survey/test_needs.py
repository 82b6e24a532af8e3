"""The channel that a privacy word gives each question, what it takes, and what is said about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import InvalidInput
from tacit.survey.definition import Definition
from tacit.survey.promise import promise
from tacit.survey.words import released_words
from tests.survey.page import node

HEAD = """name: asked
title: Asked
introduction: We ask.
contact: office@example.org
privacy: strong
pages:
  - title: One
    questions:
"""
CHOICE = """      - name: region
        kind: choice
        text: Where?
        sensitive: true
        prefer_not_to_say: DECLINE
        answers: [ANSWERS]
"""
SCALE = """      - name: stress
        kind: scale
        text: How much stress?
        sensitive: true
        prefer_not_to_say: false
        scale: {from: 0, to: 10}
"""


def choice(answers: int, decline: str = "false") -> str:
    return HEAD + CHOICE.replace("ANSWERS", ", ".join(f"a{i}" for i in range(answers))).replace("DECLINE", decline)


def opened(folder: Path, text: str) -> Definition:
    (folder / "asked.yaml").write_text(text, encoding="utf-8")
    return Definition.read(folder / "asked.yaml")


def needs(folder: Path, text: str) -> list[dict[str, Any]]:
    return list(promise(opened(folder, text), 0.05)[0]["questions"])


@pytest.mark.parametrize(
    ("answers", "kind", "most"),
    [(2, "gamma-diagonal", 2401), (12, "subset", 7450), (30, "subset", 8300), (100, "subset", 9230), (300, "hadamard", 9230),
     (500, "hadamard", 9230)],
)  # fmt: skip
def test_a_privacy_word_takes_the_channel_with_the_fewest_respondents(
    tmp_path: Path, answers: int, kind: str, most: int
) -> None:
    definition = opened(tmp_path, choice(answers))
    document, _ = promise(definition, 0.05)
    (question,) = document["questions"]
    assert definition.groups[0].channel.kind == kind
    assert question["respondents"] == document["plan"]["respondents"] == document["respondents"] <= most
    assert all(other["respondents"] >= question["respondents"] for other in question["alternatives"])


def test_the_page_judges_a_large_set_in_closed_form_as_python_does(tmp_path: Path) -> None:
    definition = opened(tmp_path, choice(100))
    (page,) = node("examine", script="page_checks.mjs", documents=[definition.bare])
    assert page["reasons"] == []
    ((block,),) = page["deals"]
    (told,) = definition.whole.answers()
    assert block["gamma"] == pytest.approx(definition.whole.gamma, rel=1e-9)
    assert block["worst"]["region"] == pytest.approx(told.even.worst_posterior, rel=1e-9)


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "zh", "ar"])
def test_the_page_explains_sets_and_thresholds_in_one_sentence_with_numbers(tmp_path: Path, language: str) -> None:
    definition = opened(tmp_path, choice(12) + SCALE + "        estimate: mean\n")
    texts = json.loads(released_words(language))
    of_set, of_threshold = node(
        "sentences", script="page_checks.mjs", document=definition.bare, texts=texts, language=language
    )
    numbers = [str(number) for number in (5, 12, 8)] if language != "ar" else []
    assert all(number in of_set[0] for number in numbers)
    if language == "en":
        assert of_set[0].startswith("A list of 5 of the 12 answers is sent. 5 times out of 8 your own is on it")
        assert "7 times out of 10 that is true" in of_threshold[0]


def test_long_scales_are_asked_for_shares_and_mean(tmp_path: Path) -> None:
    (usual,) = needs(tmp_path, HEAD + SCALE)
    assert (usual["channel"], usual["purpose"]) == ("exact", "both")
    assert usual["respondents_mean"] < 3000
    (mean,) = needs(tmp_path, HEAD + SCALE + "        estimate: mean\n")
    assert (mean["channel"], mean["respondents"]) == ("thresholds", 2297)
    (shares,) = needs(tmp_path, HEAD + SCALE + "        estimate: shares\n")
    assert (shares["channel"], shares["respondents"]) == ("subsets of 4", 7299)


def test_what_declining_costs_stands_beside_the_question(tmp_path: Path) -> None:
    (question,) = needs(tmp_path, choice(2, "true"))
    assert question["respondents"] == 3842
    assert {"change": "prefer_not_to_say: false", "respondents": 2401} in question["levers"]
    lines = promise(opened(tmp_path, choice(2, "true")), 0.05)[1]
    assert any("prefer_not_to_say: false: 2,401" in line for line in lines)


def test_what_was_chosen_is_said_with_what_others_would_take(tmp_path: Path) -> None:
    lines = promise(opened(tmp_path, choice(12)), 0.05)[1]
    assert any(
        "12 answers, subsets of 5, 7,434 respondents; Hadamard response would take 9,220" in line for line in lines
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + SCALE + "        estimate: median\n", "shares, mean, both; not 'median'"),
        (choice(5) + "        estimate: mean\n", "needs answers that are all numbers"),
        (HEAD + SCALE.replace("sensitive: true\n        prefer_not_to_say: false", "sensitive: false")
         + "        estimate: mean\n", "for questions that the device disguises"),
    ],
)  # fmt: skip
def test_a_purpose_that_a_question_cannot_have_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        opened(tmp_path, text)


def test_a_channel_that_was_written_is_kept_and_compared(tmp_path: Path) -> None:
    text = choice(12).replace(
        "privacy: strong", "groups:\n  - questions: [region]\n    channel: {kind: gamma-diagonal, gamma: 2.3}"
    )
    (question,) = needs(tmp_path, text)
    assert question["channel"] == "gamma-diagonal"
    assert question["alternatives"][0]["channel"] == "subsets of 5"
    assert question["levers"][0]["change"] == "disguised by subsets of 5"
