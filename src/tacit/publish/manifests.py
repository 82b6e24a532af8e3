"""Two documents beside a release: a public one that goes with it, and a private one that stays and makes it again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import InvalidInput
from tacit.publish.anonymous_table import AnonymousTable
from tacit.publish.column_readings import Reading, reading_from_document
from tacit.publish.labels import ANY, is_range_like, is_round, named_answers
from tacit.publish.methods import Alternative, Answer, find, of_classes, of_cuts
from tacit.publish.publication import Publication, pose_publication
from tacit.publish.release_input import CodedInput
from tacit.publish.settings import Settings
from tacit.schema import Attribute, Schema

PUBLIC_FORMAT = "tacit-release/1"
PRIVATE_FORMAT = "tacit-release-private/1"
ALTERNATIVES_FORMAT = "tacit-alternatives/1"  # as a private manifest, of a try: no release was written


def public_path(path: str | Path) -> Path:
    return Path(f"{path}.manifest.json")


def private_path(path: str | Path) -> Path:
    return Path(f"{path}.private.json")


def public_manifest(release: AnonymousTable) -> dict[str, Any]:
    """What a reader of the release needs.

    Neither the hash of the input (it confirms guesses), nor the seed, nor alternatives, nor an answer that no released label
    holds or that fewer than k people gave: numbers, dates and codes are ranges between ends that are round or that at least
    k people gave. A label that names such an answer itself is left out; it says what it stands for.
    """
    from tacit import __version__

    protection = release.publication.settings.protection
    tally = release.recoding.tally
    return {
        "format": PUBLIC_FORMAT,
        "tacit": __version__,
        "method": release.method,
        "columns": [*tally.names, *release.others],
        "quasi_identifiers": _quasi_identifiers(release),
        "every": protection.every,
        "sensitive": [_sensitive(release, name) for name in protection.sensitive],
        "kept": list(protection.keep),
        "pseudonyms": list(protection.pseudonyms),
        "persons": release.publication.persons is not None,
        **_explained_labels(release),
        "sorted": not release.keep_order,
        "k": release.k,
        "l": protection.l,
        "t": protection.t,
        "entropy": protection.entropy,
        "recursive": protection.recursive,
        "beta": protection.beta,
        "k_map": protection.k_map,
        "presence": None if protection.presence is None else list(protection.presence),
        "effective_k": release.effective_k,
        "released": release.rows - release.suppressed,
        "suppressed": release.suppressed,
        "hidden_cells": release.recoding.hidden_cells,
        "nwp": release.nwp,
        "necd": release.necd,
        "losses": release.losses,
        "weights": release.weights,
    }


def _explained_labels(release: AnonymousTable) -> dict[str, Any]:
    """What released labels stand for: the answers of each, the ends of ranges, or an order in which labels name the ends.

    An order is written where the answers of every label would take more room than the column itself.
    """
    recoding, published = release.recoding, release.recoding.classes >= 0
    labels_of_classes, rows = recoding.by_class
    labels: dict[str, dict[str, list[str]]] = {}
    ranges, orders = [], {}
    for j, (name, behind) in enumerate(recoding.released_labels().items()):
        attribute = recoding.tally.attributes[j]
        # Rows do not tell how many persons there are, so with persons only round ends are written.
        counts = recoding.counts[published] * (release.publication.persons is None)
        held = np.bincount(recoding.combinations.codes[published, j], counts, attribute.size)
        public = {
            answer
            for answer, people in zip(attribute.answers, held.tolist(), strict=True)
            if people >= release.k or is_round(answer)
        }
        if is_range_like(attribute.answers):
            ranges.append(name)
            behind = {label: [answers[0], answers[-1]] for label, answers in behind.items()}
        labels[name] = {
            label: [answer for answer in answers if answer in public]
            for label, answers in behind.items()
            if label == ANY or public.issuperset(named_answers(answers))
        }
        lengths = np.array([len(text) for text in recoding.names[j]])
        if len(json.dumps(labels[name])) > int(lengths[labels_of_classes[:, j]] @ rows):
            labels[name] = {}
            if name not in ranges:
                orders[name] = [answer for answer in attribute.answers if answer in public]
    return {"labels": labels, "ranges": ranges, "orders": orders}


def _quasi_identifiers(release: AnonymousTable) -> list[list[str]]:
    """The sets that k holds for; where it holds for every m of one set, that set."""
    tally = release.recoding.tally
    if release.publication.settings.protection.every is not None:
        return [list(tally.names)]
    return [[tally.names[j] for j in members] for members in tally.sets]


def _sensitive(release: AnonymousTable, name: str) -> dict[str, Any]:
    """A sensitive column: the answers that released rows show, in their order."""
    attribute = release.input.schema[name]
    released = release.released_answers(name)
    return {"name": name, "ordered": attribute.ordered, "answers": [a for a in attribute.answers if a in released]}


def private_manifest(release: AnonymousTable) -> dict[str, Any]:
    """What makes the release again from its input, and what else there was."""
    from tacit import __version__

    publication, answer = release.publication, release.answer
    known_by = publication.input.fingerprint(publication.rows)
    # Local recoding follows from the settings, unless it was stopped on the way or obeyed a table that is not at hand again.
    needs_classes = answer.classes is not None and (
        answer.interrupted is not None or publication.settings.protection.people_demand is not None
    )
    return {
        "format": PRIVATE_FORMAT,
        "tacit": __version__,
        "numpy": np.__version__,
        "input_sha256": known_by.sha256,
        "input_hash_of": known_by.of,
        "settings": publication.settings.to_document(),
        "schema": [attribute.to_document() for attribute in publication.input.schema],
        "readings": {name: reading.to_document() for name, reading in _readings(release).items()},
        "method": release.method,
        "cuts": answer.cuts,
        "classes": answer.classes.tolist() if answer.classes is not None and needs_classes else None,
        "lower_bound": release.lower_bound,
        "front": [vars(entry) for entry in release.front],
        "partitions": release.partitions,
        "warnings": list(release.warnings),
    }


def _readings(release: AnonymousTable) -> Mapping[str, Reading]:
    source = release.input
    return source.readings if isinstance(source, CodedInput) else {}


def alternatives_document(release: AnonymousTable) -> dict[str, Any]:
    """What makes every alternative of a release again from its input."""
    return private_manifest(release) | {"format": ALTERNATIVES_FORMAT}


def read_alternatives(path: str | Path) -> dict[str, Any]:
    """Kept alternatives, of a try or of a release."""
    return read_private(path, (ALTERNATIVES_FORMAT, PRIVATE_FORMAT), "kept alternatives (--alternatives F)")


def read_private(
    path: str | Path,
    formats: tuple[str, ...] = (PRIVATE_FORMAT,),
    what: str = "private manifest of a release. Give the file OUT.private.json",
) -> dict[str, Any]:
    """A private manifest, refused where it is none."""
    try:
        document = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict) or document.get("format") not in formats:
        raise InvalidInput(f"{str(path)!r} holds no {what}.")
    return document


def posed_again(document: Mapping[str, Any], data: Any, people: Any = None) -> Publication:
    """The publication of a private manifest; refused for any other input."""
    schema = Schema(tuple(Attribute.from_document(entry) for entry in document["schema"]))
    settings = Settings.from_document(document["settings"], people)
    # The schema holds the computed order already.
    asked = dataclasses.replace(settings, preferences=dataclasses.replace(settings.preferences, order="schema"))
    readings = {name: reading_from_document(entry) for name, entry in document["readings"].items()}
    publication = pose_publication(data, asked, schema, readings)
    sha256 = publication.input.fingerprint(publication.rows).sha256
    if sha256 != document["input_sha256"]:
        raise InvalidInput(
            f"This is not the input of the release: its SHA-256 is {sha256[:12]}..., not {document['input_sha256'][:12]}... "
            "Give the table that was published, unchanged."
        )
    return dataclasses.replace(publication, settings=settings)


def answer_again(publication: Publication, document: Mapping[str, Any]) -> Answer:
    """What was found, from what a private manifest keeps of it: nothing is searched."""
    front = tuple(Alternative(**entry) for entry in document["front"])
    return dataclasses.replace(_answer(publication, document), front=front, lower_bound=document["lower_bound"])


def _answer(publication: Publication, document: Mapping[str, Any]) -> Answer:
    if document["cuts"] is not None:
        return of_cuts(publication, document["method"], document["cuts"])
    if document["classes"] is not None:
        return of_classes(publication, document["method"], np.array(document["classes"], np.int32))
    return find(publication, document["method"])  # local recoding: nothing is drawn
