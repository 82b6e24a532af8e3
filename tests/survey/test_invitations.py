"""Invitations on paper: code, QR code and fingerprint lead to the page and to nowhere else."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from tacit.errors import InvalidInput
from tacit.survey.codes import code_token, new_code
from tacit.survey.definition import Definition
from tacit.survey.invitations import Invitation, fingerprint_words, not_started, write_codes, write_pages
from tacit.survey.store.submissions import token_hash
from tacit.survey.store.surveys import Store
from tests.survey.page import node
from tests.survey.questionnaires import CODES

PAGE = "https://survey.example.org/s/0"


def test_the_page_says_the_same_words_for_a_fingerprint() -> None:
    for fingerprint in ("0" * 32, "f" * 32, "00010203040506070809fafbfcfdfeff"):
        assert node("words", "page_words.mjs", fingerprint=fingerprint) == fingerprint_words(fingerprint)


def test_different_fingerprints_have_different_words() -> None:
    words = {fingerprint_words(f"{number:04x}" + "0" * 28) for number in range(1 << 16)}
    assert len(words) == 1 << 16
    assert all(re.fullmatch("[a-z]{5}(-babab){3}", word) for word in words)


def test_the_code_stands_behind_the_hash_sign_where_no_server_sees_it() -> None:
    one = Invitation("7K2M00000000000X", PAGE)
    assert one.link == f"{PAGE}#code=7K2M00000000000X"
    assert one.picture.startswith("<svg")


def test_files_with_codes_are_their_owners_alone(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(CODES), CODES)
    invitations = [Invitation(new_code(), PAGE) for _ in range(3)]
    write_codes(tmp_path / "codes.csv", invitations)
    write_pages(tmp_path / "print.html", survey, invitations)
    for name in ("codes.csv", "print.html"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    text = (tmp_path / "print.html").read_text()
    assert text.count("<svg") == text.count("<article>") == 3
    assert f'Fingerprint: <bdi dir="ltr">{fingerprint_words(survey.fingerprint)}' in text
    assert text.count("Invitation code: ") == 3
    assert all(one.printed in text for one in invitations)
    assert "<script" not in text
    assert "http" not in text.replace(PAGE, "").replace("http://www.w3.org/2000/svg", "")
    store.close()


def test_those_are_reminded_who_have_not_started(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(CODES), CODES)
    invitations = [Invitation(new_code(), PAGE) for _ in range(3)]
    hashes = [token_hash(survey, code_token(survey.fingerprint, one.code)) for one in invitations]
    store.add_codes(survey, hashes)
    write_codes(tmp_path / "codes.csv", invitations)
    store.codes.spend([(survey.number, hashes[1], b"blinded")])
    assert not_started(tmp_path / "codes.csv", survey, store.codes.unspent(survey.number)) == [
        invitations[0],
        invitations[2],
    ]
    (tmp_path / "other.csv").write_text("name\nana\n")
    with pytest.raises(InvalidInput, match="needs the columns code and page"):
        not_started(tmp_path / "other.csv", survey, set())
    with pytest.raises(InvalidInput, match="There is no file"):
        not_started(tmp_path / "none.csv", survey, set())
    store.close()
