"""One-time codes of a second factor (RFC 6238: HMAC-SHA-1, six digits, thirty seconds), as authenticator apps show them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import struct
from urllib.parse import quote

STEP_SECONDS = 30
DIGITS = 6
# A code is also taken one step early or late: clocks differ and people are slow.
DRIFT = 1


def new_secret() -> str:
    """160 random bits in base32."""
    return base64.b32encode(secrets.token_bytes(20)).decode()


def code_at(secret: str, step: int, digits: int = DIGITS) -> str:
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", step), hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**digits:0{digits}}"


def accepted_step(secret: str, code: str, now: float, last: int) -> int | None:
    """The time step a typed code belongs to; None where it fits none, or one that was used before."""
    typed = code.replace(" ", "").encode()
    current = int(now // STEP_SECONDS)
    fitting = [
        step
        for step in range(current - DRIFT, current + DRIFT + 1)
        if hmac.compare_digest(code_at(secret, step).encode(), typed) and step > last
    ]
    return fitting[0] if fitting else None


def address(secret: str, account: str) -> str:
    """What an authenticator app reads, typed or as a QR code."""
    return f"otpauth://totp/Tacit:{quote(account)}?secret={secret}&issuer=Tacit&period={STEP_SECONDS}&digits={DIGITS}"
