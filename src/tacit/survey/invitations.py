"""Invitations to print and to send: each code as a link, as a QR code and for typing, with the survey's fingerprint in words."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import InvalidInput
from tacit.survey.codes import code_token, print_code, read_code
from tacit.survey.store.submissions import token_hash
from tacit.survey.store.surveys import StoredSurvey
from tacit.table.outputs import written_whole

_CONSONANTS = "bdfghjklmnprstvz"
_VOWELS = "aiou"
SPOKEN_DIGITS = 16
# While a survey is open, a list of fewer than so many who started would single them out.
FEWEST_OWED = 10


def fingerprint_words(fingerprint: str) -> str:
    """A fingerprint to be read aloud and compared: sixteen of its first 64 bits to a word, as the page says it."""
    return "-".join(_word(int(fingerprint[at : at + 4], 16)) for at in range(0, SPOKEN_DIGITS, 4))


def _word(number: int) -> str:
    letters = []
    for kinds, bits, shift in (
        (_CONSONANTS, 4, 12),
        (_VOWELS, 2, 10),
        (_CONSONANTS, 4, 6),
        (_VOWELS, 2, 4),
        (_CONSONANTS, 4, 0),
    ):
        letters.append(kinds[number >> shift & (1 << bits) - 1])
    return "".join(letters)


@dataclass(frozen=True)
class Invitation:
    """A code with everything that leads from paper to the page."""

    code: str
    page: str

    @property
    def link(self) -> str:
        # Behind the #, the code is never sent to the server with the address.
        return f"{self.page}#code={self.code}"

    @property
    def printed(self) -> str:
        return print_code(self.code)

    @property
    def picture(self) -> str:
        """The link as a QR code, to stand in a page."""
        import segno

        return str(segno.make(self.link, micro=False).svg_inline(scale=3, border=2))


def write_codes(path: Path, invitations: Iterable[Invitation]) -> None:
    """The codes as CSV: the only place where they will stand, so its owner alone may read it."""
    with written_whole(path, private=True) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["code", "link", "page"])
        writer.writerows([invitation.printed, invitation.link, invitation.page] for invitation in invitations)


def write_pages(path: Path, survey: StoredSurvey, invitations: Sequence[Invitation]) -> None:
    """The invitations as one document to print, several to a sheet."""
    from tacit.survey.templating import page_text

    text = page_text(
        "invitations.html",
        language=survey.definition.document["languages"][0],
        title=survey.definition.title(),
        said=survey.definition.page_words(),
        words=fingerprint_words(survey.fingerprint),
        invitations=invitations,
    )
    with written_whole(path, private=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


def not_started(path: Path, survey: StoredSurvey, unspent: set[str]) -> list[Invitation]:
    """The codes in a file of invitations with which nobody has pressed Start."""
    return [invitation for invitation in _read(path) if _hash(survey, invitation) in unspent]


def started(path: Path, survey: StoredSurvey, spent: set[str]) -> list[Invitation]:
    """The codes in a file of invitations with which somebody has pressed Start, in the order of the file."""
    return [invitation for invitation in _read(path) if _hash(survey, invitation) in spent]


def _hash(survey: StoredSurvey, invitation: Invitation) -> str:
    return token_hash(survey, code_token(survey.fingerprint, invitation.code))


def _read(path: Path) -> list[Invitation]:
    if not path.is_file():
        raise InvalidInput(f"There is no file {str(path)!r}. Give the one that `tacit survey invite` wrote.")
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    if not rows or not {"code", "page"} <= set(rows[0]):
        raise InvalidInput(
            f"{str(path)!r} has no codes: it needs the columns code and page, as `tacit survey invite` writes."
        )
    return [Invitation(read_code(row["code"]), row["page"]) for row in rows]
