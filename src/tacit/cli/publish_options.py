"""The options of ``tacit publish``: what each is called and says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Table = Annotated[
    str, typer.Argument(metavar="IN", help="CSV or Parquet file of people, or address of a database table.")
]
Out = Annotated[
    str | None,
    typer.Option(help="File for the release (CSV, Parquet), or address of a new table in the same database."),
]
K = Annotated[int, typer.Option(help="Number of rows (with --person: people) that must look alike.")]
SchemaFile = Annotated[
    Path | None, typer.Option(help="Scheme document that lists the attributes and the order of their answers.")
]
Attributes = Annotated[
    str | None, typer.Option(help="Quasi-identifiers, separated by commas; several sets by semicolons.")
]
RolesFile = Annotated[Path | None, typer.Option(help="Roles of the columns (YAML), as tacit roles writes them.")]
Weights = Annotated[
    str | None, typer.Option(help="Importance of each quasi-identifier, such as age=.5,sex=.5; sums to 1.")
]
Granularity = Annotated[str | None, typer.Option(help="Finest steps of numbers and dates, such as age=5,visit=month.")]
PreferLoss = Annotated[float, typer.Option(help="Acceptable loss of detail (NWP), for the choice among alternatives.")]
PreferBias = Annotated[float, typer.Option(help="Acceptable bias (NECD), for the choice among alternatives.")]
Method = Annotated[
    Literal["compare", "search", "exact", "local", "microaggregate"],
    typer.Option(help="Method that finds the release; compare tries several."),
]
Suppress = Annotated[float, typer.Option(help="Share of rows that may be left out.")]
Cells = Annotated[
    bool, typer.Option(help="With --suppress: hide single cells of a rare row if that is enough, not the row.")
]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive attributes, separated by commas; published unchanged.")]
L = Annotated[
    float | None, typer.Option("--l", help="Least number of different sensitive answers in every class (l-diversity).")
]
T = Annotated[
    float | None,
    typer.Option("--t", help="Largest distance of a class's sensitive answers from the table's (t-closeness)."),
]
Entropy = Annotated[bool, typer.Option(help="Measure l by the entropy of the answers, not by their number.")]
Recursive = Annotated[
    float | None,
    typer.Option(help="c of recursive (c, l)-diversity: the top answer is rarer than c times those from the l-th on."),
]
Beta = Annotated[
    float | None,
    typer.Option(help="Largest relative gain of an answer's share in a class over the table (beta-likeness)."),
]
People = Annotated[
    str | None,
    typer.Option(metavar="F|N", help="Population that the rows come from: a table of people, or their number."),
]
KMap = Annotated[
    int | None, typer.Option(help="Least number of people of the population (--people) that match every class (k-map).")
]
PresenceLimits = Annotated[
    str | None,
    typer.Option(
        "--presence",
        metavar="MIN,MAX",
        help="Least and greatest share of a class's people in --people who may be in the table.",
    ),
]
Person = Annotated[
    str | None, typer.Option(help="Column that identifies the person of each row: k counts people; never published.")
]
SurveyWeights = Annotated[
    str | None,
    typer.Option(help="Column of survey weights (people that a row stands for), to compute risks; not published."),
]
Every = Annotated[
    int | None,
    typer.Option(
        metavar="M", help="Require k for every M quasi-identifiers (attacker knows at most M), not for all at once."
    ),
]
Keep = Annotated[str | None, typer.Option(help="Further columns to publish unchanged, separated by commas.")]
Drop = Annotated[str | None, typer.Option(help="Columns of --roles or --schema to leave out, separated by commas.")]
Hierarchies = Annotated[
    Path | None, typer.Option(help="Folder of generalization hierarchies: a file NAME.csv per attribute, as in ARX.")
]
Order = Annotated[
    Literal["schema", "data"],
    typer.Option(help="Order of nominal answers: as the schema lists them, or computed from the data."),
]
Target = Annotated[
    str | None, typer.Option(help="Also compare classifiers of this published attribute before and after.")
]
Missing = Annotated[
    Literal["refuse", "answer", "drop"],
    typer.Option(help="What to do with missing values: refuse them, make them an answer, or drop the row."),
]
KeepOrder = Annotated[
    bool, typer.Option("--keep-order", help="Keep the rows in the order of the input; that order may reveal something.")
]
Choose = Annotated[
    Literal["balanced", "queries", "loss", "models", "tables"],
    typer.Option(
        help="What decides between methods: errors of queries, tables or models, all three (balanced), or loss."
    ),
]
Seconds = Annotated[
    float | None, typer.Option(help="CPU seconds of the whole run; time left over is spent on the proof (--prove).")
]
Prove = Annotated[bool, typer.Option("--prove", help="Prove how much smaller the loss could be at best.")]
Within = Annotated[
    float | None,
    typer.Option(help="Continue the proof until the loss is within this share of the least possible, such as 0.01."),
]
Seed = Annotated[int | None, typer.Option(help="Seed that makes the search repeatable.")]
Pick = Annotated[int | None, typer.Option(help="Write this alternative of the front, numbered from 0.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show the results and further alternatives, but write no release.")
]
Alternatives = Annotated[
    Path | None, typer.Option(help="File to which the numbered alternatives are written; --pick reads them from it.")
]
Again = Annotated[
    bool,
    typer.Option("--again", help="Allow another release of the same input, and print the k of all releases together."),
]
Epsilon = Annotated[
    float | None, typer.Option(hidden=True, help="Now: tacit synthesize.")
]  # named, so that its new command can be
Plot = Annotated[Path | None, typer.Option(help="File for a picture of the front of alternatives.")]
Report = Annotated[Path | None, typer.Option(help="File for a page about the release (HTML), for the publisher only.")]
