"""The page's own files, compressed once and served under a name that changes with them."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@dataclass(frozen=True)
class Assets:
    """Files by name; `version` is part of their address, so browsers may keep them for ever."""

    version: str
    plain: dict[str, bytes]
    compressed: dict[str, bytes]

    @property
    def modules(self) -> list[str]:
        return sorted(name for name in self.plain if name.endswith(".js"))

    def response(self, request: Request) -> Response:
        name = request.path_params["name"]
        if request.path_params["version"] != self.version or name not in self.plain:
            return Response("Not found", status_code=404)
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
        media_type = _TYPES[Path(name).suffix]
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                self.compressed[name], headers={**headers, "Content-Encoding": "gzip"}, media_type=media_type
            )
        return Response(self.plain[name], headers=headers, media_type=media_type)


@cache
def assets() -> Assets:
    plain = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in _TYPES}
    digest = hashlib.sha256(b"".join(name.encode() + content for name, content in plain.items())).hexdigest()
    return Assets(digest[:12], plain, {name: gzip.compress(content, 9, mtime=0) for name, content in plain.items()})
