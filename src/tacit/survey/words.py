"""The page's own words (buttons, the privacy label, refusals) in each language, released or written for one survey.

Words are a mapping from names to texts with ``{places}`` for values; a text that depends on a number has a form for each
("one", "other", as `Intl.PluralRules` names them). Whoever asks in a language without words writes a file of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tacit.channel.document import canonical
from tacit.survey.yaml_lines import Located, read

FOLDER = Path(__file__).parent / "static" / "words"
RELEASED = ("en", "de", "fr", "es", "ar", "zh")
FORMS = ("zero", "one", "two", "few", "many", "other")
LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_PLACE = re.compile(r"\{(\w+)\}")

Words = dict[str, Any]


@cache
def released_words(language: str) -> str:
    """The words of a language as they are served: one text, known by its hash."""
    return canonical(json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8")))


def page_words(definition: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in a survey's page: the words of its first language, and the hashes of those it may fetch."""
    own_words = definition.get("words") or {}
    page_languages = [
        language for language in definition["languages"] if language not in own_words and language in RELEASED
    ]
    first = definition["languages"][:1]
    return {
        "words": {language: json.loads(released_words(language)) for language in page_languages if language in first},
        "hashes": {
            language: hashlib.sha256(released_words(language).encode()).hexdigest() for language in page_languages
        },
    }


def read_languages(
    entry: Located | None, words: Located | None, folder: Path | None
) -> tuple[tuple[str, ...], dict[str, Words]]:
    """The languages of a questionnaire, and the words that it brings for those without words of their own."""
    own_words = _written_for(words, folder) if words is not None else {}
    if entry is None:
        languages: tuple[str, ...] = ("en",)
    else:
        languages = tuple(_language(item, own_words) for item in entry.items("languages"))
        if not languages or len(set(languages)) < len(languages):
            entry.refuse("languages must name at least one language, and each once.")
    for language in set(own_words) - set(languages):
        assert words is not None
        words.refuse(f"words are given in {language!r}, but languages lists {', '.join(languages)}.")
    return languages, own_words


def _language(item: Located, words: Mapping[str, Words]) -> str:
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


def _written_for(entry: Located, folder: Path | None) -> dict[str, Words]:
    """Words written for one survey: in a file beside it, or in the questionnaire itself."""
    given = {}
    for language, source in entry.entries().items():
        if isinstance(source.value, dict):
            given[language] = checked_words(source)
            continue
        advice = f" Write it with: tacit survey words {source.text('A file of words')}"
        given[language] = checked_words(read(source.file_beside(folder, "A file of words", advice)))
    return given


def checked_words(entry: Located) -> Words:
    """The words of a file, with every word that the page needs and every place in it; or a refusal that says the line."""
    return _check_words(entry, json.loads(released_words("en")), "The words")


def _check_words(entry: Located, model: Mapping[str, Any], what: str) -> Words:
    given = entry.mapping(what, dict.fromkeys(model, True))
    return {name: _checked_word(given[name], name, wanted) for name, wanted in model.items()}


def _checked_word(entry: Located, name: str, wanted: Any) -> Any:
    if name == "direction":
        return entry.one_of("The direction", ("ltr", "rtl"))
    is_mapping = isinstance(entry.value, dict)
    if isinstance(wanted, dict) and "other" not in wanted:
        return _check_words(entry, wanted, f"The words {name!r}")
    places = set(_PLACE.findall(wanted if isinstance(wanted, str) else wanted["other"]))
    if is_mapping and "n" in places:
        forms = entry.mapping(f"The word {name!r}", {form: form == "other" for form in FORMS})
        return {form: _text(text, name, places, is_whole=form == "other") for form, text in forms.items()}
    return _text(entry, name, places, is_whole=True)


def _text(entry: Located, name: str, places: set[str], *, is_whole: bool) -> str:
    text = entry.text(f"The word {name!r}")
    given = set(_PLACE.findall(text))
    if given - places:
        entry.refuse(
            f"{name!r} has the place {{{min(given - places)}}}, which the page does not fill.{_places_hint(places)}"
        )
    if is_whole and places - given:
        entry.refuse(f"{name!r} lacks the place {{{min(places - given)}}}: the page puts a value there.")
    return text


def _places_hint(places: set[str]) -> str:
    listed = ", ".join(f"{{{place}}}" for place in sorted(places))
    return f" It fills {listed}." if listed else " It fills none here."


def template(language: str = "en") -> Iterator[str]:
    """The lines of a file of words to translate."""
    import yaml

    yield f"# The page's words in {language!r}. Translate the texts; leave the names and the {{places}} as they are."
    yield "# Name the file in the questionnaire: words: {xx: THIS_FILE}, with xx among its languages."
    text = yaml.safe_dump(json.loads(released_words(language)), allow_unicode=True, sort_keys=False, width=110)
    yield from text.splitlines()
