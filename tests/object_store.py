"""A small object store on this machine that speaks as much of S3 as reading takes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

LISTED = "<Contents><Key>{key}</Key><Size>{size}</Size><LastModified>2024-03-01T00:00:00.000Z</LastModified></Contents>"


class Answering(BaseHTTPRequestHandler):
    """Answers for the objects of its server."""

    @property
    def objects(self) -> Mapping[str, bytes]:
        return self.server.objects  # type: ignore[attr-defined, no-any-return]

    @property
    def name(self) -> str:
        return unquote(urlsplit(self.path).path).strip("/")

    def do_HEAD(self) -> None:
        self._object()

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if "list-type" in query:
            self._list(query.get("prefix", [""])[0])
        else:
            self._object()

    def _object(self) -> None:
        content = self.objects.get(self.name)
        if content is None:
            is_bucket = any(key.startswith(f"{self.name}/") for key in self.objects) and "/" not in self.name
            self._answer(200 if is_bucket else 404, b"")
            return
        wanted = self.headers.get("Range")
        if wanted is None:
            self._answer(200, content)
            return
        first, last = wanted.removeprefix("bytes=").split("-")
        part = content[int(first) : int(last) + 1]
        self._answer(206, part, {"Content-Range": f"bytes {first}-{last}/{len(content)}"})

    def _list(self, prefix: str) -> None:
        inside = sorted(key.removeprefix(f"{self.name}/") for key in self.objects if key.startswith(f"{self.name}/"))
        shown = [key for key in inside if key.startswith(prefix)]
        entries = [LISTED.format(key=escape(key), size=len(self.objects[f"{self.name}/{key}"])) for key in shown]
        count = f"<KeyCount>{len(shown)}</KeyCount><IsTruncated>false</IsTruncated>"
        body = f"<ListBucketResult><Name>{self.name}</Name>{count}{''.join(entries)}</ListBucketResult>"
        self._answer(200, body.encode(), {"Content-Type": "application/xml"})

    def _answer(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), "ETag": '"1"', **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def object_store(objects: Mapping[str, bytes]) -> Iterator[None]:
    """Objects by ``bucket/key``, where addresses that begin with s3:// are looked for while the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.objects = objects  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    settings = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "eu-north-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    try:
        with mock.patch.dict("os.environ", settings):
            yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
