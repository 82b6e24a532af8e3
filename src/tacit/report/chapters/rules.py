"""Which answers go together: frequent itemsets and rules, and what the same promise buys when it is designed for."""

from __future__ import annotations

from tacit.bundled import census
from tacit.channel import gamma_diagonal
from tacit.channel.scheme import Scheme
from tacit.design.predict import predicted_errors
from tacit.design.split import split_questionnaire
from tacit.design.targets import itemset_targets
from tacit.disguising import disguise
from tacit.mine.itemsets import FrequentItemsets
from tacit.mine.rules import Rule, association_rules
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Rows, Text
from tacit.reports import Reports

GAMMA = 19.0
MIN_SUPPORT = 0.02
SHOWN = 8


def rules(data: DemoData) -> Chapter:
    truth = census()
    schema = truth.schema
    schemes = {
        "the whole record at once": Scheme.of(schema, [(schema.names, gamma_diagonal(GAMMA))]),
        "a split questionnaire": split_questionnaire(
            schema, itemset_targets(schema, schema.names, len(schema)), GAMMA
        ).scheme,
    }
    clear = FrequentItemsets(MIN_SUPPORT).fit(Reports.from_truth(truth)).itemsets_
    true = {itemset.items for itemset in clear}
    rows = []
    for name, scheme in schemes.items():
        miner = FrequentItemsets(MIN_SUPPORT, slack=0.5).fit(disguise(truth, scheme, seed=data.seed))
        found = {_sorted(itemset.items, schema.names) for itemset in miner.itemsets_}
        predicted = [error for error in predicted_errors(scheme, truth.n_rows).by_length if error is not None]
        errors = f"{max(predicted):.3f} to {min(predicted):.3f}"
        rows.append((name, errors, f"{len(found & true)} of {len(true)}", f"{len(found - true)}"))
    sure = list(association_rules(miner.itemsets_, "lift", 1.2))
    return Chapter(
        "Mine: answers that go together",
        (
            Text(
                f"Six questions of {truth.n_rows:,} people, disguised so that no report shifts anybody's odds by more than "
                f"{GAMMA:g}. Disguising whole records leaves little; dealing each person a few questions, chosen by convex "
                "optimisation, keeps the same promise and finds most of what is there."
            ),
            Rows(("disguised by", "standard errors foreseen", "frequent itemsets found", "found by mistake"), rows),
            Text(
                "The rules that lift most, from the split questionnaire: each is certain at 95%; ± is one standard error."
            ),
            Rows(("if", "then", "confidence", "lift"), [_row(rule) for rule in sure[:SHOWN]]),
        ),
    )


def _sorted(items: tuple[tuple[str, str], ...], names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(items, key=lambda item: names.index(item[0])))


def _row(rule: Rule) -> tuple[str, ...]:
    sides = [", ".join(f"{name} {answer}" for name, answer in side) for side in (rule.antecedents, rule.consequents)]
    numbers = (rule.confidence, rule.lift)
    return (*sides, *(f"{number.value:.2f} ± {number.standard_error:.2f}" for number in numbers))
