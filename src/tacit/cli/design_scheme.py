"""``tacit design scheme``: a scheme from a privacy demand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.alternatives import public_proposal, show_alternatives, show_identifiers, show_proposal
from tacit.cli.measure import show_measures
from tacit.cli.names import listed_groups, listed_names
from tacit.cli.output import JsonFlag, print_json, print_table, print_text
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.dataset import Dataset
    from tacit.design.ready_channels import Picked
    from tacit.schema import Schema

MissingPolicy = Literal["refuse", "answer", "drop", "most-frequent"]


def design_scheme(
    out: Annotated[Path, typer.Option(help="Scheme document to write (JSON).")],
    schema: Annotated[Path | None, typer.Option(help="Scheme document whose attributes are used.")] = None,
    data: Annotated[Path | None, typer.Option(help="File of truths: gives the attributes and the prior.")] = None,
    answers: Annotated[
        str | None, typer.Option(help="The attributes themselves: 'cheated=no,yes; age=young,old'.")
    ] = None,
    drop: Annotated[str, typer.Option(help="Columns of --data that are left out, such as an id.")] = "",
    missing: Annotated[MissingPolicy, typer.Option(help="What missing values in --data mean.")] = "refuse",
    groups: Annotated[str | None, typer.Option(help="Disguised together: 'a,b;c'. Each its own if not said.")] = None,
    public: Annotated[str, typer.Option(help="Attributes reported as they are, separated by commas.")] = "",
    theta: Annotated[float | None, typer.Option(help="Flip groups of yes/no answers: chance of the truth.")] = None,
    gamma: Annotated[float | None, typer.Option(help="Largest amplification of the whole private record.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The same as local differential privacy: ln gamma.")] = None,
    rho1: Annotated[float | None, typer.Option(help="With --rho2: a property of this prior ...")] = None,
    rho2: Annotated[float | None, typer.Option(help="... never gets a posterior above this.")] = None,
    per_group: Annotated[bool, typer.Option("--per-group", help="Grant the demand to each group, not to all.")] = False,
    device: Annotated[str | None, typer.Option(help="Ask by a device of the literature (see tacit devices).")] = None,
    parameters: Annotated[str, typer.Option(help="With --device: its chances, such as 'p=2/3'.")] = "",
    fronts: Annotated[
        list[str] | None, typer.Option("--from", help="A front's file, or attribute=file; repeatable.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="With --from: which method, if the file holds several.")] = None,
    privacy: Annotated[float | None, typer.Option(help="With --from: the privacy of the point to pick.")] = None,
    mse: Annotated[float | None, typer.Option(help="With --from: the largest error of the point to pick.")] = None,
    margin: Annotated[float | None, typer.Option(help="With --from and --respondents: the margin of error.")] = None,
    purpose: Annotated[
        str | None,
        typer.Option("--for", help="Deal split questionnaires: itemsets:3, bayes:CLASS or 'tables:a,b;c,d'."),
    ] = None,
    respondents: Annotated[int | None, typer.Option(help="People the errors are for (1,000 if not said).")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Write the scheme that keeps a privacy demand, and say what it protects, what it costs and where it is weak."""
    from tacit.design.scheme import demanded_gamma
    from tacit.design.scheme import design_scheme as design

    attributes, truths = _source(schema, data, missing, answers, listed_names(drop))
    proposal: dict[str, Any] | None = None
    if device is not None:
        _checked_device(groups, fronts, purpose, theta=theta, gamma=gamma, epsilon=epsilon, rho1=rho1, rho2=rho2)
    elif parameters:
        raise InvalidInput("--parameters are those of a device: give --device NAME with them.")
    if purpose is not None:
        _checked_purpose(groups, theta, fronts, per_group=per_group)
        bound = demanded_gamma(theta=None, gamma=gamma, epsilon=epsilon, rho1=rho1, rho2=rho2)
        _design_for(purpose, attributes, bound, listed_names(public), truths, respondents, out, json=json)
        return
    if fronts:
        from tacit.design.ready_channels import scheme_from_fronts

        demand = {"privacy": privacy, "mse": mse, "margin": margin}
        if margin is not None:
            demand["respondents"] = respondents
        picks = _picked(attributes, fronts, listed_names(public), method, demand)
        made = scheme_from_fronts(attributes, picks, listed_names(public), data=truths, respondents=respondents)
    elif device is not None:
        from tacit.design.ready_channels import scheme_from_device

        made = scheme_from_device(
            attributes, device, parameters, listed_names(public), prior=truths, respondents=respondents
        )
    else:
        demands = {
            "theta": theta,
            "gamma": gamma,
            "epsilon": epsilon,
            "rho1": rho1,
            "rho2": rho2,
            "per_group": per_group,
        }
        asked: dict[str, Any] = {**demands, "prior": truths, "respondents": respondents}
        made = design(attributes, None if groups is None else listed_groups(groups), listed_names(public), **asked)
        if not public and groups is None:
            proposal = public_proposal(made, lambda names: design(attributes, None, names, **asked))
    made.scheme.write(out)
    if json:
        print_json({"out": str(out), **made.to_document(), "proposed_public": proposal})
        return
    print_text(f"{out}: {made.demand}.")
    show_measures(made.measures)
    show_alternatives(made, truths)
    show_identifiers(truths, [name for group in made.scheme.groups for name in group.names])
    show_proposal(proposal)


def _checked_device(groups: str | None, fronts: list[str] | None, purpose: str | None, **demands: float | None) -> None:
    given = {"--groups": groups is not None, "--from": bool(fronts), "--for": purpose is not None}
    given |= {f"--{name}": value is not None for name, value in demands.items()}
    refused = [name for name, is_given in given.items() if is_given]
    if refused:
        raise InvalidInput(f"--device says how each answer is asked, so {refused[0]} cannot be given with it.")


def _checked_purpose(groups: str | None, theta: float | None, fronts: list[str] | None, *, per_group: bool) -> None:
    given = {
        "--groups": groups is not None,
        "--theta": theta is not None,
        "--from": bool(fronts),
        "--per-group": per_group,
    }
    refused = [name for name, is_given in given.items() if is_given]
    if refused:
        raise InvalidInput(
            f"--for chooses what is asked together, so {refused[0]} cannot be given with it. Leave one of them out."
        )


def _design_for(
    purpose: str,
    attributes: Schema,
    gamma: float,
    public: list[str],
    truths: Dataset | None,
    respondents: int | None,
    out: Path,
    *,
    json: bool,
) -> None:
    from tacit.design.purpose import design_for

    people = 1000 if respondents is None else respondents
    made = design_for(purpose, attributes, gamma, public=public, prior=truths, respondents=people)
    made.scheme.write(out)
    if json:
        print_json({"out": str(out), **made.to_document()})
        return
    print_text(f"{out}: {made.demand}.")
    dealt = sorted(made.split.dealing.items(), key=lambda entry: -entry[1])
    print_table("Who is asked what", ("attributes", "chance"), [(", ".join(names), f"{p:.4f}") for names, p in dealt])
    if made.predicted is not None:
        rows = [(at, f"{error:.4f}") for at, error in enumerate(made.predicted.by_length, 1) if error is not None]
        print_table(f"Standard errors to expect of {people:,} respondents", ("itemset length", "error"), rows)
    if made.compared is not None:
        lengths = [str(length) for length in range(1, made.compared.max_length + 1)]
        compared = [
            (option.name, *("-" if error is None else f"{error:.4f}" for error in option.predicted.by_length))
            for option in made.compared.options
        ]
        title = f"Standard errors by itemset length, at the same promise, of {people:,} respondents"
        print_table(title, ("mechanism", *lengths), compared)
    show_measures(made.measures)


def _source(
    schema: Path | None, data: Path | None, missing: MissingPolicy, answers: str | None, left_out: Sequence[str]
) -> tuple[Schema, Dataset | None]:
    """The attributes, and the truths that give the prior where there is a file of them."""
    from tacit.channel.scheme import Scheme
    from tacit.dataset import Dataset

    if answers is not None and schema is not None:
        raise InvalidInput("--answers and --schema both list the attributes. Give one of them.")
    if data is not None and schema is None and answers is None:
        truths = _truths(data, left_out, missing)
        return truths.schema, truths
    if left_out:
        raise InvalidInput("--drop leaves columns of --data out where they are the attributes. Here others are listed.")
    if schema is None and answers is None:
        raise InvalidInput(
            "Where do the attributes come from? Give --schema (a scheme document), --data (a file), or --answers "
            "'cheated=no,yes; age=young,old'."
        )
    attributes = listed_answers(answers) if schema is None else Scheme.read(schema).schema
    return attributes, None if data is None else Dataset.read(data, attributes, missing=missing, drop_others=True)


def _truths(file: Path, left_out: Sequence[str], missing: MissingPolicy) -> Dataset:
    from tacit.dataset import Dataset
    from tacit.errors import UnknownName
    from tacit.table.files import column_names, read_columns

    present = column_names(file)
    for name in left_out:
        if name not in present:
            raise UnknownName("Column", name, present)
    kept = [name for name in present if name not in left_out]
    return Dataset.from_arrow(read_columns(file, kept), missing=missing)


def listed_answers(text: str | None) -> Schema:
    """The attributes in ``cheated=no,yes; age=young,old``."""
    from tacit.schema import Attribute, Schema

    attributes = []
    for part in (text or "").split(";"):
        name, equals, answers = part.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(
                f"--answers takes 'cheated=no,yes; age=young,old', but {part.strip()!r} is not like that."
            )
        attributes.append(Attribute(name.strip(), tuple(listed_names(answers))))
    return Schema(tuple(attributes))


def _picked(
    schema: Schema, fronts: list[str], public: list[str], method: str | None, demand: dict[str, Any]
) -> dict[str, Picked]:
    """For each attribute its front and the point that meets the demand."""
    from tacit.design.choose import choose_point, read_front

    private = [name for name in schema.names if name not in public]
    picks = {}
    for text in fronts:
        name, _, path = text.rpartition("=")
        if not name and len(private) != 1:
            raise InvalidInput(
                f"Which attribute is {path!r} for? Give --from attribute={path}, once for each of {private}."
            )
        front = read_front(path, method)
        picks[schema[name or private[0]].name] = (front, choose_point(front, **demand))
    return picks
