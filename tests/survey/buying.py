"""Buying tokens in tests: the device's half of the blind signature, in a few lines of Python."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from tacit.survey.issuing import EXPONENT, SALT_BYTES, Signer, Verifier, base64url, unbase64

PSS = padding.PSS(mgf=padding.MGF1(hashes.SHA384()), salt_length=SALT_BYTES)


@dataclass(frozen=True)
class Token:
    token: str
    signature: str


def signed_token(signer: Signer) -> Token:
    """A token as a code buys it, without the blinding: whoever holds the key may sign what it likes."""
    token = secrets.token_bytes(32)
    return Token(token.hex(), base64url(signer._key.sign(token, PSS, hashes.SHA384())))


def some_blinded(verifier: Verifier) -> str:
    """A number to be signed that looks like any other."""
    return base64url((secrets.randbelow(verifier.modulus - 2) + 1).to_bytes(verifier.size))


def is_signature_of(verifier: Verifier, signature: str, blinded: str) -> bool:
    raised = pow(int.from_bytes(unbase64(signature)), EXPONENT, verifier.modulus)
    return raised == int.from_bytes(unbase64(blinded))
