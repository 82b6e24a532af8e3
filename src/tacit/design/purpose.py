"""A scheme designed for what it is to be used for: ``itemsets:3``, ``bayes:CLASS`` or ``tables:a,b;c,d``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.channel.scheme import Scheme
from tacit.design.predict import PredictedErrors, predicted_errors
from tacit.design.recommend import Recommendation, recommend
from tacit.design.split import SplitDesign, split_questionnaire
from tacit.design.targets import Target, class_targets, itemset_targets, table_targets
from tacit.errors import InvalidInput
from tacit.measures.prior import with_prior
from tacit.measures.scheme import SchemeMeasures, measure
from tacit.schema import Schema

FORMS = "itemsets:3, bayes:CLASS or tables:a,b;c,d"


@dataclass(frozen=True, eq=False)
class PurposeDesign:
    """A split questionnaire for a purpose, with what it protects and the errors to expect."""

    split: SplitDesign
    demand: str
    measures: SchemeMeasures
    predicted: PredictedErrors | None  # by itemset length, where everything asked is disguised
    compared: Recommendation | None = None  # other mechanisms with the same promise, where itemsets are wanted

    @property
    def scheme(self) -> Scheme:
        return self.split.scheme

    def to_document(self) -> dict[str, Any]:
        dealing = [{"attributes": list(names), "probability": p} for names, p in self.split.dealing.items()]
        predicted = [] if self.predicted is None else self.predicted.to_document()
        return {
            "demand": self.demand,
            "scheme": self.scheme.to_document(),
            "dealing": dealing,
            "cost": self.split.cost,
            "lower_bound": self.split.lower_bound,
            "predicted": predicted,
            "compared": None if self.compared is None else self.compared.to_document(),
            **self.measures.to_document(),
        }


def purpose_targets(text: str, schema: Schema, private: Sequence[str]) -> list[Target]:
    """The tables that a purpose needs.

    >>> from tacit import Attribute, Schema
    >>> schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in ("smokes", "drinks")))
    >>> purpose_targets("bayes:smokes", schema, schema.names)
    [Target(attributes=('drinks', 'smokes'), weight=1.0)]
    """
    kind, colon, rest = text.partition(":")
    if not colon or not rest.strip():
        raise InvalidInput(f"A purpose is one of {FORMS}; {text!r} is none.")
    if kind == "itemsets":
        if not rest.strip().isdigit():
            raise InvalidInput(f"itemsets: needs a length, such as itemsets:3, not {rest!r}.")
        return itemset_targets(schema, private, int(rest))
    if kind == "bayes":
        return class_targets(schema, private, schema[rest.strip()].name)
    if kind == "tables":
        tables = [[name.strip() for name in table.split(",") if name.strip()] for table in rest.split(";")]
        return table_targets(schema, [table for table in tables if table])
    raise InvalidInput(f"A purpose is one of {FORMS}; {text!r} is none.")


def design_for(
    purpose: str,
    schema: Schema,
    gamma: float,
    *,
    public: Sequence[str] = (),
    prior: Any = None,
    respondents: int = 1000,
) -> PurposeDesign:
    """The best split questionnaire for a purpose; attributes it does not need are not asked, unless public."""
    shown = [schema[name].name for name in public]
    private = [name for name in schema.names if name not in shown]
    split = split_questionnaire(schema, purpose_targets(purpose, schema, private), gamma, public=shown)
    split = replace(split, scheme=with_prior(split.scheme, prior))
    longest = max(len(target.attributes) for target in split.targets)
    predicted = None if shown else predicted_errors(split.scheme, respondents, longest, prior)
    many = len(split.scheme.questionnaires)
    demand = f"amplification at most {gamma:g} for what each respondent is asked, {many} questionnaires for {purpose}"
    wants_itemsets = purpose.startswith("itemsets:") and not shown
    compared = recommend(schema, gamma, longest, respondents, split=split) if wants_itemsets else None
    return PurposeDesign(split, demand, measure(split.scheme, prior, respondents), predicted, compared)
