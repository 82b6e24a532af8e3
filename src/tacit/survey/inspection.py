"""A survey looked at from outside: a live page, a saved one, or a definition, as anybody can read it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from tacit.channel.document import canonical, document_hash
from tacit.errors import InvalidInput
from tacit.survey.answer_lists import lists_named, put_together
from tacit.survey.assets import page_scripts, page_style
from tacit.survey.series import series_hash
from tacit.survey.verification import Examination, examine
from tacit.survey.words import page_words

LARGEST_PAGE = 16 << 20
SECONDS = 30.0
FINGERPRINT_DIGITS = 32


@dataclass(frozen=True, eq=False)
class Inspection:
    """What was read, and what is wrong with it; `same_page` is None where only a definition was given."""

    document: dict[str, Any]
    examination: Examination
    problems: tuple[str, ...]
    same_page: bool | None

    @property
    def fingerprint(self) -> str:
        return str(self.document["hash"])[:FINGERPRINT_DIGITS]


def inspect_page(source: str) -> Inspection:
    """The definition at an address or in a file, held against its hash, its link, this release and every check."""
    text = _fetch_page(source) if re.match(r"https?://", source) else _read(Path(source))
    page = None if text.lstrip().startswith("{") else _Page.of(text, source)
    bare = _document(text if page is None else page.elements.get("definition", ""), source)
    lists = {mark: canonical(content) for mark, content in bare.pop("lists", {}).items()}
    problems = [*_hash_problems(bare, source), *(_page_problems(page, bare) if page else [])]
    document = _with_lists(bare, lists, source)
    examination = _examine_page(document)
    problems += [objection.message for objection in examination.objections]
    return Inspection(
        document, examination, tuple(problems), (page.is_ours and _has_our_words(page, document)) if page else None
    )


def _with_lists(bare: dict[str, Any], lists: dict[str, str], source: str) -> dict[str, Any]:
    """The definition with its long lists of answers: from its own file, or from where the page would fetch them."""
    try:
        named = lists_named(bare)
        if not re.match(r"https?://", source):
            return put_together(bare, lists) if named else bare
        address = urlsplit(source)._replace(query="", fragment="").geturl().rstrip("/")
        return put_together(bare, {mark: _fetch_page(f"{address}/answers/{mark}") for mark in named})
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise _malformed_page(error) from None


def _fetch_page(address: str) -> str:
    try:
        with urlopen(Request(address, headers={"Accept": "text/html"}), timeout=SECONDS) as answer:
            return str(answer.read(LARGEST_PAGE + 1)[: LARGEST_PAGE + 1].decode("utf-8"))
    except (URLError, OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{address} could not be read: {error}. Check the address and that the server runs."
        ) from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{str(path)!r} could not be read: {error}. Name a definition, a saved page or an address."
        ) from None


class _Page(HTMLParser):
    """The inline elements of a page: everything in it that runs or is shown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.elements: dict[str, str] = {}
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.foreign: list[str] = []
        self._inside: tuple[str, dict[str, str | None]] | None = None
        self._text: list[str] = []

    @classmethod
    def of(cls, text: str, source: str) -> _Page:
        page = cls()
        page.feed(text)
        page.close()
        if "definition" not in page.elements:
            raise InvalidInput(f"{source} holds no survey: there is no element with the id 'definition'.")
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        loaded = given.get("src") or (given.get("href") if tag in ("link", "base") else None) or given.get("data")
        handlers = [name for name in given if name.startswith("on")]
        if handlers or (loaded and loaded != "data:,") or tag in ("iframe", "object", "embed"):
            self.foreign.append(self.get_starttag_text() or tag)
        if tag in ("script", "style"):
            self._inside, self._text = (tag, given), []

    def handle_data(self, data: str) -> None:
        if self._inside:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._inside is None or self._inside[0] != tag:
            return
        given, text = self._inside[1], "".join(self._text)
        if tag == "style":
            self.styles.append(text)
        elif given.get("type") == "application/json":
            self.elements[given.get("id") or ""] = text
        else:
            self.scripts.append(text)
        self._inside = None

    @property
    def has_our_scripts(self) -> bool:
        return self.scripts == [script.text for script in page_scripts()]

    @property
    def is_ours(self) -> bool:
        return self.has_our_scripts and self.styles == [page_style().text] and not self.foreign


def _page_problems(page: _Page, document: dict[str, Any]) -> list[str]:
    problems = []
    if not _has_our_words(page, document):
        problems.append(
            "The page's own words (buttons, the privacy label) are not those of this release: they may promise anything."
        )
    if not page.has_our_scripts:
        problems.append(
            f"The page's script is not that of this release ({len(page.scripts)} scripts): it may do anything with what is "
            "answered. Compare it with the release that serves it, and do not answer until they agree."
        )
    if page.styles != [page_style().text]:
        problems.append("The page's style is not that of this release.")
    if page.foreign:
        problems.append(f"The page loads or runs what is not part of it: {page.foreign[0][:100]}")
    return problems


def _has_our_words(page: _Page, document: dict[str, Any]) -> bool:
    try:
        return bool(json.loads(page.elements.get("words", "null")) == page_words(document))
    except (ValueError, KeyError, TypeError):
        return False


def _document(text: str, source: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        raise InvalidInput(f"{source} holds no definition of a survey: it is not JSON.") from None
    if not isinstance(document, dict) or not str(document.get("format", "")).startswith("tacit-survey/"):
        raise InvalidInput(f"{source} holds no definition of a survey: its format is not tacit-survey.")
    return document


def _hash_problems(document: dict[str, Any], source: str) -> list[str]:
    problems = []
    if document.get("hash") != document_hash(document):
        problems.append("The definition is not the one its hash was made for.")
    if "waves" in document and document.get("series") != series_hash(document):
        problems.append("The definition is not of the series that it names.")
    made = re.search(r"/s/([0-9a-f]+)", urlsplit(source).path) if re.match(r"https?://", source) else None
    if made and made[1] != str(document.get("hash"))[:FINGERPRINT_DIGITS]:
        problems.append("The link was made for another definition than the page holds.")
    return problems


def _examine_page(document: dict[str, Any]) -> Examination:
    try:
        return examine(document)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise _malformed_page(error) from None


def _malformed_page(error: Exception) -> InvalidInput:
    return InvalidInput(
        f"The definition cannot be read: a part is missing or of the wrong kind ({type(error).__name__}: {error}). Do not "
        "answer this survey; ask whoever runs it for the definition.json of its export."
    )


def _percent(share: float) -> str:
    """Of thousands of answers nobody becomes surer than a small part of a percent, which is not nothing."""
    return f"{share:.1%}" if share >= 0.001 else f"{100 * share:.2g}%"


def describe_inspection(inspection: Inspection) -> tuple[dict[str, Any], list[str]]:
    """What was found, as a document and as lines to read."""
    examination, document = inspection.examination, inspection.document
    blocks = [block for blocks in examination.deals for block in blocks]
    answers = [{"attribute": name, "worst_posterior": sure} for block in blocks for name, sure in block.worst.items()]
    gamma = examination.gamma
    unbounded = any(block.gamma == float("inf") for block in blocks)
    warnings = ["Some reports rule answers out; the page says so before consent."] if unbounded else []
    if document.get("words"):
        warnings.append(
            f"The page's own words in {', '.join(document['words'])} were written for this survey: read them."
        )
    shown = {
        "verified": not inspection.problems,
        "fingerprint": inspection.fingerprint,
        "page": None if inspection.same_page is None else "as released" if inspection.same_page else "changed",
        "answers": answers,
        "gamma": gamma if gamma != float("inf") else None,
        "warnings": warnings,
    }
    language = document["languages"][0]
    lines = [f"{document['title'][language]}: fingerprint {inspection.fingerprint}"]
    lines += [
        f"  {', '.join(block.names)}: at most {_percent(max(block.worst.values()))} sure of an answer"
        for block in blocks
    ]
    lines.append(f"  all answers together: the odds of a guess change at most {examination.bounded_gamma:,.4g} times")
    files = {None: "a definition alone; no page was compared", True: "the page is byte for byte that of this release"}
    return shown, [*lines, *warnings, f"Verified: {files.get(inspection.same_page, '')}."]
