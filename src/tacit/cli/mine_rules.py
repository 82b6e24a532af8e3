"""``tacit mine rules``: frequent itemsets and association rules from disguised reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typer

from tacit.cli.mine_options import Join, Reports, Schemes
from tacit.cli.output import JsonFlag, note, print_json, print_table, print_text
from tacit.cli.reading import read_or_joined
from tacit.display import decimals, fixed_decimals, rounded_error
from tacit.mine.itemset_result import Itemsets
from tacit.mine.itemsets import FrequentItemsets
from tacit.mine.rules import Rule, Rules, association_rules, confidence_decimals, labels

Metric = Literal["support", "confidence", "lift", "leverage", "conviction"]
Method = Literal["inversion", "likelihood"]


def rules(
    reports: Reports,
    scheme: Schemes = None,
    min_support: Annotated[
        float, typer.Option(help="Least share of people who give all answers of an itemset.")
    ] = 0.02,
    max_length: Annotated[
        int | None, typer.Option(help="Largest number of answers in an itemset; unlimited if not said.")
    ] = None,
    slack: Annotated[
        float, typer.Option(help="Extend itemsets down to this many standard errors below --min-support.")
    ] = 0.0,
    metric: Annotated[Metric, typer.Option(help="Metric by which rules are chosen and ordered.")] = "confidence",
    min_threshold: Annotated[float, typer.Option(help="Least value of --metric for a rule.")] = 0.8,
    method: Annotated[Method, typer.Option(help="How supports are estimated.")] = "inversion",
    certainty: Annotated[
        float,
        typer.Option(help="List itemsets and rules above the threshold with this confidence; 0: all estimated above."),
    ] = 0.95,
    join: Join = None,
    top: Annotated[
        int, typer.Option(min=1, help="Largest number of rows to print of each table; --json gives all.")
    ] = 20,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Find answers that people often give together (itemsets), and rules that lead from some answers to others."""
    source = read_or_joined(reports, scheme or [], join)
    miner = FrequentItemsets(min_support, max_length, slack, method, certainty).fit(source)
    itemsets = miner.itemsets_
    made = association_rules(itemsets, metric, min_threshold)
    for reason in (*itemsets.unknown, *itemsets.notes):
        note(f"Note: {reason}")
    if json:
        document: dict[str, Any] = {
            "n_reports": itemsets.n_reports,
            "min_support": itemsets.min_support,
            "method": method,
            "error_rule": miner.itemsets_.supports.error_rule,
        }
        document["certainty"] = itemsets.certainty
        warnings = [*itemsets.unknown, *itemsets.notes, *_infinite(made), *([] if len(made) else [made.none])]
        print_json({**document, "itemsets": itemsets.to_document(), "rules": made.to_document(), "warnings": warnings})
        return
    _show(itemsets, made, top)


def _infinite(made: Rules) -> list[str]:
    if all(rule.conviction.value < float("inf") for rule in made):
        return []
    return ["A conviction of null is infinite: the rule never fails in the estimate."]


def _show(itemsets: Itemsets, made: Rules, top: int) -> None:
    if not len(itemsets):
        print_text(
            f"No itemset reaches a support of {itemsets.min_support:g}{_certainty(itemsets)}.{_advice(itemsets)}"
        )
        return
    largest = sorted(itemsets, key=lambda itemset: -itemset.support)[:top]
    places = decimals(found_set.standard_error for found_set in largest)
    title = f"{len(itemsets):,} itemsets frequent{_certainty(itemsets)} in {itemsets.n_reports:,} reports"
    print_table(
        _title(title, len(itemsets), top),
        ("itemset", "support", "95% interval", "standard error"),
        [
            (
                ", ".join(found_set.labels),
                fixed_decimals(found_set.support, places),
                f"{fixed_decimals(found_set.low, places)} to {fixed_decimals(found_set.high, places)}",
                rounded_error(found_set.standard_error, places),
            )
            for found_set in largest
        ],
    )
    if not len(made):
        print_text(made.none)
        return
    title = f"{len(made):,} rules with {made.metric} of at least {made.min_threshold:g}{_certainty(itemsets)}"
    columns = ("if", "then", "support", "confidence (95% interval)", "lift")
    print_table(_title(title, len(made), top), columns, _rows(list(made)[:top]))


def _rows(rules: Sequence[Rule]) -> list[tuple[str, ...]]:
    """The rules as rows, each column with as many digits as its errors leave."""
    supports, lifts = (decimals(getattr(rule, name).standard_error for rule in rules) for name in ("support", "lift"))
    sure = confidence_decimals(rules)
    return [
        (
            ", ".join(labels(rule.antecedents)),
            ", ".join(labels(rule.consequents)),
            fixed_decimals(rule.support.value, supports),
            f"{fixed_decimals(rule.confidence.value, sure)} ({fixed_decimals(rule.confidence.low, sure)} to "
            f"{fixed_decimals(rule.confidence.high, sure)})",
            fixed_decimals(rule.lift.value, lifts),
        )
        for rule in rules
    ]


def _certainty(itemsets: Itemsets) -> str:
    return "" if itemsets.certainty is None else f" with {itemsets.certainty:.0%} certainty"


def _advice(itemsets: Itemsets) -> str:
    if itemsets.certainty is None:
        return " Lower --min-support for rarer ones."
    return " Ask more people, lower --min-support, or see every estimate, however rough, with --certainty 0."


def _title(title: str, rows: int, top: int) -> str:
    return f"{title}; the {top} largest" if rows > top else title
