"""Means and quantiles of ``tacit estimate``: what is asked, and how the answer is printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.cli.names import listed_names, listed_numbers
from tacit.cli.output import number_row, print_json, print_table
from tacit.display import decimals
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource


@dataclass(frozen=True)
class NumbersAsked:
    """Which means and quantiles are wanted, within which groups, and the numbers that were given to answers."""

    names: list[str]
    by: list[str]
    levels: list[float]
    values: dict[str, dict[str, float]]

    @classmethod
    def of(
        cls, mean: str | None, by: str | None, quantiles: str | None, values: list[str], others: dict[str, str | None]
    ) -> NumbersAsked:
        if mean is None:
            raise InvalidInput("--by and --quantiles belong to a mean: name its attribute with --mean.")
        for option in (name for name, value in others.items() if value is not None):
            raise InvalidInput(f"{option} is for a table of shares; means take --by for their groups.")
        levels = [_level(level) for level in listed_names(quantiles or "")]
        groups = listed_names(by or "")
        return cls(listed_names(mean), groups, levels, dict(map(_answer_values, values)))

    def answer(self, origins: list[ReportSource], level: float, **options: Any) -> dict[str, Any]:
        """What the command answers, for programs; the tables for people are made of it."""
        import tacit

        document: dict[str, Any] = {"level": level, "means": [], "quantiles": [], "mean_differences": []}
        for name in self.names:
            table = tacit.estimate(origins, [name, *self.by], **options)
            document |= {
                "n_reports": table.n_reports,
                "method": table.method,
                "sampling": table.sampling,
                "whom": table.whom,
            }
            means = table.mean(name, self.values.get(name))
            document["means"] += means.rows(level)
            document["mean_differences"] += means.differences(level)
            if self.levels:
                document["quantiles"] += table.quantile(name, self.levels, self.values.get(name)).rows(level)
        return document


def _answer_values(text: str) -> tuple[str, dict[str, float]]:
    name, colon, pairs = text.partition(":")
    if not colon:
        raise InvalidInput(
            f"--values takes an attribute and its answers' numbers, 'pain: none=0,some=1', not {text!r}."
        )
    return name.strip(), listed_numbers("--values", pairs) or {}


def _level(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"--quantiles takes levels between 0 and 1, such as .25,.5,.75, not {text!r}.") from None


def print_numbers(document: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json({key: value for key, value in document.items() if key != "whom"})
        return
    ends = (f"{document['level']:.0%} from", "to")
    title = f"{document['n_reports']:,} reports, by {document['method']}; errors for {document['whom']}"
    groups = list(document["means"][0]["given"])
    _print_number_rows(title, ("mean of", *groups), "mean", ends, document["means"], "given")
    if document["mean_differences"]:
        columns = ("mean of", *groups, "against")
        _print_number_rows(
            "Differences between groups", columns, "difference", ends, document["mean_differences"], "of"
        )
    if document["quantiles"]:
        rows = [
            (
                row["attribute"],
                *row["given"].values(),
                f"{row['level']:g}",
                *(f"{row[key]:g}" for key in ("value", "low", "high")),
            )
            for row in document["quantiles"]
        ]
        print_table("Quantiles", ("of", *groups, "level", "value", *ends), rows)


def _print_number_rows(
    title: str, columns: tuple[str, ...], key: str, ends: tuple[str, ...], rows: list[dict[str, Any]], group: str
) -> None:
    """A table of means or of their differences, the latter with their tests."""
    places = decimals(row["standard_error"] for row in rows)
    texts = []
    for row in rows:
        against = (" and ".join(row["against"].values()),) if "against" in row else ()
        tested = (f"{row['p']:.3g}",) if "p" in row else ()
        texts.append((*number_row((row["attribute"], *row[group].values(), *against), key, row, places), *tested))
    tested_columns = ("p",) if "p" in rows[0] else ()
    print_table(title, (*columns, key, "error", *ends, *tested_columns), texts)
