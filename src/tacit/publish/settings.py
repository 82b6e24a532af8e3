"""What a publisher asks for, in three groups: what to protect, what to prefer, how long to search."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from tacit.errors import InvalidInput, UnknownName
from tacit.publish.achievement import Preference
from tacit.publish.column_types import ColumnType
from tacit.publish.hierarchies import Hierarchy
from tacit.publish.problem import Diversity
from tacit.publish.search import EvolutionSettings

Method = Literal["compare", "search", "exact", "local", "microaggregate"]
AnswerOrder = Literal["schema", "data"]
MissingValues = Literal["refuse", "answer", "drop", "most-frequent"]
NameSets = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What to protect: who may know what, and how well everyone must be hidden.

    Parameters
    ----------
    k
        How many rows (with `person`: different people) every row must look like, itself among them.
    attributes
        The quasi-identifiers: what somebody may know of a person. Several sets that nobody knows together are given as
        a list of lists. By default every attribute that is neither sensitive nor kept.
    sensitive, keep
        Columns that are published as they are; `l` and `t` are about the sensitive ones.
    l, t, entropy
        What sensitive attributes must show in every class: l different answers (with `entropy`, the entropy of l equally
        frequent ones), at a distance of at most t from all released rows.
    suppress
        Share of rows that may be left out; each counts as fully lost.
    person
        The column that says whose row it is, where a person (or a household) has several. It is never published.

    Examples
    --------
    >>> Protection(k=3, sensitive=["ill"], l=2).sensitive
    ('ill',)
    """

    k: int = 5
    attributes: Sequence[str] | Sequence[Sequence[str]] | None = None
    sensitive: Sequence[str] = ()
    keep: Sequence[str] = ()
    l: float | None = None  # noqa: E741  the letters of the literature
    t: float | None = None
    entropy: bool = False
    suppress: float = 0.0
    person: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            raise InvalidInput(f"k must be a whole number of at least 1, not {self.k!r}.")
        for name in ("sensitive", "keep"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        if self.attributes is not None:
            object.__setattr__(self, "attributes", _name_sets(self.attributes))
        if (self.l is not None or self.t is not None) and not self.sensitive:
            raise InvalidInput("l and t say how sensitive attributes are spread. Name these too (sensitive=...).")
        if self.l is not None and not (isinstance(self.l, int | float) and math.isfinite(self.l) and self.l >= 1):
            raise InvalidInput(f"l must be at least 1, not {self.l!r}.")
        if self.t is not None:
            _checked_share("t", self.t)
        _checked_share("suppress", self.suppress, below_one=True)

    @property
    def diversity(self) -> Diversity:
        return Diversity(self.l, self.t, self.entropy)

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are published as they are."""
        return (*self.sensitive, *self.keep)


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """What to prefer among the releases that protect enough, and how the table is read and written.

    Parameters
    ----------
    loss, bias
        The loss (NWP) and the bias (NECD) one would be content with.
    weights
        How much the detail of each quasi-identifier matters; they sum to one. Equal by default.
    method
        "search" (Dewri et al. 2009, then ruin and recreate, then the proof), "exact" (the least loss whatever the bias,
        proven), "local" (rows generalized differently), "microaggregate" (as local, numbers by the mean of their class),
        or "compare": search and local recoding side by side, of which the
        one is taken that answers queries best.
    hierarchies
        A folder of files ``NAME.csv`` as ARX keeps them, or hierarchies by attribute.
    order
        "data" puts unordered answers whose people are alike in the other columns side by side; only neighbours are merged.
    missing
        What empty values are: refused, an answer of their own, or a reason to drop the row.
    types, granularity
        What columns hold ("date", "code", "number", "nominal"; found from their values by default), and the finest steps
        they are read in: ``{"age": 5, "visit": "month"}``.
    keep_order
        Keeps the rows in the order of the input, which tells whatever that order tells; they are sorted otherwise.
    """

    loss: float = 0.2
    bias: float = 1.0
    weights: Mapping[str, float] | None = None
    method: Method = "compare"
    hierarchies: str | Path | Mapping[str, Hierarchy] | None = None
    order: AnswerOrder = "schema"
    missing: MissingValues = "refuse"
    types: Mapping[str, ColumnType] | None = None
    granularity: Mapping[str, float | str] | None = None
    keep_order: bool = False

    def __post_init__(self) -> None:
        _checked_share("prefer_loss", self.loss)
        _checked_share("prefer_bias", self.bias)
        for what, value, allowed in (
            ("Method", self.method, get_args(Method)),
            ("Order", self.order, get_args(AnswerOrder)),
            ("Policy for missing values", self.missing, get_args(MissingValues)),
            *(("Type of column", kind, get_args(ColumnType)) for kind in (self.types or {}).values()),
        ):
            if value not in allowed:
                raise UnknownName(what, str(value), allowed)

    @property
    def point(self) -> Preference:
        return Preference(float(self.loss), float(self.bias))


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long to search, and from which seed.

    Parameters
    ----------
    evaluations, population
        Of the search.
    polish
        ``False`` gives the published search alone.
    seconds
        For the proof: by default 30 after a search (none where rows may be suppressed), 600 for "exact".
    seed
        Makes the search repeatable.
    """

    evaluations: int = 50_000
    population: int = 100
    polish: bool = True
    seconds: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        for what, value, least in (("evaluations", self.evaluations, 10), ("population", self.population, 4)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInput(f"{what} must be a whole number of at least {least}, not {value!r}.")
        if self.population > self.evaluations:
            raise InvalidInput(
                f"A population of {self.population} cannot be evaluated with {self.evaluations} evaluations."
            )
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise InvalidInput(f"seconds must be a number from 0, not {self.seconds!r}. With 0 nothing is proven.")

    @property
    def evolution(self) -> EvolutionSettings:
        return EvolutionSettings(self.evaluations, self.population, polish=self.polish)


@dataclass(frozen=True)
class Settings:
    """All that a publisher asks for."""

    protection: Protection = field(default_factory=Protection)
    preferences: Preferences = field(default_factory=Preferences)
    effort: Effort = field(default_factory=Effort)

    def to_document(self) -> dict[str, Any]:
        """The settings as JSON, with the hierarchies themselves in place of their folder."""
        preferences = _fields(self.preferences)
        given = self.preferences.hierarchies
        if isinstance(given, Mapping):
            preferences["hierarchies"] = {name: hierarchy.to_document() for name, hierarchy in given.items()}
        return {"protection": _fields(self.protection), "preferences": preferences, "effort": _fields(self.effort)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Settings:
        preferences = dict(document["preferences"])
        if preferences.get("hierarchies") is not None:
            given = preferences["hierarchies"].items()
            preferences["hierarchies"] = {name: Hierarchy.from_document(own) for name, own in given}
        return cls(Protection(**document["protection"]), Preferences(**preferences), Effort(**document["effort"]))


def _fields(settings: Any) -> dict[str, Any]:
    return {entry.name: getattr(settings, entry.name) for entry in dataclasses.fields(settings)}


def _name_sets(attributes: Sequence[str] | Sequence[Sequence[str]]) -> NameSets:
    """The sets of attributes that somebody may know together."""
    if isinstance(attributes, str):
        attributes = [attributes]
    flat = all(isinstance(entry, str) for entry in attributes)
    sets: NameSets = (tuple(attributes),) if flat else tuple(map(tuple, attributes))  # type: ignore[arg-type]
    if not sets or not all(sets):
        raise InvalidInput("Name at least one quasi-identifier: an attribute that somebody may know of a person.")
    return sets


def _checked_share(what: str, value: float, *, below_one: bool = False) -> None:
    upper = "below 1" if below_one else "at most 1"
    if not (isinstance(value, int | float) and 0 <= value <= 1) or (below_one and value == 1):
        raise InvalidInput(f"{what} must be a number from 0, {upper}, not {value!r}.")
