"""A scheme designed for what it is to be used for: ``itemsets:3``, ``bayes:CLASS``, ``tables:a,b;c,d`` or ``mean:stress``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.channel.scheme import Scheme
from tacit.design.predict import PredictedErrors, predicted_errors
from tacit.design.question import Purpose, QuestionChoices, choose_channel, choose_for_numbers
from tacit.design.recommend import Recommendation, recommend
from tacit.design.scheme import SchemeDesign, checked_groups
from tacit.design.split import SplitDesign, split_questionnaire
from tacit.design.targets import Target, class_targets, itemset_targets, table_targets
from tacit.design.wanted import BUILDERS, parsed_terms, split_name, split_terms, wanted_numbers
from tacit.design.wanted import FORMS as NUMBER_FORMS
from tacit.errors import InvalidInput
from tacit.estimation.numbers import answer_numbers
from tacit.measures.prior import with_prior
from tacit.measures.scheme import SchemeMeasures, measure
from tacit.schema import Attribute, Schema

FORMS = f"itemsets:3, bayes:CLASS, tables:a,b;c,d, {NUMBER_FORMS}"
PLANNED_MARGIN = 0.05  # for which channels are compared


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
    public_names = [schema[name].name for name in public]
    private = [name for name in schema.names if name not in public_names]
    split = split_questionnaire(schema, purpose_targets(purpose, schema, private), gamma, public=public_names)
    split = replace(split, scheme=with_prior(split.scheme, prior))
    longest = max(len(target.attributes) for target in split.targets)
    predicted = None if public_names else predicted_errors(split.scheme, respondents, longest, prior)
    many = len(split.scheme.questionnaires)
    demand = f"amplification at most {gamma:g} for what each respondent is asked, {many} questionnaires for {purpose}"
    wants_itemsets = purpose.startswith("itemsets:") and not public_names
    compared = recommend(schema, gamma, longest, respondents, split=split) if wants_itemsets else None
    return PurposeDesign(split, demand, measure(split.scheme, prior, respondents), predicted, compared)


def is_for_numbers(purpose: str) -> bool:
    """Whether a purpose wants numbers of single attributes, for which each is disguised by itself."""
    return purpose.strip().rpartition("*")[2].strip().partition(":")[0] in BUILDERS


@dataclass(frozen=True, eq=False, repr=False)
class NumbersDesign(SchemeDesign):
    """A scheme for wanted numbers, with the channels that were compared for each attribute, the chosen one first."""

    compared: Mapping[str, QuestionChoices] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        compared = {name: choices.rows(PLANNED_MARGIN) for name, choices in self.compared.items()}
        return {**super().to_document(), "compared": compared, "margin": PLANNED_MARGIN}


def scheme_for_numbers(
    purpose: str,
    schema: Schema,
    gamma: float,
    *,
    public: Sequence[str] = (),
    per_group: bool = False,
    kind: str | None = None,
    prior: Any = None,
    respondents: int | None = None,
) -> NumbersDesign:
    """The scheme with the fewest respondents for what is wanted of each attribute; without a purpose that is its shares.

    `gamma` is for the whole private record, or with `per_group` for each attribute. `kind` takes the channel of that name from
    the comparison, such as "exact", instead of the first.

    >>> from tacit import Attribute, Schema
    >>> schema = Schema((Attribute("stress", tuple(map(str, range(11))), ordered=True),))
    >>> design = scheme_for_numbers("mean:stress", schema, 7 / 3)
    >>> design.scheme.groups[0].channel.kind, design.compared["stress"].chosen.need("mean", 0.05)
    ('threshold', 2297)
    """
    private = [names[0] for names in checked_groups(schema, None, public)]
    terms = _terms_by_attribute(purpose, schema, private)
    each = gamma if per_group else gamma ** (1 / len(private))
    compared = {
        name: _channel_choices(schema[name], terms.get(name, ["shares"]), each).led_by(kind) for name in private
    }
    scheme = Scheme.from_groups(schema, [((name,), choices.chosen.recipe) for name, choices in compared.items()])
    whole = f"{gamma:.6g} for each attribute" if per_group else f"{gamma:.6g} for the whole private record"
    demand = f"amplification at most {whole}, for {purpose}"
    return NumbersDesign(with_prior(scheme, prior), demand, measure(scheme, prior, respondents), compared=compared)


def _terms_by_attribute(purpose: str, schema: Schema, private: Sequence[str]) -> dict[str, list[str]]:
    terms: dict[str, list[str]] = {}
    for text, (_, kind, about) in zip(split_terms(purpose), parsed_terms(purpose), strict=True):
        name = split_name(kind, about)[0]
        if not name and len(private) > 1:
            raise InvalidInput(f"Which attribute is {text!r} for? Name it, such as {kind}:{private[0]}.")
        attribute = schema[name or private[0]].name
        if attribute not in private:
            raise InvalidInput(f"{attribute!r} is public, so it needs no channel. Take it out of --for.")
        terms.setdefault(attribute, []).append(text)
    return terms


def _channel_choices(attribute: Attribute, terms: Sequence[str], gamma: float) -> QuestionChoices:
    """Channels for one attribute: by closed forms for shares, a mean or both, else with the exact one in front."""
    kinds = {kind for _, kind, _ in parsed_terms(" + ".join(terms))}
    numbers = None if kinds == {"shares"} else _numbers_of(attribute, needed="mean" in kinds)
    simple: dict[frozenset[str], Purpose] = {
        frozenset({"shares"}): "shares", frozenset({"mean"}): "mean", frozenset({"shares", "mean"}): "both",
    }  # fmt: skip
    if frozenset(kinds) in simple and not any("*" in term for term in terms):
        return choose_channel(attribute.size, gamma, simple[frozenset(kinds)], numbers)
    wanted = wanted_numbers(" + ".join(terms), attribute)
    return choose_for_numbers(attribute.size, gamma, wanted, numbers)


def _numbers_of(attribute: Attribute, *, needed: bool) -> list[float] | None:
    try:
        return [float(number) for number in answer_numbers(attribute)]
    except InvalidInput:
        if needed:
            raise
        return None
