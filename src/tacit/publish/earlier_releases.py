"""Earlier releases of the same input: two of them together hide people less well than each alone."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.publish.anonymous_table import AnonymousTable
from tacit.publish.class_measures import class_sizes
from tacit.publish.combinations import Combinations
from tacit.publish.manifests import answer_again, posed_again, private_path, read_private
from tacit.publish.publication import Publication
from tacit.publish.release_input import CodedInput

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class EarlierRelease:
    """A release that was made before, by its private manifest."""

    path: Path
    document: dict[str, Any]

    def table(self, data: Any) -> AnonymousTable:
        """What was released, made again from the same input."""
        publication = posed_again(self.document, data)
        return AnonymousTable.of(publication, answer_again(publication, self.document))


def earlier_releases(publication: Publication, out: Path) -> list[EarlierRelease]:
    """The releases of the same input whose private manifests lie in the folder of the output."""
    known_by = publication.input.fingerprint(publication.rows).sha256
    earlier = []
    for path in sorted(out.parent.glob(f"*{private_path('').name}")):
        try:
            document = read_private(path)
        except InvalidInput:
            continue  # another program's file
        if document["input_sha256"] == known_by:
            earlier.append(EarlierRelease(path, document))
    return earlier


def kindred_releases(publication: Publication, out: Path) -> list[str]:
    """Private manifests beside the output of other inputs that hold some of the same quasi-identifiers.

    The same people in another order, in another format or a month later make another input, and intersect all the same.
    """
    known_by = publication.input.fingerprint(publication.rows).sha256
    kindred = []
    for path in sorted(out.parent.glob(f"*{private_path('').name}")):
        with contextlib.suppress(InvalidInput):
            document = read_private(path)
            shared = {entry["name"] for entry in document["schema"]} & set(publication.rows.names)
            if shared and document["input_sha256"] != known_by and path != private_path(out):
                kindred.append(path.name)
    return kindred


def refuse_second_release(earlier: Sequence[EarlierRelease], out: Path) -> None:
    if earlier:
        raise InvalidInput(
            f"{earlier[0].path.name!r} says that this input was released before. Who holds both releases intersects their "
            f"classes, so people are hidden less well than in each. If {out.name!r} replaces a release that nobody has seen, "
            "delete the old one with its manifests; else ask for it again (--again, again=True), which says what k remains."
        )


def k_together(release: AnonymousTable, earlier: Sequence[EarlierRelease]) -> int | None:
    """The k of all these releases together: classes intersect; None where their rows cannot be put side by side."""
    releases = [release, *(entry.table(release.publication.data) for entry in earlier)]
    if not all(isinstance(each.input, CodedInput) for each in releases):
        return None
    columns = [_classes(each) for each in releases]
    if len({len(column) for column in columns}) > 1:
        return None
    together = Combinations([column + 1 for column in columns], [int(column.max()) + 2 for column in columns]).number
    released = np.any([column >= 0 for column in columns], axis=0)
    persons = _persons(release)
    ones = np.ones(int(released.sum()), np.int64)
    sizes = class_sizes(together[released], ones, None if persons is None else persons[released])
    return int(sizes[sizes > 0].min())  # rows that no release shows have a number too


def _classes(release: AnonymousTable) -> Codes:
    """The class of every row of the input; -1 where it is suppressed."""
    recoding = release.recoding
    number = recoding.class_numbers()
    parts = []
    for batch in release.input.batches():  # type: ignore[attr-defined]
        parts.append(number[recoding.combinations.places([batch[name] for name in recoding.tally.names])])
    return np.concatenate(parts)


def _persons(release: AnonymousTable) -> Codes | None:
    if release.publication.persons is None:
        return None
    person = release.publication.settings.protection.person or ""
    parts = [batch[person].astype(np.int64) for batch in release.input.batches()]  # type: ignore[attr-defined]
    return np.concatenate(parts)
