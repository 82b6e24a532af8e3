"""The prior that was counted in truths: it stays in a private file beside the scheme, which report files carry."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InvalidInput, SchemeMismatch

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme

FORMAT = "tacit-prior/1"


def private_prior_path(scheme: Path) -> Path:
    """``scheme.private.json`` beside ``scheme.json``."""
    return scheme.with_suffix(".private.json")


def write_scheme(scheme: Scheme, path: Path, *, with_prior: bool) -> Path | None:
    """Write a scheme; without its prior, which then stands in a private file beside it. Returns that file, if any."""
    from tacit.table.outputs import output_file, written_whole

    beside = private_prior_path(path)
    if with_prior or scheme.prior is None:
        if beside.is_file() and _is_prior(beside):
            output_file(beside).unlink()  # that of the scheme which is replaced
        scheme.write(path)
        return None
    bare = replace(scheme, prior=None, document=None)
    document = {"format": FORMAT, "scheme": bare.hash, "prior": scheme.to_document()["prior"]}
    with written_whole(beside, private=True) as temporary:
        temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        bare.write(path)
    return beside


def _is_prior(path: Path) -> bool:
    from tacit.channel.document import read_json

    document = read_json(path)
    return isinstance(document, dict) and document.get("format") == FORMAT


def read_scheme_with_prior(path: Path) -> Scheme:
    """The scheme of a file, with the prior of the private file beside it where there is one."""
    from tacit.channel.document import read_json
    from tacit.channel.scheme import Scheme

    scheme, beside = Scheme.read(path), private_prior_path(path)
    if scheme.prior is not None or not beside.is_file():
        return scheme
    document = read_json(beside)
    if not isinstance(document, dict) or document.get("format") != FORMAT or "prior" not in document:
        raise InvalidInput(f"{str(beside)!r} is not the private prior of a scheme. Move it away, or restore it.")
    if document.get("scheme") != scheme.hash:
        raise SchemeMismatch(f"{str(beside)!r} is the prior of another scheme. Remove it, or design the scheme again.")
    without_hash = {key: value for key, value in scheme.to_document().items() if key != "hash"}
    return Scheme.from_document({**without_hash, "prior": document["prior"]}, where=repr(str(beside)))
