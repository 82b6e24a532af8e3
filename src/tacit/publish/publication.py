"""A table and what is asked of it, checked against each other and ready to be searched."""

from __future__ import annotations

import dataclasses
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.publish.achievement import Preference
from tacit.publish.cells import can_hide_cells
from tacit.publish.column_readings import Reading
from tacit.publish.every import every_set
from tacit.publish.hierarchies import Hierarchy, read_hierarchies
from tacit.publish.opening import OpenedFile, Wanted, is_stored, open_input, tally
from tacit.publish.order import ordered_by_data
from tacit.publish.persons import UNIT, PersonRows, person_rows
from tacit.publish.population import Population, open_population, people_in_classes, with_population
from tacit.publish.problem import Bits, Problem, pose
from tacit.publish.recoding import Recoding, recode_by_classes, recode_by_means, recode_globally
from tacit.publish.release_input import CodedInput, ReleaseInput
from tacit.publish.risk import HouseholdRisk, KnownClasses, Risk, risk_of
from tacit.publish.settings import NameSets, Protection, Settings
from tacit.publish.survey_weights import WeightColumn, WeightedRows
from tacit.publish.tally import QuasiTally
from tacit.schema import Schema


@dataclass(frozen=True, eq=False)
class Publication:
    """What a method needs to find a release, and what makes a release of the generalization it found."""

    data: Any  # as it was handed in
    settings: Settings  # with the seed that was drawn and the hierarchies that were read
    input: ReleaseInput
    rows: QuasiTally
    problem: Problem  # its tally counts rows, or shares of persons
    persons: PersonRows | None  # whose rows they are, where a person has several
    population: Population | None = None  # whom they were drawn from
    weighted: WeightedRows | None = None  # how many people they stand for, where there are survey weights

    @property
    def preference(self) -> Preference:
        return self.settings.preferences.point

    @property
    def seed(self) -> int:
        return self.settings.effort.seed or 0

    def with_suppression(self, share: float) -> Publication:
        """The same publication where another share of rows may be left out."""
        if share == self.settings.protection.suppress:
            return self
        protection = dataclasses.replace(self.settings.protection, suppress=share)
        settings = dataclasses.replace(self.settings, protection=protection)
        problem = dataclasses.replace(self.problem, demand=self.problem.demand._replace(limit=self._limit(share)))
        return dataclasses.replace(self, settings=settings, problem=problem)

    def with_k(self, k: int) -> Publication:
        """The same publication where everyone hides among another number."""
        settings = dataclasses.replace(self.settings, protection=dataclasses.replace(self.settings.protection, k=k))
        scaled = k if self.persons is None else self.persons.in_shares(k)
        problem = dataclasses.replace(self.problem, demand=self.problem.demand._replace(k=scaled))
        return dataclasses.replace(self, settings=settings, problem=problem)

    def _limit(self, share: float) -> int:
        return math.floor(share * self.problem.rows + 1e-9)

    def global_recoding(self, bits: Bits, *, cells: bool = False) -> Recoding:
        """The recoding of a chromosome; with `cells`, rare rows lose single cells where that is enough."""
        cells = cells and self.hides_cells
        names = [self._hierarchies[name].names if name in self._hierarchies else None for name in self.rows.names]
        return recode_globally(self.problem, bits, names, cells=cells).with_counts_of(self.rows)

    @property
    def hides_cells(self) -> bool:
        """Whether single cells go in place of rows."""
        wanted = self.settings.preferences.cells and self.persons is None and len(self.rows.sets) == 1
        return wanted and can_hide_cells(self.problem.demand)

    def local_recoding(self, classes: NDArray[np.int32], method: str = "local") -> Recoding:
        """The recoding of classes of combinations, as the method labels them."""
        recode = recode_by_means if method == "microaggregate" else recode_by_classes
        # Persons are put into classes by their own rows, without combinations that only the population shows.
        tally = self.problem.tally if self.persons is None else self.rows
        return recode(tally, classes, self._hierarchies).with_counts_of(self.rows)

    @property
    def _hierarchies(self) -> Mapping[str, Hierarchy]:
        given = self.settings.preferences.hierarchies
        return given if isinstance(given, Mapping) else {}

    def class_sizes(self, recoding: Recoding) -> list[NDArray[np.int64]]:
        """Rows, or different persons, in each published class, apart for every set of quasi-identifiers."""
        return recoding.sizes_by_set() if self.persons is None else self.persons.sizes_by_set(recoding)

    def risk(self, recoding: Recoding) -> Risk:
        """The risk of the released rows; of several sets of quasi-identifiers, that of the one with the smallest class."""
        risks = []
        sizes_by_set, everyone = self.class_sizes(recoding), None if self.persons is None else self.persons.n_persons
        households = self._household_risks(recoding)
        for members, sizes, household in zip(recoding.tally.sets, sizes_by_set, households, strict=True):
            own = risk_of(sizes, self._known_classes(recoding, members), everyone)
            risks.append(dataclasses.replace(own, household=household))
        return max(risks, key=lambda risk: risk.prosecutor_highest)

    def _household_risks(self, recoding: Recoding) -> Sequence[HouseholdRisk | None]:
        if self.persons is not None:
            return self.persons.household_risks(recoding)
        if self.settings.protection.person is None:
            return [None] * len(recoding.tally.sets)
        # Every person has one row, by which alone the person is found.
        sizes_by_set = recoding.sizes_by_set()
        return [HouseholdRisk(1 / int(sizes.min()), len(sizes) / int(sizes.sum())) for sizes in sizes_by_set]

    def _known_classes(self, recoding: Recoding, members: Sequence[int]) -> int | KnownClasses | None:
        population = self.population
        if self.weighted is not None:
            return self.weighted.people_in_classes(recoding, members)
        if population is None or population.codes is None or population.counts is None:
            return None if population is None else population.size
        labels = recoding.class_labels(members)
        totals, unmatched = people_in_classes(population.codes, population.counts, labels, recoding.members, members)
        return KnownClasses(totals.astype(np.float64), "table", population.size, unmatched + population.outside)

    def loss_and_bias(self, recoding: Recoding) -> tuple[float, float]:
        """NWP and NECD of a recoding."""
        sizes = self.class_sizes(recoding)
        everyone = self.rows.rows if self.persons is None else self.persons.n_persons
        bias = max(int(classes.max() - classes.min()) for classes in sizes) / max(1, everyone - 1)
        return float(recoding.losses() @ self.problem.weights), bias

    def keeps_its_promise(self, recoding: Recoding) -> bool:
        """Whether a recoding found on shares of persons shows k, l, t and people when persons are counted one by one."""
        if self.persons is None:
            return True
        return self.persons.keeps(recoding, self.settings.protection) and self._has_people(recoding)

    def _has_people(self, recoding: Recoding) -> bool:
        demand = self.settings.protection.people_demand
        if demand is None:
            return True
        risk = self.risk(recoding)
        return risk.k_map is None or demand.allows(risk.k_map, (risk.presence or (0.0, 1.0))[1])


def pose_publication(
    data: Any, settings: Settings, schema: Schema | None = None, readings: Mapping[str, Reading] | None = None
) -> Publication:
    """Read and tally the table; whatever cannot be asked of it is refused here.

    `readings` say how columns become the answers of a schema that was found before.
    """
    protection, preferences = settings.protection, settings.preferences
    if protection.pseudonyms and schema is not None and not readings:
        raise InvalidInput("A schema lists answers, and a pseudonym has none yet. Give roles instead of the schema.")
    if protection.pseudonyms and is_stored(data):
        raise InvalidInput(
            "Pseudonyms are not drawn in a database. Write the table to a Parquet file and publish that."
        )
    if isinstance(data, str | Path) and not is_stored(data):
        data = OpenedFile(data)  # also for earlier releases of the same input, which are made again
    source = open_input(data, schema, missing=preferences.missing, wanted=_wanted_columns(settings, readings or {}))
    source = ordered_by_data(source) if preferences.order == "data" else source
    sets, every = _quasi_identifier_sets(settings, source.schema), protection.every
    if every is not None:
        sets = every_set(sets[0], every)
        every = None if len(sets) == 1 else every  # all of them: the usual k
    names = tuple(dict.fromkeys(name for members in sets for name in members))
    hierarchies = _hierarchies(preferences.hierarchies, source.schema, names)
    _refuse_combinations(settings, sets)
    weights = _weights(preferences.weights, names)
    rows = tally(source, sets, protection.sensitive if protection.asks_diversity else ())
    persons = None if protection.person is None else person_rows(source, rows, protection.person)
    counted = rows if persons is None else persons.shares(rows)
    population = _population(settings, source, rows)
    demand = protection.people_demand
    if population is not None and demand is not None:
        counted = with_population(counted, population)
        if persons is not None:
            counted, demand = persons.with_people(counted, demand)
    everyone, what = (rows.rows, "rows") if persons is None else (persons.n_persons, "persons")
    if protection.k > everyone:
        raise InvalidInput(
            f"k = {protection.k} is more than the {everyone:,} {what} there are. Ask for at most {everyone:,}."
        )
    k = int(protection.k) if persons is None else persons.in_shares(int(protection.k))
    levels = [hierarchies[name].blocks if name in hierarchies else None for name in names]
    problem = pose(
        counted,
        k,
        weights,
        suppress=protection.suppress,
        diversity=protection.diversity,
        presence=demand,
        levels=levels,
        every=every,
    )
    _refuse_impossible(problem, settings, persons)
    completed = _completed_settings(settings, hierarchies, problem.tally.codes.size)
    weighted = _weighted_rows(data, settings, source, rows, persons)
    return Publication(data, completed, source, rows, problem, persons, population, weighted)


def _weighted_rows(
    data: Any, settings: Settings, source: ReleaseInput, rows: QuasiTally, persons: PersonRows | None
) -> WeightedRows | None:
    name = settings.protection.survey_weights
    if name is None:
        return None
    column = WeightColumn(data, name, source, drop_missing=settings.preferences.missing == "drop")
    return column.rows(rows.attributes, None if persons is None else settings.protection.person)


def _population(settings: Settings, source: ReleaseInput, rows: QuasiTally) -> Population | None:
    """The people whom the rows were drawn from; a table of them must hold every row's person."""
    protection = settings.protection
    if protection.people is None:
        return None
    readings = source.readings if isinstance(source, CodedInput) else {}
    population = open_population(protection.people, rows.attributes, readings)
    if protection.person is None:
        _refuse_absent(population, rows)
    return population


def _refuse_absent(population: Population, rows: QuasiTally) -> None:
    if population.size < rows.rows:
        raise InvalidInput(
            f"The population has {population.size:,} people, fewer than the {rows.rows:,} rows of the table. Give everybody "
            "whom the rows may belong to."
        )
    beside = with_population(rows, population)
    if beside.people is None:
        return
    combinations = beside.combinations
    rows_shown, people = (np.bincount(combinations.number, column) for column in (beside.counts, beside.people))
    short = np.flatnonzero(people < rows_shown)
    if len(short):
        codes = combinations.codes[short[0]]
        answers = {each.name: each.answers[code] for each, code in zip(rows.attributes, codes, strict=True)}
        held, wanted = int(people[short[0]]), int(rows_shown[short[0]])
        raise InvalidInput(
            f"The table of people holds {held:,} who show {answers}, fewer than the {wanted:,} rows that do. Give everybody "
            "whom the rows may belong to."
        )


def _wanted_columns(settings: Settings, readings: Mapping[str, Reading]) -> Wanted:
    """The columns that a publication looks at: where quasi-identifiers are named, no others."""
    protection, preferences = settings.protection, settings.preferences
    apart = (*protection.others, *(() if protection.person is None else (protection.person,)))
    sets: Any = protection.attributes
    named = None if sets is None else tuple(dict.fromkeys([*(name for members in sets for name in members), *apart]))
    types: Any = preferences.types or {}
    return Wanted(named, apart, tuple(protection.pseudonyms), types, preferences.granularity or {}, readings)


def _completed_settings(settings: Settings, known: Mapping[str, Hierarchy], cells: int) -> Settings:
    """The settings with what was drawn and read for them, so that they alone make the release again."""
    effort, preferences = settings.effort.fit_to(cells), settings.preferences
    seed = secrets.randbits(32) if effort.seed is None else effort.seed
    return dataclasses.replace(
        settings,
        effort=dataclasses.replace(effort, seed=seed),
        preferences=dataclasses.replace(preferences, hierarchies=dict(known) or None),
    )


def _quasi_identifier_sets(settings: Settings, schema: Schema) -> NameSets:
    """The sets of attributes somebody may know together; by default all that are not published as they are."""
    protection = settings.protection
    apart = (*protection.others, *(() if protection.person is None else (protection.person,)))
    for name in apart:
        schema[name]  # an unknown name is refused with the nearest known one
    given: Any = protection.attributes
    beside = (*apart, protection.survey_weights)
    sets: NameSets = (tuple(n for n in schema.names if n not in beside),) if given is None else given
    if not all(sets):
        raise InvalidInput("Name at least one quasi-identifier: an attribute that somebody may know of a person.")
    for name in (name for members in sets for name in members):
        schema[name]
        if name == protection.person:
            raise InvalidInput(
                f"{name!r} says whose row it is and is never published: it cannot be a quasi-identifier."
            )
        if name == protection.survey_weights:
            raise InvalidInput(
                f"{name!r} holds survey weights, which are not published: it cannot be a quasi-identifier."
            )
        if name in apart:
            raise InvalidInput(
                f"{name!r} is a quasi-identifier and cannot also be sensitive or kept as it is. Name it on one side only."
            )
    return sets


def _hierarchies(
    given: str | Path | Mapping[str, Hierarchy] | None, schema: Schema, names: Sequence[str]
) -> Mapping[str, Hierarchy]:
    if given is None:
        return {}
    if isinstance(given, str | Path):
        return read_hierarchies(given, tuple(schema[name] for name in names))
    return given


def _weights(weights: Mapping[str, float] | None, names: Sequence[str]) -> NDArray[np.float64]:
    """One weight per quasi-identifier; equal ones by default."""
    if weights is None:
        return np.full(len(names), 1 / len(names))
    for name in weights:
        if name not in names:
            raise UnknownName("Quasi-identifier", name, names)
    missing = [name for name in names if name not in weights]
    if missing:
        raise InvalidInput(f"There is no weight for {missing[0]!r}. Give every quasi-identifier one (0 is allowed).")
    values = np.array([float(weights[name]) for name in names])
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InvalidInput(f"Weights must be numbers of at least 0, not {dict(weights)}.")
    if abs(values.sum() - 1) > 1e-6:
        scaled = ",".join(f"{name}={value / values.sum():.4g}" for name, value in zip(names, values, strict=True))
        raise InvalidInput(f"The weights sum to {values.sum():.6g}, not to 1. In proportion they would be {scaled}.")
    return values / values.sum()


def _refuse_combinations(settings: Settings, sets: NameSets) -> None:
    """What does not go together, each with a way on."""
    protection, method = settings.protection, settings.preferences.method
    demand = protection.people_demand
    if demand is not None and protection.person is not None and demand.least > 0:
        raise InvalidInput(
            "A least presence above 0 cannot be kept together with person: it is counted in rows, and a person has "
            "several. Set the least presence to 0, or leave out person."
        )
    if demand is not None and demand.least > 0 and protection.suppress > 0:
        raise InvalidInput(
            "A least presence above 0 wants every class of the population in the table, which suppression takes rows from. Set "
            "suppress=0, or the least presence to 0."
        )
    if len(sets) > 1 and protection.suppress > 0:
        raise InvalidInput(
            "Suppression with several sets of quasi-identifiers is not offered: leaving a row out for one set may break "
            "another. Set suppress=0, or publish for the union of the sets."
        )
    if method == "exact" and protection.every is not None:
        raise InvalidInput("Method 'exact' cannot be used together with every. Use method 'search'.")
    if method == "exact" and protection.person is not None:
        raise InvalidInput(
            "Method 'exact' cannot be used together with person: its proof counts rows, and a person has several. Use "
            "method 'search' or 'local'."
        )


def _refuse_impossible(problem: Problem, settings: Settings, persons: PersonRows | None) -> None:
    """Everything generalized is one class; if that does not show the wanted l, nothing does."""
    protection, method = settings.protection, settings.preferences.method
    if not problem.can_be_searched and method in ("search", "exact"):
        raise InvalidInput(
            f"{len(problem.weights)} quasi-identifiers have {math.prod(map(float, problem.tally.sizes)):.0e} possible "
            f"combinations (and sensitive attributes {int(problem.demand.first_sensitive[-1]):,} answers), too many for global "
            "recoding. Use method 'local', leave some out, or give numbers a coarser granularity."
        )
    _refuse_impossible_people(problem, persons)
    largest = _largest_l(problem, protection)
    if protection.l is None or protection.l <= largest + 1e-9:
        return
    numbers = [len(np.unique(column)) for column in problem.tally.sensitive_codes.T]
    counts = ", ".join(
        f"{attribute.name} has {number} answer{'s' * (number != 1)}"
        for attribute, number in zip(problem.tally.sensitive, numbers, strict=True)
    )
    how = "" if protection.recursive is None else f" with c = {protection.recursive:g}"
    raise InvalidInput(
        f"No release shows an l of {protection.l:g}{how} even when everything else is generalized away ({counts}). Ask for a "
        f"smaller l: at most {math.floor(largest * 100) / 100:g}{how}."
    )


def _refuse_impossible_people(problem: Problem, persons: PersonRows | None) -> None:
    """What the whole table as one class does not show of its people, no class shows."""
    demand, people = problem.demand, problem.tally.people
    if demand.people < 0 or people is None:
        return
    everyone = int(people.sum())
    share = problem.rows / everyone
    if demand.k_map > everyone:
        unit = 1 if persons is None else UNIT
        raise InvalidInput(
            f"k-map {demand.k_map // unit} is more than the {everyone // unit:,} people who could be in the table. Ask for at "
            f"most {everyone // unit:,}."
        )
    if not demand.least_presence <= share <= demand.most_presence:
        raise InvalidInput(
            f"{share:.1%} of the people are in the table, so no release keeps the presence between "
            f"{demand.least_presence:g} and {demand.most_presence:g}. Give limits that hold {share:.3g}."
        )


def _largest_l(problem: Problem, protection: Protection) -> float:
    """The l that the whole table shows as one class."""
    tally, starts = problem.tally, problem.demand.first_sensitive
    largest = [math.inf]
    for s, column in enumerate(tally.sensitive_codes.T):
        counts = np.bincount(column - starts[s], tally.counts)
        shares = np.sort(counts[counts > 0] / counts.sum())[::-1]
        if protection.recursive is not None:
            rests = np.cumsum(shares[::-1])[::-1]  # of the l-th most frequent answer and all after it
            largest.append(float((shares[0] < protection.recursive * rests).sum()))
        elif protection.entropy:
            largest.append(float(np.exp(-(shares * np.log(shares)).sum())))
        else:
            largest.append(float(len(shares)))
    return min(largest)
