"""What the server promises browsers, and whom it answers for."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import Scope

from tacit.survey.assets import page_script, page_style

# The one script and the one style, known by their hashes, and no text of a questionnaire can become script (trusted types).
_POLICY = (
    f"default-src 'none'; script-src {page_script().source}; style-src {page_style().source}; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), browsing-topics=()"),
)
API_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


@dataclass(frozen=True)
class Settings:
    """How a server is run.

    `public_url` is where people reach it; with it, requests for other hosts are refused and links are whole. `rate` and
    `burst` limit the reports of one address (a school behind one router is one address); 0 limits nothing.
    """

    public_url: str | None = None
    rate: float = 20.0
    burst: float = 300.0
    most_waiting: int = 300

    @property
    def is_secure(self) -> bool:
        return bool(self.public_url) and urlsplit(str(self.public_url)).scheme == "https"

    @property
    def host(self) -> bytes | None:
        return urlsplit(self.public_url).netloc.lower().encode() if self.public_url else None


def is_known_host(scope: Scope, settings: Settings) -> bool:
    if settings.host is None:
        return True
    return any(name == b"host" and value.lower() == settings.host for name, value in scope["headers"])
