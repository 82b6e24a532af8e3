"""How hard a text is to read: Flesch-Kincaid's grade for English, the first Wiener Sachtextformel for German.

Kincaid, Fishburne, Rogers and Chissom (1975): .39 words per sentence + 11.8 syllables per word - 15.59. Bamberger and Vanecek
(1984): .1935 MS + .1672 SL + .1297 IW - .0327 ES - .875 with the percentages of words of three or more syllables, of more than
six letters and of one syllable, and the mean length of sentences. Both give the year of school that a reader needs.
"""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
VOWELS = {
    "en": re.compile(r"[aeiouy]+"),
    "de": re.compile(r"ei|ie|eu|äu|au|ai|aa|ee|oo|[aeiouyäöü]"),
}


def sentences(text: str) -> list[str]:
    """Sentences with at least one word; a colon ends one as a full stop does."""
    return [part for part in re.split(r"[.!?:;]+(?:\s+|$)|\n+", text) if WORD.search(part)]


def syllables(word: str, language: str) -> int:
    plain = word.lower()
    if language == "en":
        plain = re.sub(r"(?<=[^aeiouyl])e$|(?<=[^td])ed$|(?<=[^sxz])es$", "", plain)
    return max(1, len(VOWELS[language].findall(plain)))


def grade(text: str, language: str) -> float:
    """The year of school that a reader of this text needs."""
    words = WORD.findall(text)
    counts = [syllables(word, language) for word in words]
    length = len(words) / len(sentences(text))
    if language == "en":
        return 0.39 * length + 11.8 * sum(counts) / len(words) - 15.59
    share = 100 / len(words)
    long_words = share * sum(len(word) > 6 for word in words)
    many, one_syllable = (share * sum(test) for test in ((n >= 3 for n in counts), (n == 1 for n in counts)))
    return 0.1935 * many + 0.1672 * length + 0.1297 * long_words - 0.0327 * one_syllable - 0.875
