"""Blind signatures on tokens: RSABSSA-SHA384-PSS-Deterministic of RFC 9474, the signer's and the verifier's half.

The respondent's device draws a token, blinds it and has it signed in exchange for its invitation code; later it sends
the unblinded signature with its report. Whoever signed cannot tell which of the tokens it signed for whom.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gmpy2
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tacit.errors import InvalidInput, TacitError

SUITE = "RSABSSA-SHA384-PSS-Deterministic"
BITS = 2048
EXPONENT = 65537
SALT_BYTES = 48

_PSS = padding.PSS(mgf=padding.MGF1(hashes.SHA384()), salt_length=SALT_BYTES)


class SigningFailed(TacitError):
    """The exponentiation came out wrong; a wrong result could betray the key, so it is not given out."""


@dataclass(frozen=True)
class Verifier:
    """The public half of a survey's key, as it stands in the definition."""

    modulus: int

    @classmethod
    def from_document(cls, document: dict[str, str]) -> Verifier:
        if document.get("suite") != SUITE:
            raise InvalidInput(f"Tokens are signed with {SUITE}, not with {document.get('suite')!r}.")
        return cls(int.from_bytes(unbase64(document["n"])))

    def to_document(self) -> dict[str, str]:
        return {"suite": SUITE, "n": base64url(self.modulus.to_bytes(self.size)), "e": "AQAB"}

    @property
    def size(self) -> int:
        """Bytes of a signature."""
        return (self.modulus.bit_length() + 7) // 8

    @cached_property
    def _key(self) -> rsa.RSAPublicKey:
        return rsa.RSAPublicNumbers(EXPONENT, self.modulus).public_key()

    def is_signed(self, token: bytes, signature: bytes) -> bool:
        try:
            self._key.verify(signature, token, _PSS, hashes.SHA384())
        except InvalidSignature:
            return False
        return True


class Signer:
    """The private half. One object serves one thread at a time."""

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        numbers = key.private_numbers()
        self._key = key
        self.verifier = Verifier(numbers.public_numbers.n)
        self._n, self._p, self._q = (gmpy2.mpz(number) for number in (self.verifier.modulus, numbers.p, numbers.q))
        self._dp, self._dq, self._inverse = (gmpy2.mpz(number) for number in (numbers.dmp1, numbers.dmq1, numbers.iqmp))

    @classmethod
    def new(cls) -> Signer:
        return cls(rsa.generate_private_key(public_exponent=EXPONENT, key_size=BITS))

    @classmethod
    def from_text(cls, text: str) -> Signer:
        key = serialization.load_der_private_key(base64.b64decode(text), password=None)
        assert isinstance(key, rsa.RSAPrivateKey)
        return cls(key)

    def to_text(self) -> str:
        der = self._key.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return base64.b64encode(der).decode()

    def sign(self, blinded: bytes) -> bytes:
        """BlindSign of RFC 9474. The same blinded message always gets the same signature."""
        size = self.verifier.size
        message = gmpy2.mpz(int.from_bytes(blinded))
        if len(blinded) != size or not 0 < message < self._n:
            raise InvalidInput(f"A blinded token has {size} bytes and is below the key's modulus.")
        signature = self._raise_to_power(message)
        # A fault in one of the two halves would let the asker factor the key.
        if gmpy2.powmod(signature, EXPONENT, self._n) != message:
            raise SigningFailed("The signature came out wrong and was withheld. Please try again.")
        return int(signature).to_bytes(size)

    def _raise_to_power(self, message: Any) -> Any:
        """``message ** d`` by the two prime factors, under a blinding of the signer's own: time says nothing of the key."""
        while True:
            blind = gmpy2.mpz(secrets.randbelow(int(self._n) - 2) + 2)
            if gmpy2.gcd(blind, self._n) == 1:
                break
        hidden = message * gmpy2.powmod(blind, EXPONENT, self._n) % self._n
        of_p = gmpy2.powmod_sec(hidden % self._p, self._dp, self._p)
        of_q = gmpy2.powmod_sec(hidden % self._q, self._dq, self._q)
        whole = of_q + self._q * ((of_p - of_q) * self._inverse % self._p)
        return whole * gmpy2.invert(blind, self._n) % self._n


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unbase64(text: str) -> bytes:
    """What `base64url` wrote, or a refusal."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        data = b""
    if not data or base64url(data) != text:
        raise InvalidInput("A number is sent in base64url without padding.")
    return data
