"""Attributes, their answers, and how numbers become answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Literal

from tacit.display import Told, told_rows
from tacit.errors import InvalidInput, UnknownAnswer, UnknownName

Closed = Literal["left", "right"]
# What one report of an attribute shows: one answer; a set of a fixed number of answers; one bit per answer; or the set of
# answers that fall into one bucket of a hash (`tacit.table.hashed`).
Shows = Literal["one", "set", "bits", "hashed"]

RESERVED = "questionnaire"
# The column of report files that says who sent a report of a panel: a random mark, no part of the report.
PANEL = "panel"


@dataclass(frozen=True, slots=True)
class Cut:
    """Where numbers become answers: answer i holds the numbers between ``edges[i-1]`` and ``edges[i]``.

    The outermost intervals are open-ended. `closed` says to which side a number that equals an edge belongs:
    "right" means (a, b], so it belongs to the interval below.

    Parameters
    ----------
    edges : tuple of float
        Where one interval ends and the next begins.
    closed : {"right", "left"}
        To which side a number that equals an edge belongs.

    Examples
    --------
    >>> from tacit import Cut
    >>> Cut((18.0, 65.0)).edges
    (18.0, 65.0)
    """

    edges: tuple[float, ...]
    closed: Closed = "right"

    def __post_init__(self) -> None:
        if not self.edges or any(not math.isfinite(edge) for edge in self.edges):
            raise InvalidInput(f"A cut needs at least one finite edge, not {list(self.edges)}.")
        if any(a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)):
            raise InvalidInput(f"The edges of a cut must ascend, not {list(self.edges)}. Sort them, drop repeats.")
        if self.closed not in ("left", "right"):
            raise InvalidInput(f"A cut is closed on the 'left' or the 'right', not {self.closed!r}.")

    @property
    def side(self) -> Closed:
        """The side on which `numpy.searchsorted` must look to give the codes of numbers."""
        return "left" if self.closed == "right" else "right"

    @classmethod
    def from_document(cls, document: Any) -> Cut:
        """The cut of an entry in a scheme document."""
        edges = document.get("edges") if isinstance(document, Mapping) else None
        if not isinstance(edges, list | tuple) or not all(isinstance(edge, int | float) for edge in edges):
            raise InvalidInput(f"A cut must be an object with a list of edges, not {document!r}.")
        return cls(tuple(map(float, edges)), document.get("closed", "right"))

    def labels(self) -> tuple[str, ...]:
        """Readable names of the intervals, such as ``<=35``, ``(35,55]``, ``>55``."""
        low, high, opening, closing = ("<=", ">", "(", "]") if self.closed == "right" else ("<", ">=", "[", ")")
        texts = [f"{edge:g}" for edge in self.edges]
        if len(set(texts)) < len(texts):
            texts = [repr(edge) for edge in self.edges]
        inner = [f"{opening}{a},{b}{closing}" for a, b in itertools.pairwise(texts)]
        return (low + texts[0], *inner, high + texts[-1])


@dataclass(frozen=True, slots=True)
class Attribute:
    """One question; code i stands for ``answers[i]``.

    `cut` says how numbers are read as answers, `missing` which answer an empty value is read as (none: refused).

    Parameters
    ----------
    name : str
        What the column is called.
    answers : tuple of str
        The answers, in the order of their codes.
    ordered : bool
        Whether that order means something.
    cut : Cut, optional
        Where numbers become answers.
    missing : str, optional
        The answer that an empty value is read as.
    shows : {"one", "set", "bits", "hashed"}
        What a column of reports shows: one answer, a set of them, a bit for each, or a bucket of a hash.
    buckets : int
        How many buckets that hash has; 0 where there is none.
    values : tuple of float, optional
        The number that each answer stands for, in a mean; answers that are numbers stand for themselves.

    Examples
    --------
    >>> Attribute("smokes", ("no", "yes")).encode("yes")
    1
    """

    name: str
    answers: tuple[str, ...]
    ordered: bool = False
    cut: Cut | None = None
    missing: str | None = None
    shows: Shows = "one"
    buckets: int = 0
    values: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidInput(f"An attribute needs a name, a text, not {self.name!r}.")
        if isinstance(self.answers, str):
            raise InvalidInput(
                f"The answers of {self.name!r} are a list of texts such as ('no', 'yes'), not the one text {self.answers!r}."
            )
        if not isinstance(self.answers, tuple) or not all(isinstance(answer, str) for answer in self.answers):
            object.__setattr__(self, "answers", _texts(self.name, self.answers))
        if len(self.answers) < 2:
            raise InvalidInput(
                f"{self.name!r} has {len(self.answers)} answer(s): there is nothing to hide and nothing to learn. "
                "Give at least two, or leave the attribute out."
            )
        if len(set(self.answers)) < len(self.answers):
            repeated = next(answer for answer in self.answers if self.answers.count(answer) > 1)
            raise InvalidInput(f"{self.name!r} lists the answer {repeated!r} twice. Name each answer once.")
        if self.cut is not None and len(self.cut.edges) + 1 != len(self.answers):
            raise InvalidInput(
                f"{self.name!r} has {len(self.answers)} answers but its cut makes {len(self.cut.edges) + 1} intervals."
            )
        if self.missing is not None and self.missing not in self.answers:
            raise UnknownAnswer(self.name, self.missing, self.answers)
        if self.values is not None:
            object.__setattr__(self, "values", _numbers(self.name, self.values, self.size))

    @property
    def size(self) -> int:
        return len(self.answers)

    @property
    def tally_size(self) -> int:
        """Slots of its axis in a tally: one per answer, and for sets a last one that counts every report."""
        return self.size if self.shows == "one" else self.size + 1

    def encode(self, value: str) -> int:
        """The code of an answer; refuses what is none."""
        try:
            return self.answers.index(value)
        except ValueError:
            raise UnknownAnswer(self.name, value, self.answers) from None

    def to_document(self) -> dict[str, Any]:
        """Its entry in the scheme document."""
        document: dict[str, Any] = {"name": self.name, "answers": list(self.answers), "ordered": self.ordered}
        if self.cut is not None:
            document["cut"] = {"edges": list(self.cut.edges), "closed": self.cut.closed}
        if self.missing is not None:
            document["missing"] = self.missing
        if self.values is not None:
            document["values"] = list(self.values)
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Attribute:
        """The attribute of an entry in a scheme document."""
        if not isinstance(document, Mapping) or not isinstance(document.get("name"), str):
            raise InvalidInput(f"An attribute must be an object with a name and answers, not {document!r}.")
        name, answers = document["name"], document.get("answers")
        if not isinstance(answers, list | tuple):
            raise InvalidInput(f"The answers of {name!r} must be a list of texts, not {answers!r}.")
        cut = document.get("cut")
        return cls(
            name,
            tuple(str(answer) for answer in answers),
            ordered=bool(document.get("ordered", False)),
            cut=None if cut is None else Cut.from_document(cut),
            missing=document.get("missing"),
            values=document.get("values"),
        )


def _texts(name: str, answers: Any) -> tuple[str, ...]:
    """Answers given as a list, or as numbers, which compare as text."""
    if not isinstance(answers, Iterable):
        raise InvalidInput(f"The answers of {name!r} are a list of texts such as ('no', 'yes'), not {answers!r}.")
    if isinstance(answers, Set):
        raise InvalidInput(
            f"The answers of {name!r} stand in an order, and a set has none. Give a list, such as {sorted(map(str, answers))}."
        )
    listed = tuple(answers)
    wrong = [answer for answer in listed if isinstance(answer, bool) or not isinstance(answer, str | int)]
    if wrong:
        raise InvalidInput(
            f"The answers of {name!r} are texts such as 'no' and 'yes'; {wrong[0]!r} is none. Put it in quotes."
        )
    return tuple(map(str, listed))


def _numbers(name: str, values: Any, size: int) -> tuple[float, ...]:
    """The numbers of an attribute's answers, one each."""
    are_numbers = isinstance(values, list | tuple) and all(
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) for value in values
    )
    if not are_numbers or len(values) != size:
        raise InvalidInput(
            f"The values of {name!r} must be {size} numbers, one for each of its answers, not {values!r}."
        )
    return tuple(map(float, values))


def numeric(name: str, edges: Sequence[float], *, closed: Closed = "right", labels: Sequence[str] = ()) -> Attribute:
    """An ordered attribute whose answers are the intervals between `edges`."""
    cut = Cut(tuple(map(float, edges)), closed)
    return Attribute(name, tuple(labels) or cut.labels(), ordered=True, cut=cut)


@dataclass(frozen=True, slots=True, repr=False)
class Schema(Told):
    """The attributes of a table, in order.

    Parameters
    ----------
    attributes : tuple of Attribute
        In the order of the columns.

    Examples
    --------
    >>> schema = Schema((Attribute("smokes", ("no", "yes")), Attribute("age", ("young", "old"), ordered=True)))
    >>> schema.shape(["age"])
    (2,)
    """

    attributes: tuple[Attribute, ...]
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _by_name: dict[str, Attribute] = field(init=False, repr=False, compare=False)
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        one_thing = isinstance(self.attributes, Attribute | str | Mapping) or not isinstance(self.attributes, Iterable)
        if one_thing or not all(isinstance(item, Attribute) for item in self.attributes):
            wrong = (
                self.attributes
                if one_thing
                else next(item for item in self.attributes if not isinstance(item, Attribute))
            )
            raise InvalidInput(
                "A schema is a list of attributes, such as Schema([Attribute('smokes', ('no', 'yes'))]), not "
                f"{wrong if isinstance(wrong, str) else type(wrong).__name__}."
            )
        object.__setattr__(self, "attributes", tuple(self.attributes))
        # Wide questionnaires look attributes up by the hundred thousand.
        object.__setattr__(self, "names", tuple(attribute.name for attribute in self.attributes))
        object.__setattr__(self, "_by_name", {attribute.name: attribute for attribute in self.attributes})
        object.__setattr__(self, "_places", {name: place for place, name in enumerate(self.names)})
        names = self.names
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise InvalidInput(f"Two attributes are called {repeated!r}. Give each its own name.")
        if RESERVED in names:
            raise InvalidInput(f"No attribute may be called {RESERVED!r}: report files use this column themselves.")

    def __str__(self) -> str:
        rows = [
            {"attribute": attribute.name, "answers": attribute.size, "these": _answer_words(attribute)}
            for attribute in self
        ]
        return told_rows(f"{len(self)} attribute{'s' * (len(self) != 1)}", rows)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Attribute:
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownName("Attribute", name, self.names) from None

    def place(self, name: str) -> int:
        """Where an attribute stands among the others."""
        return self._places[self[name].name]

    def shape(self, names: Iterable[str] | None = None) -> tuple[int, ...]:
        """Number of answers of each attribute, or of each of these."""
        return tuple(self[name].size for name in (self.names if names is None else names))

    def select(self, names: Iterable[str]) -> Schema:
        """The schema of only these attributes, in this order."""
        return Schema(tuple(self[name] for name in ((names,) if isinstance(names, str) else names)))


SAID_ANSWERS = 5  # of an attribute, where a schema shows itself


def _answer_words(attribute: Attribute) -> str:
    said = ", ".join(attribute.answers[:SAID_ANSWERS]) + ", ..." * (attribute.size > SAID_ANSWERS)
    return said + " (ordered)" * attribute.ordered
