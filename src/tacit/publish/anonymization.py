"""The door: from a table and a publisher's settings, or the private manifest of an earlier release, to a release."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput, names_homes
from tacit.publish.comparison import compare
from tacit.publish.manifests import answer_again, posed_again, read_private
from tacit.publish.methods import Alternative, answer_of, find
from tacit.publish.publication import Publication, pose_publication
from tacit.publish.release import Release
from tacit.publish.settings import Effort, Preferences, Protection, Settings
from tacit.publish.watch import Progress, Watch
from tacit.schema import Schema

# The command line takes all settings side by side, and so do other libraries.
_HOMES = {
    field.name: f"{argument}=tacit.{kind.__name__}({field.name}=...)"
    for argument, kind in (("protection", Protection), ("preferences", Preferences), ("effort", Effort))
    for field in dataclasses.fields(kind)
    if field.name not in ("k", "attributes")
}


@names_homes(_HOMES)
def anonymize(
    data: Any,
    k: int | None = None,
    attributes: Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    protection: Protection | None = None,
    preferences: Preferences | None = None,
    effort: Effort | None = None,
    schema: Schema | None = None,
    progress: Progress | None = None,
) -> Release:
    """A release of `data` in which every row hides among at least k, with as little detail lost as possible.

    Parameters
    ----------
    data
        A Dataset, a data frame, the name of a CSV or Parquet file, an ibis table, or the address of a database table such
        as ``sqlite:///people.db?table=people``.
    k, attributes
        Short for the two settings of `protection` that are asked for most: how many everyone hides among, and what
        somebody may know of a person.
    protection
        What to protect: quasi-identifiers, sensitive attributes, k, l, t, suppression, persons.
    preferences
        What to prefer: loss and bias, weights, method, hierarchies, order.
    effort
        How long to search, and from which seed.
    schema
        The attributes and the order of their answers; inferred from the data by default.
    progress
        Called with the share of the work done and what is being done.

    Returns
    -------
    Release
        Its measures, its rows, and what else there was; nothing is written until its `write` is called.

    Raises
    ------
    InvalidInput
        Where the settings contradict each other or the table, before anything is searched.

    Examples
    --------
    >>> from tacit.publish import Effort, anonymize
    >>> people = {"age": ["31", "32", "33", "61", "62", "63"], "town": ["Ulm", "Ulm", "Ulm", "Rom", "Rom", "Rom"]}
    >>> release = anonymize(people, k=3, effort=Effort(seed=1))
    >>> release.effective_k, release.partitions["age"]
    (3, [['31', '32', '33'], ['61', '62', '63']])
    """
    asked = protection or Protection()
    if k is not None:
        asked = dataclasses.replace(asked, k=k)
    if attributes is not None:
        asked = dataclasses.replace(asked, attributes=attributes)
    settings = Settings(asked, preferences or Preferences(), effort or Effort())
    began = time.process_time()
    return find_release(pose_publication(data, settings, schema), progress, began)


def find_release(publication: Publication, progress: Progress | None = None, began: float | None = None) -> Release:
    """The release that the method of a publication finds; its run `began` at this CPU second of the process."""
    method, watch = publication.settings.preferences.method, Watch(publication.settings.effort.seconds, began, progress)
    if method == "compare":
        compared = compare(publication, watch)
        return Release.of(compared.publication, compared.answer, compared)
    return Release.of(publication, find(publication, method, watch))


def pick_kept(document: Mapping[str, Any], data: Any, number: int, people: Any = None) -> Release:
    """Number N of the alternatives that a private manifest or a file of alternatives keeps; nothing is searched."""
    front = [Alternative(**entry) for entry in document["front"]]
    if not 0 <= number < len(front):
        raise InvalidInput(f"There are the alternatives 0 to {len(front) - 1}, not {number}.")
    return Release.of(*answer_of(posed_again(document, data, people), front[number]))


def remake(private: str | Path | Mapping[str, Any], data: Any, people: Any = None) -> Release:
    """The release that a private manifest describes, made again from the same input without any search.

    `people` is the table of the population, where k-map or presence was asked for and it was no file.
    """
    document = private if isinstance(private, Mapping) else read_private(private)
    publication = posed_again(document, data, people)
    return Release.of(publication, answer_again(publication, document))
