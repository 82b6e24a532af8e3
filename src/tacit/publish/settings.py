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
from tacit.publish.population import people_number
from tacit.publish.problem import Diversity, Presence
from tacit.publish.search import EvolutionSettings

Method = Literal["compare", "search", "exact", "local", "microaggregate"]
AnswerOrder = Literal["schema", "data"]
MissingValues = Literal["refuse", "answer", "drop", "most-frequent"]
Choice = Literal["balanced", "queries", "loss", "models", "tables"]
NameSets = tuple[tuple[str, ...], ...]
EVALUATIONS = 50_000
FEWEST_EVALUATIONS = 1_000
COUNTED = (
    40_000_000_000  # cells over all evaluations of a search that was given no number of them: about 20 CPU seconds
)


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
    pseudonyms
        Identifiers that are different in every row and published under random pseudonyms.
    sensitive, keep
        Columns that are published as they are; `l` and `t` are about the sensitive ones.
    l, t, entropy, recursive, beta
        What sensitive attributes must show in every class: l different answers (with `entropy`, the entropy of l equally
        frequent ones; with `recursive` = c, the most frequent answer less often than c times all from the l-th most frequent
        on), at a distance of at most t from all released rows, no answer more frequent than there by more than `beta` times.
    people, k_map, presence
        Everybody whom the rows may belong to, as a table or a number; how many of them every class must hold (k-map); and
        the least and greatest share of a class's people who may be in the table (delta-presence).
    suppress
        Share of rows that may be left out; each counts as fully lost.
    every
        Asks for k in every set of so many quasi-identifiers instead of in all of them together: for somebody who knows no more
        than that of a person.
    person
        The column that says whose row it is, where a person (or a household) has several. It is never published.
    survey_weights
        The column that says how many people of the population each row stands for. A journalist's risk is then expected from
        them. It is not published.

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
    recursive: float | None = None
    beta: float | None = None
    people: Any = None
    k_map: int | None = None
    presence: tuple[float, float] | None = None
    pseudonyms: Sequence[str] = ()
    every: int | None = None
    survey_weights: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            # A schema in its place, as other functions take one after the table, is worth a hint.
            given = repr(self.k) if np.isscalar(self.k) else f"{type(self.k).__name__}; it follows the table"
            raise InvalidInput(f"k must be a whole number of at least 1, not {given}.")
        for name in ("sensitive", "keep", "pseudonyms"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        if self.attributes is not None:
            object.__setattr__(self, "attributes", _name_sets(self.attributes))
        self._check_diversity()
        self._check_people()
        self._check_every()
        if self.pseudonyms and self.person is not None:
            raise InvalidInput(
                "Pseudonyms and person cannot be used together: readers could see which rows belong to one person. Leave "
                "out one of the two."
            )
        _checked_share("suppress", self.suppress, below_one=True)

    def _check_diversity(self) -> None:
        if self.asks_diversity and not self.sensitive:
            raise InvalidInput("l and t say how sensitive attributes are spread. Name these too (sensitive=...).")
        for what, value, least in (("l", self.l, 1), ("recursive", self.recursive, 0), ("beta", self.beta, 0)):
            if value is not None and not (isinstance(value, int | float) and math.isfinite(value) and value >= least):
                raise InvalidInput(f"{what} must be at least {least}, not {value!r}.")
        if self.recursive is not None and (self.l is None or self.entropy):
            raise InvalidInput("recursive is the c of recursive (c, l): give l too, and leave out entropy.")
        if self.t is not None:
            _checked_share("t", self.t)

    def _check_people(self) -> None:
        if self.presence is not None:
            given = tuple(self.presence)
            if len(given) != 2 or not 0 <= given[0] <= given[1] <= 1:
                raise InvalidInput(
                    f"presence is a least and a greatest share from 0 to 1, such as 0,0.5; not {given!r}."
                )
            object.__setattr__(self, "presence", given)
        if self.k_map is not None and (isinstance(self.k_map, bool) or self.k_map < 1 or self.k_map != int(self.k_map)):
            raise InvalidInput(f"k_map must be a whole number of at least 1, not {self.k_map!r}.")
        if (self.k_map is not None or self.presence is not None) and people_number(self.people or 1) is not None:
            raise InvalidInput(
                "k-map and delta-presence count the people of the population in every class. Give a table of them "
                "(--people F, people=...), "
                "with the quasi-identifiers as columns; their number is not enough."
            )
        if self.people is not None:
            people_number(self.people)  # a number below 1 is refused
        if self.people is not None and self.survey_weights is not None:
            raise InvalidInput("Give people or survey weights: both say how many people the rows stand for.")
        if self.survey_weights is not None and self.survey_weights in (self.person, *self.others):
            raise InvalidInput(
                f"{self.survey_weights!r} holds survey weights, which are not published: it cannot be sensitive, kept or a "
                "person's id as well."
            )

    def _check_every(self) -> None:
        if self.every is None:
            return
        if self.attributes is not None and len(self.attributes) > 1:
            raise InvalidInput("every takes one set of quasi-identifiers, and makes its own sets of them. Name one.")
        if self.k_map is not None or self.presence is not None or self.suppress:
            raise InvalidInput(
                "every asks for k in each of many small tables, and leaving a row out for one of them may break another: it does "
                "not go with suppression, nor with k-map or presence, which are counted in one table. Leave these out, or "
                "publish for all quasi-identifiers together."
            )
        if self.asks_diversity and self.person is not None:
            raise InvalidInput(
                "every with l, t or beta cannot be used together with person: it counts rows, and a person has several. "
                "Leave out person, or leave out l, t and beta."
            )

    @property
    def asks_diversity(self) -> bool:
        """Whether anything is asked of the sensitive attributes."""
        return any(asked is not None for asked in (self.l, self.t, self.beta))

    @property
    def tail(self) -> int | None:
        """The l of recursive (c, l); None where it is not asked for."""
        return None if self.recursive is None or self.l is None else math.ceil(self.l - 1e-9)

    @property
    def diversity(self) -> Diversity:
        return Diversity(self.l, self.t, self.entropy, self.recursive, self.beta)

    @property
    def people_demand(self) -> Presence | None:
        """What is asked of the population's people in every class; None where nothing is."""
        if self.k_map is None and self.presence is None:
            return None
        return Presence(int(self.k_map or 0), *(self.presence or (0.0, 1.0)))

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are published as they are."""
        return (*self.sensitive, *self.keep, *self.pseudonyms)


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
        or "compare": local recoding, and the search beside it where a first pass says that it could win.
    choose
        What decides between methods: "queries" (error of random queries), "tables" (of two attributes), "models"
        (coefficients of regressions), "loss" (NWP), or "balanced": no column lost that another method keeps, then queries,
        tables and models together, each against the best of the methods.
    hierarchies
        A folder of files ``NAME.csv`` as ARX keeps them, or hierarchies by attribute.
    order
        "data" puts unordered answers whose people are alike in the other columns side by side; only neighbours are merged.
    missing
        What empty values are: refused, an answer of their own, or a reason to drop the row.
    types, granularity
        What columns hold ("date", "code", "number", "nominal"; found from their values by default), and the finest steps
        they are read in: ``{"age": 5, "visit": "month"}``.
    cells
        Where rows may be suppressed: hides single cells of a rare row ("*") instead, if that is enough, as "search" does.
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
    cells: bool = True
    choose: Choice = "balanced"

    def __post_init__(self) -> None:
        _checked_share("prefer_loss", self.loss)
        _checked_share("prefer_bias", self.bias)
        for what, value, allowed in (
            ("Method", self.method, get_args(Method)),
            ("Reason to choose by", self.choose, get_args(Choice)),
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
        Of the search. By default 50,000 evaluations, and fewer where the table has very many combinations of
        quasi-identifiers.
    polish
        ``False`` gives the published search alone.
    seconds
        CPU seconds for the whole run: what was found until then is the release. What the methods leave of them goes into
        the proof. Without, every method ends by itself, and only "exact" proves (for 300 seconds; 80 beyond 40,000
        combinations).
    prove, within, nodes
        Prove how much less could be lost at best, for 30 CPU seconds where `seconds` says nothing else; until the loss is
        proven to be within this share of the least; and the most nodes the proof visits, by which it ends at the same place
        on every machine.
    seed
        Makes the search repeatable.
    """

    evaluations: int | None = None
    population: int = 100
    polish: bool = True
    seconds: float | None = None
    nodes: int | None = None
    seed: int | None = None
    prove: bool = False
    within: float | None = None

    def __post_init__(self) -> None:
        asked = EVALUATIONS if self.evaluations is None else self.evaluations
        for what, value, least in (("evaluations", asked, 10), ("population", self.population, 4)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInput(f"{what} must be a whole number of at least {least}, not {value!r}.")
        if self.population > asked:
            raise InvalidInput(
                f"population, the candidates in each round of the search, is {self.population}; it must not exceed the "
                f"{asked} evaluations of the whole search. Give fewer candidates, or more evaluations."
            )
        if self.nodes is not None and (
            isinstance(self.nodes, bool) or not isinstance(self.nodes, int) or self.nodes < 0
        ):
            raise InvalidInput(f"nodes must be a whole number of at least 0, not {self.nodes!r}.")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise InvalidInput(
                f"seconds must be a number above 0, not {self.seconds!r}: the CPU seconds of the whole run. Leave them out for "
                "a run that ends by itself."
            )
        if self.within is not None and not 0 <= self.within < 1:
            raise InvalidInput(f"within must be a share from 0, below 1, such as 0.01; not {self.within!r}.")

    @property
    def asks_proof(self) -> bool:
        return self.prove or self.within is not None

    @property
    def evolution(self) -> EvolutionSettings:
        return EvolutionSettings(self.evaluations or EVALUATIONS, self.population, polish=self.polish)

    def fit_to(self, cells: int) -> Effort:
        """The effort for combinations of quasi-identifiers with so many cells, which every evaluation looks at."""
        if self.evaluations is not None:
            return self
        affordable = max(FEWEST_EVALUATIONS, COUNTED // max(1, cells))
        return dataclasses.replace(self, evaluations=max(self.population, min(EVALUATIONS, affordable)))


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
        protection = _fields(self.protection)
        people = protection["people"]
        if isinstance(people, Path):
            protection["people"] = str(people)
        elif not isinstance(people, str | int | None):
            protection["people"] = None  # a table in memory, which must be given again
        return {"protection": protection, "preferences": preferences, "effort": _fields(self.effort)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], people: Any = None) -> Settings:
        """The settings of a private manifest; `people` where the population was a table in memory."""
        preferences, protection = dict(document["preferences"]), dict(document["protection"])
        if people is not None:
            protection["people"] = people
        if preferences.get("hierarchies") is not None:
            given = preferences["hierarchies"].items()
            preferences["hierarchies"] = {name: Hierarchy.from_document(hierarchy) for name, hierarchy in given}
        return cls(Protection(**protection), Preferences(**preferences), Effort(**document["effort"]))


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
