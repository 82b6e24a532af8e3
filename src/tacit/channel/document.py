"""The scheme document: canonical JSON, its hash, and what is refused when reading one.

The canonical form is that of RFC 8785, so that a browser computes the same hash from the same document.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput, SchemeMismatch, UnknownName

FORMAT = "tacit-scheme/1"
OPEN_QUESTION = "tacit-open-question/"  # the formats of questions whose answers nobody lists
MANY = 100
KEYS = ("format", "attributes", "groups", "questionnaires", "prior", "hash")


def canonical(value: Any) -> str:
    """`value` as JSON with sorted keys, no spaces, and numbers written as ECMAScript writes them."""
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        if len(value) > MANY and all(type(item) is str for item in value):
            return _texts(value)
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, Mapping):
        members = {str(key): (_text(str(key)), canonical(item)) for key, item in value.items()}
        keys = sorted(members, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(":".join(members[key]) for key in keys) + "}"
    raise InvalidInput(f"A scheme document cannot hold {value!r}.")


def _texts(values: Sequence[str]) -> str:
    """Many texts at once: the answers of one question may be a hundred thousand."""
    joined = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    try:
        joined.encode()
    except UnicodeEncodeError:
        for value in values:
            _text(value)
    return joined


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            f"The text {value!r} holds a broken character (half of a surrogate pair), which no file can keep. Type the "
            "text again."
        ) from None
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """The shortest digits that read back as the same double, placed as ``Number.prototype.toString`` places them."""
    if not abs(value) <= sys.float_info.max:
        raise InvalidInput(f"A scheme document cannot hold the number {value}.")
    if value == 0:
        return "0"
    _, figures, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    digits = "".join(map(str, figures))
    point = len(digits) + int(exponent)  # where the decimal point stands, counted from the first digit
    return ("-" if value < 0 else "") + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


def plain_numbers(value: Any) -> Any:
    """`value` with whole numbers as integers: every program then writes 19 as its canonical form has it, not as 19.0.

    Numbers of numpy, such as the entries of a data frame, become those of Python.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list | tuple):
        return [plain_numbers(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain_numbers(item) for key, item in value.items()}
    return value


def document_hash(document: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical document without its hash."""
    bare = {key: value for key, value in document.items() if key != "hash"}
    return hashlib.sha256(canonical(bare).encode()).hexdigest()


def checked_document(document: Any, where: str = "The scheme document") -> dict[str, Any]:
    """`document` if it is of a version this program knows and untouched, else a refusal."""
    if not isinstance(document, dict):
        raise InvalidInput(f"{where} must be a JSON object, not {type(document).__name__}.")
    named = document.get("format")
    if str(named).startswith(OPEN_QUESTION):
        raise InvalidInput(
            f"{where} is an open question, not a scheme: `tacit disguise` and `tacit mine heavy` read it, and `tacit design open "
            "--respondents N` says what stands out."
        )
    if named != FORMAT:
        raise InvalidInput(
            f"{where} has the format {named!r}; this version of Tacit reads {FORMAT!r}. "
            "Write it anew with `tacit design scheme`, or use the version of Tacit that wrote it."
        )
    for key in document:
        # A misspelt `groups` would leave every attribute undisguised.
        if key not in KEYS and difflib.get_close_matches(str(key), KEYS, n=1, cutoff=0.7):
            raise UnknownName(f"In {where}, the entry", str(key), KEYS)
    if not isinstance(document.get("attributes"), list) or not document["attributes"]:
        raise InvalidInput(
            f'{where} names no attributes. Add them: "attributes": [{{"name": "smokes", "answers": ["no", "yes"]}}].'
        )
    stated = document.get("hash")
    if stated is not None and stated != document_hash(document):
        raise SchemeMismatch(
            f"{where} was changed after its hash was computed: it states {str(stated)[:12]}..., its content gives "
            f"{document_hash(document)[:12]}.... Use the untouched document, or remove `hash` if you changed it on purpose."
        )
    return document


def read_json(path: str | Path) -> Any:
    """The JSON value in a file, or a refusal that says where it goes wrong."""
    if not isinstance(path, str | Path):
        raise InvalidInput(f"A file's name is wanted, not {type(path).__name__}.")
    try:
        text = sys.stdin.read() if str(path) == "-" else Path(path).read_text(encoding="utf-8")
        return json.loads(text)
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {str(path)!r}.") from None
    except IsADirectoryError:
        raise InvalidInput(f"{str(path)!r} is a folder, not a file.") from None
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{str(path)!r} is not a text file, so it is not a JSON document.{_instead_of_a_table(path)}"
        ) from None
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{str(path)!r} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}.{_instead_of_a_table(path)}"
        ) from None


def _instead_of_a_table(path: str | Path) -> str:
    if Path(path).suffix.lower() not in (".csv", ".parquet", ".tsv", ".xlsx", ".sav", ".dta"):
        return ""
    return (
        " It looks like a table; wanted is a document such as a scheme, which "
        f"`tacit design scheme --data {Path(path).name} --gamma 3 --out scheme.json` writes."
    )
