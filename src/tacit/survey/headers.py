"""What the server promises browsers, and whom it answers for."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from starlette.types import Scope

from tacit.errors import InvalidInput
from tacit.survey.assets import page_scripts, page_style

# The parts of the one script and the one style, known by their hashes; no text of a questionnaire can become script (trusted
# types).
_SCRIPTS = " ".join(script.source for script in page_scripts())
_POLICY = (
    f"default-src 'none'; script-src {_SCRIPTS}; style-src {page_style().source}; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

# Said once, for every answer: whoever writes a new one cannot forget it. No cache may keep what others could find there.
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), browsing-topics=()"),
)
# Answers to reports, of which there are many: no page, so no page's policy.
API_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


@dataclass(frozen=True)
class ServerSettings:
    """How a server is run.

    `public_url` is where people reach it; with it, requests for other hosts are refused and links are whole. `rate` and
    `burst` limit the reports of one address (a school behind one router is one address); 0 limits nothing. `proxies` are the
    addresses or networks whose word on where a request came from (``X-Forwarded-For``) is taken. `least_free` bytes must be
    free on the disk for the server to call itself well.
    """

    public_url: str | None = None
    rate: float = 20.0
    burst: float = 300.0
    most_waiting: int = 2_000
    proxies: tuple[str, ...] = ()
    least_free: int = 50_000_000

    @cached_property
    def networks(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        try:
            return tuple(ipaddress.ip_network(proxy) for proxy in self.proxies)
        except ValueError as error:
            raise InvalidInput(f"A trusted proxy is an address or a network such as 10.0.0.0/8: {error}.") from None

    @property
    def is_secure(self) -> bool:
        return bool(self.public_url) and urlsplit(str(self.public_url)).scheme == "https"

    @cached_property
    def host(self) -> bytes | None:
        return urlsplit(self.public_url).netloc.lower().encode() if self.public_url else None


def is_known_host(scope: Scope, settings: ServerSettings) -> bool:
    if settings.host is None:
        return True
    return [value.lower() for name, value in scope["headers"] if name == b"host"] == [settings.host]


def own_origins(scope: Scope, settings: ServerSettings) -> tuple[str, ...]:
    """The origins of this server's own pages, as browsers write them; without a public URL the host that was asked says it."""
    if settings.public_url is not None:
        parts = urlsplit(settings.public_url.lower())
        return (f"{parts.scheme}://{parts.netloc}",)
    host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
    return (f"http://{host}", f"https://{host}")


def client_address(scope: Scope, settings: ServerSettings) -> str:
    """Where a request came from: the last address on its way that is none of our own proxies."""
    client = scope.get("client")
    address = str(client[0]) if client else ""
    if not settings.networks or not _is_trusted(address, settings):
        return address
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for").decode("latin-1")
    for hop in reversed([address.strip() for address in forwarded.split(",") if address.strip()]):
        address = hop
        if not _is_trusted(hop, settings):
            break
    return address


def origin(address: str) -> str:
    """Whom an address stands for: an IPv6 customer has a network of 64 bits to choose addresses from."""
    parsed = _parse_address(address)
    if parsed is None:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else str(parsed)


def _is_trusted(address: str, settings: ServerSettings) -> bool:
    parsed = _parse_address(address)
    return parsed is not None and any(parsed in network for network in settings.networks)


def _parse_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address as a number; one of IPv4 that is written as IPv6 (``::ffff:192.0.2.1``) is that of IPv4."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed
