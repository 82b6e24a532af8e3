"""The options of ``tacit publish``: what each is called and says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Table = Annotated[str, typer.Argument(metavar="IN", help="CSV or Parquet file of people, or address of a table.")]
Out = Annotated[
    str | None, typer.Option(help="The release: CSV, Parquet, or address of a new table in the same database.")
]
K = Annotated[int, typer.Option(help="How many everyone hides among.")]
SchemaFile = Annotated[Path | None, typer.Option(help="Document with the attributes and the order of answers.")]
Attributes = Annotated[str | None, typer.Option(help="Quasi-identifiers, by commas; several sets by semicolons.")]
RolesFile = Annotated[Path | None, typer.Option(help="Roles of the columns (YAML), as tacit roles writes them.")]
Weights = Annotated[str | None, typer.Option(help="Importance of each, such as age=.5,sex=.5; sums to 1.")]
Granularity = Annotated[str | None, typer.Option(help="Steps of numbers and dates, such as age=5,visit=month.")]
PreferLoss = Annotated[float, typer.Option(help="Loss (NWP) you would be content with.")]
PreferBias = Annotated[float, typer.Option(help="Bias (NECD) you would be content with.")]
Method = Annotated[
    Literal["compare", "search", "exact", "local", "microaggregate"], typer.Option(help="How to look for the release.")
]
Suppress = Annotated[float, typer.Option(help="Share of rows that may be left out.")]
Cells = Annotated[
    bool, typer.Option(help="With --suppress: hide single cells of rare rows instead, where that is enough.")
]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive attributes, by commas; published as they are.")]
L = Annotated[float | None, typer.Option("--l", help="Sensitive answers every class must show.")]
T = Annotated[float | None, typer.Option("--t", help="How far a class may be from the whole.")]
Entropy = Annotated[bool, typer.Option(help="Read l by entropy instead of counting answers.")]
Recursive = Annotated[
    float | None,
    typer.Option(help="c of recursive (c, l): the most frequent answer less often than c times all from the l-th on."),
]
Beta = Annotated[
    float | None, typer.Option(help="How much more frequent an answer may be in a class than in all (beta-likeness).")
]
People = Annotated[
    str | None, typer.Option(metavar="F|N", help="All people the rows may belong to: a table, or their number.")
]
KMap = Annotated[int | None, typer.Option(help="People of the population every class must hold (k-map).")]
PresenceLimits = Annotated[
    str | None,
    typer.Option("--presence", metavar="MIN,MAX", help="Share of a class's people who may be in the table."),
]
Person = Annotated[
    str | None, typer.Option(help="Column that says whose row it is: k counts persons; never published.")
]
SurveyWeights = Annotated[
    str | None,
    typer.Option(help="Column of survey weights: how many people a row stands for; for the risk, not published."),
]
Every = Annotated[
    int | None,
    typer.Option(
        metavar="M", help="k in every M of the quasi-identifiers, for who knows no more, instead of in all together."
    ),
]
Keep = Annotated[str | None, typer.Option(help="Further columns published as they are, by commas.")]
Drop = Annotated[str | None, typer.Option(help="Columns of the roles or the schema to leave out, by commas.")]
Hierarchies = Annotated[Path | None, typer.Option(help="Folder of hierarchies, NAME.csv as in ARX.")]
Order = Annotated[
    Literal["schema", "data"], typer.Option(help="Order of nominal answers: as given, or computed from the data.")
]
Target = Annotated[
    str | None, typer.Option(help="Also say how well a classifier of this published attribute survives.")
]
Missing = Annotated[Literal["refuse", "answer", "drop"], typer.Option(help="What missing values become.")]
KeepOrder = Annotated[
    bool, typer.Option("--keep-order", help="Keep the input's order of rows, which tells what it was sorted by.")
]
Choose = Annotated[
    Literal["balanced", "queries", "loss", "models", "tables"],
    typer.Option(help="What decides between methods: errors of queries, tables, models, all three, or the loss."),
]
Seconds = Annotated[
    float | None, typer.Option(help="CPU seconds of the whole run; what is left of them goes to --prove.")
]
Prove = Annotated[bool, typer.Option("--prove", help="Prove how much less could be lost at best.")]
Within = Annotated[
    float | None, typer.Option(help="Prove until the loss is within this share of the least, such as 0.01.")
]
Seed = Annotated[int | None, typer.Option(help="Makes the search repeatable.")]
Pick = Annotated[int | None, typer.Option(help="Write this alternative of the front, numbered from 0.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show everything, with further alternatives; write no release.")
]
Alternatives = Annotated[
    Path | None, typer.Option(help="File that keeps the numbered alternatives; with --pick they are read from it.")
]
Again = Annotated[bool, typer.Option("--again", help="Release an input that was released before; says what k remains.")]
Epsilon = Annotated[
    float | None, typer.Option(hidden=True, help="Now: tacit synthesize.")
]  # named, so that its new command can be
Plot = Annotated[Path | None, typer.Option(help="Picture of the front of alternatives.")]
Report = Annotated[Path | None, typer.Option(help="Page about the release for its publisher (HTML).")]
