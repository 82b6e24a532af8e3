"""Persons with several rows: everyone must hide among k different people, not among k rows that may be one person's.

Counting different persons cannot be done on sums. The search therefore works on shares: a person with n rows counts 1/n in
each. A class whose shares sum to k holds at least k persons. What it finds is then counted person by person. (Local recoding
counts persons itself.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.publish.class_measures import SensitiveAnswers, SensitiveCheck, class_sizes, sensitive_check
from tacit.publish.combinations import Combinations
from tacit.publish.problem import Presence
from tacit.publish.recoding import Recoding
from tacit.publish.release_input import ReleaseInput
from tacit.publish.risk import HouseholdRisk, household_risk
from tacit.publish.settings import Protection
from tacit.publish.tally import QuasiTally
from tacit.schema import Attribute

Codes = NDArray[np.int64]
UNIT = 840  # a whole person in the search's whole numbers: halves, thirds, ... eighths are exact
ONE_ROW_KNOWN = (
    "k counts different persons for somebody who knows one row of a person. Who knows several rows of the same person can "
    "intersect their classes; that is not protected against."
)


@dataclass(frozen=True, eq=False)
class PersonRows:
    """The rows of each person: one entry for every combination that a person shows."""

    codes: Codes  # [entry, quasi-identifier]
    person: Codes
    sensitive: Codes  # [entry, sensitive attribute]
    counts: Codes
    attributes: tuple[Attribute, ...]  # the sensitive ones

    @property
    def n_persons(self) -> int:
        return int(self.person.max()) + 1

    def in_shares(self, k: int) -> int:
        return k * UNIT

    def shares(self, rows: QuasiTally) -> QuasiTally:
        """The tally with shares of persons in place of rows, rounded down so that a sum is never too large."""
        of_person = np.bincount(self.person, self.counts)
        share = np.floor(UNIT * self.counts / of_person[self.person]).astype(np.int64)
        answers = sum(attribute.size for attribute in rows.sensitive)
        sizes = [*rows.sizes.tolist(), *(answers for _ in rows.sensitive)]
        cells = Combinations([*rows.codes.T, *rows.sensitive_codes.T], sizes)
        place = cells.places([*self.codes.T, *self.sensitive.T])
        totals = np.bincount(place, share, len(cells)).astype(np.int64)
        return replace(rows, counts=totals[cells.number])

    def with_people(self, counted: QuasiTally, demand: Presence) -> tuple[QuasiTally, Presence]:
        """The people of the population, and what is asked of them, in the same units as persons."""
        if counted.people is None or int(counted.people.sum()) * UNIT >= 2**32:
            raise InvalidInput(f"The population has more people than {2**32 // UNIT:,}, the most that can be counted.")
        return replace(counted, people=counted.people * UNIT), replace(demand, k_map=demand.k_map * UNIT)

    def sizes_by_set(self, recoding: Recoding) -> list[Codes]:
        """Different persons in each published class, apart for every set of quasi-identifiers."""
        return [
            class_sizes(classes, self.counts[published], self.person[published])
            for classes, published in self._classes(recoding)
        ]

    def losers(self, recoding: Recoding) -> int:
        """Persons of whom at least one row is suppressed."""
        place = recoding.combinations.places(list(self.codes.T))
        return len(np.unique(self.person[recoding.classes[place] < 0]))

    def household_risks(self, recoding: Recoding) -> list[HouseholdRisk]:
        """The risk that a person or household is found by any published row, apart for every set of quasi-identifiers."""
        risks = []
        for classes, published in self._classes(recoding):
            counts, person = self.counts[published], self.person[published]
            risks.append(household_risk(class_sizes(classes, counts, person), classes, counts, person))
        return risks

    def keeps(self, recoding: Recoding, protection: Protection) -> bool:
        """Whether every class shows k persons, and l and t as they are counted for persons."""
        if min(int(sizes.min()) for sizes in self.sizes_by_set(recoding)) < protection.k:
            return False
        return all(check.keeps(protection.diversity) for check in self.checks(recoding, protection.tail))

    def checks(self, recoding: Recoding, tail: int | None = None) -> list[SensitiveCheck]:
        """The sensitive attributes in the classes of every set of quasi-identifiers."""
        starts = np.cumsum([0, *(attribute.size for attribute in self.attributes)])
        return [
            sensitive_check(
                classes,
                SensitiveAnswers(attribute.name, self.sensitive[published, s] - starts[s], ordered=attribute.ordered),
                self.counts[published],
                self.person[published],
                tail,
            )
            for classes, published in self._classes(recoding)
            for s, attribute in enumerate(self.attributes)
        ]

    def _classes(self, recoding: Recoding) -> list[tuple[Codes, NDArray[np.bool_]]]:
        """The class of every published entry for each set, and which entries are published."""
        place = recoding.combinations.places(list(self.codes.T))
        published = recoding.classes[place] >= 0
        return [(recoding.class_numbers(members)[place[published]], published) for members in recoding.tally.sets]


def person_rows(source: ReleaseInput, rows: QuasiTally, person: str) -> PersonRows | None:
    """Whose rows show what; None where every person has one row, so that rows are persons."""
    secret = [attribute.name for attribute in rows.sensitive]
    counted = source.sparse_tally([*rows.names, *secret, person])
    _, persons = np.unique(counted.codes[:, -1], return_inverse=True)
    if int(persons.max()) + 1 == int(counted.counts.sum()):
        return None
    m = len(rows.names)
    codes = counted.codes.astype(np.int64)
    starts = np.cumsum([0, *(attribute.size for attribute in rows.sensitive)])[:-1].astype(np.int64)
    person_rows = PersonRows(
        codes[:, :m],
        persons.ravel().astype(np.int64),
        codes[:, m:-1] + starts,
        counted.counts.astype(np.int64),
        rows.sensitive,
    )
    if person_rows.n_persons * UNIT >= 2**32:
        raise InvalidInput(
            f"{person_rows.n_persons:,} persons are more than {2**32 // UNIT:,}, the most that can be counted."
        )
    return person_rows
