"""The options of ``tacit design front`` and ``advise``: the expected answers, what to protect, prefer and search."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import numpy as np
import typer

from tacit.cli.names import listed_names
from tacit.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from tacit.design.settings import DesignMethod
    from tacit.design.wanted import WantedNumbers
    from tacit.schema import Attribute

METHODS = ("optrr", "exact", "warner", "uniform-perturbation", "gamma-diagonal")

# The expected answers.
DistributionName = Literal["normal", "gamma", "uniform"]
Distribution = Annotated[DistributionName | None, typer.Option(help="Expected distribution of the answers.")]
Categories = Annotated[int, typer.Option(help="With --distribution: number of answers.")]
Prior = Annotated[str | None, typer.Option(help="Expected share of each answer, separated by commas.")]
Priors = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        help="Expected share of each answer, separated by commas; repeatable: --delta holds under each prior.",
    ),
]
Answers = Annotated[str | None, typer.Option(help="Names of the answers, in the order of the prior.")]
Data = Annotated[Path | None, typer.Option(help="File of true answers that gives the expected shares.")]
AttributeName = Annotated[str | None, typer.Option(help="With --data: attribute whose answers are to be disguised.")]
SchemaFile = Annotated[
    Path | None, typer.Option(help="With --data: scheme document that lists the attribute's answers.")
]
Records = Annotated[int | None, typer.Option(help="Number of respondents; the rows of --data if not said, else 10000.")]

# What to protect.
Delta = Annotated[
    float | None, typer.Option(help="Largest posterior that any report may give any answer, under the prior.")
]
Gamma = Annotated[
    float | None, typer.Option(help="Largest likelihood ratio of a report between two answers; holds under any prior.")
]
Epsilon = Annotated[float | None, typer.Option(help="Epsilon = ln(gamma); give this or --gamma.")]
Privacy = Annotated[
    float | None, typer.Option(help="With --delta: least chance that the best guess of an answer is wrong.")
]
Gammas = Annotated[
    str | None, typer.Option("--gamma", help="Bounds on the likelihood ratio of reports, separated by commas (exact).")
]
Epsilons = Annotated[
    str | None,
    typer.Option("--epsilon", help="Bounds on epsilon = ln(gamma), separated by commas; give these or --gamma."),
]
Privacies = Annotated[
    str | None,
    typer.Option("--privacy", help="Wanted chances that the best guess is wrong, separated by commas (exact)."),
]
Ball = Annotated[
    float, typer.Option(help="Keep --delta even if this share of people answers otherwise than the prior says.")
]

# What to prefer.
Methods = Annotated[str, typer.Option("--method", help=f"One or several of: {', '.join(METHODS)}.")]
Points = Annotated[int, typer.Option(help="Number of points of the exact front.")]
Closeness = Annotated[
    bool, typer.Option(help="Count a guess near the true ordered answer as partly right (not for exact).")
]

Purpose = Annotated[
    str | None,
    typer.Option(
        "--for",
        help="What to estimate, with small error: shares, mean, cumulative, contrast:a=1,b=-1, '2*mean + shares'.",
    ),
]

# How long to search.
Generations = Annotated[int, typer.Option(help="Number of generations of OptRR's search.")]
Population = Annotated[int, typer.Option(help="Number of matrices in each generation.")]
Archive = Annotated[int, typer.Option(help="Number of matrices kept from one generation to the next.")]
Slots = Annotated[int, typer.Option(help="Number of privacy steps in OptRR's optimal set.")]
Patience = Annotated[
    int | None, typer.Option(help="Stop after this many generations without improvement; never if not said.")
]
Polish = Annotated[bool, typer.Option(help="Improve OptRR's matrices by gradient descent at the end.")]
ShortPolish = Annotated[
    bool,
    typer.Option(
        "--polish/--no-polish", help="Improve OptRR's matrices by gradient descent at the end (a minute more)."
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of the search.")]

Out = Annotated[Path | None, typer.Option(help="File for the front, as JSON.")]
Plot = Annotated[Path | None, typer.Option(help="File for the picture (png, svg, pdf).")]


def checked_methods(text: str) -> list[DesignMethod]:
    """The methods of a list."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in METHODS:
            raise UnknownName("Method", name, METHODS)
    if not names:
        raise InvalidInput(f"No method is named. There is: {', '.join(METHODS)}.")
    return cast("list[DesignMethod]", names)


def amplifications(gamma: str | None, epsilon: str | None) -> list[float] | None:
    """The bounds on amplification, from either of their two forms; None where there are none."""
    if gamma is not None and epsilon is not None:
        raise InvalidInput("Give --gamma or --epsilon, not both: gamma is e to the epsilon.")
    if gamma is not None:
        return numbers("--gamma", gamma)
    return None if epsilon is None else [math.exp(value) for value in numbers("--epsilon", epsilon)]


def numbers(option: str, text: str) -> list[float]:
    """The numbers of an option that takes several, separated by commas."""
    try:
        parsed = [float(number) for number in text.split(",") if number.strip()]
    except ValueError:
        parsed = []
    if not parsed:
        raise InvalidInput(f"{option} is {text!r}; it must be numbers separated by commas, such as 0.5,0.3,0.2.")
    return parsed


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The answers that a design is for: their shares, their names where they have any, and the number of respondents."""

    shares: list[float]
    answers: list[str] | None
    records: int
    attribute: Attribute | None = None  # as a file or its schema describes it

    def purpose(self, text: str | None) -> str | WantedNumbers | None:
        """The wanted numbers of a purpose: an attribute of a schema may give its answers numbers of their own."""
        from tacit.design.wanted import wanted_numbers

        return text if text is None or self.attribute is None else wanted_numbers(text, self.attribute)


@dataclass(frozen=True, kw_only=True)
class ExpectedFrom:
    """Where the expected answers come from, as the options of a command say it."""

    distribution: DistributionName | None
    categories: int
    prior: str | None
    answers: str | None
    data: Path | None
    attribute: str | None
    schema: Path | None
    records: int | None

    def __post_init__(self) -> None:
        if sum(source is not None for source in (self.distribution, self.prior, self.data)) != 1:
            message = (
                "Say how the answers are expected to be distributed, in one way: --distribution NAME, --prior SHARES, "
            )
            raise InvalidInput(
                message + "or --data FILE --attribute NAME. If nothing is known: --distribution uniform."
            )
        if self.schema is not None and self.data is None:
            raise InvalidInput("--schema says how the answers in a file are read: give --data FILE with it.")
        if self.answers is not None and self.data is not None:
            raise InvalidInput("--answers names the answers of --prior or --distribution; --data has names of its own.")

    def read(self) -> Expected:
        if self.data is not None:
            return self._count_answers(self.data)
        names = None if self.answers is None else listed_names(self.answers)
        return Expected(shares=self._stated_shares(), answers=names, records=self._records(10_000))

    def _stated_shares(self) -> list[float]:
        if self.distribution is None:
            return numbers("--prior", self.prior or "")
        from tacit.design import named_prior

        return named_prior(self.distribution, self.categories).tolist()

    def _count_answers(self, data: Path) -> Expected:

        from tacit.channel.scheme import Scheme
        from tacit.cli.truths import complete_truths
        from tacit.table.files import column_names

        if self.attribute is None:
            raise InvalidInput("--data needs --attribute: the column whose answers are to be disguised.")
        names = column_names(data)
        if self.attribute not in names:
            raise UnknownName("Attribute", self.attribute, names)
        schema = None if self.schema is None else Scheme.read(self.schema).schema.select([self.attribute])
        truths = complete_truths(data, schema, [self.attribute])
        attribute = truths.schema[self.attribute]
        counts = np.bincount(truths.table[self.attribute], minlength=attribute.size)
        seen = counts > 0
        answers = [answer for answer, occurs in zip(attribute.answers, seen, strict=True) if occurs]
        shares = (counts[seen] / counts.sum()).tolist()
        present = attribute
        if not seen.all():
            values = None if attribute.values is None else tuple(np.array(attribute.values)[seen].tolist())
            present = replace(attribute, answers=tuple(answers), values=values)
        return Expected(
            shares=shares, answers=answers, records=self._records(int(counts.sum()) or 10_000), attribute=present
        )

    def _records(self, usual: int) -> int:
        return usual if self.records is None else self.records
