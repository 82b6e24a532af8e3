"""A bundle to register before the first report: what will be asked, how many are needed, and how it will be analysed.

Every file is named with its SHA-256 in ``manifest.json``, and one hash stands for all of them. The same questionnaire always
gives the same bytes, so that anybody can make the bundle again and compare.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tacit.channel.document import canonical, document_hash
from tacit.design.plan import plan
from tacit.errors import InvalidInput
from tacit.survey.analysis_scripts import python_script, r_script
from tacit.survey.definition import Definition
from tacit.survey.exports import codebook, consent_text
from tacit.survey.promise import promise
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.survey.wire import Wire
from tacit.table.outputs import written_whole

MANIFEST = "manifest.json"
FORMAT = "tacit-preregistration/1"


def preregister(
    definition: Definition, source: str, folder: Path, margin: float, level: float = 0.95
) -> dict[str, Any]:
    """Write the bundle into a new folder; gives its manifest."""
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"The folder {str(folder)!r} is not empty. Name a new one with --out.")
    files = bundle(definition, source, margin, level)
    manifest = _manifest(definition, files)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**files, MANIFEST: _pretty(manifest)}.items():
        with written_whole(folder / name) as temporary:
            temporary.write_bytes(text.encode())
    return manifest


def bundle(definition: Definition, source: str, margin: float, level: float) -> dict[str, str]:
    """The files by name."""
    survey = StoredSurvey(0, "draft", source, definition, Wire.of(definition))
    return {
        "questionnaire.yaml": source,
        "definition.json": definition.to_json() + "\n",
        "scheme.json": _pretty(definition.scheme.to_document()),
        "label.json": _pretty(promise(definition, margin)[0]),
        "plan.json": _pretty(plan(definition.scheme, margin, level=level).to_document()),
        "consent.json": consent_text(survey),
        "codebook.csv": codebook(survey),
        "analysis.py": python_script(survey),
        "analysis.R": r_script(survey),
    }


def _manifest(definition: Definition, files: dict[str, str]) -> dict[str, Any]:
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    named = {"format": FORMAT, "survey": definition.name, "wave": definition.wave, "definition": asked_hash(definition)}
    whole = {**named, "files": hashes}
    return {**whole, "hash": hashlib.sha256(canonical(whole).encode()).hexdigest()}


def asked_hash(definition: Definition) -> str:
    """The hash of all that is asked and promised: without the key of invitation codes, which is drawn when a survey opens."""
    return document_hash({name: content for name, content in definition.bare.items() if name not in ("hash", "issuer")})


def checked_bundle(folder: Path, store: Store | None = None, definition: Definition | None = None) -> dict[str, Any]:
    """The manifest of a bundle whose files are as registered, as the survey was opened and as `definition` asks; or a refusal."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InvalidInput(f"{str(folder)!r} is no pre-registration: it has no {MANIFEST} that can be read.") from None
    whole = {name: content for name, content in manifest.items() if name != "hash"}
    if (
        manifest.get("format") != FORMAT
        or manifest.get("hash") != hashlib.sha256(canonical(whole).encode()).hexdigest()
    ):
        raise InvalidInput(f"{MANIFEST} was changed after it was written. Take the one that was registered.")
    for name, wanted in manifest["files"].items():
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != wanted:
            raise InvalidInput(f"{name} is not the file that was registered. Take the one that was.")
    if store is not None:
        _check_opened(manifest, store)
    if definition is not None and asked_hash(definition) != manifest["definition"]:
        raise InvalidInput(
            f"The questionnaire asks or promises something else than the one that was registered as {manifest['survey']!r}. "
            f"Compare it with {str(folder / 'questionnaire.yaml')!r}."
        )
    return dict(manifest)


def _check_opened(manifest: dict[str, Any], store: Store) -> None:
    survey = store.named(f"{manifest['survey']}/{manifest['wave']}")
    if asked_hash(survey.definition) != manifest["definition"]:
        raise InvalidInput(
            f"The survey {manifest['survey']!r} was opened with another questionnaire than the registered one. Compare "
            "definition.json with that of its export."
        )


def _pretty(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
