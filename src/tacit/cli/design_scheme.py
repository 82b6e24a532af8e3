"""``tacit design scheme``: a scheme from a privacy demand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.alternatives import (
    note_look_alikes,
    public_proposal,
    show_alternatives,
    show_proposal,
    without_identifiers,
)
from tacit.cli.measure import show_measures
from tacit.cli.names import listed_groups, listed_names
from tacit.cli.output import JsonFlag, note, print_json, print_table, print_text
from tacit.cli.private_prior import private_prior_path, write_scheme
from tacit.cli.truths import note_incomplete
from tacit.cli.writing import check_writable
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme
    from tacit.dataset import Dataset
    from tacit.design.purpose import NumbersDesign, PurposeDesign
    from tacit.design.ready_channels import Picked
    from tacit.design.scheme import SchemeDesign
    from tacit.schema import Schema

MissingPolicy = Literal["refuse", "answer", "drop", "most-frequent"]

MANY_REPORTS = 1_000_000  # from which their number is written as a power of ten


@dataclass(frozen=True)
class AttributeOptions:
    """Where the attributes of the scheme come from."""

    schema: Annotated[Path | None, typer.Option(help="Scheme document that lists the attributes.")] = None
    data: Annotated[Path | None, typer.Option(help="File of true answers: gives the attributes and the prior.")] = None
    answers: Annotated[
        str | None, typer.Option(help="Attributes and their answers: 'cheated=no,yes; age=young,old'.")
    ] = None
    drop: Annotated[str, typer.Option(help="Columns of --data to leave out, such as an id, separated by commas.")] = ""
    missing: Annotated[MissingPolicy, typer.Option(help="What to do with missing values in --data.")] = "refuse"
    no_prior: Annotated[
        bool,
        typer.Option("--no-prior", help="Do not write the shares of --data, not even to a file beside the scheme."),
    ] = False
    with_prior: Annotated[
        bool,
        typer.Option(
            "--with-prior", help="Write the shares of --data into the scheme, which every report file contains."
        ),
    ] = False

    def read(self, named: Sequence[str]) -> tuple[Schema, Dataset | None]:
        """The attributes, and the truths that give the prior where there is a file of them; ids only where they are named."""
        from tacit.channel.scheme import Scheme
        from tacit.dataset import Dataset

        if self.answers is not None and self.schema is not None:
            raise InvalidInput("--answers and --schema both list the attributes. Give one of them.")
        left_out = listed_names(self.drop)
        if self.data is not None and self.schema is None and self.answers is None:
            truths = without_identifiers(_truths(self.data, left_out, self.missing), named)
            note_look_alikes(truths.schema)
            return truths.schema, truths
        if left_out:
            raise InvalidInput(
                "--drop leaves columns of --data out where they are the attributes. Here others are listed."
            )
        if self.schema is None and self.answers is None:
            raise InvalidInput(
                "Where do the attributes come from? Give --schema (a scheme document), --data (a file), or --answers "
                "'cheated=no,yes; age=young,old'."
            )
        listed = listed_answers(self.answers) if self.schema is None else Scheme.read(self.schema).schema
        if self.data is None:
            return listed, None
        return listed, Dataset.read(self.data, listed, missing=self.missing, drop_others=True)

    def write(self, scheme: Scheme, out: Path) -> Scheme:
        """Write the scheme, and its prior where the options say; returns what was written as the scheme."""
        if self.no_prior and self.with_prior:
            raise InvalidInput("--with-prior and --no-prior say the opposite. Leave one of them out.")
        if self.no_prior and scheme.prior is None:
            raise InvalidInput(
                "--no-prior leaves out the shares of --data, or of a front. Give one of these, or leave it out."
            )
        bare = replace(scheme, prior=None, document=None)
        keeps = self.with_prior or (
            self.data is None and not self.no_prior
        )  # a prior that was typed is nobody's secret
        beside = write_scheme(bare if self.no_prior else scheme, out, with_prior=keeps)
        if beside is not None:
            note(
                f"The prior tells how many gave each answer, so it is in {str(beside)!r}, for your eyes only: plan and measure "
                "read it there, and report files do not carry it. --with-prior writes it into the scheme."
            )
        elif self.with_prior and self.data is not None:
            note(
                "The scheme states its prior, and report files carry the scheme: whoever gets one knows how many gave each "
                "answer."
            )
        return scheme if keeps else bare


@dataclass(frozen=True)
class DemandOptions:
    """How private the whole record, or each group, must be: keywords of `tacit.design_scheme`."""

    theta: Annotated[
        float | None, typer.Option(help="Flip groups of yes/no answers: chance that a group is reported truly.")
    ] = None
    gamma: Annotated[
        float | None,
        typer.Option(help="Largest likelihood ratio of a report between two private records (amplification)."),
    ] = None
    epsilon: Annotated[
        float | None, typer.Option(help="Epsilon of local differential privacy, ln(gamma); give this or --gamma.")
    ] = None
    rho1: Annotated[float | None, typer.Option(help="With --rho2: prior of the properties to protect.")] = None
    rho2: Annotated[
        float | None,
        typer.Option(help="With --rho1: largest posterior that a report may give a property of prior rho1."),
    ] = None
    per_group: Annotated[
        bool, typer.Option("--per-group", help="Apply the privacy bound to each group, not to the whole record.")
    ] = False

    @property
    def numbers(self) -> dict[str, float | None]:
        """The options that hold a number, by name."""
        return {name: value for name, value in asdict(self).items() if name != "per_group"}


@dataclass(frozen=True)
class FrontOptions:
    """Fronts that were designed before, and which of their points to pick."""

    fronts: Annotated[
        list[str] | None, typer.Option("--from", help="File that `design front` wrote, or attribute=file; repeatable.")
    ] = None
    method: Annotated[
        str | None, typer.Option(help="With --from: method to pick from, if the file contains several.")
    ] = None
    privacy: Annotated[float | None, typer.Option(help="With --from: the privacy of the point to pick.")] = None
    mse: Annotated[float | None, typer.Option(help="With --from: the largest error of the point to pick.")] = None
    margin: Annotated[
        float | None,
        typer.Option(help="With --from and --respondents: the largest margin of error of the point to pick."),
    ] = None

    def picks(self, schema: Schema, public: Sequence[str], respondents: int | None) -> dict[str, Picked]:
        """For each attribute its front and the point that meets the demand."""
        from tacit.design.choose import choose_point, read_front

        demand: dict[str, Any] = {"privacy": self.privacy, "mse": self.mse, "margin": self.margin}
        if self.margin is not None:
            demand["respondents"] = respondents
        private = [name for name in schema.names if name not in public]
        picks = {}
        for text in self.fronts or ():
            name, _, path = text.rpartition("=")
            if not name and len(private) != 1:
                raise InvalidInput(
                    f"Which attribute is {path!r} for? Give --from attribute={path}, once for each of {private}."
                )
            front = read_front(path, self.method)
            picks[schema[name or private[0]].name] = (front, choose_point(front, **demand))
        return picks


def design_scheme(
    *,
    out: Annotated[Path, typer.Option(help="Scheme document to write (JSON).")],
    source: AttributeOptions,
    groups: Annotated[
        str | None, typer.Option(help="Attributes to disguise together: 'a,b;c'; each alone if not said.")
    ] = None,
    public: Annotated[str, typer.Option(help="Attributes reported as they are, separated by commas.")] = "",
    demand: DemandOptions,
    device: Annotated[str | None, typer.Option(help="Ask with a published device (see tacit devices).")] = None,
    parameters: Annotated[str, typer.Option(help="With --device: chances of the device, such as 'p=2/3'.")] = "",
    ready: FrontOptions,
    purpose: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="What to estimate: 'mean:a + shares:b', cumulative:a, contrast:a:x=1,y=-1; or itemsets:3, bayes:CLASS, "
            "'tables:a,b;c,d', which ask each person some questions only.",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="With --for mean:a ...: channel to write; the first of those compared if not said."),
    ] = None,
    respondents: Annotated[
        int | None, typer.Option(help="Number of people for whom errors are predicted; 1,000 if not said.")
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Write a scheme that keeps a privacy bound, and say what it protects, what it costs and where it is weak."""
    from tacit.design.purpose import is_for_numbers, scheme_for_numbers
    from tacit.design.ready_channels import scheme_from_device, scheme_from_fronts
    from tacit.design.scheme import demanded_gamma

    check_writable(out)
    check_writable(private_prior_path(out))
    clear = listed_names(public)
    together = [] if groups is None else listed_groups(groups)
    attributes, truths = source.read([*clear, *itertools.chain.from_iterable(together)])
    if device is not None:
        _check_beside_device(groups, ready, purpose, demand)
    elif parameters:
        raise InvalidInput("--parameters are those of a device: give --device NAME with them.")
    if purpose is not None:
        _check_beside_purpose(groups, ready, demand, purpose)
        if is_for_numbers(purpose):
            numbers = scheme_for_numbers(
                purpose, attributes, demanded_gamma(**demand.numbers), public=clear, per_group=demand.per_group, kind=kind,
                prior=truths, respondents=respondents,
            )  # fmt: skip
            _deliver_numbers(replace(numbers, scheme=source.write(numbers.scheme, out)), out, json=json)
            return
        people = 1000 if respondents is None else respondents
        dealt = _for_purpose(purpose, attributes, clear, demand, truths, people)
        split = replace(dealt.split, scheme=source.write(dealt.scheme, out))
        _deliver_purpose(replace(dealt, split=split), people, out, json=json)
        return
    proposal: dict[str, Any] | None = None
    if ready.fronts:
        picks = ready.picks(attributes, clear, respondents)
        made = scheme_from_fronts(attributes, picks, clear, data=truths, respondents=respondents)
    elif device is not None:
        made = scheme_from_device(attributes, device, parameters, clear, prior=truths, respondents=respondents)
    else:
        asked = {**asdict(demand), "prior": truths, "respondents": respondents}
        made, proposal = _from_demand(attributes, groups, clear, asked)
    _deliver(replace(made, scheme=source.write(made.scheme, out)), proposal, truths, out, json=json)


def _check_beside_device(groups: str | None, ready: FrontOptions, purpose: str | None, demand: DemandOptions) -> None:
    given = {"--groups": groups is not None, "--from": bool(ready.fronts), "--for": purpose is not None}
    given |= {f"--{name}": value is not None for name, value in demand.numbers.items()}
    refused = [name for name, is_given in given.items() if is_given]
    if refused:
        raise InvalidInput(f"--device says how each answer is asked, so {refused[0]} cannot be given with it.")


def _check_beside_purpose(groups: str | None, ready: FrontOptions, demand: DemandOptions, purpose: str) -> None:
    from tacit.design.purpose import is_for_numbers

    given = {
        "--groups": groups is not None,
        "--theta": demand.theta is not None,
        "--from": bool(ready.fronts),
        "--per-group": demand.per_group and not is_for_numbers(purpose),
    }
    refused = [name for name, is_given in given.items() if is_given]
    if refused:
        raise InvalidInput(
            f"--for chooses what is asked together, so {refused[0]} cannot be given with it. Leave one of them out."
        )


def _from_demand(
    attributes: Schema, groups: str | None, public: list[str], asked: dict[str, Any]
) -> tuple[SchemeDesign, dict[str, Any] | None]:
    """The scheme, and what it would gain if more were public, where the user chose neither groups nor public attributes."""
    from tacit.design.scheme import design_scheme as design

    made = design(attributes, None if groups is None else listed_groups(groups), public, **asked)
    if public or groups is not None:
        return made, None
    return made, public_proposal(made, lambda names: design(attributes, None, names, **asked))


def _deliver(
    made: SchemeDesign, proposal: dict[str, Any] | None, truths: Dataset | None, out: Path, *, json: bool
) -> None:
    if json:
        print_json({"out": str(out), **made.to_document(), "proposed_public": proposal})
        return
    print_text(f"{out}: {made.demand}.")
    show_measures(made.measures)
    show_alternatives(made, truths)
    show_proposal(proposal)


def _deliver_numbers(made: NumbersDesign, out: Path, *, json: bool) -> None:
    from tacit.design.purpose import PLANNED_MARGIN

    if json:
        print_json({"out": str(out), **made.to_document()})
        return
    print_text(f"{out}: {made.demand}.")
    for name, choices in made.compared.items():
        rows = [
            (
                row["channel"],
                *("-" if row[key] is None else f"{row[key]:,}" for key in ("respondents_shares", "respondents_mean")),
                *("-" if row[key] is None else f"{row[key]:.3f}" for key in ("map_privacy", "worst_posterior")),
                f"{row['n_reports']:,}" if row["n_reports"] < MANY_REPORTS else f"{row['n_reports']:.0e}",
            )
            for row in choices.rows(PLANNED_MARGIN)
        ]
        title = f"{name}: respondents for a margin of {PLANNED_MARGIN:g}, by channel (the first is written)"
        print_table(title, ("channel", "shares", "mean", "privacy", "posterior", "reports"), rows)
    print_text("A dash: cannot be estimated. The margin of a mean is a share of the range of its numbers.")
    show_measures(made.measures)


def _for_purpose(
    purpose: str, attributes: Schema, public: list[str], demand: DemandOptions, truths: Dataset | None, people: int
) -> PurposeDesign:
    from tacit.design.purpose import design_for
    from tacit.design.scheme import demanded_gamma

    gamma = demanded_gamma(**demand.numbers)
    return design_for(purpose, attributes, gamma, public=public, prior=truths, respondents=people)


def _deliver_purpose(made: PurposeDesign, people: int, out: Path, *, json: bool) -> None:
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


def _truths(file: Path, left_out: Sequence[str], missing: MissingPolicy) -> Dataset:
    from tacit.dataset import Dataset
    from tacit.errors import UnknownName
    from tacit.table.files import column_names, read_columns

    present = column_names(file)
    for name in left_out:
        if name not in present:
            raise UnknownName("Column", name, present)
    selected = [name for name in present if name not in left_out]
    rows = read_columns(file, selected)
    truths = Dataset(rows, missing=missing)
    advice = " `tacit disguise` leaves them out with --missing drop."
    note_incomplete(rows.num_rows - truths.n_rows, rows.num_rows, advice)
    return truths


def listed_answers(text: str | None) -> Schema:
    """The attributes in ``cheated=no,yes; age=young,old``."""
    from tacit.schema import Attribute, Schema

    attributes = []
    for entry in (text or "").split(";"):
        name, equals, answers = entry.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(
                f"--answers takes 'cheated=no,yes; age=young,old', but {entry.strip()!r} is not like that."
            )
        attributes.append(Attribute(name.strip(), tuple(listed_names(answers))))
    return Schema(tuple(attributes))
