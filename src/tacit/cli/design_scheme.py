"""``tacit design scheme``: a scheme from a privacy demand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tacit.cli.measure import show_measures
from tacit.cli.output import JsonFlag, print_json, print_text
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.dataset import Dataset
    from tacit.schema import Schema

MissingPolicy = Literal["refuse", "answer", "drop", "most-frequent"]


def design_scheme(
    out: Annotated[Path, typer.Option(help="Scheme document to write (JSON).")],
    schema: Annotated[Path | None, typer.Option(help="Scheme document whose attributes are used.")] = None,
    data: Annotated[Path | None, typer.Option(help="File of truths: gives the attributes and the prior.")] = None,
    missing: Annotated[MissingPolicy, typer.Option(help="What missing values in --data mean.")] = "refuse",
    groups: Annotated[str | None, typer.Option(help="Disguised together: 'a,b;c'. Each its own if not said.")] = None,
    public: Annotated[str, typer.Option(help="Attributes reported as they are, separated by commas.")] = "",
    theta: Annotated[float | None, typer.Option(help="Flip groups of yes/no answers: chance of the truth.")] = None,
    gamma: Annotated[float | None, typer.Option(help="Largest amplification of the whole private record.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The same as local differential privacy: ln gamma.")] = None,
    rho1: Annotated[float | None, typer.Option(help="With --rho2: a property of this prior ...")] = None,
    rho2: Annotated[float | None, typer.Option(help="... never gets a posterior above this.")] = None,
    per_group: Annotated[bool, typer.Option("--per-group", help="Grant the demand to each group, not to all.")] = False,
    respondents: Annotated[int | None, typer.Option(help="People the errors are for (1,000 if not said).")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Write the scheme that keeps a privacy demand, and say what it protects, what it costs and where it is weak."""
    from tacit.design.scheme import design_scheme as design

    attributes, truths = _source(schema, data, missing)
    made = design(
        attributes,
        None if groups is None else [_names(part) for part in groups.split(";")],
        _names(public),
        theta=theta,
        gamma=gamma,
        epsilon=epsilon,
        rho1=rho1,
        rho2=rho2,
        per_group=per_group,
        prior=truths,
        respondents=respondents,
    )
    made.scheme.write(out)
    if json:
        print_json({"out": str(out), **made.to_document()})
        return
    print_text(f"{out}: {made.demand}.")
    show_measures(made.measures)


def _source(schema: Path | None, data: Path | None, missing: MissingPolicy) -> tuple[Schema, Dataset | None]:
    """The attributes, and the truths that give the prior where there is a file of them."""
    from tacit.channel.scheme import Scheme
    from tacit.dataset import Dataset

    if data is not None and schema is None:
        truths = Dataset.read(data, missing=missing)
        return truths.schema, truths
    if schema is None:
        raise InvalidInput("Where do the attributes come from? Give --schema (a scheme document) or --data (a file).")
    attributes = Scheme.read(schema).schema
    return attributes, None if data is None else Dataset.read(data, attributes, missing=missing, drop_others=True)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
