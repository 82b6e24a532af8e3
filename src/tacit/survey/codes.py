"""Invitation codes: 75 random bits and a check letter, in an alphabet without look-alikes."""

from __future__ import annotations

import hashlib
import secrets

from tacit.errors import InvalidInput

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U
LENGTH = 16


def new_code() -> str:
    """A fresh code. Written in fours it reads ``7K2M-...``; the last letter checks the others."""
    letters = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH - 1))
    return letters + ALPHABET[-_luhn(letters + ALPHABET[0]) % 32]


def _luhn(code: str) -> int:
    """Luhn's sum in base 32; zero for a code without a typing error."""
    total = 0
    for index, letter in enumerate(reversed(code)):
        value = ALPHABET.index(letter) * (2 if index % 2 else 1)
        total += value // 32 + value % 32
    return total % 32


def read_code(typed: str) -> str:
    """The one spelling of a code as somebody typed it."""
    code = typed.upper().replace("-", "").replace(" ", "").replace("O", "0").replace("I", "1").replace("L", "1")
    if len(code) != LENGTH or any(letter not in ALPHABET for letter in code) or _luhn(code):
        raise InvalidInput(
            f"{typed!r} is not an invitation code. A code has {LENGTH} letters and digits, and its last one is computed "
            "from the others: look for a typing mistake."
        )
    return code


def print_code(code: str) -> str:
    return "-".join(code[at : at + 4] for at in range(0, LENGTH, 4))


def code_token(fingerprint: str, code: str) -> str:
    """What the page sends in place of a code, so that the code itself stands in no address."""
    return hashlib.sha256(f"{fingerprint}:{code}".encode()).hexdigest()
