"""The page speaks plainly: seven years of school are enough for each screen, and no sentence has more than twenty words.

Legal texts and the record for experts are exempt, and so are the refusals of a definition that no survey can be opened with.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tacit.survey.words import released_words
from tests.survey.readability import WORD, grade, sentences, syllables

MOST_YEARS, LONGEST_SENTENCE = 7, 20
SCREENS = {
    "first": ("minutes", "voluntary", "dots", "start", "closed", "resume", "resumeGo", "resumeDrop"),
    "consent": ("before", "consent", "agree", "consentMissing", "shared", "code", "codeHelp", "codeOnce", "codeWrong",
                "codeSpent", "codeUnknown", "codeLater"),
    "how": ("promise", "madeUp", "comesOut", "tryIt", "tryHelp", "tryQuestion", "tryAnswer", "tryCrowd"),
    "tells": ("whatever", "nobody", "together", "atMost", "wholeLabel", "wholeNotice", "kept", "publicLabel", "directLabel"),
    "questions": ("sensitive", "public", "optional", "takeBack", "several", "needsAnswer", "needsNumber", "needsDate",
                  "textWarning", "rangeOnly", "harmless", "missing", "page", "explained", "remember"),
    "review": ("review", "reviewOpen", "reviewHidden", "reviewOwn", "atMost", "send"),
    "sent": ("stored", "known", "later", "sentWords", "sentHelp", "codeOdds", "receipt", "receiptHelp", "someoneElse"),
    "again": ("wasItYou", "wasItYouHelp", "itWasMe", "notMe", "ifItWasMe", "youAre", "again", "ledger"),
    "second": ("secondRound", "secondHelp", "secondSend", "secondSent", "secondSure"),
    "withdraw": ("withdraw", "withdrawHelp", "withdrawSend", "withdrawDone", "withdrawUnknown", "withdrawClosed",
                 "withdrawLater"),
}  # fmt: skip


def texts(language: str, names: tuple[str, ...]) -> list[str]:
    """The texts of these words with a short value in each place, each form of a number once."""
    words: dict[str, Any] = json.loads(released_words(language))
    forms = [
        text for name in names for text in ([words[name]] if isinstance(words[name], str) else words[name].values())
    ]
    for place in ("{answer}", "{names}", "{range}"):
        forms = [text.replace(place, {"en": "Yes", "de": "Ja"}[language]) for text in forms]
    return forms


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("screen", SCREENS)
def test_seven_years_of_school_are_enough_for_each_screen(screen: str, language: str) -> None:
    said = texts(language, SCREENS[screen])
    hardest = sorted(said, key=lambda text: grade(text, language))[-3:]
    assert grade("\n".join(said), language) <= MOST_YEARS, hardest


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_sentence_has_more_than_twenty_words(language: str) -> None:
    long = [
        sentence
        for names in SCREENS.values()
        for text in texts(language, names)
        for sentence in sentences(text)
        if len(WORD.findall(sentence)) > LONGEST_SENTENCE
    ]
    assert not long


def test_none_of_the_words_for_cryptographers_is_left() -> None:
    said = released_words("en")
    for phrase in (
        "what it buys",
        "odds of a guess about you at most",
        "No page can check",
        "Disguised code",
        "disguised bit",
    ):
        assert phrase not in said


def test_the_formulas_tell_plain_from_hard() -> None:
    assert [syllables(word, "en") for word in ("cat", "table", "walked", "wanted", "answer", "protection")] == [
        1,
        2,
        1,
        2,
        2,
        3,
    ]
    assert [syllables(word, "de") for word in ("Ja", "heute", "Antwort", "verschleiert", "Teilnahme")] == [
        1,
        2,
        2,
        3,
        3,
    ]
    hard = "Probabilistic anonymisation mechanisms substantially complicate individual identification."
    assert grade("The cat sat on the mat.", "en") < 2 < 20 < grade(hard, "en")
    schwer = "Wahrscheinlichkeitsbasierte Anonymisierungsverfahren erschweren individuelle Identifizierungen erheblich."
    assert grade("Die Katze sitzt auf dem Dach.", "de") < 3 < 15 < grade(schwer, "de")
