"""What any table reveals about the people in it: k, l, t, the sizes of its classes, the rows at risk."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.display import Told, told_rows
from tacit.errors import InvalidInput
from tacit.publish.class_measures import SensitiveAnswers, SensitiveCheck, class_sizes, sensitive_check
from tacit.publish.combinations import Combinations
from tacit.publish.counted_rows import COUNT, WEIGHT, counted_table
from tacit.publish.demands import UnmetDemand, hold, read_demands
from tacit.publish.every import every_set
from tacit.publish.population import COUNT as PEOPLE
from tacit.publish.population import counted_people, people_behind_labels, people_number
from tacit.publish.risk import KnownClasses, Risk, household_risk, risk_of
from tacit.publish.special_uniques import SpecialUniques, special_uniques
from tacit.schema import Attribute, Schema

if TYPE_CHECKING:
    import pyarrow as pa

RISKY_SIZE = 5
PERSONS_CLAIMED = (
    "In this release a person has several rows, and rows do not tell whose they are: k, l and t are at best those that its "
    "manifest says were counted of persons (k = {k})."
)


@dataclass(frozen=True)
class EveryCheck:
    """How well rows hide from somebody who knows m of the attributes, whichever these are."""

    m: int
    k: int
    worst: tuple[str, ...]  # the attributes whose smallest class it is
    sets: int  # of attributes that were counted
    below: int  # of them with a class below the threshold


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseCheck(Told):
    """How well the rows of a table hide among each other.

    >>> from tacit.publish import check_release
    >>> check_release({"age": ["30-40", "30-40", "50"]}, ["age"]).k
    1
    """

    attributes: tuple[str, ...]
    rows: int
    class_sizes: NDArray[np.int64]  # ascending
    sensitive: tuple[SensitiveCheck, ...]
    threshold: int  # classes below this count as risky
    risk: Risk  # prosecutor, journalist and marketer
    special: SpecialUniques | None = None  # of rows that few attributes tell apart; None where persons are counted
    worst: tuple[dict[str, Any], ...] = ()  # what the most special of them show
    every: EveryCheck | None = None  # k in every m of the attributes, where it was asked for
    claimed: Mapping[str, Any] | None = None  # what was counted of persons, by the manifest beside a release of Tacit

    @property
    def k(self) -> int:
        """Rows (or persons) of the smallest class; of a release of persons, at most what its manifest says of them."""
        return int(min(self.class_sizes[0], (self.claimed or {}).get("k") or math.inf))

    @property
    def l(self) -> float | None:  # noqa: E743  the letters of the literature
        """The fewest sensitive answers in a class."""
        numbers = [answers.distinct for answers in self.sensitive]
        return min([*numbers, (self.claimed or {}).get("l") or math.inf]) if numbers else None

    @property
    def t(self) -> float | None:
        """The greatest distance of a class from all rows."""
        distances = [answers.closeness for answers in self.sensitive]
        return max([*distances, (self.claimed or {}).get("t") or 0.0]) if distances else None

    @property
    def rows_at_risk(self) -> int:
        """Rows in classes smaller than the threshold."""
        return int(self.class_sizes[self.class_sizes < self.threshold].sum())

    @property
    def unique_rows(self) -> int:
        return int((self.class_sizes == 1).sum())

    @property
    def highest_risk(self) -> float:
        """Chance to be re-identified by someone who knows the attributes, for whoever is worst hidden."""
        return 1 / self.k

    @property
    def mean_risk(self) -> float:
        return self.risk.prosecutor_mean

    @property
    def warnings(self) -> list[str]:
        """What the figures cannot tell."""
        return [] if self.claimed is None else [PERSONS_CLAIMED.format(**self.claimed)]

    def _measures_of_rows(self) -> dict[str, Any]:
        """What the rows show, under the names that a release's `verified` has."""
        return {"k": self.k, "l": self.l, "t": self.t}

    def __str__(self) -> str:
        least = f"k = {self.k} by {', '.join(self.attributes)}"
        return told_rows(least, [{"measure": name, "value": value} for name, value in self.measures()])

    def measures(self) -> Iterator[tuple[str, str]]:
        """What was measured, as names and values to be read."""
        spread = size_spread(self.class_sizes)
        yield "k", str(self.k)
        if self.every is not None:
            name = f"k in every {self.every.m} attributes, and where it is least"
            yield name, f"{self.every.k}, {', '.join(self.every.worst)}"
        yield "rows", f"{self.rows:,}"
        yield "classes", f"{len(self.class_sizes):,}"
        yield "class sizes: least, median, greatest", f"{spread['least']}, {spread['median']}, {spread['greatest']}"
        yield f"rows in classes below {self.threshold}", f"{self.rows_at_risk:,}"
        yield "rows that are unique", f"{self.unique_rows:,}"
        if self.special is not None:
            yield f"rows that up to {self.special.largest_set} attributes tell apart (SUDA)", f"{self.special.rows:,}"
        yield from self.risk.measures()
        for answers in self.sensitive:
            figures = f"{answers.distinct}, {answers.entropy:.2f}, {answers.closeness:.3f}, {answers.beta:.3f}"
            yield f"{answers.attribute}: l, l by entropy, t, beta", figures
            yield f"{answers.attribute}: t is the distance", answers.distance
            yield f"{answers.attribute}: classes that tell one answer", f"{answers.one_answer:,}"
            yield f"{answers.attribute}: recursive (c, {answers.tail}) for every c above", f"{answers.recursive:.3g}"

    def to_document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            **self._measures_of_rows(),
            "verified": self._measures_of_rows(),
            "rows": self.rows,
            "classes": len(self.class_sizes),
            "class_sizes": size_spread(self.class_sizes),
            "unique_rows": self.unique_rows,
            "rows_at_risk": self.rows_at_risk,
            "threshold": self.threshold,
            "highest_risk": self.highest_risk,
            "mean_risk": self.mean_risk,
            "risk": self.risk.to_document(),
            "every": None if self.every is None else asdict(self.every),
            "sensitive": [_sensitive_document(answers) for answers in self.sensitive],
            "warnings": self.warnings,
            "special_uniques": None
            if self.special is None
            else self.special.to_document() | {"worst": list(self.worst)},
        }


def _sensitive_document(own: SensitiveCheck) -> dict[str, Any]:
    return {
        "attribute": own.attribute,
        "l": own.distinct,
        "entropy_l": own.entropy,
        "recursive": {"l": own.tail, "c_above": own.recursive if math.isfinite(own.recursive) else None},
        "t": own.closeness,
        "beta": own.beta,
        "enhanced_beta": own.beta if own.is_enhanced else None,
        "distance": "ordered" if own.ordered else "nominal",
        "one_answer": own.one_answer,
    }


def size_spread(sizes: NDArray[np.int64]) -> dict[str, int]:
    """Least, quartiles and greatest of the class sizes."""
    points = np.quantile(sizes, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
    return dict(zip(("least", "quarter", "median", "three_quarters", "greatest"), map(int, points), strict=True))


def check_release(
    data: Any,
    attributes: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    schema: Schema | None = None,
    person: str | None = None,
    threshold: int = RISKY_SIZE,
    people: Any = None,
    weights: str | None = None,
    special: bool = True,
    every: int | None = None,
    require: str | Mapping[str, float] | None = None,
) -> ReleaseCheck:
    """Measure a table (a file, a data frame, a database table) whose `attributes` somebody may know of a person.

    A `schema` says which sensitive attributes have ordered answers: their t counts how far answers are apart. Beside a release of
    Tacit its public manifest says it.
    With `person`, the column that says whose row it is, classes are counted in different persons.

    Parameters
    ----------
    data : path, address or data frame
        The table to be judged.
    attributes : sequence of str
        The quasi-identifiers: what somebody may know of a person.
    sensitive : sequence of str
        Columns whose answers must stay hidden.
    schema : Schema, optional
        Says which answers are ordered.
    person : str, optional
        The column that says whose row it is.
    threshold : int
        Classes below this size are counted as being at risk.
    people : int, path, address or data frame, optional
        The people the rows were drawn from. By their number uniques of the population and a journalist's risk are estimated;
        by a table with the same labels (or, for a release of Tacit with its manifest beside it, with the answers behind them)
        that risk is counted, with the k of k-map and the shares of delta-presence.
    weights : str, optional
        The column of survey weights: how many people each row stands for. A journalist's risk is then expected from them.
    special : bool
        Whether special uniques (SUDA) are looked for.
    every : int, optional
        Counts k also in every set of so many attributes, for somebody who knows no more of a person.
    require : str or mapping, optional
        What the table must show, such as ``"k=5,l=2,t=.3,prosecutor=.2,uniques=0"``.

    Returns
    -------
    ReleaseCheck

    Raises
    ------
    InvalidInput
        Where a column is missing, or a demand names no measure.
    UnmetDemand
        Where the table does not show what is required; its `check` is what would have been returned.

    Examples
    --------
    >>> from tacit import check_release
    >>> check_release({"age": ["30-40", "30-40", "50"]}, ["age"]).k
    1
    """
    wanted = [attributes] if isinstance(attributes, str) else list(attributes)
    secret = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    _refuse_columns(wanted, secret, person)
    demands = None if require is None else read_demands(require)
    manifest = _manifest(data)
    if threshold < 1:
        raise InvalidInput(f"The threshold is a class size of at least 1, not {threshold}.")
    if people is not None and weights is not None:
        raise InvalidInput("Give people or weights: both say how many people the rows stand for.")
    names = [*wanted, *secret, *(() if person is None else (person,))]
    counted = counted_table(data, names, weights)
    if counted.num_rows == 0:
        raise InvalidInput("The table has no rows: there is nothing to check.")
    counts = counted.column(COUNT).to_numpy().astype(np.int64)
    classes = _numbers(counted, tuple(wanted))
    persons = None if person is None else _numbers(counted, (person,))
    sizes = class_sizes(classes, counts, persons)
    first = np.unique(classes, return_index=True)[1]
    labels = counted.select(wanted).take(first)
    population = _population(people, labels, sizes, manifest)
    if weights is not None:
        population = KnownClasses.by_weights(counted.column(WEIGHT).to_numpy(), classes, counts, persons)
    every_check = None if every is None else _every(counted, every_set(wanted, every), counts, persons, threshold)
    checked = tuple(
        sensitive_check(classes, _answers(counted, name, schema, manifest), counts, persons) for name in secret
    )
    special_found = special_uniques(_codes(labels), sizes) if special and person is None and len(wanted) > 1 else None
    risk = risk_of(sizes, population, None if persons is None else int(persons.max()) + 1)
    if persons is not None:
        risk = replace(risk, household=household_risk(sizes, classes, counts, persons))
    claimed = manifest.get("verified") if manifest.get("persons") and person is None else None
    check = ReleaseCheck(
        tuple(wanted),
        int(counts.sum()),
        np.sort(sizes),
        checked,
        threshold,
        risk,
        special_found,
        () if special_found is None else _worst(special_found, labels),
        every_check,
        claimed,
    )
    failed = [] if demands is None else [entry for entry in hold(check, demands) if not entry.is_met]
    if failed:
        raise UnmetDemand(failed, check)
    return check


def _every(
    counted: pa.Table,
    sets: Sequence[tuple[str, ...]],
    counts: NDArray[np.int64],
    persons: NDArray[np.int64] | None,
    threshold: int,
) -> EveryCheck:
    """The smallest class of any of these sets of attributes, in rows or in persons."""
    codes = {name: _numbers(counted, (name,)) for name in dict.fromkeys(name for names in sets for name in names)}
    width = {name: int(column.max()) + 1 for name, column in codes.items()}
    least = []
    for names in sets:
        classes = Combinations([codes[name] for name in names], [width[name] for name in names]).number
        least.append(int(class_sizes(classes, counts, persons).min()))
    worst = int(np.argmin(least))
    return EveryCheck(len(sets[0]), least[worst], sets[worst], len(sets), sum(column < threshold for column in least))


def _refuse_columns(wanted: Sequence[str], secret: Sequence[str], person: str | None) -> None:
    if not wanted:
        raise InvalidInput("Name at least one attribute that somebody may know of a person.")
    both = [name for name in secret if name in wanted]
    if both:
        raise InvalidInput(
            f"{both[0]!r} cannot be sensitive and known to an attacker at once. Name it on one side only."
        )
    names = [*wanted, *secret, *(() if person is None else (person,))]
    if len(set(names)) < len(names):
        raise InvalidInput(f"{person!r} says whose row it is: it cannot be known to an attacker or sensitive as well.")


def _worst(special: SpecialUniques, shown: pa.Table) -> tuple[dict[str, Any], ...]:
    rows = special.worst()
    answers = shown.take(rows).to_pylist()
    return tuple(
        {"score": float(special.scores[row]), "answers": {name: str(value) for name, value in answer.items()}}
        for row, answer in zip(rows, answers, strict=True)
    )


def _codes(shown: pa.Table) -> NDArray[np.int64]:
    """Distinct combinations as codes."""
    return np.stack([_numbers(shown, (name,)) for name in shown.column_names], axis=1)


def _population(
    people: Any, shown: pa.Table, sizes: NDArray[np.int64], manifest: Mapping[str, Any]
) -> int | KnownClasses | None:
    """The population by its number, or by its people in every class of the table."""
    if people is None or (number := people_number(people)) is not None:
        return None if people is None else number
    counted = counted_people(people, shown.column_names)
    totals, unmatched = people_behind_labels(counted, shown, manifest.get("labels", {}), manifest.get("ranges", ()))
    short = np.flatnonzero(totals < sizes)
    if len(short):
        answers = shown.slice(int(short[0]), 1).to_pylist()[0]
        raise InvalidInput(
            f"The table of people holds {int(totals[short[0]]):,} who show {answers}, fewer than the {int(sizes[short[0]]):,} "
            "rows of the table. Give everybody whom the rows may belong to, with the same labels."
        )
    return KnownClasses(totals.astype(np.float64), "table", int(np.sum(counted.column(PEOPLE).to_numpy())), unmatched)


def _manifest(data: Any) -> Mapping[str, Any]:
    """The public manifest that lies beside a release of Tacit; empty where there is none."""
    path = Path(f"{data}.manifest.json") if isinstance(data, str | Path) else None
    if path is None or not path.is_file():
        return {}
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) and str(document.get("format")).startswith("tacit-release/") else {}


def _answers(tally: pa.Table, name: str, schema: Schema | None, manifest: Mapping[str, Any]) -> SensitiveAnswers:
    """The answers of a sensitive column; in the order of the schema, or of the manifest, where it has one."""
    texts = pc.dictionary_encode(tally.column(name), null_encoding="encode").combine_chunks()
    codes = texts.indices.to_numpy().astype(np.int64)
    attribute = None if schema is None or name not in schema else schema[name]
    for entry in manifest.get("sensitive", ()) if schema is None else ():
        if entry["name"] == name:
            attribute = Attribute(name, tuple(entry["answers"]), ordered=bool(entry["ordered"]))
    if attribute is None or not attribute.ordered:
        return SensitiveAnswers(name, codes, ordered=False)
    place = np.array([attribute.encode(str(text)) for text in texts.dictionary.to_pylist()], np.int64)
    return SensitiveAnswers(name, place[codes], ordered=True)


def _numbers(tally: pa.Table, attributes: tuple[str, ...]) -> NDArray[np.int64]:
    """The class of every combination."""
    number = np.zeros(tally.num_rows, np.int64)
    for name in attributes:
        codes = pc.dictionary_encode(tally.column(name), null_encoding="encode").combine_chunks().indices.to_numpy()
        _, number = np.unique(number * (int(codes.max()) + 1) + codes, return_inverse=True)
    return number.ravel().astype(np.int64)
