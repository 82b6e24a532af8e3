"""The scheme document: canonical JSON, its hash, and what is refused when reading one.

The canonical form is that of RFC 8785, so that a browser computes the same hash from the same document.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput, SchemeMismatch

FORMAT = "tacit-scheme/1"


def canonical(value: Any) -> str:
    """`value` as JSON with sorted keys, no spaces, and numbers written as ECMAScript writes them."""
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: str(key).encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(str(key))}:{canonical(value[key])}" for key in keys) + "}"
    raise InvalidInput(f"A scheme document cannot hold {value!r}.")


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise InvalidInput(f"A scheme document cannot hold the number {value}.")
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    digits = repr(float(value))
    mantissa, _, exponent = digits.partition("e")
    if exponent:
        power = int(exponent)
        if power >= -6:
            return f"{float(value):.{len(mantissa.replace('.', '').lstrip('-')) - 1 - power}f}"
        return f"{mantissa.removesuffix('.0')}e{power:+d}"
    return digits


def document_hash(document: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical document without its hash."""
    bare = {key: value for key, value in document.items() if key != "hash"}
    return hashlib.sha256(canonical(bare).encode()).hexdigest()


def checked_document(document: Any, where: str = "The scheme document") -> dict[str, Any]:
    """`document` if it is of a version this program knows and untouched, else a refusal."""
    if not isinstance(document, dict):
        raise InvalidInput(f"{where} must be a JSON object, not {type(document).__name__}.")
    found = document.get("format")
    if found != FORMAT:
        raise InvalidInput(
            f"{where} has the format {found!r}; this version of Tacit reads {FORMAT!r}. "
            "Write it anew with `tacit design scheme`, or use the version of Tacit that wrote it."
        )
    if not isinstance(document.get("attributes"), list) or not document["attributes"]:
        raise InvalidInput(f"{where} names no attributes.")
    stated = document.get("hash")
    if stated is not None and stated != document_hash(document):
        raise SchemeMismatch(
            f"{where} was changed after its hash was computed: it states {str(stated)[:12]}..., its content gives "
            f"{document_hash(document)[:12]}.... Use the untouched document, or remove `hash` if you changed it on purpose."
        )
    return document


def read_json(path: str | Path) -> Any:
    """The JSON value in a file, or a refusal that says where it goes wrong."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {str(path)!r}.") from None
    except IsADirectoryError:
        raise InvalidInput(f"{str(path)!r} is a folder, not a file.") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{str(path)!r} is not a text file, so it is not a JSON document.") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{str(path)!r} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
